//! The user's input in a form, and the keys of its fields.

use crate::domain::elicitation::{ElicitationForm, FieldInput, FieldKind, FormField};
use crate::tui::elicitation::option_list::OptionList;
use crate::tui::input::decode::typed_char;
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::text_field;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct FormState {
    form: Arc<ElicitationForm>,
    pub(super) fields: Vec<FieldState>,
    pub(super) focus: usize,
    /// A field whose value was rejected, and why.
    pub(super) error: Option<(usize, String)>,
    is_edited: bool,
}

#[derive(Debug, Clone)]
pub(super) enum FieldState {
    Text(Box<Editor>),
    Flag(Option<bool>),
    Options(OptionList),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormKeyEffect {
    Stay,
    /// Leaves the fields for the review.
    Review,
}

impl FormState {
    pub fn new(form: Arc<ElicitationForm>) -> Self {
        let fields = form.initial_inputs().into_iter();
        Self {
            fields: fields.map(FieldState::new).collect(),
            form,
            focus: 0,
            error: None,
            is_edited: false,
        }
    }

    pub fn form(&self) -> &ElicitationForm {
        &self.form
    }

    /// Whether the user has changed anything.
    pub fn is_edited(&self) -> bool {
        self.is_edited
    }

    /// Whether the field with the focus has options to select from.
    pub fn has_options(&self) -> bool {
        let field = self.fields.get(self.focus);
        field.is_some_and(|field| !matches!(field, FieldState::Text(_)))
    }

    pub fn inputs(&self) -> Vec<FieldInput> {
        self.fields.iter().map(FieldState::input).collect()
    }

    /// The values to send. If a field is invalid, returns `None`, moves the focus to the field and
    /// shows its error.
    pub fn checked_values(&mut self) -> Option<Map<String, Value>> {
        match self.form.answer(&self.inputs()) {
            Ok(values) => {
                self.error = None;
                Some(values)
            }
            Err((index, why)) => {
                self.focus = index;
                self.error = Some((index, why));
                None
            }
        }
    }

    pub fn handle_key(&mut self, key: KeyEvent, keymap: &Keymap) -> FormKeyEffect {
        let last = self.fields.len().saturating_sub(1);
        match keymap.layer_key(key, &[KeyContext::Form]) {
            Some(LayerKey::Back) => {
                self.error = None;
                return FormKeyEffect::Review;
            }
            Some(LayerKey::Up) => self.go_to(self.focus.saturating_sub(1)),
            Some(LayerKey::Down | LayerKey::Switch) => self.go_to((self.focus + 1).min(last)),
            Some(LayerKey::Confirm) if key.kind == KeyEventKind::Repeat => {}
            Some(LayerKey::Confirm) if !self.check_focused() => {}
            Some(LayerKey::Confirm) if self.focus >= last => return FormKeyEffect::Review,
            Some(LayerKey::Confirm) => self.go_to(self.focus + 1),
            _ => self.edit(key, keymap),
        }
        FormKeyEffect::Stay
    }

    /// Pastes into a text field or a filter.
    pub fn paste(&mut self, text: &str) {
        match self.fields.get_mut(self.focus) {
            Some(FieldState::Text(editor)) => {
                text_field::paste_line(editor, text);
                (self.is_edited, self.error) = (true, None);
            }
            Some(FieldState::Options(list)) => {
                let field = self.form.fields.get(self.focus);
                list.paste(field.map_or(&[], FormField::options), text);
            }
            _ => {}
        }
    }

    fn go_to(&mut self, field: usize) {
        if let Some(FieldState::Options(list)) = self.fields.get_mut(self.focus) {
            list.clear_filter();
        }
        self.focus = field;
        self.error = None;
    }

    /// Checks the field with the focus and shows its error. Returns whether it is valid.
    fn check_focused(&mut self) -> bool {
        let (field, state) = (
            self.form.fields.get(self.focus),
            self.fields.get(self.focus),
        );
        let checked = field
            .zip(state)
            .map(|(field, state)| field.check(&state.input()));
        self.error = match checked {
            Some(Err(why)) => Some((self.focus, why)),
            _ => None,
        };
        self.error.is_none()
    }

    fn edit(&mut self, key: KeyEvent, keymap: &Keymap) {
        let Some(field) = self.form.fields.get(self.focus) else {
            return;
        };
        let Some(state) = self.fields.get_mut(self.focus) else {
            return;
        };
        let before = state.input();
        match (state, &field.kind) {
            (FieldState::Text(editor), _) => {
                text_field::handle_line_key(editor, key, keymap);
            }
            (FieldState::Flag(flag), _) => edit_flag(flag, key, keymap),
            (FieldState::Options(list), FieldKind::Choice(options)) => {
                list.choose_one(options, key, keymap);
            }
            (FieldState::Options(list), FieldKind::Choices { options, .. }) => {
                list.choose_several(options, key, keymap);
            }
            (FieldState::Options(_), _) => {}
        }
        let after = self.fields.get(self.focus).map(FieldState::input);
        if after.as_ref() != Some(&before) {
            (self.is_edited, self.error) = (true, None);
        }
    }
}

impl FieldState {
    fn new(input: FieldInput) -> Self {
        match input {
            FieldInput::Text(text) => Self::Text(Box::new(Editor::new(&text))),
            FieldInput::Flag(flag) => Self::Flag(flag),
            FieldInput::Selected(selected) => Self::Options(OptionList::new(selected)),
        }
    }

    fn input(&self) -> FieldInput {
        match self {
            Self::Text(editor) => FieldInput::Text(editor.text()),
            Self::Flag(flag) => FieldInput::Flag(*flag),
            Self::Options(list) => FieldInput::Selected(list.selected.clone()),
        }
    }
}

fn edit_flag(flag: &mut Option<bool>, key: KeyEvent, keymap: &Keymap) {
    let step = keymap.layer_key(key, &[KeyContext::Form]);
    match (step, typed_char(key), key.code) {
        (Some(LayerKey::Left | LayerKey::Right), _, _) | (_, Some(' '), _) => {
            *flag = Some(!flag.unwrap_or(false));
        }
        (_, Some('y' | 'Y' | 'ㅛ'), _) => *flag = Some(true),
        (_, Some('n' | 'N' | 'ㅜ'), _) => *flag = Some(false),
        (_, _, KeyCode::Backspace | KeyCode::Delete) => *flag = None,
        _ => {}
    }
}

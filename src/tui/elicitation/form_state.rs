//! The user's input in a form, and the keys of its fields.

use crate::domain::elicitation::{ElicitationForm, FieldInput, FieldKind, FieldOption};
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
    /// Index of the field with the focus.
    pub(super) focus: usize,
    /// A field whose value was rejected, and why.
    pub(super) error: Option<(usize, String)>,
    is_edited: bool,
}

#[derive(Debug, Clone)]
pub(super) enum FieldState {
    Text(Box<Editor>),
    Flag(Option<bool>),
    /// The selected options, and the option at the cursor.
    Options {
        selected: Vec<usize>,
        at: usize,
    },
}

/// What a key did in the fields.
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

    /// The input in each field.
    pub fn inputs(&self) -> Vec<FieldInput> {
        self.fields.iter().map(FieldState::input).collect()
    }

    /// The values to send. `None` moves the focus to the first invalid field and shows its error.
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

    /// Pastes into a text field.
    pub fn paste(&mut self, text: &str) {
        if let Some(FieldState::Text(editor)) = self.fields.get_mut(self.focus) {
            text_field::paste_line(editor, text);
            (self.is_edited, self.error) = (true, None);
        }
    }

    fn go_to(&mut self, field: usize) {
        self.focus = field;
        self.error = None;
    }

    /// Checks the field with the focus and shows its error.
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
            (FieldState::Options { selected, at }, FieldKind::Choice(options)) => {
                choose_one(selected, at, options, (key, keymap));
            }
            (FieldState::Options { selected, at }, FieldKind::Choices { options, .. }) => {
                choose_several(selected, at, options, (key, keymap));
            }
            (FieldState::Options { .. }, _) => {}
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
            FieldInput::Selected(selected) => Self::Options {
                at: selected.first().copied().unwrap_or(0),
                selected,
            },
        }
    }

    fn input(&self) -> FieldInput {
        match self {
            Self::Text(editor) => FieldInput::Text(editor.text()),
            Self::Flag(flag) => FieldInput::Flag(*flag),
            Self::Options { selected, .. } => FieldInput::Selected(selected.clone()),
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

/// Moves the cursor among the options. Returns false if the key does something else.
fn move_among(at: &mut usize, options: &[FieldOption], (key, keymap): (KeyEvent, &Keymap)) -> bool {
    let count = options.len().max(1);
    *at = match (keymap.layer_key(key, &[KeyContext::Form]), typed_char(key)) {
        (Some(LayerKey::Left), _) => (*at + count - 1) % count,
        (Some(LayerKey::Right), _) => (*at + 1) % count,
        // The next option that begins with the letter.
        (_, Some(letter)) if letter != ' ' => {
            let begins = |index: &usize| {
                let first = options[*index].label().chars().next();
                first.is_some_and(|first| first.to_lowercase().eq(letter.to_lowercase()))
            };
            let mut later = (1..=count).map(|step| (*at + step) % count);
            match later.find(|index| *index < options.len() && begins(index)) {
                Some(index) => index,
                None => return false,
            }
        }
        _ => return false,
    };
    true
}

fn choose_one(
    selected: &mut Vec<usize>,
    at: &mut usize,
    options: &[FieldOption],
    (key, keymap): (KeyEvent, &Keymap),
) {
    let was_empty = selected.is_empty();
    let before = *at;
    if move_among(at, options, (key, keymap)) {
        if was_empty && keymap.layer_key(key, &[KeyContext::Form]).is_some() {
            // The first arrow key selects the option at the cursor.
            *at = before;
        }
        *selected = vec![*at];
    } else if typed_char(key) == Some(' ') {
        *selected = vec![*at];
    } else if matches!(key.code, KeyCode::Backspace | KeyCode::Delete) {
        selected.clear();
    }
}

fn choose_several(
    selected: &mut Vec<usize>,
    at: &mut usize,
    options: &[FieldOption],
    (key, keymap): (KeyEvent, &Keymap),
) {
    if move_among(at, options, (key, keymap)) {
        return;
    }
    if typed_char(key) == Some(' ') {
        match selected.binary_search(at) {
            Ok(place) => {
                selected.remove(place);
            }
            Err(place) => selected.insert(place, *at),
        }
    } else if matches!(key.code, KeyCode::Backspace | KeyCode::Delete) {
        selected.clear();
    }
}

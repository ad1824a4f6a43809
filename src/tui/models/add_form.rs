//! Form that adds a model of another server: fields, check, saving. An entry whose check
//! failed is saved only on request.

use crate::domain::model::Secret;
use crate::domain::{NewModel, Notice, ProviderKind, QueryId};
use crate::protocol::{Command, Event};
use crate::tui::input::decode::typed_char;
use crate::tui::keymap::layers;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::models::add_form_view;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Position;

pub const PROVIDER: usize = 0;
pub const MODEL: usize = 1;
pub const ADDRESS: usize = 2;
pub const KEY: usize = 3;
/// Check and save.
pub const SAVE: usize = 4;
/// Save although the check failed.
pub const SAVE_ANYWAY: usize = 5;

#[derive(Debug, Default)]
pub struct AddModelForm {
    /// Index into [`providers`].
    provider: usize,
    pub(super) model: Editor,
    pub(super) address: Editor,
    pub(super) key: Editor,
    pub(super) at: usize,
    /// The running check.
    pub(super) query: Option<QueryId>,
    pub(super) fault: Option<Notice>,
    /// Esc was pressed in a filled form; a second Esc discards it.
    pub(super) is_leaving: bool,
    /// The check failed, so the form offers to save anyway.
    pub(super) failed: bool,
}

impl AddModelForm {
    pub fn new(shared: SharedUiState) -> Self {
        let mut form = Self::default();
        form.suggest_key(&shared.engine.catalog.key_variables);
        form
    }

    pub(super) fn provider(&self) -> ProviderKind {
        providers()[self.provider]
    }

    /// Suggests the provider's environment variable as the key if it is set. Removes the
    /// suggestion when the key would go to another provider or a custom address. Never
    /// touches a key that the user typed.
    fn suggest_key(&mut self, set: &[String]) {
        if !self.key.is_empty() && !self.is_suggested() {
            return;
        }
        let is_usual = self.address.is_blank();
        let variable = self
            .provider()
            .key_variable()
            .filter(|name| is_usual && set.iter().any(|known| known == name));
        self.key.set(&variable.map(reference).unwrap_or_default());
    }

    /// Does the key field hold a suggestion rather than the user's own text?
    fn is_suggested(&self) -> bool {
        let key = self.key.text();
        ProviderKind::key_variables().any(|name| key == reference(name))
    }

    /// Typing a key replaces the suggestion.
    fn begin_typing(&mut self) {
        if self.at == KEY && self.is_suggested() {
            self.key.set("");
        }
    }

    /// The key for display: a variable reference, or one dot per character.
    pub(super) fn masked_key(&self) -> String {
        let key = self.key.text();
        if key.starts_with("${") && key.ends_with('}') {
            key
        } else {
            "•".repeat(key.chars().count())
        }
    }

    /// Did the user type anything?
    fn is_filled(&self) -> bool {
        let key = !self.key.is_empty() && !self.is_suggested();
        key || !self.model.is_empty() || !self.address.is_empty()
    }

    /// The model from the form's fields. None while its name is missing.
    fn new_model(&self) -> Option<NewModel> {
        let filled = |field: &Editor| {
            let text = field.text().trim().to_owned();
            Some(text).filter(|text| !text.is_empty())
        };
        let model = filled(&self.model)?;
        Some(NewModel {
            name: model.clone(),
            model,
            provider: self.provider(),
            base_url: filled(&self.address),
            api_key: filled(&self.key).map(Secret::new),
            copy_from: None,
        })
    }

    fn field(&mut self) -> Option<&mut Editor> {
        match self.at {
            MODEL => Some(&mut self.model),
            ADDRESS => Some(&mut self.address),
            KEY => Some(&mut self.key),
            _ => None,
        }
    }

    /// The last row.
    pub(super) fn last(&self) -> usize {
        if self.failed { SAVE_ANYWAY } else { SAVE }
    }

    /// A field changed, so the last check no longer applies.
    fn changed(&mut self, set: &[String]) {
        // Never complete a key while the user types it.
        if self.at != KEY {
            self.suggest_key(set);
        }
        self.query = None;
        self.fault = None;
        self.failed = false;
    }
}

impl AddModelForm {
    /// Key handling of the provider row. False if nothing changed.
    fn provider_key(&mut self, key: KeyEvent) -> bool {
        let count = ProviderKind::ALL.len();
        let found = layers::find_key(key, &[KeyContext::Form]);
        self.provider = match (found, typed_char(key)) {
            (Some(LayerKey::Left), _) => (self.provider + count - 1) % count,
            (Some(LayerKey::Right), _) | (_, Some(' ')) => (self.provider + 1) % count,
            (_, Some(c)) => match c.to_digit(10).map(|digit| digit as usize) {
                Some(digit) if (1..=count).contains(&digit) => digit - 1,
                _ => return false,
            },
            _ => return false,
        };
        true
    }

    /// Key handling of a text field. False if nothing changed.
    fn field_key(&mut self, key: KeyEvent) -> bool {
        if typed_char(key).is_some() || key.code == KeyCode::Backspace {
            self.begin_typing();
        }
        self.field()
            .is_some_and(|field| text_field::handle_key(field, key))
    }

    /// Checks the form, or saves it although the check failed.
    fn save(&mut self, cx: &mut UiContext) {
        let Some(model) = self.new_model() else {
            self.at = MODEL;
            self.fault = Some(Notice::warning("Enter the name of the model first."));
            return;
        };
        if self.at == SAVE_ANYWAY && self.failed {
            return cx.send(Command::AddModel(model));
        }
        if self.query.is_none() {
            let query = cx.next_query_id();
            self.fault = None;
            self.query = Some(query);
            cx.send(Command::TestModel { query, model });
        }
    }

    /// Handles the result of the check. A successful check saves at once.
    fn checked(&mut self, result: &Result<(), Notice>, cx: &mut UiContext) {
        self.query = None;
        match (result, self.new_model()) {
            (Ok(()), Some(new)) => cx.send(Command::AddModel(new)),
            (Err(notice), _) => {
                self.fault = Some(notice.clone());
                self.failed = true;
            }
            (Ok(()), None) => {}
        }
    }
}

impl Layer for AddModelForm {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let last = self.last();
        let leaves = std::mem::take(&mut self.is_leaving) || !self.is_filled();
        let mut changed = false;
        match layers::find_key(key, &[KeyContext::Form]) {
            Some(LayerKey::Back) if leaves => return Handled::Closed,
            Some(LayerKey::Back) => {
                self.is_leaving = true;
                let text = "Press Esc again to discard what you typed.";
                cx.notify(Notice::info(text));
            }
            Some(LayerKey::Up) => self.at = self.at.saturating_sub(1),
            Some(LayerKey::Down) => self.at = (self.at + 1).min(last),
            Some(LayerKey::Confirm) if self.at < SAVE => self.at += 1,
            Some(LayerKey::Confirm) => self.save(cx),
            _ if self.at == PROVIDER => changed = self.provider_key(key),
            // The key is masked, so its cursor cannot be moved.
            Some(LayerKey::Left | LayerKey::Right | LayerKey::Start) if self.at == KEY => {}
            _ => changed = self.field_key(key),
        }
        if changed {
            self.changed(&cx.shared.engine.catalog.key_variables);
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, cx: &mut UiContext) -> Handled {
        let line = text.replace(['\n', '\r'], " ");
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        self.begin_typing();
        if let Some(field) = self.field() {
            field.insert(line.trim());
            self.changed(&cx.shared.engine.catalog.key_variables);
        }
        Handled::Consumed
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        match event {
            Event::ModelTested { query, result } if self.query == Some(*query) => {
                self.checked(result, cx);
            }
            // The added model is in use, so the form is done.
            Event::ModelAdded(_) => return Handled::Closed,
            _ => {}
        }
        Handled::PassedOn
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        add_form_view::draw(self, area.body, pen)
    }

    fn hints(&self, _: SharedUiState) -> Vec<String> {
        let back = |word| layers::hint(KeyContext::Form, LayerKey::Back, word);
        if self.is_leaving {
            return vec![back("discard"), "any other key continues".to_owned()];
        }
        let next = layers::hint(KeyContext::Form, LayerKey::Confirm, "next");
        vec![next, "Up/Down fields".to_owned(), back("close")]
    }
}

/// Providers in the form's order. Ollama comes last, because `/models` offers it anyway.
fn providers() -> [ProviderKind; ProviderKind::ALL.len()] {
    let mut providers = ProviderKind::ALL;
    providers.sort_by_key(|provider| provider.manages_models());
    providers
}

fn reference(variable: &str) -> String {
    format!("${{{variable}}}")
}

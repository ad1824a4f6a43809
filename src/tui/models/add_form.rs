//! Form that adds a model from another server: fields, check, saving. An entry whose check
//! failed is saved only on request.

use crate::domain::model::Secret;
use crate::domain::model_catalog::unlisted_model_notice;
use crate::domain::{NewModel, NewModelServer, NewServerField, Notice, ProviderKind, Severity};
use crate::protocol::{Command, Event};
use crate::tui::input::decode::typed_char;
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::models::add_form_address::starts_address;
use crate::tui::models::add_form_view;
use crate::tui::models::offered_models::{ListingState, OfferedModels};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Position;

pub const PROVIDER: usize = 0;
pub const ADDRESS: usize = 1;
pub const KEY: usize = 2;
/// Comes after the server's fields, because it offers that server's models.
pub const MODEL: usize = 3;
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
    /// The row with the focus, for example [`KEY`].
    pub(super) at: usize,
    pub(super) offered: OfferedModels,
    /// The problem with the model's name. Problems with the server are in `offered`.
    pub(super) model_fault: Option<Notice>,
    pub(super) saving: SaveState,
    /// Esc was pressed in a filled form; a second Esc discards it.
    pub(super) is_leaving: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum SaveState {
    #[default]
    Editing,
    /// The model is saved once the server has listed its models, unless the complete list lacks it.
    Checking,
    /// The check failed, so the form offers to save anyway.
    CheckFailed,
    /// Until the engine adds the model or reports a problem: a held Enter must not add it twice.
    Sent,
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

    /// Whether the user has typed anything.
    fn is_filled(&self) -> bool {
        let key = !self.key.is_empty() && !self.is_suggested();
        key || !self.model.is_empty() || !self.address.is_empty()
    }

    fn server(&self) -> NewModelServer {
        NewModelServer {
            provider: self.provider(),
            base_url: filled(&self.address),
            api_key: filled(&self.key).map(Secret::new),
        }
    }

    /// `None` while its name is missing.
    fn new_model(&self) -> Option<NewModel> {
        let model = filled(&self.model)?;
        let server = self.server();
        Some(NewModel {
            name: model.clone(),
            model,
            provider: server.provider,
            base_url: server.base_url,
            api_key: server.api_key,
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

    pub(super) fn error(&self, row: usize) -> Option<&Notice> {
        let of_server = |field| self.offered.error(field).map(|error| &error.notice);
        match row {
            ADDRESS => of_server(NewServerField::Address),
            // While the user is about to enter a key, a missing one is not a problem.
            KEY if self.at == KEY && self.key.is_empty() && self.saving == SaveState::Editing => {
                None
            }
            KEY => of_server(NewServerField::Key),
            MODEL => self.model_fault.as_ref(),
            _ => None,
        }
    }

    pub(super) fn last_row(&self) -> usize {
        match self.saving {
            SaveState::CheckFailed => SAVE_ANYWAY,
            _ => SAVE,
        }
    }

    /// A field changed, so the last check no longer applies.
    fn field_changed(&mut self, cx: &mut UiContext) {
        self.model_fault = None;
        self.saving = SaveState::Editing;
        if self.at == MODEL {
            return self.offered.clear_selection();
        }
        self.offered.reset(cx);
        // Never complete a key while the user types it.
        if self.at != KEY {
            self.suggest_key(&cx.shared.engine.catalog.key_variables);
        }
    }

    fn go_to(&mut self, row: usize, cx: &mut UiContext) {
        if self.at == ADDRESS && row != ADDRESS {
            self.complete_address();
        }
        self.at = row.min(self.last_row());
        self.offered.clear_selection();
        // Request the names as soon as the server is known, so that they are there when needed.
        // The provider's default address counts once the user has left the key field.
        if self.at == MODEL || self.at == KEY && !self.address.is_blank() {
            self.offered.request(self.server(), cx);
        }
    }
}

impl AddModelForm {
    /// Returns whether the key chose a provider.
    fn provider_key(&mut self, key: KeyEvent, keymap: &Keymap) -> bool {
        let count = ProviderKind::ALL.len();
        let found = keymap.layer_key(key, &[KeyContext::Form]);
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

    /// Returns false if nothing changed.
    fn field_key(&mut self, key: KeyEvent, keymap: &Keymap) -> bool {
        if typed_char(key).is_some() || key.code == KeyCode::Backspace {
            self.begin_typing();
        }
        let Some(field) = self.field() else {
            return false;
        };
        let before = field.text();
        text_field::handle_line_key(field, key, keymap);
        field.text() != before
    }

    /// Moves the selection within the offered names, or to the field above or below.
    fn step(&mut self, is_down: bool, cx: &mut UiContext) {
        let typed = self.model.text();
        let is_in_model = self.at == MODEL;
        match is_down {
            true if is_in_model && self.offered.select_next(&typed) => {}
            false if is_in_model && self.offered.select_previous(&typed) => {}
            true => self.go_to(self.at + 1, cx),
            false => self.go_to(self.at.saturating_sub(1), cx),
        }
    }

    /// Enter: saves on a button. In a field, takes the selected name, if any, and goes to the next
    /// field, or back to the rejected one if the model is blank.
    fn confirm(&mut self, cx: &mut UiContext) {
        if self.at >= SAVE {
            return self.save(cx);
        }
        let typed = self.model.text();
        if self.at == MODEL
            && let Some(name) = self.offered.selected_name(&typed)
        {
            let name = name.to_owned();
            self.model.set(&name);
            self.field_changed(cx);
        }
        let next = match self.rejected_field() {
            Some(row) if self.at == MODEL && self.model.is_blank() => row,
            _ => self.at + 1,
        };
        self.go_to(next, cx);
    }

    /// Checks the form, or saves it although the check failed.
    fn save(&mut self, cx: &mut UiContext) {
        if self.saving == SaveState::Sent {
            return;
        }
        let Some(model) = self.new_model() else {
            // Until the server's fields are correct, there are no models to choose from.
            if let Some(row) = self.rejected_field() {
                return self.go_to(row, cx);
            }
            self.go_to(MODEL, cx);
            self.model_fault = Some(Notice::failure("Enter the name of the model."));
            return;
        };
        if self.at == SAVE_ANYWAY {
            self.saving = SaveState::Sent;
            return cx.send(Command::AddModel(model));
        }
        self.saving = SaveState::Checking;
        self.model_fault = None;
        self.offered.request_again(self.server(), cx);
        self.finish_check(cx);
    }

    /// Saves the model once the server has listed its models, unless the complete list lacks it.
    fn finish_check(&mut self, cx: &mut UiContext) {
        let Some(model) = self
            .new_model()
            .filter(|_| self.saving == SaveState::Checking)
        else {
            return;
        };
        self.saving = match self.offered.state() {
            ListingState::Loading(_) | ListingState::NotAsked => return,
            ListingState::Failed(_) => SaveState::CheckFailed,
            ListingState::Listed(list) => {
                self.model_fault = unlisted_model_notice(list, &model.model);
                match self.model_fault {
                    Some(_) => SaveState::CheckFailed,
                    None => SaveState::Sent,
                }
            }
        };
        if self.saving == SaveState::Sent {
            cx.send(Command::AddModel(model));
        }
    }

    /// The field that the server rejected. A missing key does not count, because the server may
    /// need none.
    fn rejected_field(&self) -> Option<usize> {
        let ListingState::Failed(error) = self.offered.state() else {
            return None;
        };
        match error.field {
            NewServerField::Address => Some(ADDRESS),
            NewServerField::Key => (!self.key.is_empty()).then_some(KEY),
        }
    }

    fn close(&mut self, cx: &mut UiContext) -> Handled {
        self.offered.reset(cx);
        Handled::Closed
    }
}

impl Layer for AddModelForm {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let leaves = std::mem::take(&mut self.is_leaving) || !self.is_filled();
        let mut changed = false;
        match cx.shared.keymap.layer_key(key, &[KeyContext::Form]) {
            Some(LayerKey::Back) if leaves => return self.close(cx),
            Some(LayerKey::Back) => {
                self.is_leaving = true;
                let keymap = cx.shared.keymap;
                let back = keymap.layer_key_name(KeyContext::Form, LayerKey::Back);
                let back = back.unwrap_or_default();
                let text = format!("Press {back} again to discard what you typed.");
                cx.notify(Notice::info(text));
            }
            Some(LayerKey::Up) => self.step(false, cx),
            Some(LayerKey::Down) => self.step(true, cx),
            Some(LayerKey::Switch) => self.go_to(self.at + 1, cx),
            Some(LayerKey::Confirm) => self.confirm(cx),
            _ if self.at == PROVIDER && starts_address(key) => {
                self.go_to(ADDRESS, cx);
                changed = self.field_key(key, cx.shared.keymap);
            }
            _ if self.at == PROVIDER => changed = self.provider_key(key, cx.shared.keymap),
            // The key is masked, so its cursor cannot be moved.
            Some(LayerKey::Left | LayerKey::Right | LayerKey::Start) if self.at == KEY => {}
            _ => changed = self.field_key(key, cx.shared.keymap),
        }
        if changed {
            self.field_changed(cx);
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, cx: &mut UiContext) -> Handled {
        let line = text.replace(['\n', '\r'], " ");
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        if self.at == PROVIDER {
            self.go_to(ADDRESS, cx);
        }
        self.begin_typing();
        if let Some(field) = self.field() {
            field.insert(line.trim());
            self.field_changed(cx);
        }
        Handled::Consumed
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        match event {
            Event::ServerModelsListed { query, result } if self.offered.store(*query, result) => {
                self.finish_check(cx);
            }
            // The added model is in use, so the form is done.
            Event::ModelAdded(_) => return self.close(cx),
            Event::NoticePosted(notice)
                if self.saving == SaveState::Sent && notice.severity != Severity::Info =>
            {
                self.saving = SaveState::Editing;
            }
            _ => {}
        }
        Handled::PassedOn
    }

    fn interrupt(&mut self, cx: &mut UiContext) -> Handled {
        self.close(cx)
    }

    fn popup_rows(&self, _: SharedUiState) -> Option<u16> {
        Some(add_form_view::ROWS)
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        add_form_view::draw(self, area.popup, shared.keymap, pen)
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let keymap = shared.keymap;
        let back = |word| keymap.layer_hint(KeyContext::Form, LayerKey::Back, word);
        if self.is_leaving {
            let other = "any other key continues".to_owned();
            return hint_list([back("discard"), Some(other)]);
        }
        let selects_name = self.offered.selected(&self.model.text()).is_some();
        let enter = match self.at {
            MODEL if selects_name => "choose",
            ..SAVE => "next",
            SAVE => "check and save",
            _ => "save",
        };
        let enter = keymap.layer_hint(KeyContext::Form, LayerKey::Confirm, enter);
        let steps = [LayerKey::Up, LayerKey::Down];
        let fields = keymap.layer_pair_hint(KeyContext::Form, steps, "fields");
        hint_list([enter, fields, back("close")])
    }
}

/// Providers in the form's order. Ollama comes last, because `/models` offers it anyway.
fn providers() -> [ProviderKind; ProviderKind::ALL.len()] {
    let mut providers = ProviderKind::ALL;
    providers.sort_by_key(|provider| provider.manages_models());
    providers
}

fn filled(field: &Editor) -> Option<String> {
    let text = field.text().trim().to_owned();
    Some(text).filter(|text| !text.is_empty())
}

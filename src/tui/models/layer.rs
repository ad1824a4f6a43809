//! The picker of `/models` and `/set-model`: models of all servers, to use, pull, add or remove.

use crate::commands::models::{SET_MODEL, select_model};
use crate::domain::model_catalog::invalid_name_notice;
use crate::domain::{ModelServer, Notice};
use crate::protocol::{Command, Event};
use crate::tui::input::decode::typed_char;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::models::add_form::AddModelForm;
use crate::tui::models::rows::{KnownModels, ModelListChoice, ModelRow, PickerAction};
use crate::tui::models::{rows, view};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::list::{ListKey, SearchList};
use crate::tui::widgets::number_entry::{NumberEntry, NumberKey};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

#[derive(Debug, Default)]
pub struct ModelsLayer {
    /// Counts only rows that can be selected.
    pub(super) list: SearchList,
    number_entry: NumberEntry,
    /// Digits choose while the filter is empty, as after `/set-model`.
    takes_numbers: bool,
    /// The selected model disappeared. Nothing is selected until the user moves the
    /// selection, so that a key cannot act on another model.
    pub(super) is_selection_gone: bool,
    /// Field for the name of a model to pull.
    pub(super) pulling: Option<Editor>,
}

/// Opens the list of configured models, in which a number chooses at once.
pub fn open_configured(cx: &mut UiContext) {
    let picker = ModelsLayer::new(KnownModels::new(cx.shared.engine));
    cx.open(ModelsLayer {
        takes_numbers: true,
        ..picker
    });
    cx.send(Command::ListCatalog);
}

/// Opens the list of all models, with a field for the name of one to pull if there is an editor.
pub fn open(pulling: Option<Editor>, cx: &mut UiContext) {
    let picker = ModelsLayer::new(KnownModels::new(cx.shared.engine));
    cx.open(ModelsLayer { pulling, ..picker });
    cx.send(Command::ListCatalog);
}

impl ModelsLayer {
    fn new(known: KnownModels) -> Self {
        let mut picker = Self::default();
        let is_in_use = |choice: &ModelListChoice| match choice {
            ModelListChoice::Model(row) => known.is_in_use(row),
            ModelListChoice::Action(_) => false,
        };
        let at = rows::choices(known, "").iter().position(is_in_use);
        picker.list.select(at.unwrap_or(0));
        picker
    }

    fn selected<'a>(&self, known: KnownModels<'a>) -> Option<ModelListChoice<'a>> {
        let choices = rows::choices(known, &self.list.filter());
        let at = self.list.selected(choices.len());
        choices.get(at).copied().filter(|_| !self.is_selection_gone)
    }

    fn selected_model<'a>(&self, known: KnownModels<'a>) -> Option<ModelRow<'a>> {
        match self.selected(known)? {
            ModelListChoice::Model(row) => Some(row),
            ModelListChoice::Action(_) => None,
        }
    }

    /// Keeps the same row selected when the catalog changes.
    fn follow(&mut self, before: KnownModels, now: KnownModels) {
        let found = rows::choices(now, &self.list.filter());
        let selected = self.selected(before);
        let at = selected
            .as_ref()
            .and_then(|selected| found.iter().position(|choice| choice.is_same(selected)));
        self.is_selection_gone |= selected.is_some() && at.is_none();
        let at = at.unwrap_or_else(|| self.list.selected(found.len()));
        self.list.select(at);
    }

    fn pull_key(&mut self, key: KeyEvent, cx: &mut UiContext) {
        let Some(field) = &mut self.pulling else {
            return;
        };
        match cx.shared.keymap.layer_key(key, &[KeyContext::InputLine]) {
            Some(LayerKey::Back) => self.pulling = None,
            Some(_) => {
                let name = field.text().trim().to_owned();
                if let Some(notice) = invalid_name_notice(&name).filter(|_| !name.is_empty()) {
                    return cx.notify(notice);
                }
                self.pulling = None;
                if !name.is_empty() {
                    let server = self.selected_ollama(KnownModels::new(cx.shared.engine));
                    cx.send(Command::PullModel { server, name });
                }
            }
            None => {
                text_field::handle_line_key(field, key, cx.shared.keymap);
            }
        }
    }

    fn selected_ollama(&self, known: KnownModels) -> Option<ModelServer> {
        let server = self.selected_model(known)?.server?;
        Some(server.clone()).filter(|server| server.provider.manages_models())
    }

    fn choose_selected(&mut self, cx: &mut UiContext) -> Handled {
        match self.selected(KnownModels::new(cx.shared.engine)) {
            Some(ModelListChoice::Model(row)) => {
                match (row.configured, row.server) {
                    (Some(configured), _) => {
                        select_model(cx, configured.clone());
                    }
                    (None, Some(server)) => cx.send(Command::UseModel {
                        server: server.clone(),
                        model: row.model().to_owned(),
                    }),
                    (None, None) => {}
                }
                Handled::Closed
            }
            Some(ModelListChoice::Action(action)) => self.run(action, cx),
            None => Handled::Consumed,
        }
    }

    fn run(&mut self, action: PickerAction, cx: &mut UiContext) -> Handled {
        match action {
            PickerAction::KeepCurrent => return Handled::Closed,
            PickerAction::Pull => self.begin_pull(),
            PickerAction::AddServer => cx.open(AddModelForm::new(cx.shared)),
            PickerAction::Demo => cx.request(UiRequest::StartDemo),
        }
        Handled::Consumed
    }

    fn begin_pull(&mut self) {
        self.pulling = Some(Editor::new(&self.list.filter()));
    }

    fn remove(&self, cx: &mut UiContext) {
        let Some(row) = self.selected_model(KnownModels::new(cx.shared.engine)) else {
            return;
        };
        let (Some(server), Some(_)) = (row.server, row.listed) else {
            let notice = Notice::warning("The server does not list this model.");
            return cx.notify(notice.with_advice("To remove it from this list, edit config.json."));
        };
        cx.send(Command::RemoveModel {
            server: Some(server.clone()),
            name: row.model().to_owned(),
        });
    }

    /// `None` if the key is not part of a number, or if digits choose nothing here.
    fn number_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Option<Handled> {
        let known = KnownModels::new(cx.shared.engine);
        let chooses = self.list.has_row_focus() || self.takes_numbers && self.list.is_unfiltered();
        let last = known.configured.len();
        // Without numbered models, other digits are part of a filter.
        let is_numbered = last > 0 || typed_char(key) == Some('0');
        if !chooses || !is_numbered {
            return None;
        }
        match self.number_entry.key(key, last, cx.shared.keymap) {
            NumberKey::Unhandled => return None,
            NumberKey::Discarded => {}
            NumberKey::Chosen(0) => return Some(Handled::Closed),
            NumberKey::Chosen(number) => {
                (SET_MODEL.run)(cx, &number.to_string());
                return Some(Handled::Closed);
            }
            NumberKey::Typed(number) => {
                let choices = rows::choices(known, &self.list.filter());
                let has_number = |choice: &ModelListChoice| match choice {
                    ModelListChoice::Model(row) => {
                        row.configured.and_then(|entry| known.number(entry)) == Some(number)
                    }
                    ModelListChoice::Action(_) => false,
                };
                if let Some(at) = choices.iter().position(has_number) {
                    self.list.select(at);
                    self.is_selection_gone = false;
                }
            }
        }
        Some(Handled::Consumed)
    }

    /// Selects a row again after the selected model disappeared: moving up selects the row above its
    /// place, moving down the row that took its place. Returns whether the key did that.
    fn restore_selection(&mut self, key: KeyEvent, cx: &UiContext) -> bool {
        let contexts = match self.list.has_row_focus() {
            true => &[KeyContext::ScrollableList, KeyContext::SearchListRows][..],
            false => &[KeyContext::ScrollableList][..],
        };
        let rows = cx
            .shared
            .keymap
            .layer_key(key, contexts)
            .and_then(LayerKey::rows);
        let Some(rows) = rows.filter(|_| self.is_selection_gone) else {
            return false;
        };
        self.is_selection_gone = false;
        if rows < 0 {
            let known = KnownModels::new(cx.shared.engine);
            let count = rows::choices(known, &self.list.filter()).len();
            self.list.step(-1, count);
        }
        true
    }
}

impl Layer for ModelsLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::MODELS)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        if self.pulling.is_some() {
            self.pull_key(key, cx);
            return Handled::Consumed;
        }
        if self.restore_selection(key, cx) {
            return Handled::Consumed;
        }
        if let Some(handled) = self.number_key(key, cx) {
            return handled;
        }
        let known = KnownModels::new(cx.shared.engine);
        let count = rows::choices(known, &self.list.filter()).len();
        match self
            .list
            .key(key, count, Some(KeyContext::Models), cx.shared.keymap)
        {
            handled @ (ListKey::Closed | ListKey::Unknown) => return handled.handled(),
            ListKey::Searched => self.is_selection_gone = false,
            ListKey::Unhandled(LayerKey::Confirm) => return self.choose_selected(cx),
            ListKey::Unhandled(LayerKey::Delete) => self.remove(cx),
            ListKey::Unhandled(LayerKey::Pull) => self.begin_pull(),
            ListKey::Unhandled(LayerKey::StopPull) => cx.send(Command::StopPull),
            ListKey::Unhandled(LayerKey::Refresh) => cx.send(Command::ListCatalog),
            ListKey::Unhandled(LayerKey::AddServer) => cx.open(AddModelForm::new(cx.shared)),
            _ => {}
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        match &mut self.pulling {
            Some(name) => text_field::paste_line(name, text),
            None => self.list.paste(text),
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        let count = rows::choices(KnownModels::new(shared.engine), &self.list.filter()).len();
        self.list.step(rows, count);
        self.is_selection_gone = false;
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        if self.pulling.is_some() {
            return Handled::Consumed;
        }
        match self
            .list
            .click(at, cx.shared.keymap)
            .filter(|_| !self.is_selection_gone)
        {
            Some(enter) => self.handle_key(enter, cx),
            None => {
                self.is_selection_gone = false;
                Handled::Consumed
            }
        }
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        if let Event::CatalogChanged(catalog) = event {
            let before = KnownModels::new(cx.shared.engine);
            self.follow(before, KnownModels { catalog, ..before });
        }
        Handled::PassedOn
    }

    fn popup_rows(&self, shared: SharedUiState) -> Option<u16> {
        Some(view::required_rows(shared))
    }

    fn interrupt(&mut self, cx: &mut UiContext) -> Handled {
        if cx.shared.engine.pull.is_none() {
            return Handled::Closed;
        }
        cx.send(Command::StopPull);
        Handled::Consumed
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        view::draw(self, area.popup, shared, pen)
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let keymap = shared.keymap;
        let own = |key, word| keymap.layer_hint(KeyContext::Models, key, word);
        if self.pulling.is_some() {
            return keymap.line_hints("pull", "back");
        }
        let last = match shared.engine.pull {
            Some(_) => own(LayerKey::StopPull, "cancel pull"),
            None => own(LayerKey::AddServer, "add a server"),
        };
        let (pull, delete) = (own(LayerKey::Pull, "pull"), own(LayerKey::Delete, "remove"));
        let choices = rows::choices(KnownModels::new(shared.engine), &self.list.filter());
        self.list.hints(
            choices.len(),
            "use",
            hint_list([pull, delete, last]),
            keymap,
        )
    }
}

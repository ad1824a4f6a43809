//! The `/models` dialog: models of all servers, to use, pull or remove.

use crate::domain::model_catalog::invalid_name_notice;
use crate::domain::{ModelCatalog, ModelServer, Notice};
use crate::protocol::{Command, Event};
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, layers};
use crate::tui::layer::{
    Handled, Layer, LayerArea, PickedItem, SharedUiState, UiContext, UiRequest,
};
use crate::tui::models::add_form::AddModelForm;
use crate::tui::models::rows::{ModelRow, is_nothing_known, model_rows};
use crate::tui::models::view;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::list::{ListKey, SearchList};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

#[derive(Debug, Default)]
pub struct ModelsLayer {
    /// Counts only model rows.
    pub(super) list: SearchList,
    /// The selected model disappeared. Nothing is selected until the user moves the
    /// selection, so that a key cannot act on another model.
    pub(super) is_lost: bool,
    /// Field for the name of a model to pull.
    pub(super) pulling: Option<Editor>,
}

/// `/models [pull NAME | rm NAME | stop]`.
pub fn run(argument: &str, cx: &mut UiContext) {
    let (word, name) = argument
        .split_once(char::is_whitespace)
        .unwrap_or((argument, ""));
    let name = name.trim().to_owned();
    match (word, name.is_empty()) {
        ("", _) => open(None, cx),
        ("pull", true) => open(Some(Editor::default()), cx),
        ("pull", false) => cx.send(Command::PullModel { server: None, name }),
        ("stop", true) => cx.send(Command::StopPull),
        ("rm", false) => cx.send(Command::RemoveModel { server: None, name }),
        ("rm", true) => {
            let notice = Notice::warning("Usage: /models rm NAME");
            cx.notify(notice);
        }
        _ => cx.notify(Notice::warning(
            "Usage: /models [pull NAME | rm NAME | stop]",
        )),
    }
}

fn open(pulling: Option<Editor>, cx: &mut UiContext) {
    cx.open(ModelsLayer {
        pulling,
        ..ModelsLayer::default()
    });
    cx.send(Command::ListCatalog);
}

impl ModelsLayer {
    fn selected<'a>(&self, catalog: &'a ModelCatalog) -> Option<ModelRow<'a>> {
        let rows = model_rows(catalog, &self.list.filter());
        let at = self.list.selected(rows.len());
        rows.get(at).copied().filter(|_| !self.is_lost)
    }

    /// Keeps the same model selected when the catalog changes.
    fn follow(&mut self, before: &ModelCatalog, now: &ModelCatalog) {
        let found = model_rows(now, &self.list.filter());
        let selected = self.selected(before);
        let at = selected.and_then(|selected| {
            found
                .iter()
                .position(|row| row.server == selected.server && row.name() == selected.name())
        });
        self.is_lost |= selected.is_some() && at.is_none();
        let at = at.unwrap_or_else(|| self.list.selected(found.len()));
        self.list.select(at);
    }

    /// Key handling of the pull field.
    fn pull_key(&mut self, key: KeyEvent, cx: &mut UiContext) {
        let Some(field) = &mut self.pulling else {
            return;
        };
        match layers::find_key(key, &[KeyContext::InputLine]) {
            Some(LayerKey::Back) => self.pulling = None,
            Some(_) => {
                let name = field.text().trim().to_owned();
                if let Some(notice) = invalid_name_notice(&name).filter(|_| !name.is_empty()) {
                    return cx.notify(notice);
                }
                self.pulling = None;
                if !name.is_empty() {
                    let server = self.selected_ollama(&cx.shared.engine.catalog);
                    cx.send(Command::PullModel { server, name });
                }
            }
            None => {
                text_field::handle_key(field, key);
            }
        }
    }

    /// The selected row's server, if it is an Ollama.
    fn selected_ollama(&self, catalog: &ModelCatalog) -> Option<ModelServer> {
        let server = self.selected(catalog).map(|row| row.server.clone());
        server.filter(|server| server.provider.manages_models())
    }

    fn take(&self, cx: &mut UiContext) -> Handled {
        let Some(row) = self.selected(&cx.shared.engine.catalog) else {
            return Handled::Consumed;
        };
        match row.configured {
            Some(configured) => cx.request(UiRequest::Pick(PickedItem::Model(configured.clone()))),
            None => cx.send(Command::UseModel {
                server: row.server.clone(),
                model: row.model().to_owned(),
            }),
        }
        Handled::Closed
    }

    fn remove(&self, cx: &mut UiContext) {
        let Some(row) = self.selected(&cx.shared.engine.catalog) else {
            return;
        };
        if row.listed.is_none() {
            let notice = Notice::warning("The server does not list this model.");
            return cx.notify(notice.with_advice("To remove it from this list, edit config.json."));
        }
        cx.send(Command::RemoveModel {
            server: Some(row.server.clone()),
            name: row.model().to_owned(),
        });
    }

    /// Does this key bring a lost selection back? It then does nothing else.
    fn finds_selection(&self, key: KeyEvent) -> bool {
        let places = match self.list.has_row_focus() {
            true => &[KeyContext::ScrollableList, KeyContext::SearchListRows][..],
            false => &[KeyContext::ScrollableList][..],
        };
        let rows = layers::find_key(key, places).and_then(LayerKey::rows);
        self.is_lost && rows.is_some()
    }
}

impl Layer for ModelsLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::Models)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        if self.pulling.is_some() {
            self.pull_key(key, cx);
            return Handled::Consumed;
        }
        if self.finds_selection(key) {
            self.is_lost = false;
            return Handled::Consumed;
        }
        let catalog = &cx.shared.engine.catalog;
        let is_free = !self.list.has_row_focus() && self.list.is_unfiltered();
        let adds = layers::find_key(key, &[KeyContext::Models]) == Some(LayerKey::AddServer);
        if adds && is_free && is_nothing_known(catalog) {
            cx.open(AddModelForm::new(cx.shared));
            return Handled::Consumed;
        }
        let count = model_rows(catalog, &self.list.filter()).len();
        match self.list.key(key, count, KeyContext::Models) {
            ListKey::Closed => return Handled::Closed,
            ListKey::Searched => self.is_lost = false,
            ListKey::Unhandled(LayerKey::Confirm) => return self.take(cx),
            ListKey::Unhandled(LayerKey::Delete) => self.remove(cx),
            ListKey::Unhandled(LayerKey::Pull) => {
                self.pulling = Some(Editor::new(&self.list.filter()))
            }
            ListKey::Unhandled(LayerKey::StopPull) => cx.send(Command::StopPull),
            ListKey::Unhandled(LayerKey::Refresh) => cx.send(Command::ListCatalog),
            ListKey::Unhandled(LayerKey::AddServer) => cx.open(AddModelForm::new(cx.shared)),
            _ => {}
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        match &mut self.pulling {
            Some(name) => {
                self.list.select(0);
                text_field::paste_line(name, text);
            }
            None => self.list.paste(text),
        }
        Handled::Consumed
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        if let Event::CatalogChanged(catalog) = event {
            self.follow(&cx.shared.engine.catalog, catalog);
        }
        Handled::PassedOn
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
        view::draw(self, area.body, shared, pen)
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let listed = |key, word| layers::hint(KeyContext::SearchList, key, word);
        let own = |key, word| layers::hint(KeyContext::Models, key, word);
        let add = own(LayerKey::AddServer, "add a server");
        if self.pulling.is_some() {
            let take = layers::hint(KeyContext::InputLine, LayerKey::Confirm, "pull");
            return vec![
                take,
                layers::hint(KeyContext::InputLine, LayerKey::Back, "back"),
            ];
        }
        let take = listed(LayerKey::Confirm, "use");
        if self.list.has_row_focus() {
            let last = match shared.engine.pull {
                Some(_) => own(LayerKey::StopPull, "cancel pull"),
                None => add,
            };
            let (pull, delete) = (own(LayerKey::Pull, "pull"), own(LayerKey::Delete, "remove"));
            return vec![take, pull, delete, last, listed(LayerKey::Back, "back")];
        }
        let close = listed(LayerKey::Back, "close");
        if is_nothing_known(&shared.engine.catalog) {
            return vec![add, close];
        }
        vec![take, listed(LayerKey::Switch, "list"), close]
    }
}

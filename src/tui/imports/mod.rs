//! Imports MCP servers from other clients: a list of the clients found, and then everything that the
//! servers of one client would run or reach. Nothing is added without Enter on that text.

pub mod add_server;
mod text;

use crate::domain::{ImportPlan, ImportSource, NewServer, Notice, QueryId};
use crate::protocol::{Command, Event, NewServerCommand};
use crate::text::Clean;
use crate::tui::imports::text::{ImportChoice, files_line, plan_summary, plan_text};
use crate::tui::input::decode::typed_char;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::widgets::list::{ListKey, ListRow, ListTitle, SearchList};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_viewer::TextViewer;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use ratatui::layout::Position;
use std::sync::Arc;
use std::time::Duration;

/// Enter adds servers only after their text has been visible this long: an earlier Enter may be a
/// repeat of the key that opened the text.
pub const READING_TIME_MIN: Duration = Duration::from_millis(500);
const CLIENT_COLUMNS: u16 = 18;
/// Width of the column with the number of servers.
const COUNT_COLUMNS: u16 = 26;

#[derive(Debug)]
pub struct ImportLayer {
    query: QueryId,
    /// `None` until the engine has looked for clients.
    sources: Option<Arc<Vec<ImportSource>>>,
    list: SearchList,
    opened: Option<OpenedSource>,
}

/// The servers of one client, as a text.
#[derive(Debug)]
struct OpenedSource {
    client: String,
    files: String,
    plan: ImportPlan,
    choice: ImportChoice,
    text: TextViewer,
    /// The width for which `text` was wrapped.
    columns: u16,
    opened_at: Duration,
}

impl OpenedSource {
    fn new(source: &ImportSource, plan: &ImportPlan, shared: SharedUiState) -> Self {
        let mut opened = Self {
            client: source.client.clone(),
            files: files_line(source),
            choice: ImportChoice::all(plan),
            plan: plan.clone(),
            text: TextViewer::new("", ""),
            columns: 0,
            opened_at: shared.now,
        };
        opened.set_columns(shared.size.0);
        opened
    }

    /// Wraps the text for this width, because the viewer would not mark continuation rows.
    fn set_columns(&mut self, columns: u16) {
        if columns != self.columns {
            self.columns = columns;
            let (text, _) = plan_text(&self.files, &self.plan, &self.choice, columns);
            self.text = TextViewer::new(self.client.as_str(), text);
        }
    }

    /// Returns false if the key does not change the choice.
    fn choice_key(&mut self, key: KeyEvent) -> bool {
        let is_offered = self.choice.is_offered();
        match (key.code, typed_char(key)) {
            (_, Some('c')) if self.has_secrets() => {
                let candidate = &mut self.plan.candidates[self.choice.marked];
                candidate.store_secrets(!candidate.stores_secrets());
            }
            (_, Some(' ')) if is_offered => self.choice.toggle(),
            (KeyCode::Tab, _) if is_offered => self.choice.step(true),
            (KeyCode::BackTab, _) if is_offered => self.choice.step(false),
            _ => return false,
        }
        let (text, marked_at) = plan_text(&self.files, &self.plan, &self.choice, self.columns);
        self.text.replace_text(text);
        self.text.show_byte(marked_at);
        true
    }

    /// Whether the marked server has secrets that can be copied.
    fn has_secrets(&self) -> bool {
        let marked = self.plan.candidates.get(self.choice.marked);
        marked.is_some_and(|candidate| !candidate.replaced_secrets.is_empty())
    }

    fn chosen_servers(&self) -> Vec<NewServer> {
        let servers = self.plan.candidates.iter().zip(&self.choice.chosen);
        servers
            .filter(|(_, chosen)| **chosen)
            .map(|(candidate, _)| candidate.server.clone())
            .collect()
    }
}

pub fn open(cx: &mut UiContext) {
    let query = cx.next_query_id();
    cx.send(Command::FindImportSources(query));
    cx.open(ImportLayer {
        query,
        sources: None,
        list: SearchList::default(),
        opened: None,
    });
}

impl ImportLayer {
    fn matching(&self) -> Vec<&ImportSource> {
        let filter = self.list.filter().to_lowercase();
        let sources = self.sources.iter().flat_map(|sources| sources.iter());
        sources
            .filter(|source| source.client.to_lowercase().contains(filter.trim()))
            .collect()
    }

    fn open_selected(&mut self, cx: &mut UiContext) {
        let matching = self.matching();
        let Some(source) = matching.get(self.list.selected(matching.len())) else {
            return;
        };
        let plan = match &source.plan {
            Ok(plan) => plan,
            Err(problem) => {
                let notice = Notice::warning(Clean::single_line(problem).as_str());
                return cx.notify(notice);
            }
        };
        self.opened = Some(OpenedSource::new(source, plan, cx.shared));
    }

    fn opened_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let Some(opened) = &mut self.opened else {
            return Handled::PassedOn;
        };
        match cx.shared.keymap.layer_key(key, &[KeyContext::ImportText]) {
            Some(LayerKey::Back) => self.opened = None,
            Some(LayerKey::Confirm) => {
                let is_read = cx.shared.now >= opened.opened_at + READING_TIME_MIN;
                let is_repeat = key.kind == KeyEventKind::Repeat;
                let servers = opened.chosen_servers();
                if !is_read || is_repeat || servers.is_empty() {
                    return Handled::Consumed;
                }
                cx.send(Command::NewServer(NewServerCommand::Import(servers)));
                return Handled::Closed;
            }
            _ if opened.choice_key(key) => {}
            _ => return opened.text.handle_key(key, cx),
        }
        Handled::Consumed
    }
}

fn draw_source(source: &ImportSource, row: &ListRow, pen: &mut Painter) {
    let (area, dim) = (row.text_area(), pen.theme.dim);
    let client = Clean::single_line(&source.client);
    let end = area.right();
    let mut x = area.x;
    let mut put = |text: &str, style, columns: u16, pen: &mut Painter| {
        let room = end.saturating_sub(x);
        pen.put_truncated(x, area.y, text, style, columns.saturating_sub(2).min(room));
        x = x.saturating_add(columns).min(end);
    };
    put(client.as_str(), row.style, CLIENT_COLUMNS, pen);
    let (words, style) = match &source.plan {
        Ok(plan) => (plan_summary(plan), pen.theme.plain),
        Err(_) => ("cannot be read".to_owned(), pen.theme.attention),
    };
    put(&words, style, COUNT_COLUMNS, pen);
    put(&files_line(source), dim, u16::MAX, pen);
}

impl Layer for ImportLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::ImportServers)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        if self.opened.is_some() {
            return self.opened_key(key, cx);
        }
        let count = self.matching().len();
        match self.list.key(key, count, None, cx.shared.keymap) {
            ListKey::Unhandled(LayerKey::Confirm) => self.open_selected(cx),
            handled => return handled.handled(),
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        if self.opened.is_none() {
            self.list.paste(text);
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        match &mut self.opened {
            Some(opened) => opened.text.scroll(rows, shared),
            None => {
                let count = self.matching().len();
                self.list.step(rows, count);
            }
        }
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        match self
            .list
            .click(at, cx.shared.keymap)
            .filter(|_| self.opened.is_none())
        {
            Some(enter) => self.handle_key(enter, cx),
            None => Handled::Consumed,
        }
    }

    fn handle_event(&mut self, event: &Event, _: &mut UiContext) -> Handled {
        if let Event::ImportSourcesFound { query, sources } = event
            && *query == self.query
        {
            self.sources = Some(Arc::clone(sources));
            return Handled::Consumed;
        }
        Handled::PassedOn
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        if let Some(opened) = &mut self.opened {
            opened.set_columns(shared.size.0);
            return opened.text.draw(area, shared, pen);
        }
        let sources = self.sources.clone();
        let total = sources.as_ref().map_or(0, |sources| sources.len());
        let title = ListTitle {
            title: "Import MCP servers",
            total,
            empty: match sources {
                None => "Looking for servers of other clients.",
                Some(_) => {
                    "No servers of other clients were found. `humble mcp import FILE` reads a file."
                }
            },
            shows_empty_when_filtered: sources.is_none(),
        };
        let filter = self.list.filter().to_lowercase();
        let sources = sources.unwrap_or_default();
        let matching = sources
            .iter()
            .filter(|source| source.client.to_lowercase().contains(filter.trim()));
        let matching: Vec<&ImportSource> = matching.collect();
        self.list
            .draw(area.popup, &title, &matching, pen, |source, row, pen| {
                draw_source(source, row, pen);
            })
    }

    fn popup_rows(&self, _: SharedUiState) -> Option<u16> {
        if self.opened.is_some() {
            return None;
        }
        let count = self.sources.as_ref().map_or(0, |sources| sources.len());
        Some(u16::try_from(count).unwrap_or(u16::MAX).saturating_add(2))
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let keymap = shared.keymap;
        let Some(opened) = &self.opened else {
            return self
                .list
                .hints(self.matching().len(), "show servers", Vec::new(), keymap);
        };
        let hint = |key, word: &str| keymap.layer_hint(KeyContext::ImportText, key, word);
        let total = opened.plan.candidates.len();
        let effect = match opened.choice.count() {
            0 => None,
            1 if total == 1 => Some("add it, switched off".to_owned()),
            count if count == total => Some(format!("add all {count}, switched off")),
            count => Some(format!("add {count} of {total}, switched off")),
        };
        let add = effect.and_then(|effect| hint(LayerKey::Confirm, &effect));
        let is_offered = opened.choice.is_offered();
        let toggle = match opened.choice.is_marked_chosen() {
            true => "Space leave out",
            false => "Space include",
        };
        let choose = is_offered.then(|| toggle.to_owned());
        let next = is_offered.then(|| "Tab next".to_owned());
        let secrets = opened.has_secrets().then(|| {
            match opened.plan.candidates[opened.choice.marked].stores_secrets() {
                true => "c leave secrets".to_owned(),
                false => "c copy secrets".to_owned(),
            }
        });
        let scroll = match opened.text.has_more_below() {
            true => keymap.layer_hint(KeyContext::ScrollableList, LayerKey::PageDown, "read all"),
            false => keymap.scroll_hint(),
        };
        hint_list([
            add,
            choose,
            scroll,
            secrets,
            next,
            hint(LayerKey::Back, "back"),
        ])
    }
}

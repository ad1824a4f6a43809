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
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::list::ListRow;
use crate::tui::widgets::list_layer::{ListKind, ListSource};
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
struct ImportSources {
    query: QueryId,
    /// `None` until the engine has looked for clients.
    sources: Option<Arc<Vec<ImportSource>>>,
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

impl Layer for OpenedSource {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        match cx.shared.keymap.layer_key(key, &[KeyContext::ImportText]) {
            Some(LayerKey::Back) => return Handled::Closed,
            Some(LayerKey::Confirm) => {
                let is_read = cx.shared.now >= self.opened_at + READING_TIME_MIN;
                let is_repeat = key.kind == KeyEventKind::Repeat;
                let servers = self.chosen_servers();
                if !is_read || is_repeat || servers.is_empty() {
                    return Handled::Consumed;
                }
                cx.send(Command::NewServer(NewServerCommand::Import(servers)));
                cx.request(UiRequest::CloseLayer);
            }
            _ if self.choice_key(key) => {}
            _ => return self.text.handle_key(key, cx),
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        self.text.scroll(rows, shared);
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        self.set_columns(shared.size.0);
        self.text.draw(area, shared, pen)
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let keymap = shared.keymap;
        let hint = |key, word: &str| keymap.layer_hint(KeyContext::ImportText, key, word);
        let total = self.plan.candidates.len();
        let effect = match self.choice.count() {
            0 => None,
            1 if total == 1 => Some("add it, switched off".to_owned()),
            count if count == total => Some(format!("add all {count}, switched off")),
            count => Some(format!("add {count} of {total}, switched off")),
        };
        let add = effect.and_then(|effect| hint(LayerKey::Confirm, &effect));
        let is_offered = self.choice.is_offered();
        let toggle = match self.choice.is_marked_chosen() {
            true => "Space leave out",
            false => "Space include",
        };
        let choose = is_offered.then(|| toggle.to_owned());
        let next = is_offered.then(|| "Tab next".to_owned());
        let secrets = self.has_secrets().then(|| {
            match self.plan.candidates[self.choice.marked].stores_secrets() {
                true => "c leave secrets".to_owned(),
                false => "c copy secrets".to_owned(),
            }
        });
        let scroll = match self.text.has_more_below() {
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

pub fn open(cx: &mut UiContext) {
    let query = cx.next_query_id();
    cx.send(Command::FindImportSources(query));
    let sources = None;
    ImportSources { query, sources }.open(cx);
}

impl ImportSources {
    fn found(&self) -> &[ImportSource] {
        self.sources.as_ref().map_or(&[], |sources| sources)
    }
}

impl ListSource for ImportSources {
    /// The index of a client.
    type Row<'a> = usize;

    fn kind(&self) -> ListKind {
        ListKind {
            action: Some(Action::IMPORT),
            title: "Import MCP servers",
            enter: "show servers",
        }
    }

    fn rows(&self, words: &[&str], _: SharedUiState) -> Vec<usize> {
        let matches = |source: &ImportSource| {
            let client = source.client.to_lowercase();
            words.iter().all(|word| client.contains(word))
        };
        let found = self.found().iter().enumerate();
        let found = found.filter(|(_, source)| matches(source));
        found.map(|(index, _)| index).collect()
    }

    fn total(&self, _: SharedUiState) -> usize {
        self.found().len()
    }

    fn height(&self, shared: SharedUiState) -> usize {
        self.total(shared) + 1
    }

    fn empty(&self, _: SharedUiState) -> &'static str {
        match self.sources {
            None => "Looking for servers of other clients.",
            Some(_) => {
                "No servers of other clients were found. `humble mcp import FILE` reads a file."
            }
        }
    }

    fn is_loading(&self) -> bool {
        self.sources.is_none()
    }

    fn draw_row(&self, source: &usize, row: &ListRow, _: SharedUiState, pen: &mut Painter) {
        let source = &self.found()[*source];
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

    fn details(&self, source: &usize, cx: &mut UiContext) -> Option<Box<dyn Layer>> {
        let source = &self.found()[*source];
        let plan = source.plan.as_ref().ok()?;
        Some(Box::new(OpenedSource::new(source, plan, cx.shared)))
    }

    /// Shows why a source without a plan cannot be read.
    fn choose(&mut self, source: usize, cx: &mut UiContext) -> Handled {
        if let Err(problem) = &self.found()[source].plan {
            let notice = Notice::warning(Clean::single_line(problem).as_str());
            cx.notify(notice);
        }
        Handled::Consumed
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
}

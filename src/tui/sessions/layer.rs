//! State of the browser for saved conversations: list, search, preview, and the keys that act on a
//! row. `row_action` draws the question or the field that replaces a row.

use crate::domain::{IndexProgress, Notice, QueryId, SessionId, SessionSummary};
use crate::protocol::{Command, Event, SavedSessionCommand, SavedSessionEvent};
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::sessions::listing::SessionListing;
use crate::tui::sessions::preview::PreviewPane;
use crate::tui::sessions::row_action::{RowAction, shown_title};
use crate::tui::sessions::view;
use crate::tui::widgets::list::{ListKey, SearchList};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;
use std::sync::Arc;
use std::time::Duration;

/// Minimum interval between requests for the list while sessions are being indexed.
const REFRESH_INTERVAL_MIN: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub struct SessionsLayer {
    pub(super) list: SearchList,
    pub(super) listing: SessionListing,
    list_query: Option<QueryId>,
    requested_at: Duration,
    search_query: Option<QueryId>,
    preview_query: Option<QueryId>,
    /// The session and the terms of the preview that is shown or requested.
    previewed: Option<(SessionId, Vec<String>)>,
    pub(super) preview: Option<PreviewPane>,
    pub(super) row_action: Option<RowAction>,
    /// The session to select once it is listed, such as a new copy.
    pending_selection: Option<SessionId>,
    pub(super) progress: IndexProgress,
    /// Whether a session was deleted while the browser was open.
    can_undo: bool,
}

/// What the filter takes.
const FILTER_FORMS: &[&str] = &[
    "words, model:NAME, after:2026-11-01, before:\"last month\"",
    "words, model:NAME, after:2026-11-01, before:7d",
    "words, model:NAME, after:DAY",
    "words, after:DAY",
];

/// Opens the browser. `words` are searched for at once.
pub fn open(words: &str, cx: &mut UiContext) {
    let mut layer = SessionsLayer::default();
    layer.list.set_placeholder(FILTER_FORMS);
    layer.refresh(cx);
    if !words.is_empty() {
        layer.paste(words, cx);
    }
    cx.open(layer);
}

impl SessionsLayer {
    pub(super) fn selected(&self) -> Option<&SessionSummary> {
        self.listing.get(self.list.selected(self.listing.len()))
    }

    fn selected_readable(&self) -> Option<&SessionSummary> {
        self.selected().filter(|hit| hit.open_error.is_none())
    }

    fn refresh(&mut self, cx: &mut UiContext) {
        let query = cx.next_query_id();
        self.list_query = Some(query);
        self.requested_at = cx.shared.now;
        cx.send(Command::ListSessions(query));
    }

    /// Lists the sessions that match the filter, and asks the engine to search all texts.
    fn search(&mut self, cx: &mut UiContext) {
        self.listing.search(&self.list.filter());
        self.request_text_search(cx);
        self.request_preview(cx);
    }

    fn request_text_search(&mut self, cx: &mut UiContext) {
        self.search_query = None;
        if let Some(words) = self.listing.words() {
            let query = cx.next_query_id();
            self.search_query = Some(query);
            cx.send(Command::SavedSession(SavedSessionCommand::Search {
                query,
                words,
            }));
        }
    }

    fn request_preview(&mut self, cx: &mut UiContext) {
        let selected = self.selected_readable().map(|hit| hit.id.clone());
        let wanted = selected.map(|id| (id, self.listing.terms().to_vec()));
        if self.previewed == wanted {
            return;
        }
        self.previewed = wanted.clone();
        self.preview = None;
        self.preview_query = wanted.map(|(session, terms)| {
            let query = cx.next_query_id();
            cx.send(Command::PreviewSession {
                query,
                session,
                terms,
            });
            query
        });
    }

    fn resume(&mut self, cx: &mut UiContext) -> Handled {
        let Some(hit) = self.selected_readable() else {
            self.explain_broken(cx);
            return Handled::Consumed;
        };
        if let Some(text) = self.listing.text_found_in(&hit.id) {
            let find = UiRequest::FindWhenOpened(hit.id.clone(), text.to_owned());
            cx.request(find);
        }
        cx.send(Command::OpenSession(hit.id.clone()));
        Handled::Closed
    }

    /// Shows why the selected session cannot be opened. The preview shows this too, but is missing
    /// on small screens.
    fn explain_broken(&self, cx: &mut UiContext) {
        let selected = self.selected();
        let broken = selected.and_then(|hit| Some((hit, hit.open_error.as_deref()?)));
        if let Some((hit, reason)) = broken {
            let name = shown_title(hit);
            let notice = Notice::warning(format!("{} is broken: {reason}", name.as_str()));
            cx.notify(notice.with_advice("It can only be deleted, or repaired in a text editor."));
        }
    }

    fn act_on_row(&mut self, key: LayerKey, cx: &mut UiContext) {
        let needs_file = matches!(key, LayerKey::Rename | LayerKey::Export | LayerKey::Fork);
        if needs_file && self.selected_readable().is_none() {
            return self.explain_broken(cx);
        }
        let send = |command, cx: &mut UiContext| cx.send(Command::SavedSession(command));
        match key {
            LayerKey::UndoDelete => send(SavedSessionCommand::UndoDelete, cx),
            LayerKey::Delete => {
                self.row_action = self.selected().map(RowAction::delete);
            }
            LayerKey::Rename => {
                self.row_action = self.selected_readable().map(RowAction::rename);
            }
            LayerKey::Export => {
                self.row_action = self.selected_readable().map(RowAction::export);
            }
            LayerKey::Fork => {
                if let Some(hit) = self.selected_readable() {
                    send(SavedSessionCommand::Copy(hit.id.clone()), cx);
                }
            }
            _ => {}
        }
    }

    fn set_sessions(&mut self, sessions: &Arc<Vec<SessionSummary>>, listed_at: jiff::Timestamp) {
        let selected = self.selected().map(|hit| hit.id.clone());
        let pending = self.pending_selection.take();
        self.listing.set_sessions(Arc::clone(sessions), listed_at);
        let is_listed = |action: &mut RowAction| self.listing.row_of(action.session()).is_some();
        self.row_action.take_if(|action| !is_listed(action));
        let row = |id: Option<SessionId>| self.listing.row_of(&id?);
        // Until the user moves the selection, the first row stays selected.
        let is_first = self.list.selected(usize::MAX) == 0;
        let moved = row(pending).or_else(|| row(selected.filter(|_| !is_first)));
        if let Some(row) = moved {
            self.list.select(row);
        }
    }

    fn handle_saved_session_event(&mut self, event: &SavedSessionEvent, cx: &mut UiContext) {
        match event {
            SavedSessionEvent::Found {
                query,
                sessions,
                terms,
            } if self.search_query == Some(*query) => {
                let selected = self.selected().map(|hit| hit.id.clone());
                self.listing.set_found(Arc::clone(sessions), terms.clone());
                // Rows that appear above must not move the selection, unless the first row is selected.
                let is_first = self.list.selected(usize::MAX) == 0;
                let row = selected.and_then(|id| self.listing.row_of(&id));
                if let Some(row) = row.filter(|_| !is_first) {
                    self.list.select(row);
                }
                self.request_preview(cx);
            }
            SavedSessionEvent::Indexed(progress) => {
                let has_grown = progress.indexed > self.progress.indexed;
                self.progress = progress.clone();
                let is_due =
                    cx.shared.now.saturating_sub(self.requested_at) >= REFRESH_INTERVAL_MIN;
                if has_grown && (progress.is_complete() || is_due) {
                    self.refresh(cx);
                }
                if has_grown {
                    self.request_text_search(cx);
                }
            }
            SavedSessionEvent::Copied { session, .. }
            | SavedSessionEvent::Restored { session, .. } => {
                self.pending_selection = Some(session.clone());
                self.refresh(cx);
            }
            SavedSessionEvent::Renamed { .. } => self.refresh(cx),
            _ => {}
        }
    }
}

impl Layer for SessionsLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::SESSIONS)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        if let Some(action) = &mut self.row_action {
            if action.handle_key(key, cx) == Handled::Closed {
                self.row_action = None;
            }
            return Handled::Consumed;
        }
        let count = self.listing.len();
        match self
            .list
            .key(key, count, Some(KeyContext::Sessions), cx.shared.keymap)
        {
            handled @ (ListKey::Closed | ListKey::Unknown) => return handled.handled(),
            ListKey::Unhandled(LayerKey::Confirm) => return self.resume(cx),
            ListKey::Unhandled(key) => self.act_on_row(key, cx),
            ListKey::Searched => self.search(cx),
            ListKey::Moved => self.request_preview(cx),
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, cx: &mut UiContext) -> Handled {
        match &mut self.row_action {
            Some(action) => action.paste(text),
            None => {
                self.list.paste(text);
                self.search(cx);
            }
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        self.row_action = None;
        let count = self.listing.len();
        self.list.step(rows, count);
    }

    fn load_selected(&mut self, cx: &mut UiContext) {
        self.request_preview(cx);
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        self.row_action = None;
        match self.list.click(at, cx.shared.keymap) {
            Some(enter) => self.handle_key(enter, cx),
            None => {
                self.request_preview(cx);
                Handled::Consumed
            }
        }
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        if let Some(action) = &mut self.row_action
            && action.handle_event(event) == Handled::Closed
        {
            self.row_action = None;
        }
        match event {
            Event::SessionsListed {
                query,
                listed_at,
                sessions,
            } if self.list_query == Some(*query) => {
                self.set_sessions(sessions, *listed_at);
                self.request_preview(cx);
            }
            Event::SessionPreviewed { query, preview } if self.preview_query == Some(*query) => {
                let terms = self.listing.terms().to_vec();
                self.preview = Some(PreviewPane::new(Arc::clone(preview), terms));
            }
            Event::SavedSession(event) => self.handle_saved_session_event(event, cx),
            Event::SessionDeleted { .. } => {
                self.can_undo = true;
                self.refresh(cx);
            }
            Event::SessionSaved(_) => self.refresh(cx),
            _ => {}
        }
        Handled::PassedOn
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
        if let Some(action) = &self.row_action {
            return action.hints(shared.keymap);
        }
        view::hints(self, self.can_undo, shared.keymap)
    }

    fn shows_empty_list(&self) -> bool {
        !self.listing.is_loading() && self.listing.total() == 0
    }
}

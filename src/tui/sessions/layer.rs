//! State of the browser for saved conversations: list, search, preview, and deletion after
//! a confirmation.

use crate::domain::{QueryId, SessionId, SessionSummary};
use crate::protocol::{Command, Event};
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, layers};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::sessions::preview::SessionPreview;
use crate::tui::sessions::view;
use crate::tui::widgets::list::{ListKey, SearchList};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use jiff::Timestamp;
use ratatui::layout::Position;
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct SessionsLayer {
    pub(super) list: SearchList,
    query: Option<QueryId>,
    /// None until the engine has answered.
    pub(super) sessions: Option<Arc<Vec<SessionSummary>>>,
    /// When the list was made. Dates are relative to it.
    pub(super) listed_at: Timestamp,
    preview_query: Option<QueryId>,
    pub(super) preview: Option<SessionPreview>,
    /// The session whose deletion awaits confirmation.
    pub(super) delete_confirmation: Option<SessionId>,
}

pub fn open(cx: &mut UiContext) {
    let mut layer = SessionsLayer::default();
    layer.refresh(cx);
    cx.open(layer);
}

/// The sessions whose title contains the filter.
pub(super) fn matching_sessions<'a>(
    sessions: Option<&'a Vec<SessionSummary>>,
    filter: &str,
) -> Vec<&'a SessionSummary> {
    let wanted = filter.trim().to_lowercase();
    let sessions = sessions.into_iter().flatten();
    sessions
        .filter(|session| session.title.to_lowercase().contains(&wanted))
        .collect()
}

impl SessionsLayer {
    /// The sessions that match the filter.
    fn matches(&self) -> Vec<&SessionSummary> {
        matching_sessions(self.sessions.as_deref(), &self.list.filter())
    }

    fn selected(&self) -> Option<&SessionSummary> {
        let hits = self.matches();
        hits.get(self.list.selected(hits.len())).copied()
    }

    fn refresh(&mut self, cx: &mut UiContext) {
        let query = cx.next_query_id();
        self.query = Some(query);
        cx.send(Command::ListSessions(query));
    }

    /// Requests the preview of the selected session.
    fn ask_for_preview(&mut self, cx: &mut UiContext) {
        let selected = self.selected().filter(|hit| hit.open_error.is_none());
        let Some(session) = selected.map(|hit| hit.id.clone()) else {
            self.preview = None;
            self.preview_query = None;
            return;
        };
        let shown = self.preview.as_ref().and_then(SessionPreview::id);
        if shown != Some(&session) {
            let query = cx.next_query_id();
            self.preview = None;
            self.preview_query = Some(query);
            cx.send(Command::PreviewSession { query, session });
        }
    }

    fn resume(&mut self, cx: &mut UiContext) -> Handled {
        let Some(hit) = self.selected().filter(|hit| hit.open_error.is_none()) else {
            return Handled::Consumed;
        };
        cx.request(UiRequest::ReturnQueue);
        cx.send(Command::OpenSession(hit.id.clone()));
        Handled::Closed
    }
}

impl Layer for SessionsLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::Sessions)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        if let Some(id) = self.delete_confirmation.take() {
            if layers::find_key(key, &[KeyContext::DeleteConfirmation]) == Some(LayerKey::Yes) {
                cx.send(Command::DeleteSession(id));
            }
            return Handled::Consumed;
        }
        let count = self.matches().len();
        match self.list.key(key, count, Some(KeyContext::Sessions)) {
            handled @ (ListKey::Closed | ListKey::Unknown) => return handled.handled(),
            ListKey::Unhandled(LayerKey::Confirm) => return self.resume(cx),
            ListKey::Unhandled(LayerKey::Delete) => {
                self.delete_confirmation = self.selected().map(|hit| hit.id.clone());
            }
            _ => self.ask_for_preview(cx),
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, cx: &mut UiContext) -> Handled {
        self.delete_confirmation = None;
        self.list.paste(text);
        self.ask_for_preview(cx);
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        self.delete_confirmation = None;
        let count = self.matches().len();
        self.list.step(rows, count);
    }

    fn load_selected(&mut self, cx: &mut UiContext) {
        self.ask_for_preview(cx);
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        self.delete_confirmation = None;
        match self.list.click(at) {
            Some(enter) => self.handle_key(enter, cx),
            None => {
                self.ask_for_preview(cx);
                Handled::Consumed
            }
        }
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        match event {
            Event::SessionsListed {
                query,
                listed_at,
                sessions,
            } if self.query == Some(*query) => {
                self.sessions = Some(Arc::clone(sessions));
                self.listed_at = *listed_at;
                self.ask_for_preview(cx);
            }
            Event::SessionPreviewed { query, session } if self.preview_query == Some(*query) => {
                self.preview = Some(SessionPreview::new(Arc::clone(session)));
            }
            Event::SessionDeleted(_) => self.refresh(cx),
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
        view::draw(self, area.body, shared.markdown_glyphs, pen)
    }

    fn hints(&self, _: SharedUiState) -> Vec<String> {
        if self.delete_confirmation.is_some() {
            let delete = layers::hint(KeyContext::DeleteConfirmation, LayerKey::Yes, "delete");
            return vec![delete, "n keep".to_owned()];
        }
        let delete = layers::hint(KeyContext::Sessions, LayerKey::Delete, "delete");
        self.list
            .hints(self.matches().len(), "resume", vec![delete])
    }

    fn shows_empty_list(&self) -> bool {
        self.sessions.as_ref().is_some_and(|all| all.is_empty())
    }
}

//! State of the browser for saved conversations: list, search, preview, and deletion after
//! a confirmation.

use crate::domain::{QueryId, Session, SessionId, SessionSummary};
use crate::protocol::{Command, Event};
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, layers};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::sessions::view;
use crate::tui::widgets::list::{ListKey, SearchList};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct SessionsLayer {
    pub(super) list: SearchList,
    query: Option<QueryId>,
    /// None until the engine has answered.
    pub(super) sessions: Option<Arc<Vec<SessionSummary>>>,
    preview_query: Option<QueryId>,
    pub(super) preview: Option<Arc<Session>>,
    /// The session whose deletion awaits confirmation.
    pub(super) delete_confirmation: Option<SessionId>,
}

pub fn open(cx: &mut UiContext) {
    let mut layer = SessionsLayer::default();
    layer.refresh(cx);
    cx.open(layer);
}

impl SessionsLayer {
    /// The sessions that match the filter.
    pub(super) fn matches(&self) -> Vec<&SessionSummary> {
        let wanted = self.list.filter().to_lowercase();
        self.sessions
            .iter()
            .flat_map(|all| all.iter())
            .filter(|session| session.title.to_lowercase().contains(wanted.trim()))
            .collect()
    }

    pub(super) fn selected(&self) -> Option<&SessionSummary> {
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
        let shown = self
            .preview
            .as_ref()
            .and_then(|preview| preview.id.as_ref());
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
        match self.list.key(key, count, KeyContext::Sessions) {
            ListKey::Closed => return Handled::Closed,
            ListKey::Unhandled(LayerKey::Confirm) => return self.resume(cx),
            ListKey::Unhandled(LayerKey::Delete) => {
                self.delete_confirmation = self.selected().map(|hit| hit.id.clone());
            }
            _ => self.ask_for_preview(cx),
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        self.list.paste(text);
        Handled::Consumed
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        match event {
            Event::SessionsListed { query, sessions } if self.query == Some(*query) => {
                self.sessions = Some(Arc::clone(sessions));
                self.ask_for_preview(cx);
            }
            Event::SessionPreviewed { query, session } if self.preview_query == Some(*query) => {
                self.preview = Some(Arc::clone(session));
            }
            Event::SessionDeleted(_) => self.refresh(cx),
            _ => {}
        }
        Handled::PassedOn
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        view::draw(self, area.body, pen)
    }

    fn hints(&self, _: SharedUiState) -> Vec<String> {
        let hint = |key, word| layers::hint(KeyContext::SearchList, key, word);
        let resume = hint(LayerKey::Confirm, "resume");
        if self.delete_confirmation.is_some() {
            let delete = layers::hint(KeyContext::DeleteConfirmation, LayerKey::Yes, "delete");
            return vec![delete, "n keep".to_owned()];
        }
        if !self.list.has_row_focus() {
            let [list, close] = [
                hint(LayerKey::Switch, "list"),
                hint(LayerKey::Back, "close"),
            ];
            return vec![resume, list, close];
        }
        vec![
            resume,
            layers::hint(KeyContext::Sessions, LayerKey::Delete, "delete"),
            hint(LayerKey::Switch, "search"),
            hint(LayerKey::Back, "back"),
        ]
    }

    fn shows_empty_list(&self) -> bool {
        self.sessions.as_ref().is_some_and(|all| all.is_empty())
    }
}

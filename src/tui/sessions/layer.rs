//! State of the browser for saved conversations: list, search, preview, and deletion after
//! a confirmation.

use crate::domain::{QueryId, Session, SessionId, SessionSummary};
use crate::protocol::{Command, Event};
use crate::tui::keymap::layers::{LayerKey, Place};
use crate::tui::keymap::{Action, layers};
use crate::tui::layer::{Cx, Handled, Layer, LayerArea, Request, Shared};
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
    pub(super) all: Option<Arc<Vec<SessionSummary>>>,
    preview_query: Option<QueryId>,
    pub(super) preview: Option<Arc<Session>>,
    /// The session whose deletion awaits confirmation.
    pub(super) deleting: Option<SessionId>,
}

pub fn open(cx: &mut Cx) {
    let mut layer = SessionsLayer::default();
    layer.refresh(cx);
    cx.open(layer);
}

impl SessionsLayer {
    /// The sessions that match the filter.
    pub(super) fn hits(&self) -> Vec<&SessionSummary> {
        let wanted = self.list.filter().to_lowercase();
        self.all
            .iter()
            .flat_map(|all| all.iter())
            .filter(|session| session.title.to_lowercase().contains(wanted.trim()))
            .collect()
    }

    pub(super) fn selected(&self) -> Option<&SessionSummary> {
        let hits = self.hits();
        hits.get(self.list.selected(hits.len())).copied()
    }

    fn refresh(&mut self, cx: &mut Cx) {
        let query = cx.query();
        self.query = Some(query);
        cx.send(Command::ListSessions(query));
    }

    /// Requests the preview of the selected session.
    fn ask_for_preview(&mut self, cx: &mut Cx) {
        let selected = self.selected().filter(|hit| hit.broken.is_none());
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
            let query = cx.query();
            self.preview = None;
            self.preview_query = Some(query);
            cx.send(Command::PreviewSession { query, session });
        }
    }

    fn resume(&mut self, cx: &mut Cx) -> Handled {
        let Some(hit) = self.selected().filter(|hit| hit.broken.is_none()) else {
            return Handled::Consumed;
        };
        cx.ask(Request::HoldQueue);
        cx.send(Command::OpenSession(hit.id.clone()));
        Handled::Closed
    }
}

impl Layer for SessionsLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::Sessions)
    }

    fn key(&mut self, key: KeyEvent, cx: &mut Cx) -> Handled {
        if let Some(id) = self.deleting.take() {
            if layers::find(key, &[Place::Deleting]) == Some(LayerKey::Yes) {
                cx.send(Command::DeleteSession(id));
            }
            return Handled::Consumed;
        }
        let count = self.hits().len();
        match self.list.key(key, count, Place::Sessions) {
            ListKey::Close => return Handled::Closed,
            ListKey::Key(LayerKey::Take) => return self.resume(cx),
            ListKey::Key(LayerKey::Delete) => {
                self.deleting = self.selected().map(|hit| hit.id.clone());
            }
            _ => self.ask_for_preview(cx),
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, _: &mut Cx) -> Handled {
        self.list.paste(text);
        Handled::Consumed
    }

    fn event(&mut self, event: &Event, cx: &mut Cx) -> Handled {
        match event {
            Event::SessionsListed { query, sessions } if self.query == Some(*query) => {
                self.all = Some(Arc::clone(sessions));
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

    fn draw(&mut self, area: LayerArea, _: Shared, pen: &mut Painter) -> Option<Position> {
        view::draw(self, area.body, pen)
    }

    fn hints(&self, _: Shared) -> Vec<String> {
        let hint = |key, word| layers::hint(Place::Searched, key, word);
        let resume = hint(LayerKey::Take, "resume");
        if self.deleting.is_some() {
            let delete = layers::hint(Place::Deleting, LayerKey::Yes, "delete");
            return vec![delete, "n keep".to_owned()];
        }
        if !self.list.is_in_rows() {
            let [list, close] = [
                hint(LayerKey::Switch, "list"),
                hint(LayerKey::Back, "close"),
            ];
            return vec![resume, list, close];
        }
        vec![
            resume,
            layers::hint(Place::Sessions, LayerKey::Delete, "delete"),
            hint(LayerKey::Switch, "search"),
            hint(LayerKey::Back, "back"),
        ]
    }

    fn is_empty(&self) -> bool {
        self.all.as_ref().is_some_and(|all| all.is_empty())
    }
}

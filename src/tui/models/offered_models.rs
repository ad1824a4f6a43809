//! The models of the server that the form names: listed in the background, offered in the
//! Model field. Editing the server drops them and stops a running request.

use crate::domain::{ModelList, NewModelServer, NewServerError, NewServerField, QueryId};
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::layer::UiContext;
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct OfferedModels {
    /// The server that was asked last.
    server: Option<NewModelServer>,
    state: ListingState,
    /// The selected name among the matches; `None` means the first one of an empty field, or
    /// the text that the user typed.
    selected: Option<usize>,
}

#[derive(Debug, Default)]
pub enum ListingState {
    #[default]
    NotAsked,
    Loading(QueryId),
    Listed(Arc<ModelList>),
    Failed(NewServerError),
}

impl OfferedModels {
    pub fn state(&self) -> &ListingState {
        &self.state
    }

    pub fn error(&self, field: NewServerField) -> Option<&NewServerError> {
        match &self.state {
            ListingState::Failed(error) if error.field == field => Some(error),
            _ => None,
        }
    }

    /// Requests the server's models unless it was the last one asked.
    pub fn request(&mut self, server: NewModelServer, cx: &mut UiContext) {
        if self.server.as_ref() == Some(&server) {
            return;
        }
        let query = cx.next_query_id();
        self.server = Some(server.clone());
        self.state = ListingState::Loading(query);
        self.selected = None;
        cx.send(Command::ListServerModels { query, server });
    }

    /// Like [`Self::request`], but asks again after a failure: the server may be running by now.
    pub fn request_again(&mut self, server: NewModelServer, cx: &mut UiContext) {
        if matches!(self.state, ListingState::Failed(_)) {
            self.server = None;
        }
        self.request(server, cx);
    }

    /// Drops the models, because the server was edited or the form closes.
    pub fn reset(&mut self, cx: &mut UiContext) {
        if matches!(self.state, ListingState::Loading(_)) {
            cx.send(Command::StopListingServer);
        }
        *self = Self::default();
    }

    /// Stores the reply to the last request. Returns false for an outdated one.
    pub fn store(
        &mut self,
        query: QueryId,
        result: &Result<Arc<ModelList>, NewServerError>,
    ) -> bool {
        let is_current = matches!(self.state, ListingState::Loading(last) if last == query);
        if is_current {
            self.state = match result {
                Ok(list) => ListingState::Listed(Arc::clone(list)),
                Err(error) => ListingState::Failed(error.clone()),
            };
        }
        is_current
    }

    /// The names that contain `typed`. Empty once only the typed name itself is left.
    pub fn matches(&self, typed: &str) -> Vec<&str> {
        let ListingState::Listed(list) = &self.state else {
            return Vec::new();
        };
        let wanted = typed.trim().to_lowercase();
        let models = list.models.iter().filter(|model| model.can_chat());
        let names: Vec<&str> = models
            .map(|model| model.name.as_str())
            .filter(|name| is_displayable(name) && name.to_lowercase().contains(&wanted))
            .collect();
        match names[..] {
            [only] if only == typed.trim() => Vec::new(),
            _ => names,
        }
    }

    /// The index of the selected name in [`Self::matches`]. An empty field preselects the first.
    pub fn selected(&self, typed: &str) -> Option<usize> {
        let last = self.matches(typed).len().checked_sub(1)?;
        let preselected = typed.trim().is_empty().then_some(0);
        self.selected.or(preselected).map(|at| at.min(last))
    }

    pub fn selected_name(&self, typed: &str) -> Option<&str> {
        self.selected(typed).map(|at| self.matches(typed)[at])
    }

    /// Moves the selection down. At the end, clears it and returns false.
    pub fn select_next(&mut self, typed: &str) -> bool {
        let next = self.selected(typed).map_or(0, |at| at + 1);
        let has_next = next < self.matches(typed).len();
        self.selected = has_next.then_some(next);
        has_next
    }

    /// Moves the selection up. At the start, clears it and returns false.
    pub fn select_previous(&mut self, typed: &str) -> bool {
        let at = self.selected(typed).filter(|at| *at > 0);
        self.selected = at.map(|at| at - 1);
        at.is_some()
    }

    pub fn clear_selection(&mut self) {
        self.selected = None;
    }
}

/// Whether the screen shows the name exactly as it is. Any other name could imitate another model,
/// so it is not offered.
fn is_displayable(name: &str) -> bool {
    Clean::single_line(name).as_str() == name
}

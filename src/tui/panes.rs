//! Pane visibility and keyboard focus.

use ratatui::layout::Rect;

/// A pane's area with and without its heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pane {
    pub outer: Rect,
    pub inner: Rect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Focus {
    #[default]
    Message,
    Chat,
    Servers,
    Thinking,
}

#[derive(Debug)]
pub struct PaneState {
    pub focus: Focus,
    pub shows_servers: bool,
    /// The user opened the servers, so they are shown even if they take only one row.
    pub wants_servers: bool,
    pub shows_thinking: bool,
    /// The pane that was opened over the chat because the screen is too small for a sidebar.
    pub over_chat: Option<Focus>,
}

impl PaneState {
    pub fn new(is_sidebar_open: bool) -> Self {
        Self {
            focus: Focus::default(),
            shows_servers: is_sidebar_open,
            wants_servers: false,
            shows_thinking: is_sidebar_open,
            over_chat: None,
        }
    }
}

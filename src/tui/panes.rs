//! Which panes are shown, and which one the keys go to.

use ratatui::layout::Rect;

/// Where a pane is drawn: with its frame, and inside it.
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
    pub show_servers: bool,
    pub show_thinking: bool,
    /// The pane that was brought over the chat, where there is no room beside it.
    pub over_chat: Option<Focus>,
}

impl Default for PaneState {
    fn default() -> Self {
        Self {
            focus: Focus::default(),
            show_servers: true,
            show_thinking: true,
            over_chat: None,
        }
    }
}

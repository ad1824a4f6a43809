//! The section `ui` of `config.json`.

/// The appearance of the screen and the keyboard protocol. Read at startup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UiSettings {
    /// Use ASCII instead of Unicode glyphs.
    pub is_ascii: bool,
    /// Ask the terminal to report keys unambiguously.
    pub uses_keyboard_protocol: bool,
    /// The sidebar is open if the screen is wide enough.
    pub is_sidebar_open: bool,
    /// Print the chat line by line instead of drawing a screen.
    pub is_linear: bool,
}

impl Default for UiSettings {
    fn default() -> Self {
        Self {
            is_ascii: false,
            uses_keyboard_protocol: true,
            is_sidebar_open: true,
            is_linear: false,
        }
    }
}

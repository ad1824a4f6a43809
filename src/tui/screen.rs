//! Properties of the terminal: size, colors and available glyphs.

use crate::text::markdown::MarkdownGlyphs;
use crate::tui::TuiOptions;
use crate::tui::theme::{Glyphs, TerminalBackground, Theme};

#[derive(Debug)]
pub struct ScreenState {
    /// Columns and rows.
    pub size: (u16, u16),
    pub theme: Theme,
    pub glyphs: Glyphs,
    no_color: bool,
    pub has_focus: bool,
    /// Whether the mouse is captured instead of left to the terminal's own selection.
    pub captures_mouse: bool,
}

impl ScreenState {
    pub fn new(options: &TuiOptions, size: (u16, u16)) -> Self {
        Self {
            size,
            theme: Theme::new(TerminalBackground::default(), options.no_color),
            glyphs: Glyphs::new(options.ascii),
            no_color: options.no_color,
            has_focus: true,
            captures_mouse: true,
        }
    }

    pub fn set_background(&mut self, background: TerminalBackground) {
        self.theme = Theme::new(background, self.no_color);
    }

    pub fn markdown_glyphs(&self) -> MarkdownGlyphs {
        MarkdownGlyphs::new(self.glyphs.ascii, !self.no_color)
    }
}

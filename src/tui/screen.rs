//! Properties of the terminal: size, colors and available glyphs.

use crate::text::markdown::MarkdownGlyphs;
use crate::tui::Options;
use crate::tui::theme::{Background, Glyphs, Theme};

#[derive(Debug)]
pub struct Screen {
    pub size: (u16, u16),
    pub theme: Theme,
    pub glyphs: Glyphs,
    no_color: bool,
    pub has_focus: bool,
    /// Capture the mouse instead of leaving it to the terminal's own selection.
    pub takes_mouse: bool,
}

impl Screen {
    pub fn new(options: &Options, size: (u16, u16)) -> Self {
        Self {
            size,
            theme: Theme::new(Background::default(), options.no_color),
            glyphs: Glyphs::new(options.ascii),
            no_color: options.no_color,
            has_focus: true,
            takes_mouse: true,
        }
    }

    pub fn set_background(&mut self, background: Background) {
        self.theme = Theme::new(background, self.no_color);
    }

    pub fn marks(&self) -> MarkdownGlyphs {
        MarkdownGlyphs::new(self.glyphs.ascii, !self.no_color)
    }
}

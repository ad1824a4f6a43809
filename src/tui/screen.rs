//! Properties of the terminal: size, colors and available glyphs.

use crate::domain::theme::{ThemeChoice, ThemeSettings};
use crate::text::markdown::MarkdownGlyphs;
use crate::tui::TuiOptions;
use crate::tui::theme::{ColorAbilities, Glyphs, TerminalBackground, Theme};
use std::sync::Arc;

#[derive(Debug)]
pub struct ScreenState {
    /// Columns and rows.
    pub size: (u16, u16),
    /// Follows from the fields below.
    pub theme: Theme,
    pub themes: Arc<ThemeSettings>,
    /// Shown instead of the chosen theme while the user looks at the list.
    previewed: Option<ThemeChoice>,
    background: TerminalBackground,
    colors: ColorAbilities,
    pub glyphs: Glyphs,
    pub has_focus: bool,
    /// Whether the mouse is captured instead of left to the terminal's own selection.
    pub captures_mouse: bool,
}

impl ScreenState {
    pub fn new(options: &TuiOptions, size: (u16, u16)) -> Self {
        let colors = ColorAbilities {
            no_color: options.no_color,
            has_true_color: options.has_true_color,
        };
        let themes = Arc::clone(&options.themes);
        let background = TerminalBackground::default();
        Self {
            size,
            theme: Theme::chosen(&themes, &themes.choice, background, colors),
            themes,
            previewed: None,
            background,
            colors,
            glyphs: Glyphs::new(options.ascii),
            has_focus: true,
            captures_mouse: true,
        }
    }

    pub fn set_background(&mut self, background: TerminalBackground) {
        self.background = background;
        self.update_theme();
    }

    pub fn set_themes(&mut self, themes: Arc<ThemeSettings>) {
        self.themes = themes;
        self.update_theme();
    }

    pub fn choose_theme(&mut self, choice: ThemeChoice) {
        Arc::make_mut(&mut self.themes).choice = choice;
        self.update_theme();
    }

    pub fn preview_theme(&mut self, choice: Option<ThemeChoice>) {
        if self.previewed != choice {
            self.previewed = choice;
            self.update_theme();
        }
    }

    /// Whether the theme follows the terminal's background while the program runs.
    pub fn follows_background(&self) -> bool {
        self.themes.choice == ThemeChoice::Auto && !self.colors.no_color
    }

    fn update_theme(&mut self) {
        let choice = self.previewed.as_ref().unwrap_or(&self.themes.choice);
        self.theme = Theme::chosen(&self.themes, choice, self.background, self.colors);
    }

    pub fn markdown_glyphs(&self) -> MarkdownGlyphs {
        MarkdownGlyphs::new(self.glyphs.ascii, !self.colors.no_color)
    }
}

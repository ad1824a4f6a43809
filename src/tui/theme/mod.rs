//! Styles and glyphs by role. Color is never the only cue: each role also has a glyph
//! or a word.

mod colors;

use crate::domain::theme::{ThemeBase, ThemeChoice, ThemeRole, ThemeSettings};
use crate::text::highlight::Token;
use crate::text::markdown::{StyleRole, TextStyle};
use colors::ThemeColors;
use ratatui::style::{Color, Modifier, Style};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TerminalBackground {
    #[default]
    Dark,
    Light,
}

/// Which colors may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ColorAbilities {
    /// `NO_COLOR` is set.
    pub no_color: bool,
    /// The terminal promises 16 million colors.
    pub has_true_color: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theme {
    pub plain: Style,
    pub bold: Style,
    pub dim: Style,
    pub accent: Style,
    pub success: Style,
    pub failure: Style,
    /// For calls and questions that wait for the user, and for warnings.
    pub attention: Style,
    /// For calls that were refused, cancelled or not run.
    pub refused: Style,
    pub selection: Style,
    /// Words that a search found. Added to the style of the text.
    pub search_match: Style,
    number: Style,
    function: Style,
}

impl Theme {
    /// Uses only the 16 ANSI colors, so that the terminal's own palette applies.
    pub fn new(background: TerminalBackground, no_color: bool) -> Self {
        let color = |dark: Color, light: Color| {
            let style = Style::new();
            match (no_color, background) {
                (true, _) => style,
                (false, TerminalBackground::Dark) => style.fg(dark),
                (false, TerminalBackground::Light) => style.fg(light),
            }
        };
        Self {
            plain: Style::new(),
            bold: Style::new().add_modifier(Modifier::BOLD),
            dim: Style::new().add_modifier(Modifier::DIM),
            accent: color(Color::Cyan, Color::Blue),
            success: color(Color::Green, Color::Green),
            failure: color(Color::Red, Color::Red),
            attention: color(Color::Magenta, Color::Magenta),
            refused: color(Color::Yellow, Color::Red),
            selection: Style::new().add_modifier(Modifier::REVERSED),
            search_match: color(Color::Cyan, Color::Blue)
                .add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            number: color(Color::Yellow, Color::Red),
            function: color(Color::LightBlue, Color::Blue),
        }
    }

    /// Uses fixed colors on the terminal's own background.
    fn with_colors(colors: ThemeColors<'_>) -> Self {
        let color = |role| Style::new().fg(colors.color(role));
        let text = color(ThemeRole::Text);
        Self {
            plain: text,
            bold: text.add_modifier(Modifier::BOLD),
            dim: color(ThemeRole::Dim),
            accent: color(ThemeRole::Accent),
            success: color(ThemeRole::Success),
            failure: color(ThemeRole::Failure),
            attention: color(ThemeRole::Attention),
            refused: color(ThemeRole::Refused),
            selection: Style::new().add_modifier(Modifier::REVERSED),
            search_match: color(ThemeRole::Search)
                .add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            number: color(ThemeRole::Number),
            function: color(ThemeRole::Function),
        }
    }

    /// The theme that the user chose. `NO_COLOR` overrides every choice.
    pub fn chosen(
        settings: &ThemeSettings,
        choice: &ThemeChoice,
        background: TerminalBackground,
        abilities: ColorAbilities,
    ) -> Self {
        let fixed = |base| {
            Self::with_colors(ThemeColors {
                base,
                file: None,
                has_true_color: abilities.has_true_color,
            })
        };
        let file = match choice {
            ThemeChoice::File(name) => settings.file(name),
            _ => None,
        };
        match (choice, background) {
            _ if abilities.no_color => Self::new(background, true),
            (ThemeChoice::Terminal, _) => Self::new(background, false),
            (ThemeChoice::Dark, _) | (ThemeChoice::Auto, TerminalBackground::Dark) => {
                fixed(ThemeBase::Dark)
            }
            (ThemeChoice::Light, _) | (ThemeChoice::Auto, TerminalBackground::Light) => {
                fixed(ThemeBase::Light)
            }
            (ThemeChoice::File(_), _) => match file {
                Some(file) => Self::with_colors(ThemeColors {
                    base: file.base,
                    file: Some(file),
                    has_true_color: abilities.has_true_color,
                }),
                // The file has been removed.
                None => Self::new(background, false),
            },
        }
    }

    pub fn text_style(&self, span: TextStyle) -> Style {
        let style = match span.role {
            StyleRole::Plain | StyleRole::Link | StyleRole::Heading => self.plain,
            StyleRole::Dim => self.dim,
            StyleRole::Code => self.accent,
            StyleRole::Token(token) => self.token_style(token),
        };
        let modifiers = [
            (span.bold, Modifier::BOLD),
            (span.italic, Modifier::ITALIC),
            (span.strikethrough, Modifier::CROSSED_OUT),
            (span.underlined, Modifier::UNDERLINED),
        ];
        let enabled = modifiers.into_iter().filter(|(is_on, _)| *is_on);
        enabled.fold(style, |style, (_, modifier)| style.add_modifier(modifier))
    }

    fn token_style(&self, token: Token) -> Style {
        match token {
            Token::Plain => self.plain,
            Token::Comment => self.dim,
            Token::String | Token::Added => self.success,
            Token::Number => self.number,
            Token::Keyword => self.attention,
            Token::Type | Token::Key => self.accent,
            Token::Function => self.function,
            Token::Removed => self.failure,
            Token::Heading => self.bold,
        }
    }
}

/// Glyphs, each one column wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    pub ascii: bool,
    pub connected: &'static str,
    pub off: &'static str,
    pub failed: &'static str,
    pub ok: &'static str,
    pub refused: &'static str,
    pub folded: &'static str,
    pub unfolded: &'static str,
    pub down: &'static str,
    pub up: &'static str,
    pub dot: &'static str,
    pub more: &'static str,
    /// Before the result of a call.
    pub result: &'static str,
    pub cursor: &'static str,
    /// Before the text that the user types.
    pub prompt: &'static str,
    pub bar_full: &'static str,
    pub bar_ends: [&'static str; 2],
    pub spinner: &'static [&'static str],
    /// Markers at the left edge of a continuation row. The marker depends on how the row above
    /// ended: at a space, in its last column, or one column earlier.
    pub continuations: [&'static str; 3],
    pub horizontal_line: &'static str,
    pub vertical_line: &'static str,
}

impl Glyphs {
    /// A label of the program, which ends with an ellipsis if more input follows.
    pub fn label(&self, text: String) -> String {
        match self.ascii {
            true => text.replace('…', "..."),
            false => text,
        }
    }
}

const UNICODE: Glyphs = Glyphs {
    ascii: false,
    connected: "●",
    off: "○",
    failed: "✗",
    ok: "✓",
    refused: "⊘",
    folded: "▸",
    unfolded: "▾",
    down: "↓",
    up: "↑",
    dot: "·",
    more: "…",
    result: "→",
    cursor: "▌",
    prompt: "›",
    bar_full: "█",
    bar_ends: ["▕", "▏"],
    spinner: &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
    continuations: ["┆", "\\", "/"],
    horizontal_line: "─",
    vertical_line: "│",
};

const ASCII: Glyphs = Glyphs {
    ascii: true,
    connected: "*",
    off: "o",
    failed: "x",
    ok: "+",
    refused: "-",
    folded: ">",
    unfolded: "v",
    down: "v",
    up: "^",
    dot: "-",
    more: "~",
    result: ">",
    cursor: ">",
    prompt: ">",
    bar_full: "#",
    bar_ends: ["[", "]"],
    spinner: &["|", "/", "-", "\\"],
    continuations: [":", "\\", "/"],
    horizontal_line: "-",
    vertical_line: "|",
};

impl Glyphs {
    pub fn new(ascii: bool) -> Self {
        if ascii { ASCII } else { UNICODE }
    }

    /// The spinner frame `millis` after the program started.
    pub fn spinner(&self, millis: u128) -> &'static str {
        let frame = (millis / 100) % self.spinner.len() as u128;
        self.spinner[frame as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(choice: &ThemeChoice, background: TerminalBackground, no_color: bool) -> Theme {
        let abilities = ColorAbilities {
            no_color,
            has_true_color: true,
        };
        Theme::chosen(&ThemeSettings::default(), choice, background, abilities)
    }

    #[test]
    fn no_color_overrides_every_choice_and_auto_follows_the_background() {
        let (dark, light) = (TerminalBackground::Dark, TerminalBackground::Light);
        for choice in ThemeChoice::BUILT_IN {
            assert_eq!(chosen(&choice, dark, true), Theme::new(dark, true));
        }
        let auto = |background| chosen(&ThemeChoice::Auto, background, false);
        assert_eq!(auto(dark), chosen(&ThemeChoice::Dark, light, false));
        assert_eq!(auto(light), chosen(&ThemeChoice::Light, dark, false));
        let missing = ThemeChoice::File("removed".into());
        assert_eq!(chosen(&missing, dark, false), Theme::new(dark, false));
    }
}

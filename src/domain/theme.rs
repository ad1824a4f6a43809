//! Themes: the user's choice, and the colors that theme files give to roles.

use std::fmt;

/// The value of `ui.theme`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ThemeChoice {
    /// The terminal's own 16 colors.
    #[default]
    Terminal,
    /// `Dark` or `Light`, as the terminal's background is.
    Auto,
    Dark,
    Light,
    /// The name of a file in `themes/`, without `.json`.
    File(String),
}

impl ThemeChoice {
    /// The themes that need no file.
    pub const BUILT_IN: [Self; 4] = [Self::Terminal, Self::Auto, Self::Dark, Self::Light];

    pub fn name(&self) -> &str {
        match self {
            Self::Terminal => "terminal",
            Self::Auto => "auto",
            Self::Dark => "dark",
            Self::Light => "light",
            Self::File(name) => name,
        }
    }

    /// The built-in theme of this name.
    pub fn built_in(name: &str) -> Option<Self> {
        let mut choices = Self::BUILT_IN.into_iter();
        choices.find(|choice| choice.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for ThemeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The built-in theme whose colors apply where a file names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThemeBase {
    #[default]
    Dark,
    Light,
}

/// What a color is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThemeRole {
    Text,
    Dim,
    Accent,
    Success,
    Failure,
    Attention,
    Refused,
    Search,
    Number,
    Function,
}

impl ThemeRole {
    pub const ALL: [(&'static str, Self); 10] = [
        ("text", Self::Text),
        ("dim", Self::Dim),
        ("accent", Self::Accent),
        ("success", Self::Success),
        ("failure", Self::Failure),
        ("attention", Self::Attention),
        ("refused", Self::Refused),
        ("search", Self::Search),
        ("number", Self::Number),
        ("function", Self::Function),
    ];

    pub fn from_name(name: &str) -> Option<Self> {
        let mut roles = Self::ALL.into_iter();
        roles
            .find(|(known, _)| *known == name)
            .map(|(_, role)| role)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThemeColor {
    /// One of the terminal's 256 colors; the first 16 are the user's own.
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// The first eight; the others have the prefix `bright-`.
const ANSI_NAMES: &str = "black red green yellow blue magenta cyan white";

impl ThemeColor {
    /// Parses `#rrggbb` or the name of an ANSI color.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(digits) = name.strip_prefix('#') {
            let is_hex = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let value = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
            let [_, red, green, blue] = value.to_be_bytes();
            return Some(Self::Rgb(red, green, blue));
        }
        let name = name.to_ascii_lowercase();
        let (plain, first) = match name.strip_prefix("bright-") {
            Some(plain) => (plain, 8),
            None => (&*name, 0),
        };
        let mut names = (first..).zip(ANSI_NAMES.split(' '));
        let (index, _) = names.find(|(_, known)| *known == plain)?;
        Some(Self::Indexed(index))
    }
}

/// A file in `themes/`, without its unusable parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThemeFile {
    pub name: String,
    pub base: ThemeBase,
    pub colors: Vec<(ThemeRole, ThemeColor)>,
}

/// The theme in use, and the files to choose from, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThemeSettings {
    pub choice: ThemeChoice,
    pub files: Vec<ThemeFile>,
}

impl ThemeSettings {
    pub fn file(&self, name: &str) -> Option<&ThemeFile> {
        self.files.iter().find(|file| file.name == name)
    }

    /// All themes that can be chosen, built-in ones first.
    pub fn choices(&self) -> Vec<ThemeChoice> {
        let files = self.files.iter();
        let files = files.map(|file| ThemeChoice::File(file.name.clone()));
        ThemeChoice::BUILT_IN.into_iter().chain(files).collect()
    }

    pub fn find(&self, name: &str) -> Option<ThemeChoice> {
        let file = || {
            self.file(name)
                .map(|file| ThemeChoice::File(file.name.clone()))
        };
        ThemeChoice::built_in(name).or_else(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_hexadecimal_or_named() {
        let parsed = |name| ThemeColor::from_name(name);
        assert_eq!(parsed("#ff8700"), Some(ThemeColor::Rgb(255, 135, 0)));
        assert_eq!(parsed("Bright-Blue"), Some(ThemeColor::Indexed(12)));
        for wrong in ["", "#fff", "#+12345", "#ff87001", "orange"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}

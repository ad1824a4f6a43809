//! Reads `ui`.

use super::SettingsReader;
use crate::config::UiSettings;
use crate::config::fields;
use crate::config::json_edit::PathStep;
use crate::domain::theme::{ThemeChoice, ThemeFile, ThemeSettings};

impl SettingsReader<'_> {
    pub(super) fn ui(&mut self) -> UiSettings {
        let default = UiSettings::default();
        let table = fields::object(self.document.root(), "ui").map(|table| table.cloned());
        let Some(table) = self.or_warn(&[PathStep::Key("ui")], table) else {
            return default;
        };
        let step = |key| [PathStep::Key("ui"), PathStep::Key(key)];
        let ascii = fields::boolean(&table, "ascii");
        let protocol = fields::one_of(&table, "keyboardProtocol", &["auto", "off"]);
        let sidebar = fields::one_of(&table, "sidebar", &["open", "closed"]);
        let linear = fields::boolean(&table, "linear");
        let protocol = self.or_warn(&step("keyboardProtocol"), protocol);
        let sidebar = self.or_warn(&step("sidebar"), sidebar);
        UiSettings {
            is_ascii: self
                .or_warn(&step("ascii"), ascii)
                .unwrap_or(default.is_ascii),
            uses_keyboard_protocol: protocol != Some("off"),
            is_sidebar_open: sidebar != Some("closed"),
            is_linear: self
                .or_warn(&step("linear"), linear)
                .unwrap_or(default.is_linear),
        }
    }

    /// Reads `ui.theme`, which names a built-in theme or one of `files`.
    pub(super) fn theme(&mut self, files: Vec<ThemeFile>) -> ThemeSettings {
        let mut themes = ThemeSettings {
            choice: ThemeChoice::default(),
            files,
        };
        // `ui` reports a section of the wrong type.
        let Ok(Some(table)) = fields::object(self.document.root(), "ui") else {
            return themes;
        };
        let given = fields::text(table, "theme").map(|name| name.map(str::to_owned));
        let steps = [PathStep::Key("ui"), PathStep::Key("theme")];
        let Some(name) = self.or_warn(&steps, given) else {
            return themes;
        };
        match themes.find(&name) {
            Some(choice) => themes.choice = choice,
            None => {
                let choices = themes.choices();
                let names: Vec<&str> = choices.iter().map(ThemeChoice::name).collect();
                let problem = fields::unknown_value("theme", &name, &names);
                self.warn_about_field("ui.theme", &steps, &problem);
            }
        }
        themes
    }
}

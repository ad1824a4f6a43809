//! The API key in the form for a model: suggested from the environment, and masked on the screen.

use crate::domain::ProviderKind;
use crate::tui::models::add_form::{AddModelForm, KEY};

impl AddModelForm {
    /// Suggests the provider's environment variable as the key if it is set. Removes the
    /// suggestion when the key would go to a different provider or a custom address. Never
    /// changes a key that the user typed.
    pub(super) fn suggest_key(&mut self, variables: &[String]) {
        if !self.key.is_empty() && !self.is_suggested() {
            return;
        }
        let is_default_address = self.address.is_blank();
        let variable = self
            .provider()
            .key_variable()
            .filter(|name| is_default_address && variables.iter().any(|variable| variable == name));
        self.key.set(&variable.map(reference).unwrap_or_default());
    }

    pub(super) fn is_suggested(&self) -> bool {
        let key = self.key.text();
        ProviderKind::key_variables().any(|name| key == reference(name))
    }

    /// Typing a key replaces the suggestion.
    pub(super) fn begin_typing(&mut self) {
        if self.at == KEY && self.is_suggested() {
            self.key.set("");
        }
    }

    pub(super) fn masked_key(&self) -> String {
        let key = self.key.text();
        if key.starts_with("${") && key.ends_with('}') {
            key
        } else {
            "•".repeat(key.chars().count())
        }
    }
}

fn reference(variable: &str) -> String {
    format!("${{{variable}}}")
}

//! Differences between the active settings and settings files edited outside the program.

use serde::Serialize;

/// Whether a change may apply without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeImpact {
    Harmless,
    /// A tool could have made this change to gain permissions, so it needs the user's consent.
    NeedsConsent,
}

/// A description of one difference. May contain unsanitized text, but no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingsChange {
    /// The file's name, such as `config.json`.
    pub file: String,
    #[serde(rename = "weight")]
    pub impact: ChangeImpact,
    /// For a harmless change a clause, such as "logLevel is now debug"; otherwise the changed
    /// setting, such as "server `fs`, `command`".
    pub what: String,
    /// The active value, possibly multi-line; `None` if the setting is absent or no value is shown, as
    /// for a harmless change.
    pub before: Option<String>,
    /// The new value, likewise.
    pub after: Option<String>,
}

impl SettingsChange {
    pub fn harmless(file: &str, what: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            impact: ChangeImpact::Harmless,
            what: what.into(),
            before: None,
            after: None,
        }
    }

    pub fn needs_consent(
        file: &str,
        what: impl Into<String>,
        before: Option<String>,
        after: Option<String>,
    ) -> Self {
        Self {
            file: file.to_owned(),
            impact: ChangeImpact::NeedsConsent,
            what: what.into(),
            before,
            after,
        }
    }
}

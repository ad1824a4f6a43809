//! Differences between the active settings and externally edited files.

use serde::Serialize;

/// Whether a change may apply without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeImpact {
    Harmless,
    /// A tool could have made this change to gain power, so it needs the user's consent.
    NeedsConsent,
}

/// One difference as text. May contain raw text from outside, but no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingsChange {
    /// The file's name, such as `config.json`.
    pub file: String,
    #[serde(rename = "weight")]
    pub impact: ChangeImpact,
    /// A clause such as "logLevel is debug now" if harmless, otherwise the subject, such as
    /// "server `fs`, `command`".
    pub what: String,
    /// The active and the new value, possibly multi-line; `None` if absent.
    pub before: Option<String>,
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

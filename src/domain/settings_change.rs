//! What differs between the settings in force and the files that somebody edited
//! (S1.4).

use serde::Serialize;

/// May a change come into force by itself?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeImpact {
    Harmless,
    /// A tool could have made it to gain power: it waits for the person.
    NeedsConsent,
}

/// One difference, in words. Text from outside stands in them, raw; secrets do not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingsChange {
    /// The file's name, such as `config.json`.
    pub file: String,
    #[serde(rename = "weight")]
    pub impact: ChangeImpact,
    /// What changed: a clause such as "logLevel is debug now" where it is harmless,
    /// else what it is about, such as "server `fs`, `command`".
    pub what: String,
    /// What is in force, and what the file says; either may be of many lines. `None`
    /// where there is nothing.
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

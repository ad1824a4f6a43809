//! Messages to the user: what happened, why, and what to do about it.

use super::advice::{self, Advice};
use serde::{Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt::{self, Display};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Info,
    Warning,
    Failure,
}

/// A message to the user. Its texts may contain unsanitized text, which front ends sanitize.
///
/// Advice is not serialized, because each front end words it differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    pub severity: Severity,
    /// What happened, as a complete sentence.
    pub what: String,
    /// The reason, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The reason in a few words, where only one row is available.
    #[serde(skip)]
    pub headline: Option<String>,
    #[serde(skip)]
    pub advice: Vec<Advice>,
}

impl Notice {
    pub fn info(what: impl Into<String>) -> Self {
        Self::new(Severity::Info, what)
    }

    pub fn warning(what: impl Into<String>) -> Self {
        Self::new(Severity::Warning, what)
    }

    pub fn failure(what: impl Into<String>) -> Self {
        Self::new(Severity::Failure, what)
    }

    fn new(severity: Severity, what: impl Into<String>) -> Self {
        Self {
            severity,
            what: what.into(),
            why: None,
            headline: None,
            advice: Vec::new(),
        }
    }

    pub fn with_reason(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }

    pub fn with_headline(mut self, headline: impl Into<String>) -> Self {
        self.headline = Some(headline.into());
        self
    }

    /// Appends one piece of advice.
    pub fn with_advice(mut self, advice: impl Into<Advice>) -> Self {
        self.advice.push(advice.into());
        self
    }

    /// Joins all parts with spaces. `phrase` words the advice ([`advice::join_sentences`]).
    pub fn to_sentence(&self, phrase: impl Fn(&Advice) -> Option<String>) -> String {
        let advice = advice::join_sentences(&self.advice, phrase);
        [Some(&self.what), self.why.as_ref(), advice.as_ref()]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The notice without advice that depends on the front end, for logs and other programs.
    pub fn summary(&self) -> String {
        self.to_sentence(|advice| match advice {
            Advice::Sentence(sentence) => Some(sentence.clone()),
            _ => None,
        })
    }
}

/// The cause of a banner. Banners are sorted by the name of their cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BannerCause {
    /// The command line names an unknown model, persona or session.
    UnknownModel,
    UnknownPersona,
    UnknownSession,
    SeveralActiveModels,
    /// `trust.json` exists but could not be read. At startup, every call therefore needs approval;
    /// later, the decisions read before stay in use.
    UnreadableTrust,
    UnreadableFile(String),
    Setting {
        file: String,
        /// The setting's name, such as `limits.toolRounds`; empty for the whole file.
        name: String,
    },
    /// This settings file has unknown keys.
    UnknownKeys(String),
    /// Other users can read files with secrets.
    OpenPermissions,
    /// `system_prompt.txt` is an old version that explains tool calls itself.
    OutdatedSystemPrompt,
    /// The folder of personas could not be read, or contains too many.
    IncompletePersonas,
    /// The configured notes folder is missing or is not a folder.
    UnusableVault,
    /// An edit to the settings takes effect only at the next start.
    PendingSettings,
    UnwritableHome,
    UnwritableLog,
    UnwritableJournal,
    UnsavedSession,
    WithheldTools,
}

impl BannerCause {
    pub fn setting(file: impl Into<String>, name: impl Into<String>) -> Self {
        Self::Setting {
            file: file.into(),
            name: name.into(),
        }
    }

    /// Whether this cause makes the program ignore the whole settings file `file_name`.
    pub fn affects_whole_file(&self, file_name: &str) -> bool {
        match self {
            Self::UnreadableFile(file) => file == file_name,
            Self::Setting { file, name } => file == file_name && name.is_empty(),
            _ => false,
        }
    }
}

/// The name used in JSON.
impl Display for BannerCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownModel => "--model",
            Self::UnknownPersona => "--persona",
            Self::UnknownSession => "--session",
            Self::SeveralActiveModels => "active model",
            Self::UnreadableTrust => "trust.json",
            Self::UnreadableFile(file) => file,
            Self::Setting { file, name } if name.is_empty() => file,
            Self::Setting { file, name } => return write!(f, "{file}: {name}"),
            Self::UnknownKeys(file) => return write!(f, "{file}: unknown keys"),
            Self::OpenPermissions => "permissions",
            Self::OutdatedSystemPrompt => "system_prompt.txt",
            Self::IncompletePersonas => "personas",
            Self::UnusableVault => "notes.vault",
            Self::PendingSettings => "pending settings",
            Self::UnwritableHome => "home",
            Self::UnwritableLog => "log",
            Self::UnwritableJournal => "journal",
            Self::UnsavedSession => "session",
            Self::WithheldTools => "withheld",
        })
    }
}

impl Ord for BannerCause {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_name = self.to_string().cmp(&other.to_string());
        // Several causes may have the name of the same file.
        by_name.then_with(|| format!("{self:?}").cmp(&format!("{other:?}")))
    }
}

impl PartialOrd for BannerCause {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for BannerCause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A notice that stays until its cause is resolved. It replaces an earlier banner with the
/// same cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Banner {
    pub cause: BannerCause,
    pub notice: Notice,
}

impl Banner {
    pub fn new(cause: BannerCause, notice: Notice) -> Self {
        Self { cause, notice }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banners_sort_by_name_and_distinguish_causes_in_one_file() {
        let file = |name: &str| BannerCause::UnreadableFile(name.to_owned());
        let mut causes = [
            BannerCause::UnreadableTrust,
            BannerCause::PendingSettings,
            BannerCause::setting("trust.json", ""),
            file("mcp-servers.json"),
            BannerCause::UnknownModel,
            file("config.json"),
        ];
        causes.sort();
        let names = causes.each_ref().map(BannerCause::to_string);
        assert_eq!(
            names,
            [
                "--model",
                "config.json",
                "mcp-servers.json",
                "pending settings",
                "trust.json",
                "trust.json"
            ]
        );
        assert_ne!(causes[4], causes[5]);
        assert_ne!(causes[4].cmp(&causes[5]), Ordering::Equal);
    }
}

//! A failure as a person reads it: what happened, why, and what to do.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Info,
    Warning,
    Failure,
}

/// One to three sentences. Text from outside may stand in any of them, raw:
/// whoever shows a notice sanitises it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    pub severity: Severity,
    /// What happened, as a whole sentence.
    pub what: String,
    /// Why, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the person can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
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
            advice: None,
        }
    }

    pub fn because(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }

    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// The whole notice on one line.
    pub fn sentence(&self) -> String {
        [Some(&self.what), self.why.as_ref(), self.advice.as_ref()]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// A notice that stays until its cause is gone. Two banners of one `cause`
/// replace each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Banner {
    /// What it is about, such as `config.json` or `active model`.
    pub cause: String,
    pub notice: Notice,
}

impl Banner {
    pub fn new(cause: impl Into<String>, notice: Notice) -> Self {
        Self {
            cause: cause.into(),
            notice,
        }
    }
}

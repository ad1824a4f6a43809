//! Which conversation a person means: the latest one, or the one of a name, a file
//! name, the beginning of one, or a title.

use super::SessionStore;
use crate::domain::{Advice, Notice, SessionId, SessionSummary};
use std::collections::HashSet;

/// Names that are listed where several would do.
const SUGGESTIONS_MAX: usize = 5;
/// How alike a name must be to be offered: the share of letter pairs in common.
const SIMILARITY_MIN: f64 = 0.3;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    #[error("there is no conversation yet")]
    NoSessions,
    #[error("there is no conversation `{wanted}`")]
    Unknown {
        wanted: String,
        near: Option<String>,
    },
    #[error("`{wanted}` may mean several conversations")]
    Ambiguous { wanted: String, found: Vec<String> },
}

impl LookupError {
    /// What happened, why, and what to do.
    pub fn notice(&self) -> Notice {
        let advice = match self {
            Self::NoSessions => Advice::from("The first answer makes one."),
            Self::Unknown { near: None, .. } => Advice::ListSessions,
            Self::Unknown {
                near: Some(near), ..
            } => format!("Did you mean `{near}`?").into(),
            Self::Ambiguous { found, .. } => {
                let more = if found.len() > SUGGESTIONS_MAX {
                    " …"
                } else {
                    ""
                };
                let listed = &found[..found.len().min(SUGGESTIONS_MAX)];
                format!("Say which one: {}{more}.", listed.join(", ")).into()
            }
        };
        let mut what = self.to_string();
        if let Some(first) = what.get(..1) {
            what = first.to_uppercase() + &what[1..];
        }
        Notice::failure(format!("{what}.")).with_advice(advice)
    }
}

impl SessionStore {
    /// The conversation that changed last.
    ///
    /// # Errors
    /// There is none that can be opened.
    pub fn latest(&self) -> Result<SessionId, LookupError> {
        let mut list = self.list().into_iter();
        let latest = list.find(|summary| summary.open_error.is_none());
        latest
            .map(|summary| summary.id)
            .ok_or(LookupError::NoSessions)
    }

    /// The conversation that `wanted` names: its file's name with or without
    /// `.json`, its title, or the beginning of either where only one has it.
    ///
    /// # Errors
    /// None or several have it.
    pub fn find(&self, wanted: &str) -> Result<SessionId, LookupError> {
        let list = self.list();
        let asked = wanted.trim().to_lowercase();
        let stem = asked.strip_suffix(".json").unwrap_or(&asked);
        let name = |one: &SessionSummary| one.id.as_str().trim_end_matches(".json").to_lowercase();
        let title = |one: &SessionSummary| one.title.to_lowercase();
        type Test<'a> = &'a dyn Fn(&SessionSummary) -> bool;
        let tests: [Test; 4] = [
            &|one| name(one) == stem,
            &|one| title(one) == asked,
            &|one| name(one).starts_with(stem),
            &|one| title(one).starts_with(&asked),
        ];
        for test in tests.into_iter().filter(|_| !asked.is_empty()) {
            let found: Vec<&SessionSummary> = list.iter().filter(|one| test(one)).collect();
            match found.as_slice() {
                [] => {}
                [only] => return Ok(only.id.clone()),
                several => {
                    return Err(LookupError::Ambiguous {
                        wanted: wanted.to_owned(),
                        found: several.iter().map(|one| one.id.to_string()).collect(),
                    });
                }
            }
        }
        let likeness = |one: &SessionSummary| {
            similarity(&asked, &name(one)).max(similarity(&asked, &title(one)))
        };
        let near = list
            .iter()
            .map(|one| (likeness(one), one))
            .filter(|(likeness, _)| *likeness >= SIMILARITY_MIN)
            .max_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(_, one)| one.id.to_string());
        Err(LookupError::Unknown {
            wanted: wanted.to_owned(),
            near,
        })
    }
}

/// The share of letter pairs that two names have in common (Dice's coefficient).
fn similarity(one: &str, other: &str) -> f64 {
    let pairs = |text: &str| -> HashSet<(char, char)> {
        let letters: Vec<char> = text.chars().take(256).collect();
        letters.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let (one, other) = (pairs(one), pairs(other));
    let common = one.intersection(&other).count() as f64;
    match one.len() + other.len() {
        0 => 0.0,
        all => 2.0 * common / all as f64,
    }
}

//! Resolves a session argument: the latest session, or one given by file name, title or a
//! prefix of either.

use super::SessionStore;
use crate::domain::{Advice, Notice, SessionId, SessionSummary};
use std::collections::HashSet;

/// Matches listed for an ambiguous name.
const SUGGESTIONS_MAX: usize = 5;
/// The minimum similarity of a suggested name: the share of common letter pairs.
const SIMILARITY_MIN: f64 = 0.3;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    #[error("there are no conversations yet")]
    NoSessions,
    #[error("there is no conversation `{wanted}`")]
    Unknown {
        wanted: String,
        near: Option<String>,
    },
    #[error("`{wanted}` matches several conversations")]
    Ambiguous { wanted: String, found: Vec<String> },
}

impl LookupError {
    pub fn notice(&self) -> Notice {
        let advice = match self {
            Self::NoSessions => Advice::from("The first answer creates one."),
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
                format!("Choose one: {}{more}.", listed.join(", ")).into()
            }
        };
        let mut message = self.to_string();
        if let Some(first) = message.get(..1) {
            message = first.to_uppercase() + &message[1..];
        }
        Notice::failure(format!("{message}.")).with_advice(advice)
    }
}

impl SessionStore {
    /// The most recently changed session.
    ///
    /// # Errors
    /// No session can be opened.
    pub fn latest(&self) -> Result<SessionId, LookupError> {
        let mut list = self.list().into_iter();
        let latest = list.find(|summary| summary.open_error.is_none());
        latest
            .map(|summary| summary.id)
            .ok_or(LookupError::NoSessions)
    }

    /// Finds a session by file name (with or without `.json`), title, or a unique prefix of
    /// either.
    ///
    /// # Errors
    /// No session matches, or several do.
    pub fn find(&self, wanted: &str) -> Result<SessionId, LookupError> {
        let list = self.list();
        let asked = wanted.trim().to_lowercase();
        let stem = asked.strip_suffix(".json").unwrap_or(&asked);
        let name =
            |session: &SessionSummary| session.id.as_str().trim_end_matches(".json").to_lowercase();
        let title = |session: &SessionSummary| session.title.to_lowercase();
        type Test<'a> = &'a dyn Fn(&SessionSummary) -> bool;
        let tests: [Test; 4] = [
            &|session| name(session) == stem,
            &|session| title(session) == asked,
            &|session| name(session).starts_with(stem),
            &|session| title(session).starts_with(&asked),
        ];
        for test in tests.into_iter().filter(|_| !asked.is_empty()) {
            let found: Vec<&SessionSummary> = list.iter().filter(|session| test(session)).collect();
            match found.as_slice() {
                [] => {}
                [only] => return Ok(only.id.clone()),
                several => {
                    return Err(LookupError::Ambiguous {
                        wanted: wanted.to_owned(),
                        found: several
                            .iter()
                            .map(|session| session.id.to_string())
                            .collect(),
                    });
                }
            }
        }
        let likeness = |session: &SessionSummary| {
            similarity(&asked, &name(session)).max(similarity(&asked, &title(session)))
        };
        let near = list
            .iter()
            .map(|session| (likeness(session), session))
            .filter(|(likeness, _)| *likeness >= SIMILARITY_MIN)
            .max_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(_, session)| session.id.to_string());
        Err(LookupError::Unknown {
            wanted: wanted.to_owned(),
            near,
        })
    }
}

/// The share of letter pairs common to both names (Dice's coefficient).
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

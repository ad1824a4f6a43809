//! Finds the latest session, or one given by its file name, its title or a part of either.

use super::SessionStore;
use crate::domain::{Advice, Notice, SessionId, SessionSummary};
use crate::text::term_matches::case_fold;
use std::collections::HashSet;

/// For an ambiguous name.
const SUGGESTIONS_MAX: usize = 5;
/// The minimum similarity of a suggested name: the share of common letter pairs.
const SIMILARITY_MIN: f64 = 0.3;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LookupError {
    #[error("there are no conversations yet")]
    NoSessions,
    #[error("there is no conversation `{wanted}`")]
    Unknown {
        wanted: String,
        suggestion: Option<String>,
    },
    #[error("`{wanted}` matches several conversations")]
    Ambiguous {
        wanted: String,
        /// Newest first.
        matches: Vec<SessionSummary>,
    },
}

impl LookupError {
    pub fn notice(&self) -> Notice {
        let advice = match self {
            Self::NoSessions => Advice::from("The first answer creates one."),
            Self::Unknown {
                suggestion: None, ..
            } => Advice::ListSessions,
            Self::Unknown {
                suggestion: Some(name),
                ..
            } => format!("Did you mean `{name}`?").into(),
            Self::Ambiguous { matches, .. } => {
                let ellipsis = if matches.len() > SUGGESTIONS_MAX {
                    " …"
                } else {
                    ""
                };
                let listed = matches.iter().take(SUGGESTIONS_MAX);
                let names: Vec<String> = listed.map(|session| session.id.to_string()).collect();
                format!("Choose one: {}{ellipsis}.", names.join(", ")).into()
            }
        };
        let mut message = self.to_string();
        if let Some(first) = message.get(..1) {
            message = first.to_uppercase() + &message[1..];
        }
        Notice::failure(format!("{message}.")).with_advice(advice)
    }
}

/// `summaries` is sorted newest first. Fails if no session can be opened.
pub(super) fn latest(summaries: &[SessionSummary]) -> Result<SessionId, LookupError> {
    let mut summaries = summaries.iter();
    let latest = summaries.find(|summary| summary.open_error.is_none());
    latest
        .map(|summary| summary.id.clone())
        .ok_or(LookupError::NoSessions)
}

/// Tries, in this order: file names (with or without `.json`), titles, beginnings of file
/// names, and parts of titles and file names.
pub(super) fn find(summaries: &[SessionSummary], wanted: &str) -> Result<SessionId, LookupError> {
    let query = case_fold(wanted.trim());
    let stem = query.strip_suffix(".json").unwrap_or(&query);
    let name = |session: &SessionSummary| case_fold(session.id.as_str().trim_end_matches(".json"));
    let title = |session: &SessionSummary| case_fold(&session.title);
    type Test<'a> = &'a dyn Fn(&SessionSummary) -> bool;
    let tests: [Test; 4] = [
        &|session| name(session) == stem,
        &|session| title(session) == query,
        &|session| name(session).starts_with(stem),
        &|session| title(session).contains(&query) || name(session).contains(stem),
    ];
    for test in tests.into_iter().filter(|_| !query.is_empty()) {
        let matches: Vec<&SessionSummary> =
            summaries.iter().filter(|session| test(session)).collect();
        match matches.as_slice() {
            [] => {}
            [only] => return Ok(only.id.clone()),
            several => {
                return Err(LookupError::Ambiguous {
                    wanted: wanted.to_owned(),
                    matches: several.iter().map(|session| (*session).clone()).collect(),
                });
            }
        }
    }
    let best_similarity = |session: &SessionSummary| {
        similarity(&query, &name(session)).max(similarity(&query, &title(session)))
    };
    let suggestion = summaries
        .iter()
        .map(|session| (best_similarity(session), session))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, session)| session.id.to_string());
    Err(LookupError::Unknown {
        wanted: wanted.to_owned(),
        suggestion,
    })
}

impl SessionStore {
    /// See [`latest`].
    ///
    /// # Errors
    /// There is no session that can be opened.
    pub fn latest(&self) -> Result<SessionId, LookupError> {
        latest(&self.list())
    }

    /// See [`find`].
    ///
    /// # Errors
    /// No session matches, or several do.
    pub fn find(&self, wanted: &str) -> Result<SessionId, LookupError> {
        find(&self.list(), wanted)
    }
}

/// The share of letter pairs common to both names (Dice's coefficient).
fn similarity(a: &str, b: &str) -> f64 {
    let letter_pairs = |text: &str| -> HashSet<(char, char)> {
        let letters: Vec<char> = text.chars().take(256).collect();
        letters.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let (a, b) = (letter_pairs(a), letter_pairs(b));
    let common = a.intersection(&b).count() as f64;
    match a.len() + b.len() {
        0 => 0.0,
        total => 2.0 * common / total as f64,
    }
}

//! The sessions that match the search: they pass its filters, and their title or text contains all
//! its words. Titles are compared here; the engine searches the text.

use crate::domain::{InvalidFilter, SessionId, SessionQuery, SessionSummary};
use crate::text::term_matches::case_fold;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug)]
pub struct SessionListing {
    /// `None` until the engine has answered.
    sessions: Option<Arc<Vec<SessionSummary>>>,
    /// Computed on the first search, because case-folding thousands of titles takes longer than a frame.
    case_folded_titles: Vec<String>,
    /// When the engine listed the sessions. Dates are relative to it.
    pub listed_at: Timestamp,
    search_text: String,
    query: Result<SessionQuery, InvalidFilter>,
    /// Sessions whose text contains every word.
    found: Arc<HashSet<SessionId>>,
    /// The words as the engine searched for them, for example without particles.
    found_terms: Vec<String>,
    /// Indexes of the listed sessions in `sessions`.
    listed: Vec<usize>,
}

impl Default for SessionListing {
    fn default() -> Self {
        Self {
            sessions: None,
            case_folded_titles: Vec::new(),
            listed_at: Timestamp::UNIX_EPOCH,
            search_text: String::new(),
            query: Ok(SessionQuery::default()),
            found: Arc::default(),
            found_terms: Vec::new(),
            listed: Vec::new(),
        }
    }
}

impl SessionListing {
    pub fn is_loading(&self) -> bool {
        self.sessions.is_none()
    }

    /// The number of all sessions.
    pub fn total(&self) -> usize {
        self.sessions.as_ref().map_or(0, |all| all.len())
    }

    pub fn len(&self) -> usize {
        self.listed.len()
    }

    pub fn get(&self, row: usize) -> Option<&SessionSummary> {
        let index = *self.listed.get(row)?;
        self.sessions.as_ref()?.get(index)
    }

    /// The listed sessions, newest first.
    pub fn rows(&self) -> Vec<&SessionSummary> {
        (0..self.len()).filter_map(|row| self.get(row)).collect()
    }

    pub fn row_of(&self, id: &SessionId) -> Option<usize> {
        (0..self.len()).find(|row| self.get(*row).is_some_and(|session| session.id == *id))
    }

    /// Why nothing is listed, if a filter is invalid.
    pub fn invalid_filter(&self) -> Option<&InvalidFilter> {
        self.query.as_ref().err()
    }

    /// The case-folded words to mark in titles and messages.
    pub fn terms(&self) -> &[String] {
        match &self.query {
            Ok(query) if self.found_terms.is_empty() => query.words(),
            Ok(query) if query.words().is_empty() => &[],
            Ok(_) => &self.found_terms,
            Err(_) => &[],
        }
    }

    /// The longest of the words that a search found in the text of a session.
    pub fn text_found_in(&self, session: &SessionId) -> Option<&str> {
        let is_found = self.found.contains(session);
        let terms = self.terms().iter().filter(|_| is_found);
        let longest = terms.max_by_key(|term| term.chars().count());
        longest.map(String::as_str)
    }

    /// The words to search for in the text of all sessions; `None` if there are none.
    pub fn words(&self) -> Option<String> {
        let query = self.query.as_ref().ok()?;
        (!query.words().is_empty()).then(|| query.text())
    }

    pub fn set_sessions(&mut self, sessions: Arc<Vec<SessionSummary>>, listed_at: Timestamp) {
        self.sessions = Some(sessions);
        self.case_folded_titles.clear();
        self.listed_at = listed_at;
        self.parse();
        self.filter();
    }

    /// Lists the sessions for another search text.
    pub fn search(&mut self, text: &str) {
        // While a search is being refined, its earlier result stays until the new one arrives.
        if !text.starts_with(&self.search_text) || self.search_text.trim().is_empty() {
            self.found = Arc::default();
        }
        self.found_terms.clear();
        text.clone_into(&mut self.search_text);
        self.parse();
        self.filter();
    }

    /// Replaces the set of sessions whose text contains every word.
    pub fn set_found(&mut self, found: Arc<HashSet<SessionId>>, terms: Vec<String>) {
        self.found = found;
        self.found_terms = terms;
        self.filter();
    }

    fn parse(&mut self) {
        let now = self.listed_at.to_zoned(TimeZone::system());
        self.query = SessionQuery::parse(&self.search_text, &now);
    }

    fn filter(&mut self) {
        self.listed.clear();
        let (Ok(query), Some(sessions)) = (&self.query, &self.sessions) else {
            return;
        };
        let has_words = !query.words().is_empty();
        if has_words && self.case_folded_titles.is_empty() {
            let titles = sessions
                .iter()
                .map(|session| case_fold(session.title_or_file_name()));
            self.case_folded_titles = titles.collect();
        }
        let titles = &self.case_folded_titles;
        let is_listed = |index: usize, session: &SessionSummary| {
            let has_title = || query.matches_title(&titles[index]);
            let has_text = || self.found.contains(&session.id);
            query.admits(session) && (!has_words || has_title() || has_text())
        };
        let rows = sessions.iter().enumerate();
        let rows = rows.filter(|(index, session)| is_listed(*index, session));
        self.listed = rows.map(|(index, _)| index).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(id: &str, title: &str, model: &str) -> SessionSummary {
        SessionSummary {
            id: id.into(),
            title: title.to_owned(),
            model: model.to_owned(),
            started_at: None,
            changed_at: "2026-11-18T12:00:00Z".parse().expect("a time"),
            message_count: 2,
            open_error: None,
        }
    }

    fn listing() -> SessionListing {
        let sessions = vec![
            summary("a", "서울 날씨", "qwen3:4b"),
            summary("b", "Busan", "gpt-4o"),
            summary("c", "Jeju", "qwen3:4b"),
        ];
        let mut listing = SessionListing::default();
        let now = "2026-11-20T12:00:00Z".parse().expect("a time");
        listing.set_sessions(Arc::new(sessions), now);
        listing
    }

    fn ids(listing: &SessionListing) -> Vec<&str> {
        listing.rows().iter().map(|row| row.id.as_str()).collect()
    }

    fn set_found(listing: &mut SessionListing, ids: &[&str], terms: &[&str]) {
        let found = ids.iter().map(SessionId::new).collect();
        let terms = terms.iter().map(|term| (*term).to_owned()).collect();
        listing.set_found(Arc::new(found), terms);
    }

    #[test]
    fn titles_match_immediately_and_texts_once_they_are_searched() {
        let mut listing = listing();
        listing.search("날씨");
        assert_eq!(ids(&listing), ["a"]);
        assert_eq!(listing.words().as_deref(), Some("날씨"));
        set_found(&mut listing, &["b"], &["날씨"]);
        assert_eq!(ids(&listing), ["a", "b"]);
        listing.search("날씨 model:gpt");
        assert_eq!(
            ids(&listing),
            ["b"],
            "the filter applies to titles and messages"
        );
        listing.search("x");
        assert_eq!(
            ids(&listing),
            Vec::<&str>::new(),
            "a different search starts over"
        );
        listing.search("");
        assert_eq!(ids(&listing), ["a", "b", "c"]);
        assert_eq!((listing.words(), listing.terms()), (None, &[][..]));
    }

    #[test]
    fn filters_alone_list_sessions_and_an_invalid_one_lists_none() {
        let mut listing = listing();
        listing.search("model:qwen");
        assert_eq!(ids(&listing), ["a", "c"]);
        listing.search("after:2026-11-19");
        assert_eq!(ids(&listing), Vec::<&str>::new());
        listing.search("after:19.11.");
        let invalid = InvalidFilter::Date("after:19.11.".to_owned());
        assert_eq!(listing.invalid_filter(), Some(&invalid));
        assert_eq!(ids(&listing), Vec::<&str>::new());
        assert_eq!(listing.words(), None);
    }

    #[test]
    fn terms_from_the_engine_replace_the_typed_words() {
        let mut listing = listing();
        listing.search("서울에서");
        assert_eq!(listing.terms(), ["서울에서"]);
        set_found(&mut listing, &["a"], &["서울"]);
        assert_eq!(listing.terms(), ["서울"]);
    }
}

//! Judges whether a chunk is about the same thing as a prompt. The rank of a hit does not show this: even
//! the best hit for an unrelated prompt shares a word with it.

use super::terms::SearchTerms;
use super::{Index, SearchError};
use rusqlite::params;

/// Chunks are counted up to this number; a more common term weighs little anyway.
const COUNTED_MAX: i64 = 5_000;
/// A relevant chunk contains two terms of the prompt, or this part of their weight.
const TERMS_MIN: usize = 2;
const SHARE_MIN: f64 = 0.5;
/// In an index of at least [`SMALL_INDEX_CHUNKS`], a term in more than one of this many chunks does not
/// make a chunk relevant by itself.
const COMMON_ONE_IN: f64 = 20.0;
const SMALL_INDEX_CHUNKS: i64 = 40;

/// The terms that indicate the topic of a prompt, with their weights: a term in few chunks weighs more.
#[derive(Debug, Clone, PartialEq)]
pub struct Relevance {
    terms: Vec<(SearchTerms, f64)>,
    /// The weight of a term that is too common to decide alone.
    common_weight: f64,
}

impl Index {
    /// The weights of a prompt's terms in this index.
    ///
    /// # Errors
    /// As for [`Index::search`].
    pub fn relevance(&mut self, terms: &SearchTerms) -> Result<Relevance, SearchError> {
        self.with_timeout(|index| index.weigh(terms))
    }

    fn weigh(&self, terms: &SearchTerms) -> Result<Relevance, SearchError> {
        let chunks = "SELECT count(*) FROM chunk";
        let chunks: i64 = self.connection.query_row(chunks, (), |row| row.get(0))?;
        let weight = |count: f64| (1.0 + (chunks as f64 + 0.5) / (count + 0.5)).ln();
        let mut statement = self.connection.prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM terms WHERE terms MATCH ?1 LIMIT ?2)",
        )?;
        let mut weighed = Vec::new();
        for term in terms.topic_terms().split() {
            let expression = term.all_terms_expression();
            let count: i64 =
                statement.query_row(params![expression, COUNTED_MAX], |row| row.get(0))?;
            // Korean verbs have many forms, so a form that no note contains is weak evidence.
            let is_unknown_run = count == 0 && term.has_runs();
            let weight = weight(count as f64) * if is_unknown_run { 0.3 } else { 1.0 };
            weighed.push((term, weight));
        }
        let common_weight = match chunks < SMALL_INDEX_CHUNKS {
            true => 0.0,
            false => weight(chunks as f64 / COMMON_ONE_IN),
        };
        Ok(Relevance {
            terms: weighed,
            common_weight,
        })
    }
}

impl Relevance {
    /// Whether the prompt has no topic that notes could contain, as in `what time is it`.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether `texts` together contain enough of the prompt's terms.
    pub fn covers(&self, texts: &[&str]) -> bool {
        let found = self
            .terms
            .iter()
            .filter(|(term, _)| term.any_word_in(texts));
        let found: Vec<f64> = found.map(|(_, weight)| *weight).collect();
        let weight: f64 = found.iter().sum();
        let all: f64 = self.terms.iter().map(|(_, weight)| weight).sum();
        let is_enough = found.len() >= TERMS_MIN || weight >= all * SHARE_MIN;
        weight > self.common_weight && is_enough
    }

    /// Gives all terms the same weight.
    #[cfg(test)]
    pub fn uniform(terms: &SearchTerms) -> Self {
        let terms = terms.topic_terms().split().into_iter();
        Self {
            terms: terms.map(|term| (term, 1.0)).collect(),
            common_weight: 0.0,
        }
    }
}

//! Searching by words and by vectors.

use super::quantized::quantize;
use super::terms::{Matching, SearchTerms};
use super::{Index, SearchError};
use rusqlite::{ErrorCode, params};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// The weights of the two scores.
const VECTOR_WEIGHT: f32 = 0.7;
const KEYWORD_WEIGHT: f32 = 1.0 - VECTOR_WEIGHT;
/// Candidates of each kind of search that are ranked together.
const CANDIDATES: usize = 200;
/// In an index with fewer chunks, all terms are fast.
const COMMON_CHUNKS_MIN: i64 = 20_000;
/// A term is common if at least one in this many chunks contains it.
const COMMON_SHARE: i64 = 5;
/// The longest search.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Steps of the database between two checks of the time, far below a millisecond.
const STEPS_BETWEEN_CHECKS: i32 = 10_000;

pub struct HybridQuery<'a> {
    pub terms: &'a SearchTerms,
    pub matching: Matching,
    /// The query's embedding; without it, words alone decide.
    pub vector: Option<&'a [f32]>,
    /// Maximum number of hits.
    pub limit: usize,
    /// Return only the best chunk of each document.
    pub one_per_document: bool,
}

/// A chunk that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub key: String,
    pub title: String,
    pub heading: String,
    pub body: String,
    /// 0..=1, higher is better.
    pub score: f32,
}

impl Index {
    /// The best chunks for a query, the best first.
    ///
    /// # Errors
    /// The index cannot be read, or the search takes over 3 s.
    pub fn search(&mut self, query: &HybridQuery<'_>) -> Result<Vec<Hit>, SearchError> {
        self.with_timeout(|index| index.ranked(query))
    }

    /// The keys of the documents that contain every term, in any of their chunks. Terms may be
    /// the beginnings of longer words.
    ///
    /// # Errors
    /// The index cannot be read, or the search takes over 3 s.
    pub fn documents_with_all(
        &mut self,
        terms: &SearchTerms,
    ) -> Result<HashSet<String>, SearchError> {
        self.with_timeout(|index| index.matching_documents(terms))
    }

    fn matching_documents(&self, terms: &SearchTerms) -> Result<HashSet<String>, SearchError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT chunk.document FROM terms JOIN chunk ON chunk.id = terms.rowid
             WHERE terms MATCH ?1",
        )?;
        let mut common: Option<HashSet<i64>> = None;
        for expression in terms.prefix_expressions() {
            let rows = statement.query_map([expression], |row| row.get(0))?;
            let found: HashSet<i64> = rows.collect::<Result<_, _>>()?;
            common = Some(match common {
                None => found,
                Some(common) => common.intersection(&found).copied().collect(),
            });
        }
        let common = common.unwrap_or_default();
        let query = "SELECT id, key FROM document";
        let mut statement = self.connection.prepare_cached(query)?;
        let rows = statement.query_map((), |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?;
        let mut keys = HashSet::new();
        for row in rows {
            let (id, key) = row?;
            if common.contains(&id) {
                keys.insert(key);
            }
        }
        Ok(keys)
    }

    fn with_timeout<T>(
        &mut self,
        search: impl FnOnce(&mut Self) -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        let deadline = Instant::now() + TIMEOUT;
        self.connection.progress_handler(
            STEPS_BETWEEN_CHECKS,
            Some(move || Instant::now() > deadline),
        )?;
        let found = search(self);
        self.connection.progress_handler(0, None::<fn() -> bool>)?;
        found.map_err(|error| match error {
            SearchError::Database(error)
                if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) =>
            {
                SearchError::TimedOut
            }
            error => error,
        })
    }

    fn ranked(&mut self, query: &HybridQuery<'_>) -> Result<Vec<Hit>, SearchError> {
        let keyword_scores = self.keyword_scores(query)?;
        let vector = query.vector.map(quantize);
        let similarities = match &vector {
            Some(vector) => {
                let dimensions = self.dimensions()?;
                self.vectors.load(&self.connection, dimensions)?;
                self.vectors.nearest(vector, CANDIDATES)
            }
            None => Vec::new(),
        };
        let mut scores = keyword_scores.clone();
        for (chunk, _) in &similarities {
            scores.entry(*chunk).or_insert(0.0);
        }
        let has_vectors = !similarities.is_empty();
        let mut ranked: Vec<(i64, f32)> = scores
            .into_iter()
            .map(|(chunk, keyword)| {
                if !has_vectors {
                    return (chunk, keyword);
                }
                let vector = vector.as_deref().unwrap_or_default();
                let similarity = self.vectors.similarity(vector, chunk).unwrap_or(0.0);
                let similarity = similarity.clamp(0.0, 1.0);
                (chunk, VECTOR_WEIGHT * similarity + KEYWORD_WEIGHT * keyword)
            })
            .collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self.hits(&ranked, query)
    }

    /// The terms of the query without common ones, which distinguish few chunks and take long to rank.
    /// `None` if all terms are used.
    fn rare_terms(&self, query: &HybridQuery<'_>) -> Result<Option<SearchTerms>, SearchError> {
        let parts = query.terms.split();
        if query.matching == Matching::Every || parts.len() < 2 {
            return Ok(None);
        }
        let chunks = "SELECT count(*) FROM chunk";
        let chunks: i64 = self.connection.query_row(chunks, (), |row| row.get(0))?;
        if chunks < COMMON_CHUNKS_MIN {
            return Ok(None);
        }
        let limit = chunks / COMMON_SHARE;
        let mut statement = self.connection.prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM terms WHERE terms MATCH ?1 LIMIT ?2)",
        )?;
        let mut is_rare = Vec::new();
        for term in &parts {
            let expression = term.expression(query.matching);
            let count: i64 = statement.query_row(params![expression, limit], |row| row.get(0))?;
            is_rare.push(count < limit);
        }
        Ok(Some(query.terms.only(&is_rare)))
    }

    /// Chunks that match the words, with scores of 0..=1.
    fn keyword_scores(&self, query: &HybridQuery<'_>) -> Result<HashMap<i64, f32>, SearchError> {
        let rare = self.rare_terms(query)?;
        let terms = rare.as_ref().unwrap_or(query.terms);
        let Some(expression) = terms.expression(query.matching) else {
            return Ok(HashMap::new());
        };
        let mut statement = self.connection.prepare_cached(
            "SELECT rowid, rank FROM terms WHERE terms MATCH ?1 ORDER BY rank LIMIT ?2",
        )?;
        let rows = statement.query_map(params![expression, CANDIDATES as i64], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?))
        })?;
        // The rank is the negative BM25 score.
        let found: Vec<(i64, f64)> = rows.collect::<Result<_, _>>()?;
        let best = found
            .iter()
            .map(|(_, rank)| -rank)
            .fold(f64::MIN_POSITIVE, f64::max);
        let scaled = found
            .into_iter()
            .map(|(chunk, rank)| (chunk, (-rank / best) as f32));
        Ok(scaled.collect())
    }

    fn hits(
        &self,
        ranked: &[(i64, f32)],
        query: &HybridQuery<'_>,
    ) -> Result<Vec<Hit>, SearchError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT document.key, document.title, chunk.heading, chunk.body
             FROM chunk JOIN document ON document.id = chunk.document WHERE chunk.id = ?1",
        )?;
        let mut hits = Vec::new();
        let mut documents = HashSet::new();
        for (chunk, score) in ranked {
            if hits.len() == query.limit {
                break;
            }
            let hit = statement.query_map([chunk], |row| {
                Ok(Hit {
                    key: row.get(0)?,
                    title: row.get(1)?,
                    heading: row.get(2)?,
                    body: row.get(3)?,
                    score: *score,
                })
            })?;
            for hit in hit {
                let hit = hit?;
                if !query.one_per_document || documents.insert(hit.key.clone()) {
                    hits.push(hit);
                }
            }
        }
        Ok(hits)
    }
}

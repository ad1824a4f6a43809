//! Searching by words and by vectors.

use super::quantized::quantize;
use super::terms::{Matching, SearchTerms};
use super::{Index, SearchError};
use rusqlite::{ErrorCode, params};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

const VECTOR_WEIGHT: f32 = 0.7;
const KEYWORD_WEIGHT: f32 = 1.0 - VECTOR_WEIGHT;
/// Chunks that share no word with the query need at least this similarity. In the corpus of
/// `tests/it/search/quality/` with all-MiniLM-L6-v2, every answer scores over 0.30, and 99 % of the
/// other notes score under 0.24.
const SIMILARITY_MIN: f32 = 0.25;
/// Candidates of each kind of search that are ranked together.
const CANDIDATES: usize = 200;
/// In an index with fewer chunks, every term can be ranked quickly.
const COMMON_CHUNKS_MIN: i64 = 20_000;
/// A term is common if at least one in this many chunks contains it.
const COMMON_ONE_IN: i64 = 5;
/// Maximum number of rows that are ranked. Each takes about a microsecond.
const RANKED_ROWS_MAX: i64 = 25_000;
/// Limits for a query that consists only of common words.
const COMMON_TERMS_MAX: usize = 2;
const COMMON_ROWS_MAX: i64 = 5_000;
const TIMEOUT: Duration = Duration::from_secs(3);
/// SQLite steps between two checks of the deadline. They take far less than a millisecond.
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
    /// The cosine similarity of the vectors, at least 0; 0 without them.
    pub similarity: f32,
}

struct Ranked {
    chunk: i64,
    score: f32,
    similarity: f32,
}

/// The frequency of a query's words in the index.
enum Commonness {
    /// All of them can be ranked.
    Rare,
    /// Only these words can be ranked.
    Mixed(SearchTerms),
    /// Each occurs in too many chunks.
    Common,
}

impl Index {
    /// The best chunks for a query, in descending order of score.
    ///
    /// # Errors
    /// The index cannot be read, or the search takes over 3 s.
    pub fn search(&mut self, query: &HybridQuery<'_>) -> Result<Vec<Hit>, SearchError> {
        self.with_timeout(|index| index.ranked_hits(query))
    }

    pub(super) fn with_timeout<T>(
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

    fn ranked_hits(&mut self, query: &HybridQuery<'_>) -> Result<Vec<Hit>, SearchError> {
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
        for (chunk, similarity) in &similarities {
            if *similarity >= SIMILARITY_MIN {
                scores.entry(*chunk).or_insert(0.0);
            }
        }
        let has_vectors = !similarities.is_empty();
        let mut ranked: Vec<Ranked> = scores
            .into_iter()
            .map(|(chunk, keyword)| {
                if !has_vectors {
                    let (score, similarity) = (keyword, 0.0);
                    return Ranked {
                        chunk,
                        score,
                        similarity,
                    };
                }
                let vector = vector.as_deref().unwrap_or_default();
                let similarity = self.vectors.similarity(vector, chunk).unwrap_or(0.0);
                let similarity = similarity.clamp(0.0, 1.0);
                Ranked {
                    chunk,
                    score: VECTOR_WEIGHT * similarity + KEYWORD_WEIGHT * keyword,
                    similarity,
                }
            })
            .collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
        self.hits(&ranked, query)
    }

    /// The scores are in 0..=1.
    fn keyword_scores(&self, query: &HybridQuery<'_>) -> Result<HashMap<i64, f32>, SearchError> {
        let found = match self.commonness(query)? {
            Commonness::Rare => self.best_rows(query.terms.expression(query.matching), None)?,
            Commonness::Mixed(rare) => self.best_rows(rare.expression(query.matching), None)?,
            Commonness::Common => self.rows_with_common_words(query.terms)?,
        };
        // The rank is the negative BM25 score.
        let best = found
            .iter()
            .map(|(_, rank)| -rank)
            .fold(f64::MIN_POSITIVE, f64::max);
        let mut scores: HashMap<i64, f32> = HashMap::new();
        for (chunk, rank) in found {
            let score = scores.entry(chunk).or_default();
            *score = score.max((-rank / best) as f32);
        }
        Ok(scores)
    }

    /// The frequency of the query's words. Ranking takes time for each row that contains a term, so in
    /// a large index, words that occur in many chunks are ignored, because they distinguish little.
    fn commonness(&self, query: &HybridQuery<'_>) -> Result<Commonness, SearchError> {
        let chunks = "SELECT count(*) FROM chunk";
        let chunks: i64 = self.connection.query_row(chunks, (), |row| row.get(0))?;
        if query.matching == Matching::Every || chunks < COMMON_CHUNKS_MIN {
            return Ok(Commonness::Rare);
        }
        let limit = chunks / COMMON_ONE_IN;
        let mut statement = self.connection.prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM terms WHERE terms MATCH ?1 LIMIT ?2)",
        )?;
        let mut counts = Vec::new();
        for term in query.terms.split() {
            let expression = term.expression(query.matching);
            let count: i64 = statement.query_row(params![expression, limit], |row| row.get(0))?;
            counts.push(count);
        }
        // Counts are not known beyond the limit.
        let is_common = |count: &i64| *count >= limit;
        if !counts.is_empty() && counts.iter().all(is_common) {
            return Ok(Commonness::Common);
        }
        if !counts.iter().any(is_common) && counts.iter().sum::<i64>() <= RANKED_ROWS_MAX {
            return Ok(Commonness::Rare);
        }
        for count in counts.iter_mut().filter(|count| is_common(count)) {
            *count = RANKED_ROWS_MAX;
        }
        let rare = query.terms.rarest(&counts, RANKED_ROWS_MAX - 1);
        Ok(Commonness::Mixed(rare))
    }

    /// Chunks for a query that consists only of common words: chunks with such a word in their title,
    /// and some of the chunks that contain the longest words.
    fn rows_with_common_words(&self, terms: &SearchTerms) -> Result<Vec<(i64, f64)>, SearchError> {
        let terms = terms.longest(COMMON_TERMS_MAX);
        let mut found = self.best_rows(terms.title_expression(), Some(COMMON_ROWS_MAX))?;
        if found.len() < CANDIDATES {
            let all = terms.whole_words_expression();
            found.extend(self.best_rows(all, Some(COMMON_ROWS_MAX))?);
        }
        if found.is_empty() {
            let any = terms.longest(1).expression(Matching::Any);
            found = self.best_rows(any, Some(COMMON_ROWS_MAX))?;
        }
        Ok(found)
    }

    /// The best chunks for an expression with their ranks, chosen among the first `rows_max` rows.
    fn best_rows(
        &self,
        expression: Option<String>,
        rows_max: Option<i64>,
    ) -> Result<Vec<(i64, f64)>, SearchError> {
        let matches = match rows_max {
            // The full-text index keeps the best rows itself.
            None => "SELECT rowid, rank FROM terms WHERE terms MATCH ?1 ORDER BY rank LIMIT ?2",
            Some(_) => {
                "SELECT rowid, rank FROM
                 (SELECT rowid, rank FROM terms WHERE terms MATCH ?1 LIMIT ?3)
                 ORDER BY rank LIMIT ?2"
            }
        };
        let mut statement = self.connection.prepare_cached(matches)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let rows = match (expression, rows_max) {
            (None, _) => return Ok(Vec::new()),
            (Some(text), None) => statement.query_map(params![text, CANDIDATES as i64], read)?,
            (Some(text), Some(rows_max)) => {
                statement.query_map(params![text, CANDIDATES as i64, rows_max], read)?
            }
        };
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn hits(&self, ranked: &[Ranked], query: &HybridQuery<'_>) -> Result<Vec<Hit>, SearchError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT document.key, document.title, chunk.heading, chunk.body
             FROM chunk JOIN document ON document.id = chunk.document WHERE chunk.id = ?1",
        )?;
        let mut hits = Vec::new();
        let mut documents = HashSet::new();
        for ranked in ranked {
            if hits.len() == query.limit {
                break;
            }
            let hit = statement.query_map([ranked.chunk], |row| {
                Ok(Hit {
                    key: row.get(0)?,
                    title: row.get(1)?,
                    heading: row.get(2)?,
                    body: row.get(3)?,
                    score: ranked.score,
                    similarity: ranked.similarity,
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

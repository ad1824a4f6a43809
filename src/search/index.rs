//! The index: documents cut into chunks, with the words and the vector of each chunk.

use super::quantized::quantize;
use super::terms::{composed, letter_pairs};
use super::vectors::VectorCache;
use super::{PrefixLookup, SearchError};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::HashMap;
use std::path::PathBuf;

/// A search index in one file. Several programs may use the file at once. All methods fail if the
/// file cannot be read or written.
#[derive(Debug)]
pub struct Index {
    /// `None` if it is only in memory.
    pub(super) path: Option<PathBuf>,
    pub(super) prefixes: PrefixLookup,
    pub(super) connection: Connection,
    pub(super) vectors: VectorCache,
}

/// A document as it is indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Identifies the document, such as a path below its folder.
    pub key: String,
    pub title: String,
    pub fingerprint: DocumentFingerprint,
    /// Kept for the caller; the index does not read it.
    pub details: String,
    pub chunks: Vec<Chunk>,
    /// Whether the text of the chunks is stored, as [`Index::search`] needs. Without it, the
    /// document is found only by [`Index::documents_with_all`].
    pub stores_text: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Ranked like the title.
    pub heading: String,
    pub body: String,
}

/// The size and modification time of a document. If either differs from the indexed one, the
/// document may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentFingerprint {
    /// In bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified_ns: i64,
}

/// Documents to add or replace, and keys of those to remove.
#[derive(Debug, Default)]
pub struct IndexChanges {
    pub updated: Vec<Document>,
    pub removed: Vec<String>,
}

/// A chunk without a vector, with the text to embed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnembeddedChunk {
    pub chunk: i64,
    pub title: String,
    pub heading: String,
    pub body: String,
}

impl Index {
    /// The keys and fingerprints of all documents.
    pub fn fingerprints(&self) -> Result<HashMap<String, DocumentFingerprint>, SearchError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT key, size, modified_ns FROM document")?;
        let rows = statement.query_map((), |row| {
            let fingerprint = DocumentFingerprint {
                size: row.get::<_, i64>(1)?.cast_unsigned(),
                modified_ns: row.get(2)?,
            };
            Ok((row.get(0)?, fingerprint))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The fingerprint of one document, if it is indexed.
    pub fn fingerprint(&self, key: &str) -> Result<Option<DocumentFingerprint>, SearchError> {
        let query = "SELECT size, modified_ns FROM document WHERE key = ?1";
        let mut statement = self.connection.prepare_cached(query)?;
        let found = statement.query_row([key], |row| {
            Ok(DocumentFingerprint {
                size: row.get::<_, i64>(0)?.cast_unsigned(),
                modified_ns: row.get(1)?,
            })
        });
        Ok(found.optional()?)
    }

    /// The number of documents and of chunks.
    pub fn counts(&self) -> Result<(u64, u64), SearchError> {
        let count = |table| {
            let query = format!("SELECT count(*) FROM {table}");
            self.connection
                .query_row(&query, (), |row| row.get::<_, i64>(0))
        };
        Ok((
            count("document")?.cast_unsigned(),
            count("chunk")?.cast_unsigned(),
        ))
    }

    /// Applies the changes in one transaction. Chunks keep their vector if neither their text nor
    /// the document's title changed.
    pub fn apply(&mut self, changes: &IndexChanges) -> Result<(), SearchError> {
        let applied = self.apply_in_transaction(changes);
        if applied.is_err() {
            // The cache may hold vectors that were rolled back.
            self.vectors.clear();
        }
        Ok(applied?)
    }

    fn apply_in_transaction(&mut self, changes: &IndexChanges) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for key in &changes.removed {
            remove_document(&transaction, key, &mut self.vectors)?;
        }
        for document in &changes.updated {
            replace_document(&transaction, document, &mut self.vectors)?;
        }
        transaction.commit()
    }

    /// Sets the model that computes the vectors, and their dimensions. Vectors of a different model or
    /// with other dimensions are removed.
    pub fn set_embedding_model(
        &mut self,
        model: &str,
        dimensions: usize,
    ) -> Result<(), SearchError> {
        let query = "SELECT model, dimensions FROM embedding";
        let stored: Option<(String, Option<i64>)> = self
            .connection
            .query_row(query, (), |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let dimensions = i64::try_from(dimensions).unwrap_or(i64::MAX);
        let is_same = |(name, known): (String, Option<i64>)| {
            name == model && known.is_none_or(|known| known == dimensions)
        };
        if stored.is_some_and(is_same) {
            return Ok(());
        }
        self.replace_embedding(model, Some(dimensions))
    }

    /// Removes all vectors, and records the model and the dimensions of later vectors.
    fn replace_embedding(
        &mut self,
        model: &str,
        dimensions: Option<i64>,
    ) -> Result<(), SearchError> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch("DELETE FROM vector; DELETE FROM embedding;")?;
        let insert = "INSERT INTO embedding (model, dimensions) VALUES (?1, ?2)";
        transaction.execute(insert, params![model, dimensions])?;
        transaction.commit()?;
        self.vectors.clear();
        Ok(())
    }

    /// The dimensions recorded for the vectors; 0 while none are recorded.
    pub fn dimensions(&self) -> Result<usize, SearchError> {
        let query = "SELECT dimensions FROM embedding";
        let stored: Option<Option<i64>> = self
            .connection
            .query_row(query, (), |row| row.get(0))
            .optional()?;
        Ok(stored
            .flatten()
            .and_then(|count| usize::try_from(count).ok())
            .unwrap_or(0))
    }

    /// Up to `limit` chunks without a vector, in order, that follow the chunk `after` (0: all).
    pub fn missing_vectors(
        &self,
        after: i64,
        limit: usize,
    ) -> Result<Vec<UnembeddedChunk>, SearchError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT chunk.id, document.title, chunk.heading, chunk.body
             FROM chunk JOIN document ON document.id = chunk.document
             WHERE chunk.id > ?1 AND NOT EXISTS (SELECT 1 FROM vector WHERE vector.chunk = chunk.id)
             ORDER BY chunk.id LIMIT ?2",
        )?;
        let rows = statement.query_map(params![after, limit as i64], |row| {
            Ok(UnembeddedChunk {
                chunk: row.get(0)?,
                title: row.get(1)?,
                heading: row.get(2)?,
                body: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The number of chunks without a vector.
    pub fn missing_vector_count(&self) -> Result<u64, SearchError> {
        let query = "SELECT (SELECT count(*) FROM chunk) - (SELECT count(*) FROM vector)";
        let count: i64 = self.connection.query_row(query, (), |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Stores vectors by chunk. Chunks that no longer exist are skipped. If the number of
    /// dimensions has changed, all earlier vectors are removed first.
    ///
    /// # Errors
    /// The vectors differ in their dimensions or have none.
    pub fn store_vectors(&mut self, vectors: &[(i64, Vec<f32>)]) -> Result<(), SearchError> {
        let Some((_, first)) = vectors.first() else {
            return Ok(());
        };
        let expected = first.len();
        if expected == 0 {
            return Err(SearchError::EmptyEmbedding);
        }
        let differing = vectors.iter().find(|(_, vector)| vector.len() != expected);
        if let Some((_, vector)) = differing {
            let found = vector.len();
            return Err(SearchError::Dimensions { expected, found });
        }
        if self.dimensions()? != expected {
            let query = "SELECT model FROM embedding";
            let model: Option<String> = self
                .connection
                .query_row(query, (), |row| row.get(0))
                .optional()?;
            self.replace_embedding(&model.unwrap_or_default(), Some(expected as i64))?;
        }
        let stored = self.insert_vectors(vectors);
        if stored.is_err() {
            self.vectors.clear();
        }
        Ok(stored?)
    }

    fn insert_vectors(&mut self, vectors: &[(i64, Vec<f32>)]) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (chunk, vector) in vectors {
            let components = quantize(vector).into_iter().map(i8::cast_unsigned);
            let components: Vec<u8> = components.collect();
            let inserted = transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO vector (chunk, components)
                     SELECT id, ?2 FROM chunk WHERE id = ?1",
                )?
                .execute(params![chunk, components])?;
            if inserted > 0 {
                self.vectors.insert(*chunk, &components);
            }
        }
        transaction.commit()
    }
}

fn remove_document(
    transaction: &Transaction<'_>,
    key: &str,
    vectors: &mut VectorCache,
) -> rusqlite::Result<()> {
    let id: Option<i64> = transaction
        .prepare_cached("SELECT id FROM document WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?;
    let Some(id) = id else {
        return Ok(());
    };
    let mut statement = transaction.prepare_cached("SELECT id FROM chunk WHERE document = ?1")?;
    let chunks: Vec<i64> = statement
        .query_map([id], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for chunk in chunks {
        transaction
            .prepare_cached("DELETE FROM terms WHERE rowid = ?1")?
            .execute([chunk])?;
        transaction
            .prepare_cached("DELETE FROM vector WHERE chunk = ?1")?
            .execute([chunk])?;
        vectors.remove(chunk);
    }
    transaction
        .prepare_cached("DELETE FROM chunk WHERE document = ?1")?
        .execute([id])?;
    transaction
        .prepare_cached("DELETE FROM document WHERE id = ?1")?
        .execute([id])?;
    Ok(())
}

fn replace_document(
    transaction: &Transaction<'_>,
    document: &Document,
    vectors: &mut VectorCache,
) -> rusqlite::Result<()> {
    let mut known = known_vectors(transaction, document)?;
    remove_document(transaction, &document.key, vectors)?;
    transaction
        .prepare_cached(
            "INSERT INTO document (key, title, size, modified_ns, details)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            document.key,
            document.title,
            document.fingerprint.size.cast_signed(),
            document.fingerprint.modified_ns,
            document.details
        ])?;
    let id = transaction.last_insert_rowid();
    for chunk in &document.chunks {
        let (stored_heading, stored_body) = match document.stores_text {
            true => (&*chunk.heading, &*chunk.body),
            false => ("", ""),
        };
        transaction
            .prepare_cached("INSERT INTO chunk (document, heading, body) VALUES (?1, ?2, ?3)")?
            .execute(params![id, stored_heading, stored_body])?;
        let chunk_id = transaction.last_insert_rowid();
        let title = format!(
            "{}\n{}\n{}",
            document.title,
            file_stem(&document.key),
            chunk.heading
        );
        let (title, body) = (composed(&title), composed(&chunk.body));
        transaction
            .prepare_cached(
                "INSERT INTO terms (rowid, title, title_pairs, body, body_pairs)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                chunk_id,
                title,
                letter_pairs(&title),
                body,
                letter_pairs(&body)
            ])?;
        let text = (chunk.heading.clone(), chunk.body.clone());
        if let Some(components) = known.remove(&text) {
            transaction
                .prepare_cached("INSERT INTO vector (chunk, components) VALUES (?1, ?2)")?
                .execute(params![chunk_id, components])?;
            vectors.insert(chunk_id, &components);
        }
    }
    Ok(())
}

/// The vectors of a document's chunks by heading and body. Empty if the title has changed, because
/// the title is embedded with each chunk.
fn known_vectors(
    transaction: &Transaction<'_>,
    document: &Document,
) -> rusqlite::Result<HashMap<(String, String), Vec<u8>>> {
    let mut statement = transaction.prepare_cached(
        "SELECT chunk.heading, chunk.body, vector.components FROM document
         JOIN chunk ON chunk.document = document.id JOIN vector ON vector.chunk = chunk.id
         WHERE document.key = ?1 AND document.title = ?2",
    )?;
    let rows = statement.query_map([&document.key, &document.title], |row| {
        Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
    })?;
    rows.collect()
}

/// The last part of a path without its extension, so that documents are found by file name.
fn file_stem(key: &str) -> &str {
    let name = key.rsplit('/').next().unwrap_or(key);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

//! Full-text and vector search in an embedded SQLite database. Documents and chunks can be of any
//! kind; nothing here is specific to notes.
//!
//! All functions block; call them on a blocking thread.

mod documents;
mod filler_words;
mod index;
mod opening;
mod quantized;
mod relevance;
mod schema;
mod snippet;
mod terms;
mod vectors;
mod word_forms;

pub use index::{Chunk, Document, DocumentFingerprint, Index, IndexChanges, UnembeddedChunk};
pub use relevance::Relevance;
pub use schema::PrefixLookup;
pub use snippet::{Snippet, snippet};
pub use terms::{Matching, SearchTerms, composed};

mod query;

pub use query::{Hit, HybridQuery};

/// Why the index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("the search index cannot be used: {0}")]
    Database(#[from] rusqlite::Error),
    #[error("the search index cannot be written: {}", crate::files::describe_io_error(.0))]
    Io(#[from] std::io::Error),
    #[error("the search took too long and was stopped")]
    TimedOut,
    #[error("an embedding is empty")]
    EmptyEmbedding,
    #[error("an embedding has {found} dimensions instead of {expected}")]
    Dimensions { expected: usize, found: usize },
}

//! Brings the index up to date in slices: each indexes changed sessions for a limited time, newest
//! first, so that a program can show progress and end at any moment.

use super::{SessionFile, SessionIndex, summary_record};
use crate::domain::{IndexProgress, SessionId};
use crate::files::FileLock;
use crate::search::{Chunk, Document, Index, IndexChanges, SearchError};
use crate::store::session_list::{SummaryLifetime, summarize};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Documents and bytes of text written in one transaction.
const BATCH_DOCUMENTS: usize = 100;
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Maximum size of a chunk. A session usually fits into one.
const CHUNK_BYTES_MAX: usize = 1024 * 1024;
/// Maximum size of the indexed text of a session. A search does not find the rest.
const SESSION_BYTES_MAX: usize = 64 * 1024 * 1024;

impl SessionIndex {
    /// Indexes changed sessions for about `time`, and removes deleted ones. While another program is
    /// indexing, does nothing and returns the progress of that program.
    pub fn update(&self, time: Duration) -> IndexProgress {
        let files = self.session_files();
        let total = files.len();
        // A home without a cache counts as unused, so none is created while there are no sessions.
        if total == 0 && !self.path.exists() {
            return IndexProgress::default();
        }
        let deadline = Instant::now() + time;
        let update = |files| self.with_index(|index| self.update_files(index, files, deadline));
        let updated = match update(files) {
            Err(error) if error.is_damage() => update(self.session_files()),
            updated => updated,
        };
        match updated {
            Ok(indexed) => IndexProgress {
                indexed,
                total,
                ..IndexProgress::default()
            },
            Err(error) => IndexProgress {
                total,
                error: Some(error.to_string()),
                ..IndexProgress::default()
            },
        }
    }

    /// Returns the number of indexed sessions.
    fn update_files(
        &self,
        index: &mut Index,
        files: Vec<SessionFile>,
        deadline: Instant,
    ) -> Result<usize, SearchError> {
        let lock = FileLock::try_acquire(&self.lock_path())?;
        let mut known = index.fingerprints()?;
        let total = files.len();
        let changed: Vec<SessionFile> = files
            .into_iter()
            .filter(|file| known.remove(file.id.as_str()) != Some(file.fingerprint))
            .collect();
        let mut indexed = total - changed.len();
        if lock.is_none() {
            return Ok(indexed);
        }
        // The remaining entries no longer have a file.
        let mut batch = IndexChanges {
            removed: known.into_keys().collect(),
            ..IndexChanges::default()
        };
        let mut batch_bytes = 0;
        for file in changed {
            let (document, bytes) = self.read_document(file);
            batch_bytes += bytes;
            batch.updated.push(document);
            let is_due = Instant::now() > deadline;
            if is_due || batch.updated.len() >= BATCH_DOCUMENTS || batch_bytes > BATCH_BYTES {
                indexed += batch.updated.len();
                index.apply(&std::mem::take(&mut batch))?;
                batch_bytes = 0;
            }
            if is_due {
                break;
            }
        }
        indexed += batch.updated.len();
        index.apply(&batch)?;
        Ok(indexed)
    }

    /// A damaged index is replaced as a whole when it is opened, so its lock is another file.
    fn lock_path(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".lock");
        path.into()
    }

    /// Also returns the size of its text in bytes.
    fn read_document(&self, file: SessionFile) -> (Document, usize) {
        let path = self.sessions.folder.join(file.id.as_str());
        let mut chunks = ChunkBuilder::default();
        let (summary, lifetime) = summarize(&path, file.id, |text| chunks.push(text));
        // A broken file cannot be opened, so a search must not find the text before the fault.
        if summary.open_error.is_some() {
            chunks = ChunkBuilder::default();
        }
        let details = match lifetime {
            SummaryLifetime::UntilFileChanges => summary_record::serialize(&summary),
            // The list reads the file again.
            SummaryLifetime::Temporary => String::new(),
        };
        let bytes = chunks.bytes;
        let document = Document {
            key: SessionId::as_str(&summary.id).to_owned(),
            title: summary.title,
            fingerprint: file.fingerprint,
            details,
            chunks: chunks.finish(),
            stores_text: false,
        };
        (document, bytes)
    }
}

/// Joins the messages of a session into chunks.
#[derive(Default)]
struct ChunkBuilder {
    chunks: Vec<Chunk>,
    current: String,
    bytes: usize,
}

impl ChunkBuilder {
    fn push(&mut self, mut text: &str) {
        text = &text[..text.floor_char_boundary(SESSION_BYTES_MAX.saturating_sub(self.bytes))];
        self.bytes += text.len();
        while !text.is_empty() {
            let room = CHUNK_BYTES_MAX.saturating_sub(self.current.len());
            let end = end_of_part(text, room);
            self.current.push_str(&text[..end]);
            self.current.push('\n');
            text = &text[end..];
            if !text.is_empty() {
                self.end_chunk();
            }
        }
    }

    fn end_chunk(&mut self) {
        self.chunks.push(Chunk {
            heading: String::new(),
            body: std::mem::take(&mut self.current),
        });
    }

    /// At least one chunk, so that a session without text is found by its title.
    fn finish(mut self) -> Vec<Chunk> {
        if !self.current.is_empty() || self.chunks.is_empty() {
            self.end_chunk();
        }
        self.chunks
    }
}

/// The end of the longest prefix of `text` with at most `room` bytes, if possible after whitespace; 0 if
/// nothing fits.
fn end_of_part(text: &str, room: usize) -> usize {
    if text.len() <= room {
        return text.len();
    }
    let end = text.floor_char_boundary(room);
    let words = text[..end].trim_end_matches(|c: char| !c.is_whitespace());
    match words.len() {
        0 => end,
        words_end => words_end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_between_words() {
        let mut builder = ChunkBuilder::default();
        builder.push("first");
        let long = "가나다 ".repeat(CHUNK_BYTES_MAX / 5);
        builder.push(&long);
        let bodies: Vec<String> = builder
            .finish()
            .into_iter()
            .map(|chunk| chunk.body)
            .collect();
        assert_eq!(bodies.len(), 3);
        assert!(bodies.iter().all(|body| body.len() <= CHUNK_BYTES_MAX + 1));
        let words = bodies.iter().flat_map(|body| body.split_whitespace());
        assert_eq!(
            words.filter(|word| *word != "가나다").collect::<Vec<_>>(),
            ["first"]
        );
    }

    #[test]
    fn text_is_cut_after_a_space_of_several_bytes() {
        let mut builder = ChunkBuilder::default();
        builder.push(&"가나다\u{3000}".repeat(CHUNK_BYTES_MAX / 5));
        let chunks = builder.finish();
        let bodies = chunks.iter().map(|chunk| chunk.body.as_str());
        let mut words = bodies.flat_map(str::split_whitespace);
        assert!(chunks.len() > 1 && words.all(|word| word == "가나다"));
    }

    #[test]
    fn indexed_text_without_whitespace_is_cut_into_chunks() {
        let mut builder = ChunkBuilder::default();
        builder.push(&"가".repeat(CHUNK_BYTES_MAX));
        assert!(builder.finish().len() > 2);
        assert_eq!(ChunkBuilder::default().finish().len(), 1);
    }
}

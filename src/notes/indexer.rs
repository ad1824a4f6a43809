//! Keeps the index of a vault in line with its files.

use super::note;
use super::vault::{NoteFile, NotePath, Vault};
use crate::search::{Document, Index, IndexChanges, SearchError};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Notes written to the index at once. Others can search between two batches.
const BATCH: usize = 100;
/// Skipped notes that are named.
const SKIPPED_MAX: usize = 20;

/// What bringing an index up to date came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexingReport {
    /// Notes in the index.
    pub notes: usize,
    /// Notes that were new or had changed.
    pub updated: usize,
    pub removed: usize,
    /// The first notes that were left out, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// The number of all notes that were left out.
    pub skipped_count: usize,
    /// The vault holds more notes than are indexed.
    pub is_truncated: bool,
}

/// Indexes new and changed notes and removes deleted ones. Returns early when `is_cancelled`
/// becomes true; what was done so far is kept.
///
/// # Errors
/// The index cannot be read or written. Notes that cannot be read are skipped.
pub fn update_index(
    vault: &Vault,
    index: &mut Index,
    is_cancelled: &AtomicBool,
) -> Result<IndexingReport, SearchError> {
    let mut known = index.fingerprints()?;
    let listing = vault.list();
    let mut report = IndexingReport {
        is_truncated: listing.is_truncated,
        ..IndexingReport::default()
    };
    for (key, why) in listing.skipped {
        report.skip(key, why);
    }
    let mut changes = IndexChanges::default();
    for file in listing.notes {
        if is_cancelled.load(Ordering::Relaxed) {
            break;
        }
        let is_known = known.remove(&file.key) == Some(file.fingerprint);
        if is_known {
            report.notes += 1;
            continue;
        }
        match read_document(vault, &file) {
            Ok(document) => {
                report.notes += 1;
                report.updated += 1;
                changes.updated.push(document);
            }
            Err(why) => {
                changes.removed.push(file.key.clone());
                report.skip(file.key, why);
            }
        }
        if changes.updated.len() == BATCH {
            index.apply(&std::mem::take(&mut changes))?;
        }
    }
    if !is_cancelled.load(Ordering::Relaxed) && !report.is_truncated {
        report.removed = known.len();
        changes.removed.extend(known.into_keys());
    }
    index.apply(&changes)?;
    Ok(report)
}

fn read_document(vault: &Vault, file: &NoteFile) -> Result<Document, String> {
    let note_path = NotePath {
        key: file.key.clone(),
        path: vault.root().join(&file.key),
    };
    let text = vault.read(&note_path).map_err(|error| error.reason())?;
    let stem = Path::new(&file.key).file_stem().unwrap_or_default();
    let note = note::parse(&text, &stem.to_string_lossy());
    Ok(Document {
        key: file.key.clone(),
        title: note.title,
        fingerprint: file.fingerprint,
        chunks: note.chunks,
    })
}

impl IndexingReport {
    fn skip(&mut self, key: String, why: String) {
        self.skipped_count += 1;
        if self.skipped.len() < SKIPPED_MAX {
            self.skipped.push((key, why));
        }
    }
}

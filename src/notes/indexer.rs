//! Keeps the index of a vault in sync with its files.

use super::note;
use super::note_file::NotePath;
use super::vault::{NOTES_MAX, NoteFile, Vault};
use crate::search::{Document, Index, IndexChanges, SearchError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Notes written to the index in one transaction. Other programs can search between two batches.
const BATCH: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexingReport {
    /// Notes in the index; if the update is not complete, only those that it reached.
    pub notes: usize,
    /// Notes that were new or had changed.
    pub updated: usize,
    pub removed: usize,
    /// The files and folders that were left out, each with the reason.
    pub skipped: BTreeMap<String, String>,
    /// The vault has more than `NOTES_MAX` notes; the others are not indexed.
    pub is_truncated: bool,
    /// The vault has links to folders, which are not followed.
    pub has_linked_folders: bool,
    /// All changes were indexed within the time limit.
    pub is_complete: bool,
}

/// Indexes new and changed notes and removes deleted ones. Stops early when `is_out_of_time` returns
/// true, and keeps the changes made so far.
///
/// # Errors
/// The index cannot be read or written. Notes that cannot be read are skipped.
pub fn update_index(
    vault: &Vault,
    index: &mut Index,
    is_out_of_time: &dyn Fn() -> bool,
) -> Result<IndexingReport, SearchError> {
    let mut known = index.fingerprints()?;
    let listing = vault.list();
    let mut report = IndexingReport {
        is_truncated: listing.is_truncated,
        has_linked_folders: listing.has_linked_folders,
        is_complete: true,
        ..IndexingReport::default()
    };
    for (key, why) in listing.skipped {
        report.skipped.insert(key, why);
    }
    let mut changes = IndexChanges::default();
    for file in listing.notes {
        if is_out_of_time() {
            report.is_complete = false;
            break;
        }
        let is_unchanged = known.remove(&file.key) == Some(file.fingerprint);
        if is_unchanged {
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
                report.skipped.insert(file.key, why);
            }
        }
        if changes.updated.len() == BATCH {
            index.apply(&std::mem::take(&mut changes))?;
        }
    }
    if report.is_complete && !report.is_truncated && !listing.has_unread_folders {
        report.removed = known.len();
        changes.removed.extend(known.into_keys());
    }
    index.apply(&changes)?;
    Ok(report)
}

/// Indexes those of `files` that have changed, and removes those that are gone or cannot be read.
/// `before` is the last report of [`update_index`].
///
/// # Errors
/// As for [`update_index`].
pub fn update_files(
    vault: &Vault,
    index: &mut Index,
    files: &[PathBuf],
    before: &IndexingReport,
) -> Result<IndexingReport, SearchError> {
    let mut report = IndexingReport {
        updated: 0,
        removed: 0,
        ..before.clone()
    };
    let mut changes = IndexChanges::default();
    for path in files {
        let Some(key) = vault.key(path) else {
            continue;
        };
        let known = index.fingerprint(&key)?;
        let listing = vault.list_file(path);
        let Some(file) = listing.notes.first() else {
            report.skipped.remove(&key);
            let is_left_out = !listing.skipped.is_empty();
            for (key, why) in listing.skipped {
                report.skipped.insert(key, why);
            }
            report.removed += usize::from(known.is_some() && !is_left_out);
            changes.removed.push(key);
            continue;
        };
        if known == Some(file.fingerprint) {
            continue;
        }
        match read_document(vault, file) {
            Ok(document) => {
                report.skipped.remove(&key);
                report.updated += 1;
                changes.updated.push(document);
            }
            Err(why) => {
                changes.removed.push(key.clone());
                report.skipped.insert(key, why);
            }
        }
    }
    index.apply(&changes)?;
    report.notes = usize::try_from(index.counts()?.0).unwrap_or(usize::MAX);
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
        details: String::new(),
        chunks: note.chunks,
        stores_text: true,
    })
}

impl IndexingReport {
    /// Sentences for the user about notes missing from the index.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if !self.is_complete {
            let searched = match self.notes {
                1 => "1 note was".to_owned(),
                count => format!("{count} notes were"),
            };
            remarks.push(format!(
                "Indexing is not finished: {searched} searched. Search again to continue."
            ));
        }
        if self.is_truncated {
            remarks.push(format!("Only the first {NOTES_MAX} notes are indexed."));
        }
        match (self.skipped.len(), self.skipped.first_key_value()) {
            (_, None) => {}
            (1, Some((key, why))) => remarks.push(format!("{key} was left out: {why}.")),
            (count, Some((key, why))) => remarks.push(format!(
                "{count} files or folders were left out, such as {key}: {why}."
            )),
        }
        remarks
    }

    /// Like [`Self::remarks`], for a vault without notes: also mentions folders behind links, where the
    /// user may expect notes.
    pub fn reasons_for_no_notes(&self) -> Vec<String> {
        let mut reasons = self.remarks();
        if self.has_linked_folders {
            reasons.push("Links to folders are not followed.".to_owned());
        }
        reasons
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_repaired_or_deleted_note_is_no_longer_reported_as_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let notes = folder.path().join("notes");
        fs::create_dir(&notes).expect("created");
        let vault = Vault::open(&notes).expect("a vault");
        let mut index = Index::open(&folder.path().join("index.sqlite")).expect("an index");
        for name in ["a.md", "b.md"] {
            fs::write(notes.join(name), "a\0b").expect("written");
        }
        let report = update_index(&vault, &mut index, &|| false).expect("indexed");
        assert_eq!(report.skipped.len(), 2);
        fs::write(vault.root().join("a.md"), "apples").expect("written");
        fs::remove_file(vault.root().join("b.md")).expect("removed");
        let files = ["a.md", "b.md"].map(|name| vault.root().join(name));
        let report = update_files(&vault, &mut index, &files, &report).expect("indexed");
        assert!(report.skipped.is_empty());
    }

    #[test]
    fn a_changed_note_that_is_still_left_out_is_not_counted_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::open(folder.path()).expect("a vault");
        let mut index = Index::in_memory().expect("an index");
        let files: Vec<_> = (0..30)
            .map(|number| vault.root().join(format!("{number}.md")))
            .collect();
        for file in &files {
            fs::write(file, "a\0b").expect("written");
        }
        let report = update_index(&vault, &mut index, &|| false).expect("indexed");
        for file in &files {
            fs::write(file, "still \0 not text").expect("written");
        }
        let mut report = update_files(&vault, &mut index, &files, &report).expect("indexed");
        assert_eq!(report.skipped.len(), 30);
        for file in &files {
            fs::write(file, "text").expect("written");
            let file = std::slice::from_ref(file);
            report = update_files(&vault, &mut index, file, &report).expect("indexed");
        }
        assert!(report.skipped.is_empty(), "{report:?}");
    }

    #[cfg(unix)]
    #[test]
    fn notes_of_a_folder_that_cannot_be_read_stay_in_the_index() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let notes = folder.path().join("notes");
        fs::create_dir_all(notes.join("sub")).expect("created");
        fs::write(notes.join("sub/a.md"), "apples").expect("written");
        let vault = Vault::open(&notes).expect("a vault");
        let mut index = Index::open(&folder.path().join("index.sqlite")).expect("an index");
        update_index(&vault, &mut index, &|| false).expect("indexed");
        let set_mode = |mode| {
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(notes.join("sub"), permissions).expect("changed");
        };
        set_mode(0o000);
        // Root can read every folder.
        let is_unreadable = fs::read_dir(notes.join("sub")).is_err();
        let report = update_index(&vault, &mut index, &|| false).expect("indexed");
        set_mode(0o755);
        assert_eq!(report.skipped.len(), usize::from(is_unreadable));
        assert_eq!(index.counts().expect("counted").0, 1);
    }

    #[test]
    fn a_folder_that_is_too_deep_is_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let notes = folder.path().join("notes");
        let deepest = notes.join(vec!["d"; 33].join("/"));
        fs::create_dir_all(&deepest).expect("created");
        fs::write(deepest.parent().expect("a folder").join("a.md"), "apples").expect("written");
        fs::write(deepest.join("b.md"), "pears").expect("written");
        let vault = Vault::open(&notes).expect("a vault");
        let mut index = Index::open(&folder.path().join("index.sqlite")).expect("an index");
        let report = update_index(&vault, &mut index, &|| false).expect("indexed");
        assert_eq!(report.notes, 1);
        let remark = "d/d was left out: it is more than 32 folders deep.";
        let remarks = report.remarks();
        assert!(remarks[0].ends_with(remark), "{remarks:?}");
    }
}

//! Journals of running turns, which contain the prompt, the partial answer and the calls. Each
//! process locks its own journal, so an unlocked one belongs to a process that has ended. Journals
//! are append-only, with one record per line; a partial last line is ignored.

use super::{StoreError, attachment_json, call_json};
use crate::domain::{Attachment, Notice, SessionId, ToolCall, ToolState, Usage};
use crate::files::{self, TemporaryFile};
use jiff::Zoned;
use rustix::fs::CWD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod replay;

pub use replay::{JournaledAnswer, JournaledPiece, JournaledTurn};

const EXTENSION: &str = "jsonl";
/// Larger files are not read; a journal is never that large.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The maximum number of journals examined at startup.
const ORPHANS_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum JournalRecord {
    /// A turn starts. Every journal begins with this record. Times are in RFC 3339 format.
    Turn {
        prompt: String,
        /// The files attached to the prompt, in the format used by session files.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Value>,
        model: String,
        /// `None` if it has no file yet.
        session: Option<SessionId>,
        /// The time of the conversation's first prompt, which identifies it before it has a
        /// file.
        started: String,
        /// The number of messages before the prompt.
        before: usize,
        /// The start of the turn.
        at: String,
    },
    /// Streamed text of the answer, or of the reasoning if `thinking` is true.
    #[serde(rename = "words")]
    Text {
        piece: u64,
        thinking: bool,
        text: String,
    },
    /// A piece has a different kind than first recorded.
    #[serde(rename = "turned")]
    Reclassified { piece: u64, thinking: bool },
    /// A suspected call in a piece was text after all. `text` is the complete text of the piece.
    Restored { piece: u64, text: String },
    /// A call and its state, in the format used by session files.
    Call {
        call: u64,
        awaiting: bool,
        entry: Value,
    },
    /// The final answer, as far as it got if the user stopped it.
    Answer {
        text: String,
        input: Option<u64>,
        output: Option<u64>,
        at: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stopped: bool,
    },
    /// The turn ended without an answer.
    Ended,
}

impl JournalRecord {
    pub fn from_call(call: &ToolCall) -> Self {
        Self::Call {
            call: call.id.0,
            awaiting: call.state == ToolState::AwaitingApproval,
            entry: call_json::to_json(call),
        }
    }

    /// The entries of the attachments of a prompt.
    pub fn attachment_entries(attachments: &[Arc<Attachment>]) -> Vec<Value> {
        attachment_json::list_to_json(attachments)
    }

    pub fn from_answer(
        text: &str,
        usage: Usage,
        ended_at: jiff::Timestamp,
        is_stopped: bool,
    ) -> Self {
        Self::Answer {
            text: text.to_owned(),
            input: usage.input,
            output: usage.output,
            at: ended_at.to_string(),
            stopped: is_stopped,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Journals {
    folder: PathBuf,
}

/// A journal locked by this process. Dropping it unlocks the file but keeps it.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// The last write may be partial, so the next record starts with a line break.
    ends_mid_line: bool,
}

/// What was found in the journal folder at startup.
#[derive(Debug)]
pub enum OrphanedJournal {
    /// An orphaned journal, now locked by this process.
    Recoverable {
        journal: Journal,
        turns: Vec<JournaledTurn>,
    },
    /// Not a readable journal, or all journals beyond the limit; the files are left unchanged.
    Unrecognized(Notice),
}

impl Journals {
    /// Manages the journals in `folder`, which is created along with the first journal.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Creates a journal with the record `first`. The file is locked before it gets its name, so
    /// no other process can mistake it for an orphan.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn create(&self, first: &JournalRecord, now: &Zoned) -> Result<Journal, StoreError> {
        let unwritable = |error: &std::io::Error| unwritable(&self.folder, error);
        files::create_folder(&self.folder).map_err(|error| unwritable(&error))?;
        let temporary = TemporaryFile::create(CWD, &self.folder);
        let temporary = temporary.map_err(|error| unwritable(&error))?;
        match temporary.file().try_lock() {
            // On a file system without locks, the startup scan cannot claim journals either.
            Ok(()) => {}
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(unwritable(&error)),
            Err(TryLockError::WouldBlock) => {
                return Err(unwritable(&ErrorKind::WouldBlock.into()));
            }
        }
        let line = to_line(first);
        let file = temporary.file().try_clone();
        let mut file = file.map_err(|error| unwritable(&error))?;
        let result = file.write_all(line.as_bytes());
        result.map_err(|error| unwritable(&error))?;
        let stem = now.strftime("%Y%m%d_%H%M%S").to_string();
        for number in 1..=9_999 {
            let name = match number {
                1 => format!("{stem}.{EXTENSION}"),
                _ => format!("{stem}_{number}.{EXTENSION}"),
            };
            let path = self.folder.join(name);
            match temporary.rename_new(&path) {
                Ok(()) => {
                    let journal = Journal {
                        file,
                        path,
                        ends_mid_line: false,
                    };
                    journal.sync()?;
                    return Ok(journal);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(&error)),
            }
        }
        Err(unwritable(&ErrorKind::AlreadyExists.into()))
    }

    /// Claims the orphaned journals, newest first. Processes that start at the same time claim
    /// different ones.
    pub fn claim_orphaned(&self) -> Vec<OrphanedJournal> {
        let Ok(items) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let is_journal = |path: &PathBuf| {
            path.extension()
                .is_some_and(|extension| extension == EXTENSION)
        };
        let mut paths: Vec<PathBuf> = items
            .flatten()
            .map(|item| item.path())
            .filter(is_journal)
            .collect();
        paths.sort_unstable_by(|a, b| b.cmp(a));
        let mut orphaned: Vec<OrphanedJournal> = paths
            .iter()
            .take(ORPHANS_MAX)
            .filter_map(|path| claim(path))
            .collect();
        orphaned.extend(self.skipped_journals_notice(paths.len()));
        // The clock may have jumped after a name was chosen, so sort by modification time.
        orphaned.sort_by_key(|orphan| match orphan {
            OrphanedJournal::Recoverable { journal, .. } => {
                std::cmp::Reverse(journal.modified_at())
            }
            OrphanedJournal::Unrecognized(_) => std::cmp::Reverse(None),
        });
        orphaned
    }

    /// A notice about journals beyond the limit. They indicate repeated crashes, which the user should
    /// know about.
    fn skipped_journals_notice(&self, count: usize) -> Option<OrphanedJournal> {
        let skipped = count
            .checked_sub(ORPHANS_MAX)
            .filter(|skipped| *skipped > 0)?;
        let folder = self.folder.display();
        let were = if skipped == 1 { "was" } else { "were" };
        let message = format!("{skipped} of the {count} journals in {folder} {were} skipped.");
        let notice = Notice::warning(message)
            .with_reason("Only the newest are checked at startup.")
            .with_advice("Move old journals out of this folder; the next start checks the rest.");
        Some(OrphanedJournal::Unrecognized(notice))
    }
}

/// `None` if another program has locked or just removed it.
fn claim(path: &Path) -> Option<OrphanedJournal> {
    let left_alone = |what: String| {
        let notice = Notice::warning(what)
            .with_reason("It was not changed.")
            .with_advice("Remove it if you do not need it.");
        Some(OrphanedJournal::Unrecognized(notice))
    };
    let unrecognized =
        |why: &str| left_alone(format!("{} is not a turn journal: {why}.", path.display()));
    // An unreadable journal may still hold a turn.
    let unreadable = |error: &std::io::Error| {
        let why = files::describe_io_error(error);
        left_alone(format!(
            "The turn journal {} could not be read: {why}.",
            path.display()
        ))
    };
    // Reading a pipe or a device would block startup.
    let metadata = fs::symlink_metadata(path).ok()?;
    if !metadata.is_file() {
        return unrecognized("it is not a regular file");
    }
    let file = match File::options().read(true).append(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => return unreadable(&error),
    };
    if file.try_lock().is_err() || !files::is_same_file(&file, path) {
        return None;
    }
    let bytes = match files::read(path, BYTES_MAX) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(error) => return unreadable(&error),
    };
    let turns = replay::read_turns(&bytes);
    if turns.is_empty() {
        return unrecognized("it does not begin with a turn");
    }
    let journal = Journal {
        file,
        path: path.to_owned(),
        ends_mid_line: bytes.last() != Some(&b'\n'),
    };
    Some(OrphanedJournal::Recoverable { journal, turns })
}

impl Journal {
    /// Appends one record in a single write.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, record: &JournalRecord) -> Result<(), StoreError> {
        let line = to_line(record);
        let line_break = if self.ends_mid_line { "\n" } else { "" };
        self.ends_mid_line = true;
        let result = self
            .file
            .write_all(format!("{line_break}{line}").as_bytes());
        result.map_err(|error| unwritable(&self.path, &error))?;
        self.ends_mid_line = false;
        Ok(())
    }

    /// Flushes the journal to disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn sync(&self) -> Result<(), StoreError> {
        let result = self.file.sync_data();
        result.map_err(|error| unwritable(&self.path, &error))
    }

    /// Removes the file, or empties it if that fails, so the next start does not offer it
    /// again.
    pub fn remove(self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(
                "could not remove a journal: {}",
                files::describe_io_error(&error)
            );
            let _ = self.file.set_len(0);
        }
    }

    fn modified_at(&self) -> Option<std::time::SystemTime> {
        self.file
            .metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
    }
}

fn to_line(record: &JournalRecord) -> String {
    let line = serde_json::to_string(record).expect("a record has string keys only");
    line + "\n"
}

fn unwritable(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Unwritable {
        path: path.to_owned(),
        why: files::describe_io_error(error),
    }
}

//! Turns under way, on disk: what was asked, the words so far, the calls. Each
//! program holds the lock of its own file; a file that nobody holds was left by one
//! that ended in the middle. Append-only, one record a line, a torn tail is ignored.

use super::{StoreError, call_json};
use crate::domain::{Notice, SessionId, ToolCall, ToolState, Usage};
use crate::files;
use jiff::Zoned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

mod replay;

pub use replay::{JournaledPiece, JournaledTurn};

const EXTENSION: &str = "jsonl";
/// A larger file is no journal of ours.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Journals that are looked at when the program starts.
const ORPHANS_MAX: usize = 64;

/// One thing that a journal tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum JournalRecord {
    /// A turn begins; every journal begins with one. Times are RFC 3339.
    Turn {
        prompt: String,
        model: String,
        /// The conversation's file, once it has one.
        session: Option<SessionId>,
        /// The time of the conversation's first prompt: what tells it from others
        /// before it has a file.
        started: String,
        /// How many messages there were.
        before: usize,
        at: String,
    },
    /// Words of the answer or, with `thinking`, of the thinking.
    #[serde(rename = "words")]
    Text {
        piece: u64,
        thinking: bool,
        text: String,
    },
    /// What was taken for one kind turned out to be the other.
    #[serde(rename = "turned")]
    Reclassified { piece: u64, thinking: bool },
    /// What this piece of the answer reads, whole: something was put back into it.
    Restored { piece: u64, text: String },
    /// A call and how far it came, in the shape of a session's note.
    Call {
        call: u64,
        awaiting: bool,
        entry: Value,
    },
    /// The final answer, whole.
    Answer {
        text: String,
        input: Option<u64>,
        output: Option<u64>,
        at: String,
    },
    /// The turn ended without one.
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

    pub fn from_answer(text: &str, usage: Usage, at: jiff::Timestamp) -> Self {
        Self::Answer {
            text: text.to_owned(),
            input: usage.input,
            output: usage.output,
            at: at.to_string(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Journals {
    folder: PathBuf,
}

/// A journal that this program holds. Dropped, it stays, and nobody holds it.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// A record was written in part: the next one begins with a line end.
    ends_mid_line: bool,
}

/// What a start finds.
#[derive(Debug)]
pub enum OrphanedJournal {
    /// A journal that nobody held, which is held now.
    Recoverable {
        journal: Journal,
        turns: Vec<JournaledTurn>,
    },
    /// No journal of ours; it is left alone.
    Unrecognized(Notice),
}

impl Journals {
    /// The journals in `folder`, which is created when the first one is.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Makes a journal that begins with `first`. It is locked before it has its
    /// name, so that nobody can take it for one that was left.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn create(&self, first: &JournalRecord, now: &Zoned) -> Result<Journal, StoreError> {
        let unwritable = |fault: &std::io::Error| unwritable(&self.folder, fault);
        files::create_folder(&self.folder).map_err(|fault| unwritable(&fault))?;
        let mut temporary =
            files::create_temporary(&self.folder).map_err(|fault| unwritable(&fault))?;
        match temporary.as_file().try_lock() {
            // Where no lock can be had, nothing is offered at a start either.
            Ok(()) => {}
            Err(TryLockError::Error(fault)) if fault.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(fault)) => return Err(unwritable(&fault)),
            Err(TryLockError::WouldBlock) => {
                return Err(unwritable(&ErrorKind::WouldBlock.into()));
            }
        }
        let line = to_line(first);
        let written = temporary.write_all(line.as_bytes());
        written.map_err(|fault| unwritable(&fault))?;
        let stem = now.strftime("%Y%m%d_%H%M%S").to_string();
        for number in 1..=9_999 {
            let name = match number {
                1 => format!("{stem}.{EXTENSION}"),
                _ => format!("{stem}_{number}.{EXTENSION}"),
            };
            let path = self.folder.join(name);
            match temporary.persist_noclobber(&path) {
                Ok(file) => {
                    let torn = false;
                    let journal = Journal {
                        file,
                        path,
                        ends_mid_line: torn,
                    };
                    journal.sync()?;
                    return Ok(journal);
                }
                Err(fault) if fault.error.kind() == ErrorKind::AlreadyExists => {
                    temporary = fault.file;
                }
                Err(fault) => return Err(unwritable(&fault.error)),
            }
        }
        Err(unwritable(&ErrorKind::AlreadyExists.into()))
    }

    /// Takes every journal that nobody holds, the newest first. Of several programs
    /// that start at once each gets others.
    pub fn claim_orphaned(&self) -> Vec<OrphanedJournal> {
        let Ok(items) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let paths = items.flatten().map(|item| item.path());
        let is_journal = |path: &PathBuf| path.extension().is_some_and(|it| it == EXTENSION);
        let mut paths: Vec<PathBuf> = paths.filter(is_journal).collect();
        paths.sort_unstable_by(|one, other| other.cmp(one));
        let found = paths
            .iter()
            .take(ORPHANS_MAX)
            .filter_map(|path| claim(path));
        let mut found: Vec<OrphanedJournal> = found.collect();
        found.extend(self.skipped_journals_notice(paths.len()));
        // Names follow the clock, which may have jumped: what was written last counts.
        found.sort_by_key(|found| match found {
            OrphanedJournal::Recoverable { journal, .. } => std::cmp::Reverse(journal.changed_at()),
            OrphanedJournal::Unrecognized(_) => std::cmp::Reverse(None),
        });
        found
    }

    /// Many programs would have to be killed for this: somebody should know of it.
    fn skipped_journals_notice(&self, count: usize) -> Option<OrphanedJournal> {
        let more = count.checked_sub(ORPHANS_MAX).filter(|more| *more > 0)?;
        let folder = self.folder.display();
        let what = format!("{more} of the {count} journals in {folder} were not looked at.");
        let notice = Notice::warning(what)
            .with_reason("They stay as they are; the newest were.")
            .with_advice("Move away those that nobody needs: the next start looks at the others.");
        Some(OrphanedJournal::Unrecognized(notice))
    }
}

/// The journal at `path`; none where somebody holds it, or just removed it.
fn claim(path: &Path) -> Option<OrphanedJournal> {
    let foreign = |why: &str| {
        let notice = Notice::warning(format!(
            "{} is no journal of a turn: {why}.",
            path.display()
        ))
        .with_reason("It is left as it is.");
        Some(OrphanedJournal::Unrecognized(
            notice.with_advice("Remove it where nobody needs it."),
        ))
    };
    // A pipe or a device must not hold up the start.
    let metadata = fs::symlink_metadata(path).ok()?;
    if !metadata.is_file() {
        return foreign("it is not a regular file");
    }
    let file = match File::options().read(true).append(true).open(path) {
        Ok(file) => file,
        Err(fault) if fault.kind() == ErrorKind::NotFound => return None,
        Err(fault) => return foreign(&files::describe_io_error(&fault)),
    };
    if file.try_lock().is_err() || !files::is_same_file(&file, path) {
        return None;
    }
    let bytes = match files::read(path, BYTES_MAX) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(fault) => return foreign(&files::describe_io_error(&fault)),
    };
    let turns = replay::read_turns(&bytes);
    if turns.is_empty() {
        return foreign("it does not begin with a turn");
    }
    let journal = Journal {
        file,
        path: path.to_owned(),
        ends_mid_line: bytes.last() != Some(&b'\n'),
    };
    Some(OrphanedJournal::Recoverable { journal, turns })
}

impl Journal {
    /// Appends one record in one write.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, record: &JournalRecord) -> Result<(), StoreError> {
        let line = to_line(record);
        let end = if self.ends_mid_line { "\n" } else { "" };
        self.ends_mid_line = true;
        let written = self.file.write_all(format!("{end}{line}").as_bytes());
        written.map_err(|fault| unwritable(&self.path, &fault))?;
        self.ends_mid_line = false;
        Ok(())
    }

    /// Puts what was written on the disk.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn sync(&self) -> Result<(), StoreError> {
        let synced = self.file.sync_data();
        synced.map_err(|fault| unwritable(&self.path, &fault))
    }

    /// Removes the file. One that cannot be removed is emptied, so that nothing of it
    /// is offered again.
    pub fn remove(self) {
        if let Err(fault) = fs::remove_file(&self.path) {
            tracing::warn!(
                "a journal could not be removed: {}",
                files::describe_io_error(&fault)
            );
            let _ = self.file.set_len(0);
        }
    }

    fn changed_at(&self) -> Option<std::time::SystemTime> {
        self.file.metadata().and_then(|it| it.modified()).ok()
    }
}

fn to_line(record: &JournalRecord) -> String {
    let line = serde_json::to_string(record).expect("a record has string keys only");
    line + "\n"
}

fn unwritable(path: &Path, fault: &std::io::Error) -> StoreError {
    StoreError::Unwritable {
        path: path.to_owned(),
        why: files::describe_io_error(fault),
    }
}

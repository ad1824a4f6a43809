//! Earlier prompts, and the unsent draft of the last run. The history file contains one JSON
//! string per line; several processes may append to it.

use super::StoreError;
use crate::domain::UnsentText;
use crate::files::{self, FileLock};
use crate::sync::lock_ignoring_poison;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Above this size, the older half of the file is dropped.
const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Longer prompts, such as pasted files, are not stored. A truncated one could be sent by
/// mistake.
const PROMPT_BYTES_MAX: usize = 64 * 1024;
const DRAFT_BYTES_MAX: u64 = 16 * 1024 * 1024;

#[derive(Debug)]
pub struct PromptHistory {
    path: PathBuf,
    draft_path: PathBuf,
    own_draft: Mutex<OwnDraft>,
    /// The number of saves of the draft that were requested.
    saves: AtomicU64,
}

/// The draft that this process has claimed or saved.
#[derive(Debug, Default)]
struct OwnDraft {
    text: Option<String>,
    is_claimed: bool,
    /// Prevents other processes from claiming the same draft.
    lock: Option<FileLock>,
    /// The number of the last save that was carried out.
    last_save: u64,
}

impl PromptHistory {
    pub fn new(path: PathBuf, draft_path: PathBuf) -> Self {
        Self {
            path,
            draft_path,
            own_draft: Mutex::default(),
            saves: AtomicU64::new(0),
        }
    }

    /// The latest `max` prompts, oldest first. Skips invalid lines.
    pub fn load(&self, max: usize) -> Vec<String> {
        let lines = read_tail(&self.path, FILE_BYTES_MAX).unwrap_or_default();
        let mut prompts = parse_prompts(&lines);
        let older_count = prompts.len().saturating_sub(max);
        prompts.split_off(older_count)
    }

    /// Stores a prompt unless it is empty, too long or equal to the last one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&self, prompt: &str) -> Result<(), StoreError> {
        if prompt.is_empty() || prompt.len() > PROMPT_BYTES_MAX {
            return Ok(());
        }
        self.append_locked(prompt)
            .map_err(|error| unwritable(&self.path, &error))
    }

    fn append_locked(&self, prompt: &str) -> io::Result<()> {
        let _lock = FileLock::acquire_for(&self.path)?;
        // A JSON escape takes up to six bytes per character, so this tail contains the last
        // line.
        let tail = read_tail(&self.path, 8 * PROMPT_BYTES_MAX as u64).unwrap_or_default();
        if parse_prompts(&tail)
            .last()
            .is_some_and(|last| last == prompt)
        {
            return Ok(());
        }
        let line = serde_json::Value::from(prompt).to_string();
        files::append_line(&self.path, &line, files::PRIVATE_MODE)?;
        if fs::metadata(&self.path)?.len() > FILE_BYTES_MAX {
            self.drop_older_half()?;
        }
        Ok(())
    }

    fn drop_older_half(&self) -> io::Result<()> {
        let mut kept = String::new();
        for prompt in parse_prompts(&read_tail(&self.path, FILE_BYTES_MAX / 2)?) {
            kept.push_str(&serde_json::Value::from(prompt).to_string());
            kept.push('\n');
        }
        files::replace(&self.path, kept.as_bytes(), files::PRIVATE_MODE)
    }

    /// Claims the unsent text of the last run, which only one process gets, and only once. It
    /// stays on disk until [`PromptHistory::save_draft`], so a crash does not lose it.
    pub fn claim_draft(&self) -> Option<UnsentText> {
        let mut own = self.lock_own_draft();
        let draft = self.draft_on_disk().filter(|draft| !draft.is_empty())?;
        if own.is_claimed || !self.lock_draft_file(&mut own) {
            return None;
        }
        own.is_claimed = true;
        let unsent = parse_draft(&draft);
        own.text = Some(draft);
        Some(unsent)
    }

    /// Locks the draft file until it is cleared or this process ends. Returns false if another
    /// process has locked it.
    fn lock_draft_file(&self, own: &mut OwnDraft) -> bool {
        if own.lock.is_none() {
            match FileLock::try_acquire(&self.draft_path.with_added_extension("lock")) {
                Ok(None) => return false,
                Ok(lock) => own.lock = lock,
                // In a folder without write access, no other process can lock the draft either.
                Err(_) => {}
            }
        }
        true
    }

    /// A number for the next save. A save with a lower number than the last one is skipped, because
    /// saves may run in any order.
    pub fn next_save(&self) -> u64 {
        self.saves.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Replaces the draft on disk. If `draft` is blank, removes the draft that this process claimed
    /// or saved, unless another process has replaced it since.
    ///
    /// # Errors
    /// The file cannot be written or removed.
    pub fn save_draft(&self, draft: &UnsentText) -> Result<(), StoreError> {
        self.save_draft_as(self.next_save(), draft)
    }

    /// Like [`Self::save_draft`], with a number from [`Self::next_save`].
    ///
    /// # Errors
    /// As for [`Self::save_draft`].
    pub fn save_draft_as(&self, save: u64, draft: &UnsentText) -> Result<(), StoreError> {
        let mut own = self.lock_own_draft();
        if save < own.last_save {
            return Ok(());
        }
        own.last_save = save;
        own.is_claimed = false;
        let result = if !draft.is_blank() {
            // Another program must not restore it while this one still has it.
            self.lock_draft_file(&mut own);
            let text = draft_text(draft);
            let result = files::replace(&self.draft_path, text.as_bytes(), files::PRIVATE_MODE);
            own.text = Some(text);
            result
        } else {
            let text = own.text.take();
            let is_own = text.is_some() && self.draft_on_disk() == text;
            own.lock = None;
            match is_own {
                true => fs::remove_file(&self.draft_path),
                false => Ok(()),
            }
        };
        result.map_err(|error| unwritable(&self.draft_path, &error))
    }

    fn draft_on_disk(&self) -> Option<String> {
        let bytes = files::read(&self.draft_path, DRAFT_BYTES_MAX).ok()??;
        String::from_utf8(bytes).ok()
    }

    fn lock_own_draft(&self) -> MutexGuard<'_, OwnDraft> {
        lock_ignoring_poison(&self.own_draft)
    }
}

/// The contents of the draft file: the plain message, or JSON if there is more to keep.
fn draft_text(draft: &UnsentText) -> String {
    let is_message_alone = UnsentText::from(&*draft.message) == *draft;
    if is_message_alone && serde_json::from_str::<UnsentText>(&draft.message).is_err() {
        return draft.message.clone();
    }
    serde_json::to_string(draft).unwrap_or_else(|_| draft.message.clone())
}

fn parse_draft(text: &str) -> UnsentText {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

fn unwritable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Unwritable {
        path: path.to_owned(),
        why: files::describe_io_error(error),
    }
}

/// Starts at a complete line.
fn read_tail(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut file = File::open(path)?;
    let skipped = metadata.len().saturating_sub(bytes_max);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    if skipped > 0 {
        let partial_line_end = bytes.iter().position(|byte| *byte == b'\n');
        bytes.drain(..partial_line_end.map_or(bytes.len(), |end| end + 1));
    }
    Ok(bytes)
}

fn parse_prompts(lines: &[u8]) -> Vec<String> {
    lines
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

//! What was typed before, and what stood in the editor when the program was left.
//! One JSON string a line; several programs append to one file.

use super::StoreError;
use crate::files::{self, Lock};
use crate::sync::lock_ignoring_poison;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// The size from which the file is rewritten with its newer half.
const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// A longer prompt, such as a pasted file, is not kept: a part of it would be sent
/// by mistake for the whole.
const PROMPT_BYTES_MAX: usize = 64 * 1024;
const DRAFT_BYTES_MAX: u64 = 16 * 1024 * 1024;

#[derive(Debug)]
pub struct History {
    path: PathBuf,
    draft: PathBuf,
    held: Mutex<Option<Held>>,
}

/// The draft that this program was handed, while it is on the disk.
#[derive(Debug)]
struct Held {
    text: String,
    /// No other program is handed the same draft; it goes with the process.
    _lock: Option<Lock>,
}

impl History {
    pub fn new(path: PathBuf, draft: PathBuf) -> Self {
        let held = Mutex::default();
        Self { path, draft, held }
    }

    /// The latest `max` prompts, oldest first. Lines that are torn or foreign are
    /// passed over.
    pub fn load(&self, max: usize) -> Vec<String> {
        let lines = tail(&self.path, FILE_BYTES_MAX).unwrap_or_default();
        let mut prompts = prompts(&lines);
        let older = prompts.len().saturating_sub(max);
        prompts.split_off(older)
    }

    /// Keeps a prompt, unless it is empty, very long or the same as the last.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&self, prompt: &str) -> Result<(), StoreError> {
        if prompt.is_empty() || prompt.len() > PROMPT_BYTES_MAX {
            return Ok(());
        }
        self.append_locked(prompt)
            .map_err(|fault| unwritable(&self.path, &fault))
    }

    fn append_locked(&self, prompt: &str) -> io::Result<()> {
        let _lock = Lock::beside(&self.path)?;
        // JSON may write a character as six, so that the last line is in here.
        let last = tail(&self.path, 8 * PROMPT_BYTES_MAX as u64).unwrap_or_default();
        if prompts(&last).last().is_some_and(|last| last == prompt) {
            return Ok(());
        }
        let line = serde_json::Value::from(prompt).to_string();
        files::append_line(&self.path, &line, files::PRIVATE)?;
        if fs::metadata(&self.path)?.len() > FILE_BYTES_MAX {
            self.compact()?;
        }
        Ok(())
    }

    fn compact(&self) -> io::Result<()> {
        let mut kept = String::new();
        for prompt in prompts(&tail(&self.path, FILE_BYTES_MAX / 2)?) {
            kept.push_str(&serde_json::Value::from(prompt).to_string());
            kept.push('\n');
        }
        files::replace(&self.path, kept.as_bytes(), files::PRIVATE)
    }

    /// What stood in the editor at the end of the last run. It is handed to one
    /// program at a time, once, and stays on the disk until
    /// [`History::keep_draft`]: a program that is killed has lost nothing.
    pub fn take_draft(&self) -> Option<String> {
        let mut held = self.held();
        let draft = self.draft_on_disk().filter(|draft| !draft.is_empty())?;
        if held.is_some() {
            return None;
        }
        let lock = match Lock::if_free(&self.draft.with_added_extension("lock")) {
            Ok(None) => return None,
            Ok(Some(lock)) => Some(lock),
            // A folder that cannot be written has no other program's lock either.
            Err(_) => None,
        };
        let text = draft.clone();
        *held = Some(Held { text, _lock: lock });
        Some(draft)
    }

    /// Puts `draft` in the place of the one on the disk. An empty one removes what was
    /// handed out, and nothing that another program has kept since.
    ///
    /// # Errors
    /// The file cannot be written or removed.
    pub fn keep_draft(&self, draft: &str) -> Result<(), StoreError> {
        let mut held = self.held();
        let done = if !draft.is_empty() {
            files::replace(&self.draft, draft.as_bytes(), files::PRIVATE)
        } else if held
            .as_ref()
            .is_some_and(|held| self.draft_on_disk().as_ref() == Some(&held.text))
        {
            fs::remove_file(&self.draft)
        } else {
            Ok(())
        };
        *held = None;
        done.map_err(|fault| unwritable(&self.draft, &fault))
    }

    fn draft_on_disk(&self) -> Option<String> {
        let bytes = files::read(&self.draft, DRAFT_BYTES_MAX).ok()??;
        String::from_utf8(bytes).ok()
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        lock_ignoring_poison(&self.held)
    }
}

fn unwritable(path: &Path, fault: &io::Error) -> StoreError {
    StoreError::Unwritable {
        path: path.to_owned(),
        why: files::words(fault),
    }
}

/// The last `bytes_max` bytes of a file, from the first whole line on.
fn tail(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
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
        let torn = bytes.iter().position(|byte| *byte == b'\n');
        bytes.drain(..torn.map_or(bytes.len(), |end| end + 1));
    }
    Ok(bytes)
}

fn prompts(lines: &[u8]) -> Vec<String> {
    lines
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

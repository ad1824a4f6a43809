//! Reads `system_prompt.txt`, and replaces an outdated prompt after backing it up.

use super::home::DEFAULT_SYSTEM_PROMPT;
use super::rejected_edits::{PROMPT, RejectedEdits, rejected_banner};
use super::{ConfigError, Home, Loaded};
use crate::domain::{Advice, Banner, BannerCause, Notice};
use crate::files::{self, UpdateError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const BYTES_MAX: u64 = 4 * 1024 * 1024;
const BACKUPS_MAX: usize = 1_000;
/// Keys of outdated tool-call formats. A prompt that contains one is from an older version.
const OUTDATED_CALL_KEYS: [&str; 2] = ["chooseFunction", "functionCall"];

/// Reads the system prompt. A missing file counts as empty.
pub fn read_system_prompt(home: &Home) -> Loaded<String> {
    without_rejected(read_written_prompt(home), &RejectedEdits::read(home))
}

/// The prompt that was active before, if the user rejected this one.
pub(super) fn without_rejected(
    mut prompt: Loaded<String>,
    rejected: &RejectedEdits,
) -> Loaded<String> {
    if let Some(instead) = rejected.prompt_instead_of(&prompt.value) {
        prompt.value = instead;
        let entry = "its text".to_owned();
        prompt.banners = rejected_banner(PROMPT, &[entry]).into_iter().collect();
    }
    prompt
}

/// Reads the system prompt, even if the user rejected it.
pub(super) fn read_written_prompt(home: &Home) -> Loaded<String> {
    let path = home.system_prompt();
    let bytes = match files::read(&path, BYTES_MAX) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(error) => {
            return unusable_prompt(
                &home.system_prompt_display(),
                &files::describe_io_error(&error),
            );
        }
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid_len = error.utf8_error().valid_up_to();
            let lines_before = error.as_bytes()[..valid_len]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            let why = format!("line {} is not UTF-8", lines_before + 1);
            return unusable_prompt(&home.system_prompt_display(), &why);
        }
    };
    let banner = outdated_call_key(&text).map(|key| {
        let message = format!(
            "{} describes an outdated format for tool calls (`{key}`).",
            home.system_prompt_display()
        );
        Banner::new(
            BannerCause::OutdatedSystemPrompt,
            Notice::warning(message)
                .with_reason("humble now describes the tools and how to call them in each request.")
                .with_advice(Advice::ReplaceSystemPrompt),
        )
    });
    Loaded {
        value: text,
        banners: banner.into_iter().collect(),
        is_unusable: false,
    }
}

fn outdated_call_key(text: &str) -> Option<&'static str> {
    OUTDATED_CALL_KEYS
        .into_iter()
        .find(|key| text.contains(key))
}

/// The text of `system_prompt.txt` if it describes an outdated call format.
///
/// # Errors
/// The file cannot be read.
pub fn outdated_system_prompt(home: &Home) -> Result<Option<Arc<str>>, ConfigError> {
    let path = home.system_prompt();
    let bytes = files::read(&path, BYTES_MAX)
        .map_err(|error| ConfigError::from_read_error(&path, &error))?;
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let outdated = text.filter(|text| outdated_call_key(text).is_some());
    Ok(outdated.map(Arc::from))
}

/// Backs up the prompt and replaces it with the built-in one. Returns the path of the backup.
///
/// # Errors
/// The file no longer contains `shown`, the text that the user saw, or cannot be read, copied or
/// written. The file is then unchanged.
pub fn replace_system_prompt(home: &Home, shown: &str) -> Result<PathBuf, ConfigError> {
    let path = home.system_prompt();
    let unwritable = |error: &io::Error| ConfigError::Unwritable {
        path: path.clone(),
        why: files::describe_io_error(error),
    };
    let mut backup = None;
    let result = files::update(&path, files::PRIVATE_MODE, BYTES_MAX, |current| {
        let current = current.unwrap_or_default();
        if current != shown.as_bytes() {
            let path = path.clone();
            return Err(ConfigError::ChangedMeanwhile { path });
        }
        backup = Some(back_up(&path, &current).map_err(|error| unwritable(&error))?);
        Ok(DEFAULT_SYSTEM_PROMPT.as_bytes().to_vec())
    });
    result.map_err(|error| match error {
        UpdateError::Refused(error) => error,
        UpdateError::Read(error) => ConfigError::from_read_error(&path, &error),
        UpdateError::Write(error) => unwritable(&error),
    })?;
    Ok(backup.expect("the backup precedes the write"))
}

/// Saves `bytes` as `NAME.bak`, `NAME.bak_2` and so on, without replacing an earlier backup.
fn back_up(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    for number in 1..=BACKUPS_MAX {
        let mut name = path.as_os_str().to_owned();
        name.push(".bak");
        if number > 1 {
            name.push(format!("_{number}"));
        }
        match files::create_new(Path::new(&name), bytes, files::PRIVATE_MODE) {
            Ok(()) => return Ok(name.into()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("there are too many backups of it"))
}

fn unusable_prompt(path: &str, why: &str) -> Loaded<String> {
    let notice = Notice::failure(format!("{path} cannot be used: {why}."))
        .with_reason("Models receive no system prompt.")
        .with_advice("Save it as a readable UTF-8 file.");
    Loaded {
        value: String::new(),
        banners: vec![Banner::new(
            BannerCause::setting("system_prompt.txt", ""),
            notice,
        )],
        is_unusable: true,
    }
}

impl Home {
    fn system_prompt_display(&self) -> String {
        self.system_prompt().display().to_string()
    }
}

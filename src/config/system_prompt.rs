//! `system_prompt.txt` as the person has it (S4.1).

use super::home::DEFAULT_SYSTEM_PROMPT;
use super::{ConfigError, Home, Reading};
use crate::domain::{Advice, Banner, BannerCause, Notice};
use crate::files::{self, UpdateError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Copies of one prompt that are kept; nobody replaces it so often.
const COPIES_MAX: usize = 1_000;
/// Words by which prompts of older homes teach a call form that is not ours.
const OLDER_FORMS: [&str; 2] = ["chooseFunction", "functionCall"];

/// Reads the system prompt; a missing file is an empty one.
pub fn read_system_prompt(home: &Home) -> Reading<String> {
    let path = home.system_prompt();
    let bytes = match files::read(&path, BYTES_MAX) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(fault) => return without(&home.path_words(), &files::words(&fault)),
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(fault) => {
            let good = fault.utf8_error().valid_up_to();
            let line = fault.as_bytes()[..good]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            let why = format!("line {} is not UTF-8", line + 1);
            return without(&home.path_words(), &why);
        }
    };
    let older = older_form(&text);
    let banners = older.map(|form| {
        let what = format!(
            "{} teaches a form of tool calls (`{form}`) that is not used any more.",
            home.path_words()
        );
        Banner::new(
            BannerCause::OldSystemPrompt,
            Notice::warning(what)
                .because("Each request describes the tools and how to call them by itself.")
                .advise(Advice::ReplaceSystemPrompt),
        )
    });
    Reading {
        value: text,
        banners: banners.into_iter().collect(),
        failed: false,
    }
}

fn older_form(text: &str) -> Option<&'static str> {
    OLDER_FORMS.into_iter().find(|form| text.contains(form))
}

/// The text of `system_prompt.txt` where it teaches an older form.
///
/// # Errors
/// The file cannot be read.
pub fn older_system_prompt(home: &Home) -> Result<Option<Arc<str>>, ConfigError> {
    let path = home.system_prompt();
    let bytes =
        files::read(&path, BYTES_MAX).map_err(|fault| ConfigError::reading(&path, &fault))?;
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let older = text.filter(|text| older_form(text).is_some());
    Ok(older.map(Arc::from))
}

/// Puts this program's own prompt in the place of `shown` and keeps a copy beside
/// it, whose path is returned.
///
/// # Errors
/// The file holds something else than `shown` by now, or cannot be read, copied or
/// written; it is as it was then.
pub fn replace_system_prompt(home: &Home, shown: &str) -> Result<PathBuf, ConfigError> {
    let path = home.system_prompt();
    let unwritable = |fault: &io::Error| ConfigError::Unwritable {
        path: path.clone(),
        why: files::words(fault),
    };
    let mut copy = None;
    let changed = files::update(&path, files::PRIVATE, BYTES_MAX, |current| {
        let current = current.unwrap_or_default();
        if current != shown.as_bytes() {
            let path = path.clone();
            return Err(ConfigError::ChangedMeanwhile { path });
        }
        copy = Some(keep_copy(&path, &current).map_err(|fault| unwritable(&fault))?);
        Ok(DEFAULT_SYSTEM_PROMPT.as_bytes().to_vec())
    });
    changed.map_err(|fault| match fault {
        UpdateError::Refused(fault) => fault,
        UpdateError::Read(fault) => ConfigError::reading(&path, &fault),
        UpdateError::Write(fault) => unwritable(&fault),
    })?;
    Ok(copy.expect("it was made before the file was changed"))
}

/// Keeps `bytes` as `NAME.bak`, `NAME.bak_2` … beside the file: no copy replaces
/// another.
fn keep_copy(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    for number in 1..=COPIES_MAX {
        let mut name = path.as_os_str().to_owned();
        name.push(".bak");
        if number > 1 {
            name.push(format!("_{number}"));
        }
        match files::create_new(Path::new(&name), bytes, files::PRIVATE) {
            Ok(()) => return Ok(name.into()),
            Err(fault) if fault.kind() == ErrorKind::AlreadyExists => {}
            Err(fault) => return Err(fault),
        }
    }
    Err(io::Error::other("too many copies of it are kept already"))
}

fn without(path: &str, why: &str) -> Reading<String> {
    let notice = Notice::failure(format!("{path} cannot be used: {why}."))
        .because("Models get no system prompt from it.")
        .advise("Save it as UTF-8 in a file that you may read.");
    Reading {
        value: String::new(),
        banners: vec![Banner::new(
            BannerCause::setting("system_prompt.txt", ""),
            notice,
        )],
        failed: true,
    }
}

impl Home {
    fn path_words(&self) -> String {
        self.system_prompt().display().to_string()
    }
}

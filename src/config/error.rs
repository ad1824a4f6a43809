//! Errors of settings files, with the same message in the startup banner and when saving fails.

use super::json_document::BYTES_MAX;
use crate::domain::{Advice, Banner, BannerCause, Notice};
use crate::files;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("no home folder was found")]
    NoHome,
    #[error("`{}` cannot be used as a folder: {why}", path.display())]
    InvalidHome { path: PathBuf, why: String },
    #[error("{} cannot be read: {why}", path.display())]
    Unreadable {
        path: PathBuf,
        why: String,
        advice: &'static str,
    },
    #[error("{} is larger than {megabytes} MB", path.display())]
    TooLarge { path: PathBuf, megabytes: u64 },
    /// Line and column of the first error, counted from 1; the column counts characters.
    #[error("{}, line {line}, column {column}: {problem}", path.display())]
    Malformed {
        path: PathBuf,
        line: usize,
        column: usize,
        problem: String,
        advice: &'static str,
    },
    /// Valid JSON, but the value to change has the wrong type.
    #[error("{}, line {line}: {problem}", path.display())]
    WrongShape {
        path: PathBuf,
        line: usize,
        problem: String,
    },
    #[error("{} cannot be written: {why}", path.display())]
    Unwritable { path: PathBuf, why: String },
    /// The contents differ from those that the user reviewed.
    #[error("{} was changed in the meantime", path.display())]
    ChangedMeanwhile { path: PathBuf },
    #[error("no model `{name}` in {}{}", path.display(), suggestion(near))]
    UnknownModel {
        path: PathBuf,
        name: String,
        near: Option<String>,
    },
    #[error("{} already lists `{name}`", path.display())]
    DuplicateModel { path: PathBuf, name: String },
    #[error("{} already lists a server `{name}`", path.display())]
    DuplicateServer { path: PathBuf, name: String },
    #[error("no server `{id}` in {}{}", path.display(), suggestion(near))]
    UnknownServer {
        path: PathBuf,
        id: String,
        near: Option<String>,
    },
}

fn suggestion(near: &Option<String>) -> String {
    near.as_ref()
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default()
}

impl ConfigError {
    pub(super) fn from_read_error(path: &Path, error: &io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::FileTooLarge => Self::TooLarge {
                path,
                megabytes: BYTES_MAX >> 20,
            },
            _ => Self::Unreadable {
                path,
                why: files::describe_io_error(error),
                advice: match error.kind() {
                    // One of the folders in the path is a file.
                    io::ErrorKind::NotADirectory => "Name another folder with --home.",
                    _ => "Make it a readable file.",
                },
            },
        }
    }

    /// The error as a notice with advice.
    pub fn notice(&self) -> Notice {
        let message = capitalize(&self.to_string());
        let notice = if message.ends_with('?') {
            Notice::failure(message)
        } else {
            Notice::failure(format!("{message}."))
        };
        match self {
            Self::NoHome | Self::InvalidHome { .. } => {
                notice.with_advice("Name a folder with --home or HUMBLE_HOME.")
            }
            Self::Unreadable { advice, .. } => {
                notice.with_reason(FILE_IGNORED).with_advice(*advice)
            }
            Self::TooLarge { .. } => notice.with_reason(FILE_IGNORED).with_advice(
                "Settings files are small: move this file away, or remove large values from it.",
            ),
            Self::Malformed { advice, .. } => notice.with_reason(FILE_IGNORED).with_advice(*advice),
            Self::WrongShape { .. } => notice
                .with_reason("The file was not changed.")
                .with_advice("Correct it in the file."),
            Self::Unwritable { .. } => notice
                .with_reason("The file was not changed.")
                .with_advice("Free disk space or make the file writable, then try again."),
            Self::ChangedMeanwhile { .. } => notice
                .with_reason("The file was not replaced.")
                .with_advice("Review the new contents first."),
            Self::DuplicateServer { .. } => {
                notice.with_advice("Choose another name, or edit the existing entry.")
            }
            Self::DuplicateModel { .. } => notice.with_advice(Advice::SelectModel),
            Self::UnknownModel { .. } | Self::UnknownServer { .. } => {
                notice.with_advice("It may have been removed from the file.")
            }
        }
    }

    /// The notice for a file that became unusable while the program runs.
    pub fn notice_while_running(&self) -> Notice {
        banner_while_running(self.banner()).notice
    }

    /// The notice for a change that took effect (`done`, such as "Server x is off") but could not be
    /// saved.
    pub fn notice_not_saved(&self, done: &str) -> Notice {
        let error = self.notice();
        let notice = Notice {
            what: format!("{done}, but this was not saved."),
            why: Some(error.what.clone()),
            ..error
        };
        match self {
            Self::Unwritable { .. } => notice,
            // The banner about the file has the rest of the advice.
            _ => Notice {
                advice: Vec::new(),
                ..notice
            }
            .with_advice("Correct the file, then switch it again."),
        }
    }

    pub(super) fn banner(&self) -> Banner {
        let mut banner = Banner::new(self.cause(), self.notice());
        if let BannerCause::UnreadableFile(_) = banner.cause {
            banner.notice.why = Some(STARTED_WITHOUT.to_owned());
        }
        banner
    }

    fn cause(&self) -> BannerCause {
        match self {
            Self::NoHome | Self::InvalidHome { .. } => BannerCause::UnwritableHome,
            Self::Unreadable { path, .. }
            | Self::TooLarge { path, .. }
            | Self::Malformed { path, .. } => BannerCause::UnreadableFile(file_name(path)),
            Self::WrongShape { path, .. }
            | Self::Unwritable { path, .. }
            | Self::ChangedMeanwhile { path }
            | Self::UnknownModel { path, .. }
            | Self::DuplicateModel { path, .. }
            | Self::DuplicateServer { path, .. }
            | Self::UnknownServer { path, .. } => BannerCause::setting(file_name(path), ""),
        }
    }
}

/// The consequence of an unusable file, reported when saving fails.
const FILE_IGNORED: &str = "The file is ignored, and nothing is saved to it.";
/// The same, reported at startup.
const STARTED_WITHOUT: &str = "Starting without it; nothing is saved to it.";
/// The same, reported when the file becomes unusable while the program runs.
const SETTINGS_KEPT: &str = "The previous settings stay in use, and nothing is saved to the file.";

/// The banner for a file that became unusable while the program runs: the settings in use
/// are kept.
pub fn banner_while_running(mut banner: Banner) -> Banner {
    if let BannerCause::UnreadableFile(_) | BannerCause::UnreadableTrust = banner.cause {
        banner.notice.why = Some(SETTINGS_KEPT.to_owned());
    }
    banner
}

/// Whether the program started without the file of this banner, so that no settings from it are
/// in use.
pub fn started_without_file(banner: &Banner) -> bool {
    banner.notice.why.as_deref() == Some(STARTED_WITHOUT)
}

pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

pub(super) fn capitalize(sentence: &str) -> String {
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

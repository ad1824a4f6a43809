//! What can be wrong with a file of settings, told with the same words wherever
//! it is told: in the banner at the start and when saving into it is refused.

use super::json_document::BYTES_MAX;
use crate::domain::{Advice, Banner, BannerCause, Notice};
use crate::files;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("no home folder is known")]
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
    /// The place is that of the first fault, from 1 on, the column in characters.
    #[error("{}, line {line}, column {column}: {fault}", path.display())]
    Malformed {
        path: PathBuf,
        line: usize,
        column: usize,
        fault: String,
        advice: &'static str,
    },
    /// It is JSON, but what should be changed is not what it should be.
    #[error("{}, line {line}: {fault}", path.display())]
    WrongShape {
        path: PathBuf,
        line: usize,
        fault: String,
    },
    #[error("{} cannot be written: {why}", path.display())]
    Unwritable { path: PathBuf, why: String },
    /// It is not what the person was shown.
    #[error("{} was changed in the meantime", path.display())]
    ChangedMeanwhile { path: PathBuf },
    #[error("no model `{name}` in {}{}", path.display(), meant(near))]
    UnknownModel {
        path: PathBuf,
        name: String,
        near: Option<String>,
    },
    #[error("{} lists `{name}` already", path.display())]
    DuplicateModel { path: PathBuf, name: String },
    #[error("{} lists a server `{name}` already", path.display())]
    DuplicateServer { path: PathBuf, name: String },
    #[error("no server `{id}` in {}{}", path.display(), meant(near))]
    UnknownServer {
        path: PathBuf,
        id: String,
        near: Option<String>,
    },
}

fn meant(near: &Option<String>) -> String {
    near.as_ref()
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default()
}

impl ConfigError {
    /// Why `path` could not be read.
    pub(super) fn from_read_error(path: &Path, fault: &io::Error) -> Self {
        let path = path.to_owned();
        match fault.kind() {
            io::ErrorKind::FileTooLarge => Self::TooLarge {
                path,
                megabytes: BYTES_MAX >> 20,
            },
            _ => Self::Unreadable {
                path,
                why: files::describe_io_error(fault),
                // A part of the path is a file: the one that is named is not there.
                advice: match fault.kind() {
                    io::ErrorKind::NotADirectory => "Name another folder with --home.",
                    _ => "Make it a file that you may read.",
                },
            },
        }
    }

    /// What happened, why, and what to do.
    pub fn notice(&self) -> Notice {
        let what = capitalize(&self.to_string());
        let notice = if what.ends_with('?') {
            Notice::failure(what)
        } else {
            Notice::failure(format!("{what}."))
        };
        match self {
            Self::NoHome | Self::InvalidHome { .. } => {
                notice.with_advice("Name a folder with --home or HUMBLE_HOME.")
            }
            Self::Unreadable { advice, .. } => {
                notice.with_reason(FILE_IGNORED).with_advice(*advice)
            }
            Self::TooLarge { .. } => notice.with_reason(FILE_IGNORED).with_advice(
                "Settings are small: move it away, or take out what does not belong there.",
            ),
            Self::Malformed { advice, .. } => notice.with_reason(FILE_IGNORED).with_advice(*advice),
            Self::WrongShape { .. } => notice
                .with_reason("The file is left as it is.")
                .with_advice("Correct it there."),
            Self::Unwritable { .. } => notice
                .with_reason("The file is as it was.")
                .with_advice("Make room or give yourself the right to write, then try again."),
            Self::ChangedMeanwhile { .. } => notice
                .with_reason("The file is left as it is.")
                .with_advice("Look at it again first."),
            Self::DuplicateServer { .. } => {
                notice.with_advice("Give this one another name, or change the entry there.")
            }
            Self::DuplicateModel { .. } => notice.with_advice(Advice::SelectModel),
            Self::UnknownModel { .. } | Self::UnknownServer { .. } => {
                notice.with_advice("It may have been removed in the meantime.")
            }
        }
    }

    /// The same of a file that broke while the program runs.
    pub fn notice_while_running(&self) -> Notice {
        banner_while_running(self.banner()).notice
    }

    /// The same as a banner about the file.
    pub(super) fn banner(&self) -> Banner {
        Banner::new(self.cause(), self.notice())
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

/// At a start; while the program runs [`AS_THEY_WERE`] is true.
const FILE_IGNORED: &str = "The program runs without it, and nothing is saved into it.";
const SETTINGS_KEPT: &str = "The settings stay as they were; the file is left alone.";

/// The banner of a file that broke while the program runs: nothing is lost of what
/// was in force.
pub fn banner_while_running(mut banner: Banner) -> Banner {
    if let BannerCause::UnreadableFile(_) | BannerCause::UnreadableTrust = banner.cause {
        banner.notice.why = Some(SETTINGS_KEPT.to_owned());
    }
    banner
}

/// `config.json` of `/home/me/.humble-ai-cli/config.json`.
pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn capitalize(sentence: &str) -> String {
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

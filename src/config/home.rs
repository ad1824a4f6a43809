//! The home folder with all files of humble, and its creation on the first run.

use super::ConfigError;
use crate::domain::{Advice, Banner, BannerCause, Notice};
use crate::files;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

const DEFAULT_FOLDER: &str = ".humble-ai-cli";
/// The contents of `system_prompt.txt` after the first run.
pub const DEFAULT_SYSTEM_PROMPT: &str = include_str!("../../assets/default_system_prompt.md");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// `flag` (`--home`) beats `HUMBLE_HOME`, which beats `.humble-ai-cli` in the user's home
    /// folder. The first two name the folder itself.
    ///
    /// # Errors
    /// No home folder was found, or its path is invalid.
    pub fn resolve(flag: Option<PathBuf>) -> Result<Self, ConfigError> {
        let person = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        Self::choose(flag, std::env::var_os("HUMBLE_HOME"), person)
    }

    fn choose(
        flag: Option<PathBuf>,
        variable: Option<OsString>,
        person: Option<PathBuf>,
    ) -> Result<Self, ConfigError> {
        let variable = variable
            .filter(|value| !value.is_empty())
            .map(PathBuf::from);
        let path = flag
            .or(variable)
            .or_else(|| person.map(|person| person.join(DEFAULT_FOLDER)))
            .ok_or(ConfigError::NoHome)?;
        // Absolute, so that changing the working folder later has no effect.
        match std::path::absolute(&path) {
            Ok(root) => Ok(Self { root }),
            Err(fault) => Err(ConfigError::BadHome {
                path,
                why: fault.to_string(),
            }),
        }
    }

    /// The home in the folder `root`, which should be absolute.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn config(&self) -> PathBuf {
        self.root.join("config.json")
    }

    pub fn servers(&self) -> PathBuf {
        self.root.join("mcp-servers.json")
    }

    pub fn system_prompt(&self) -> PathBuf {
        self.root.join("system_prompt.txt")
    }

    pub fn personas(&self) -> PathBuf {
        self.root.join("personas")
    }

    /// Permanent decisions about tools and servers.
    pub fn trust(&self) -> PathBuf {
        self.root.join("trust.json")
    }

    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    pub fn history(&self) -> PathBuf {
        self.root.join("history")
    }

    /// The unsent message at the last exit.
    pub fn draft(&self) -> PathBuf {
        self.root.join("draft")
    }

    /// The journals of unfinished turns.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }

    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// Creates the folders and, on the first run, the system prompt. A home that cannot be
    /// written is only a banner, because chatting still works.
    pub fn prepare(&self) -> Vec<Banner> {
        let checked = |folder: PathBuf| {
            files::check_writable(&folder).map_err(|fault| Unwritable { folder, fault })
        };
        let created = self
            .make()
            .and_then(|()| checked(self.root.clone()))
            .and_then(|()| checked(self.sessions()));
        match created {
            Ok(()) => {
                files::sweep(&self.root);
                files::sweep(&self.sessions());
                files::sweep(&self.journal());
                let logs = files::create_folder(&self.logs());
                let logs = logs.and_then(|()| files::check_writable(&self.logs()));
                logs.err()
                    .map(|fault| self.unlogged(&fault))
                    .into_iter()
                    .collect()
            }
            Err(fault) => vec![fault.banner()],
        }
    }

    fn make(&self) -> Result<(), Unwritable> {
        let create = |folder: PathBuf| {
            files::create_folder(&folder).map_err(|fault| Unwritable { folder, fault })
        };
        create(self.root.clone())?;
        // A prompt that the user deleted stays deleted: it is written only on the first run.
        // It is written before the folders that mark a first run as done, in case of a crash.
        let first_run = !self.logs().exists() && !self.cache().exists();
        if first_run {
            let prompt = DEFAULT_SYSTEM_PROMPT.as_bytes();
            match files::create_new(&self.system_prompt(), prompt, files::PRIVATE) {
                Err(fault) if fault.kind() != ErrorKind::AlreadyExists => {
                    let folder = self.root.clone();
                    return Err(Unwritable { folder, fault });
                }
                _ => {}
            }
        }
        for folder in [self.sessions(), self.cache()] {
            create(folder)?;
        }
        Ok(())
    }

    fn unlogged(&self, fault: &io::Error) -> Banner {
        let logs = self.logs().display().to_string();
        let message = format!("The log cannot be written to {logs}: {}.", why(fault));
        let notice = Notice::warning(message)
            .because("Everything else still works.")
            .advise("Make it a writable folder.")
            .advise(Advice::ShowLog);
        Banner::new(BannerCause::NoLog, notice)
    }
}

/// A folder that cannot be written, and the error.
struct Unwritable {
    folder: PathBuf,
    fault: io::Error,
}

impl Unwritable {
    fn banner(&self) -> Banner {
        let (folder, why) = (self.folder.display(), why(&self.fault));
        let advice = match is_in_the_way(&self.fault) {
            true => "Move that file away, or name another folder with --home.",
            false => "Make it writable, or name another folder with --home.",
        };
        let notice = Notice::warning(format!("The folder {folder} is not writable: {why}."))
            .because("Conversations and settings are not saved.")
            .advise(advice);
        Banner::new(BannerCause::UnwritableHome, notice)
    }
}

/// Whether a file is in the place of a folder.
fn is_in_the_way(fault: &io::Error) -> bool {
    matches!(
        fault.kind(),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory
    )
}

fn why(fault: &io::Error) -> String {
    match is_in_the_way(fault) {
        true => "a part of this path is a file".to_owned(),
        false => files::words(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_overrides_the_variable_and_the_variable_the_default() {
        let choose = |flag: Option<&str>, variable: Option<&str>| {
            Home::choose(
                flag.map(PathBuf::from),
                variable.map(OsString::from),
                Some("/h".into()),
            )
            .map(|home| home.root)
        };
        assert_eq!(choose(Some("/f"), Some("/v")), Ok("/f".into()));
        assert_eq!(choose(None, Some("/v")), Ok("/v".into()));
        assert_eq!(choose(None, Some("")), Ok("/h/.humble-ai-cli".into()));
        assert_eq!(choose(None, None), Ok("/h/.humble-ai-cli".into()));
    }

    #[test]
    fn a_home_that_cannot_be_is_an_error_that_says_what_to_do() {
        assert_eq!(Home::choose(None, None, None), Err(ConfigError::NoHome));
        let fault = Home::choose(Some("".into()), None, None).unwrap_err();
        assert!(fault.notice().summary().contains("--home"), "{fault}");
    }
}

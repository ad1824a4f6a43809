//! The folder in which everything lives (S1.1), and its first run.

use super::ConfigError;
use crate::domain::{Advice, Banner, BannerCause, Notice};
use crate::files;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

const DEFAULT_FOLDER: &str = ".humble-ai-cli";
/// The cause of the banner of a home in which nothing can be saved.
/// What `system_prompt.txt` holds from the first run on, byte for byte.
pub const DEFAULT_SYSTEM_PROMPT: &str = include_str!("../../assets/default_system_prompt.md");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// `flag` (`--home`) beats `HUMBLE_HOME`, which beats `.humble-ai-cli` in the
    /// person's home; each of the first two names the folder itself.
    ///
    /// # Errors
    /// No home folder is known, or the named one cannot be a path.
    pub fn resolve(flag: Option<PathBuf>) -> Result<Self, ConfigError> {
        let user_home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        Self::choose(flag, std::env::var_os("HUMBLE_HOME"), user_home)
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
        // Absolute, so that no later change of the working folder moves it.
        match std::path::absolute(&path) {
            Ok(root) => Ok(Self { root }),
            Err(fault) => Err(ConfigError::InvalidHome {
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

    /// What was decided for longer than a session (S7).
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

    /// What stood in the editor when the program was left.
    pub fn draft(&self) -> PathBuf {
        self.root.join("draft")
    }

    /// The turns under way (S9.6).
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }

    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// Creates the folders, and on the first run the system prompt. A home that
    /// cannot be written is a banner: one can chat all the same.
    pub fn prepare(&self) -> Vec<Banner> {
        let checked = |folder: PathBuf| {
            files::check_writable(&folder).map_err(|fault| UnwritableFolder { folder, fault })
        };
        let made = self
            .create_folders()
            .and_then(|()| checked(self.root.clone()))
            .and_then(|()| checked(self.sessions()));
        match made {
            Ok(()) => {
                files::remove_stale_temporaries(&self.root);
                files::remove_stale_temporaries(&self.sessions());
                files::remove_stale_temporaries(&self.journal());
                let logs = files::create_folder(&self.logs());
                let logs = logs.and_then(|()| files::check_writable(&self.logs()));
                logs.err()
                    .map(|fault| self.unwritable_log_banner(&fault))
                    .into_iter()
                    .collect()
            }
            Err(fault) => vec![fault.banner()],
        }
    }

    fn create_folders(&self) -> Result<(), UnwritableFolder> {
        let made = |folder: PathBuf| {
            files::create_folder(&folder).map_err(|fault| UnwritableFolder { folder, fault })
        };
        made(self.root.clone())?;
        // A prompt that the person deleted stays deleted: it is written only where
        // this program has never run. It is written first, so that a crash between
        // does not make a half run the first one.
        let first_run = !self.logs().exists() && !self.cache().exists();
        if first_run {
            let prompt = DEFAULT_SYSTEM_PROMPT.as_bytes();
            match files::create_new(&self.system_prompt(), prompt, files::PRIVATE_MODE) {
                Err(fault) if fault.kind() != ErrorKind::AlreadyExists => {
                    let folder = self.root.clone();
                    return Err(UnwritableFolder { folder, fault });
                }
                _ => {}
            }
        }
        for folder in [self.sessions(), self.cache()] {
            made(folder)?;
        }
        Ok(())
    }

    fn unwritable_log_banner(&self, fault: &io::Error) -> Banner {
        let logs = self.logs().display().to_string();
        let what = format!(
            "No log can be written into {logs}: {}.",
            describe_cause(fault)
        );
        let notice = Notice::warning(what)
            .with_reason("Nothing else is lost.")
            .with_advice("Make it a folder that you may write to.")
            .with_advice(Advice::ShowLog);
        Banner::new(BannerCause::UnwritableLog, notice)
    }
}

/// Why nothing can be saved: the folder, and what the file system said of it.
struct UnwritableFolder {
    folder: PathBuf,
    fault: io::Error,
}

impl UnwritableFolder {
    fn banner(&self) -> Banner {
        let (folder, why) = (self.folder.display(), describe_cause(&self.fault));
        let advice = match is_file_in_the_way(&self.fault) {
            true => "Move that file away, or name another folder with --home.",
            false => "Give yourself the right to write there, or name another with --home.",
        };
        let notice = Notice::warning(format!("The folder {folder} cannot be written: {why}."))
            .with_reason("Conversations and settings are not saved until it can.")
            .with_advice(advice);
        Banner::new(BannerCause::UnwritableHome, notice)
    }
}

/// Does a file stand where a folder should be?
fn is_file_in_the_way(fault: &io::Error) -> bool {
    matches!(
        fault.kind(),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory
    )
}

fn describe_cause(fault: &io::Error) -> String {
    match is_file_in_the_way(fault) {
        true => "it, or a part of its path, is a file".to_owned(),
        false => files::describe_io_error(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_beats_the_variable_and_that_beats_the_default() {
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
    fn an_invalid_home_is_an_actionable_error() {
        assert_eq!(Home::choose(None, None, None), Err(ConfigError::NoHome));
        let fault = Home::choose(Some("".into()), None, None).unwrap_err();
        assert!(fault.notice().summary().contains("--home"), "{fault}");
    }
}

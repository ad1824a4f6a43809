//! The home folder, which contains all of humble's files, and its creation on the first run.

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
    /// Finds the home: `flag` (`--home`) overrides `HUMBLE_HOME`, which overrides `.humble-ai-cli` in
    /// the user's home folder. The first two name the folder itself.
    ///
    /// # Errors
    /// No home folder was found, or its path is invalid.
    pub fn resolve(flag: Option<PathBuf>) -> Result<Self, ConfigError> {
        let user_home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        Self::choose(flag, std::env::var_os("HUMBLE_HOME"), user_home)
    }

    fn choose(
        flag: Option<PathBuf>,
        variable: Option<OsString>,
        user_home: Option<PathBuf>,
    ) -> Result<Self, ConfigError> {
        let variable = variable
            .filter(|value| !value.is_empty())
            .map(PathBuf::from);
        let path = flag
            .or(variable)
            .or_else(|| user_home.map(|folder| folder.join(DEFAULT_FOLDER)))
            .ok_or(ConfigError::NoHome)?;
        // Absolute, so that changing the working folder later has no effect.
        match std::path::absolute(&path) {
            Ok(root) => Ok(Self { root }),
            Err(error) => Err(ConfigError::InvalidHome {
                path,
                why: error.to_string(),
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

    /// Why no file can be created in the folder; `None` if one can. Blocks.
    pub fn write_problem(&self) -> Option<String> {
        // The file has no name and disappears with its handle.
        let error = tempfile::tempfile_in(&self.root).err()?;
        Some(files::describe_io_error(&error))
    }

    /// The folder of theme files.
    pub fn themes(&self) -> PathBuf {
        self.root.join("themes")
    }

    /// The tokens of MCP servers that the user signed in to.
    pub fn credentials(&self) -> PathBuf {
        self.root.join("auth.json")
    }

    pub fn system_prompt(&self) -> PathBuf {
        self.root.join("system_prompt.txt")
    }

    pub fn personas(&self) -> PathBuf {
        self.root.join("personas")
    }

    /// Prompt templates.
    pub fn prompts(&self) -> PathBuf {
        self.root.join("prompts")
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

    /// The unsent message with its files, and the queued prompts.
    pub fn draft(&self) -> PathBuf {
        self.root.join("draft")
    }

    pub fn recent_commands(&self) -> PathBuf {
        self.root.join("recent-commands.json")
    }

    /// The journals of unfinished turns.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }

    /// Where earlier versions stored the tasks that the user left running.
    pub fn left_tasks(&self) -> PathBuf {
        self.root.join("tasks")
    }

    /// The images and sounds of tool results.
    pub fn result_files(&self) -> PathBuf {
        self.cache().join("results")
    }

    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// Exists once [`super::take_native_calls_notice`] has checked this home.
    pub fn native_calls_checked(&self) -> PathBuf {
        self.cache().join("native-calls-checked")
    }

    /// The search index of the sessions.
    pub fn session_index(&self) -> PathBuf {
        self.cache().join("sessions.sqlite")
    }

    /// Deleted sessions.
    pub fn trash(&self) -> PathBuf {
        self.root.join("trash")
    }

    /// Creates the folders and, on the first run, the system prompt. Removes temporary files that a
    /// crash left. A home that cannot be written only causes a banner, because chatting still
    /// works.
    pub fn prepare(&self) -> Vec<Banner> {
        let check = |folder: PathBuf| {
            files::check_writable(&folder).map_err(|error| UnwritableFolder { folder, error })
        };
        let created = self
            .create_folders()
            .and_then(|()| check(self.root.clone()))
            .and_then(|()| check(self.sessions()));
        match created {
            Ok(()) => {
                files::remove_stale_temporaries(&self.root);
                files::remove_stale_temporaries(&self.sessions());
                files::remove_stale_temporaries(&self.journal());
                files::remove_stale_temporaries(&self.cache());
                let logs = files::create_folder(&self.logs())
                    .and_then(|()| files::check_writable(&self.logs()));
                logs.err()
                    .map(|error| self.unwritable_log_banner(&error))
                    .into_iter()
                    .collect()
            }
            Err(error) => vec![error.banner()],
        }
    }

    fn create_folders(&self) -> Result<(), UnwritableFolder> {
        let create = |folder: PathBuf| {
            files::create_folder(&folder).map_err(|error| UnwritableFolder { folder, error })
        };
        create(self.root.clone())?;
        // Only the first run writes the prompt, so a prompt that the user deleted stays deleted.
        // The folders that mark the first run as done are created afterwards, in case of a crash.
        let is_first_run = !self.logs().exists() && !self.cache().exists();
        if is_first_run {
            let prompt = DEFAULT_SYSTEM_PROMPT.as_bytes();
            match files::create_new(&self.system_prompt(), prompt, files::PRIVATE_MODE) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    let folder = self.root.clone();
                    return Err(UnwritableFolder { folder, error });
                }
                _ => {}
            }
        }
        for folder in [self.sessions(), self.cache()] {
            create(folder)?;
        }
        Ok(())
    }

    fn unwritable_log_banner(&self, error: &io::Error) -> Banner {
        let logs = self.logs().display().to_string();
        let message = format!(
            "The log cannot be written to {logs}: {}.",
            describe_cause(error)
        );
        let notice = Notice::warning(message)
            .with_reason("Everything else still works.")
            .with_advice("Make it a writable folder.")
            .with_advice(Advice::ShowLog);
        Banner::new(BannerCause::UnwritableLog, notice)
    }
}

struct UnwritableFolder {
    folder: PathBuf,
    error: io::Error,
}

impl UnwritableFolder {
    fn banner(&self) -> Banner {
        let (folder, why) = (self.folder.display(), describe_cause(&self.error));
        let advice = match is_file_in_the_way(&self.error) {
            true => "Move that file away, or name another folder with --home.",
            false => "Make it writable, or name another folder with --home.",
        };
        let notice = Notice::warning(format!("The folder {folder} is not writable: {why}."))
            .with_reason("Conversations and settings are not saved.")
            .with_advice(advice);
        Banner::new(BannerCause::UnwritableHome, notice)
    }
}

/// Whether the path contains a file where a folder is expected.
fn is_file_in_the_way(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory
    )
}

fn describe_cause(error: &io::Error) -> String {
    match is_file_in_the_way(error) {
        true => "part of the path is a file, not a folder".to_owned(),
        false => files::describe_io_error(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_flag_overrides_the_variable_and_the_variable_the_default_home() {
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
    fn an_empty_home_is_an_error_that_names_the_home_option() {
        assert_eq!(Home::choose(None, None, None), Err(ConfigError::NoHome));
        let error = Home::choose(Some("".into()), None, None).unwrap_err();
        assert!(error.notice().summary().contains("--home"), "{error}");
    }
}

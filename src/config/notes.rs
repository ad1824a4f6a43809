//! Parses `notes` in `config.json`: the folder of notes and the model that embeds them.

use super::Settings;
use super::fields::{self, ConfigObject, FieldError};
use crate::domain::{ModelConfig, NotesSettings, Notice, OllamaTarget};
use crate::files::{describe_io_error, expand_home};
use std::path::{Path, PathBuf};

/// The values of `notes`; `None` for those missing or invalid.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotesSection {
    /// An absolute path.
    pub vault: Option<PathBuf>,
    /// The name of a model in `models`, or of one on the Ollama server.
    pub embed_model: Option<String>,
}

impl NotesSection {
    /// Calls `report` with the key and the error of each invalid value. The valid values
    /// are kept.
    pub(super) fn parse(
        section: &ConfigObject,
        mut report: impl FnMut(&'static str, FieldError),
    ) -> Self {
        let vault = vault(section).unwrap_or_else(|error| {
            report("vault", error);
            None
        });
        let embed_model = fields::non_empty_text(section, "embedModel").unwrap_or_else(|error| {
            report("embedModel", error);
            None
        });
        Self {
            vault,
            embed_model: embed_model.map(|name| name.trim().to_owned()),
        }
    }
}

impl NotesSection {
    /// Why the configured folder cannot be used; `None` if it can, or if none is configured. Blocks.
    pub fn vault_problem(&self) -> Option<String> {
        match std::fs::metadata(self.vault.as_ref()?) {
            Ok(metadata) if metadata.is_dir() => None,
            Ok(_) => Some("it is not a folder".to_owned()),
            Err(error) => Some(describe_io_error(&error)),
        }
    }

    /// A notice if the configured folder cannot be used. Blocks.
    pub(super) fn unusable_vault_notice(&self) -> Option<Notice> {
        let why = self.vault_problem()?;
        let path = self.vault.as_ref()?.display();
        let message = format!("The notes folder {path} cannot be used: {why}.");
        Some(Notice::warning(message).with_reason("`notes.vault` in config.json names it."))
    }
}

/// A folder that the user named for notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesFolder {
    /// The absolute path, without symbolic links, so that the user agrees to the real folder.
    pub path: PathBuf,
    /// It does not exist yet, but the folder that would contain it does.
    pub is_new: bool,
}

impl NotesFolder {
    /// Finds the folder that the user typed. A relative path starts at the working directory.
    /// Blocks.
    ///
    /// # Errors
    /// A notice with the reason why the folder cannot be used.
    pub fn find(typed: &str) -> Result<Self, Notice> {
        let typed = expand_home(typed.trim());
        let unusable = |path: &Path, why: String| {
            let path = path.display();
            Notice::failure(format!("The notes folder {path} cannot be used: {why}."))
        };
        let absolute = std::path::absolute(&typed);
        let absolute = absolute.map_err(|error| unusable(&typed, describe_io_error(&error)))?;
        let folder = match std::fs::canonicalize(&absolute) {
            Ok(path) if !path.is_dir() => {
                return Err(unusable(&absolute, "it is not a folder".to_owned()));
            }
            Ok(path) => Self {
                path,
                is_new: false,
            },
            Err(error) => Self {
                path: new_folder(&absolute)
                    .ok_or_else(|| unusable(&absolute, describe_io_error(&error)))?,
                is_new: true,
            },
        };
        // The stored path must name the same folder when config.json is read again.
        let stored = folder.path.to_str().map(|path| expand_home(path.trim()));
        if stored.as_ref() != Some(&folder.path) {
            let why = "config.json cannot contain this path".to_owned();
            return Err(unusable(&folder.path, why));
        }
        Ok(folder)
    }

    /// Creates the folder if it is new; the user must have agreed. Blocks.
    ///
    /// # Errors
    /// A notice with the reason.
    pub fn create_if_new(&self) -> Result<(), Notice> {
        // If it has been created since, it is used as it is.
        if !self.is_new || self.path.is_dir() {
            return Ok(());
        }
        std::fs::create_dir(&self.path).map_err(|error| {
            let (path, why) = (self.path.display(), describe_io_error(&error));
            Notice::failure(format!("The folder {path} cannot be created: {why}."))
        })
    }
}

/// The path of a missing folder in an existing one.
fn new_folder(absolute: &Path) -> Option<PathBuf> {
    // A broken link counts as existing.
    if std::fs::symlink_metadata(absolute).is_ok() {
        return None;
    }
    let parent = std::fs::canonicalize(absolute.parent()?).ok()?;
    parent
        .is_dir()
        .then(|| parent.join(absolute.file_name().unwrap_or_default()))
}

fn vault(section: &ConfigObject) -> Result<Option<PathBuf>, FieldError> {
    let Some(given) = fields::non_empty_text(section, "vault")? else {
        return Ok(None);
    };
    let path = expand_home(given.trim());
    if path.is_absolute() {
        return Ok(Some(path));
    }
    Err(format!(
        "`vault` is `{}`, expected an absolute path such as `/home/me/notes` or `~/notes`",
        fields::start_to_quote(given)
    ))
}

impl Settings {
    /// The settings of the note tools and agents. The active model writes the text of notes.
    pub fn notes(&self) -> NotesSettings {
        NotesSettings {
            vaults: self.notes.vault.iter().cloned().collect(),
            model: self.active_model().cloned().map(Box::new),
            embedding_model: self.embedding_model().map(Box::new),
        }
    }

    /// The model that `notes.embedModel` names: the one in `models`, or else one on the Ollama server
    /// that `ollama_chat` uses.
    fn embedding_model(&self) -> Option<ModelConfig> {
        let name = self.notes.embed_model.as_deref()?;
        if let Some(model) = self.find_model(name) {
            return Some(model.clone());
        }
        match self.ollama_target() {
            OllamaTarget::Model(server) | OllamaTarget::Server(server) => {
                Some(server.with_model(name))
            }
            OllamaTarget::Unconfigured => Some(super::built_in::default_ollama().with_model(name)),
        }
    }
}

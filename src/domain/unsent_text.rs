//! Text that the user typed but has not sent, kept for the next start.

use super::{Attachment, SessionId};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnsentText {
    pub message: String,
    /// The earlier prompt that the message replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit_of: Option<EditedPrompt>,
    /// Other texts from the message editor, such as an edit of an earlier prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// Queued prompts, the next one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<UnsentPrompt>,
    /// The files that were attached to the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<UnsentFile>,
}

/// The prompt of a saved conversation that an unsent message replaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditedPrompt {
    pub session: SessionId,
    /// The title of the conversation.
    pub title: String,
    /// Which answered prompt it is, counted from the end; 1 is the last one.
    pub turn: usize,
    /// The prompt as it was. If it differs, the conversation has changed.
    pub prompt: String,
}

/// A queued prompt. Without files it is stored as its text alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredPrompt", into = "StoredPrompt")]
pub struct UnsentPrompt {
    pub text: String,
    pub files: Vec<UnsentFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredPrompt {
    Text(String),
    WithFiles {
        text: String,
        files: Vec<UnsentFile>,
    },
}

/// A file that was attached to an unsent prompt. Without a path it is stored as its name alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredFile", into = "StoredFile")]
pub struct UnsentFile {
    /// As the user named it. Unsanitized.
    pub name: String,
    /// The absolute path; `None` if there is none, as for the clipboard.
    pub path: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredFile {
    Name(String),
    WithPath { name: String, path: String },
}

impl UnsentText {
    /// Whether all texts are blank.
    pub fn is_blank(&self) -> bool {
        self.texts().all(|text| text.trim().is_empty())
    }

    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let queued = self.queue.iter().map(|prompt| &prompt.text);
        let texts = self.others.iter().chain(queued).chain([&self.message]);
        texts.map(String::as_str)
    }
}

impl From<&str> for UnsentText {
    fn from(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            ..Self::default()
        }
    }
}

impl From<&str> for UnsentPrompt {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            files: Vec::new(),
        }
    }
}

impl From<StoredPrompt> for UnsentPrompt {
    fn from(stored: StoredPrompt) -> Self {
        let (text, files) = match stored {
            StoredPrompt::Text(text) => (text, Vec::new()),
            StoredPrompt::WithFiles { text, files } => (text, files),
        };
        Self { text, files }
    }
}

impl From<UnsentPrompt> for StoredPrompt {
    fn from(UnsentPrompt { text, files }: UnsentPrompt) -> Self {
        match files.is_empty() {
            true => Self::Text(text),
            false => Self::WithFiles { text, files },
        }
    }
}

impl From<StoredFile> for UnsentFile {
    fn from(stored: StoredFile) -> Self {
        let (name, path) = match stored {
            StoredFile::Name(name) => (name, None),
            StoredFile::WithPath { name, path } => (name, Some(path)),
        };
        Self { name, path }
    }
}

impl From<UnsentFile> for StoredFile {
    fn from(UnsentFile { name, path }: UnsentFile) -> Self {
        match path {
            Some(path) => Self::WithPath { name, path },
            None => Self::Name(name),
        }
    }
}

impl From<&Attachment> for UnsentFile {
    fn from(attachment: &Attachment) -> Self {
        let path = attachment.path.as_ref();
        Self {
            name: attachment.name.clone(),
            path: path.and_then(|path| Some(path.to_str()?.to_owned())),
        }
    }
}

//! Text that the user typed but has not sent, as it is kept for the next start.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnsentText {
    pub message: String,
    /// Other texts that were in the message, such as an edit of an earlier prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// Queued prompts, the next one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<String>,
    /// Names of the files that were attached. The files themselves are not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

impl UnsentText {
    /// Whether all texts are blank.
    pub fn is_blank(&self) -> bool {
        let mut texts = self.others.iter().chain(&self.queue).chain([&self.message]);
        texts.all(|text| text.trim().is_empty())
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

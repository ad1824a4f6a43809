//! Models a person has configured, and the settings of a conversation.

use super::model_info::is_same_model;
use super::{ModelServer, ProviderKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::path::PathBuf;
use url::Url;

/// How a model is taught to call tools, and how its calls are read (S6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    Native,
    Prompt,
    Xml,
}

impl Dialect {
    pub const ALL: [Self; 3] = [Self::Native, Self::Prompt, Self::Xml];

    /// As `toolCalls` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Prompt => "prompt",
            Self::Xml => "xml",
        }
    }
}

/// The `think` setting of a model; absent means that the model decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    On,
    Off,
    Low,
    Medium,
    High,
}

/// The role under which a tool result travels where the dialect is not native.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolRole {
    Tool,
    User,
}

/// A secret. It has no `Display`, and its `Debug` says nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    /// `words` with `…` in the place of each of `secrets`, the longest of which come
    /// first.
    pub fn without(secrets: &[Self], words: &str) -> String {
        let mut words = words.to_owned();
        for secret in secrets.iter().filter(|secret| !secret.0.is_empty()) {
            words = words.replace(&secret.0, "…");
        }
        words
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The key to send with a request, resolved when the model is used, so that a
/// missing variable is that model's error and nobody else's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiKey {
    /// None is sent.
    NotNeeded,
    Known(Secret),
    /// No key was given and this environment variable is not set or empty.
    MissingVariable(String),
    /// The key cannot stand in a header (empty, a newline, not ASCII): why.
    Unusable(String),
}

impl ApiKey {
    /// Can a request be sent with it?
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::NotNeeded | Self::Known(_))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// What a person picks.
    pub name: String,
    /// What the server is asked for.
    pub model: String,
    pub provider: ProviderKind,
    /// Without a trailing slash. For all but Ollama it ends in `/vN` (S2.2).
    pub base_url: String,
    pub api_key: ApiKey,
    pub active: bool,
    /// Tokens.
    pub context_length: Option<u32>,
    pub think: Option<Think>,
    pub dialect: Dialect,
    /// None: by what the server says of the model's template (S5.3).
    pub tool_role: Option<ToolRole>,
    /// Passed through to Ollama as it stands.
    pub keep_alive: Option<Value>,
    /// Passed through: into `options` for Ollama, into the body for others.
    pub options: Map<String, Value>,
    pub ca_file: Option<PathBuf>,
}

impl ModelConfig {
    pub fn reference(&self) -> ModelRef {
        ModelRef {
            name: self.name.clone(),
            provider: self.provider,
            model: self.model.clone(),
        }
    }

    /// The server to ask, without the credentials in its address.
    pub fn server(&self) -> ModelServer {
        let url = match Url::parse(&self.base_url) {
            Ok(mut url) if !url.username().is_empty() || url.password().is_some() => {
                let _ = url.set_username("");
                let _ = url.set_password(None);
                url.as_str().trim_end_matches('/').to_owned()
            }
            _ => self.base_url.clone(),
        };
        ModelServer {
            provider: self.provider,
            url,
        }
    }

    /// Is it what `server` lists as `name`?
    pub fn is_listed_as(&self, server: &ModelServer, name: &str) -> bool {
        self.server() == *server && is_same_model(&self.model, name)
    }
}

/// A model as a list shows it and a command names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ModelRef {
    pub name: String,
    pub provider: ProviderKind,
    pub model: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum ToolMode {
    #[default]
    Manual,
    Auto,
}

impl ToolMode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Manual, Self::Auto]
            .into_iter()
            .find(|mode| mode.name() == name)
    }
}

/// `limits` of config.json.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Rounds with tool calls before the person is asked (S5.6).
    pub tool_rounds: u32,
    /// Failed calls after which no further call of the turn starts (S5.5).
    pub errors_per_turn: u32,
    /// Seconds without a byte after which the person is asked (S5.10).
    pub idle_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tool_rounds: 10,
            errors_per_turn: 1,
            idle_seconds: 120,
        }
    }
}

//! Configured models, and the settings of a conversation.

use super::model_info::is_same_model;
use super::{ModelServer, ProviderKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::path::PathBuf;
use url::Url;

/// An example of `config.json`, to paste.
pub const CONFIG_EXAMPLE: &str =
    r#"{ "models": [ { "name": "qwen3:4b", "provider": "ollama", "active": true } ] }"#;

/// How a model is told to call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// The provider's own API for tool calls.
    Native,
    /// The system message describes the tools, and the model writes calls as JSON.
    Prompt,
    /// The system message describes the tools, and the model writes calls in XML-like tags.
    Xml,
}

impl Dialect {
    pub const ALL: [Self; 3] = [Self::Native, Self::Prompt, Self::Xml];

    /// The label of the form in which the system message teaches the model to write calls, if any.
    pub fn taught_form(self) -> Option<&'static str> {
        match self {
            Self::Native => None,
            Self::Prompt => Some("JSON"),
            Self::Xml => Some("mcp-request"),
        }
    }

    /// The value of the `toolCalls` setting.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Prompt => "prompt",
            Self::Xml => "xml",
        }
    }
}

/// The default temperature: low, so that tool calls are well-formed.
pub const TEMPERATURE: f64 = 0.1;

/// The `think` setting of a model; if it is unset, the model decides. A provider takes only
/// [`ProviderKind::think_values`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    On,
    Off,
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
    Max,
}

impl Think {
    pub const ALL: [Self; 8] = [
        Self::On,
        Self::Off,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::XHigh,
        Self::Max,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The value in `config.json`.
    pub fn setting(self) -> &'static str {
        match self {
            Self::On => "true",
            Self::Off => "false",
            level => level.word(),
        }
    }
}

/// The role of tool results in a non-native dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolRole {
    Tool,
    User,
}

/// A secret. It has no `Display`, and its `Debug` output hides the value.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Replaces each of `secrets` in `text` with `…`. Pass longer secrets first.
    pub fn mask_all(secrets: &[Self], text: &str) -> String {
        let mut masked = text.to_owned();
        for secret in secrets.iter().filter(|secret| !secret.0.is_empty()) {
            masked = masked.replace(&secret.0, "…");
        }
        masked
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The API key for a request. A missing variable is an error only when a request needs it, so it
/// does not affect other models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiKey {
    /// The request contains no key.
    NotNeeded,
    Known(Secret),
    /// The key should be in this environment variable, which is unset or empty.
    MissingVariable(String),
    /// The key cannot be sent in a header. Carries the reason, such as that it is empty or contains a
    /// line break.
    Unusable(String),
}

impl ApiKey {
    /// Whether a request can be sent.
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::NotNeeded | Self::Known(_))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// The name the user selects.
    pub name: String,
    /// The name sent to the server.
    pub model: String,
    pub provider: ProviderKind,
    /// Without a trailing slash. Ends in `/vN` for all providers except Ollama.
    pub base_url: String,
    pub api_key: ApiKey,
    pub active: bool,
    /// In tokens.
    pub context_length: Option<u32>,
    pub think: Option<Think>,
    pub dialect: Dialect,
    /// `None` if the model's template determines it.
    pub tool_role: Option<ToolRole>,
    /// Whether the model takes images; `None` if its server or provider determines it.
    pub vision: Option<bool>,
    /// Passed through to Ollama.
    pub keep_alive: Option<Value>,
    /// Passed through: as `options` for Ollama, merged into the request body for other
    /// providers.
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

    /// A different model on the same server, without the context length, `think`, `vision` and
    /// `options` of this one.
    #[must_use]
    pub fn with_model(&self, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            model: name.to_owned(),
            active: false,
            context_length: None,
            think: None,
            vision: None,
            options: Map::new(),
            ..self.clone()
        }
    }

    /// The model's server, without credentials in the URL.
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

    /// Whether the model is on its provider's own server, not on another one that speaks the same
    /// protocol.
    pub fn has_default_base_url(&self) -> bool {
        self.base_url == self.provider.default_base_url()
    }

    /// Whether `name` in the list of `server` means this model.
    pub fn is_listed_as(&self, server: &ModelServer, name: &str) -> bool {
        self.server() == *server && is_same_model(&self.model, name)
    }
}

/// Identifies a model in lists and commands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ModelRef {
    pub name: String,
    pub provider: ProviderKind,
    pub model: String,
}

/// Whether the user is asked before each tool call.
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

/// The `limits` of `config.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Rounds with tool calls before we ask the user whether to continue.
    pub tool_rounds: u32,
    /// Failed calls after which the turn starts no more calls.
    pub errors_per_turn: u32,
    /// Seconds without data before we ask the user whether to keep waiting.
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

/// `toolDiet` in `config.json`: the share of the context that tool definitions may take before
/// some of them are held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolDiet {
    #[default]
    Auto,
    Off,
    /// From 1 to 100.
    Percent(u8),
}

impl ToolDiet {
    const AUTO_PERCENT: u64 = 15;
    /// The context size that is assumed if it is unknown, in tokens.
    const ASSUMED_CONTEXT: u64 = 131_072;

    /// The maximum size of all definitions in tokens, for a context of this many tokens; `None`
    /// for no maximum.
    pub fn tokens_max(self, context: Option<u64>) -> Option<u64> {
        let percent = match self {
            Self::Auto => Self::AUTO_PERCENT,
            Self::Off => return None,
            Self::Percent(percent) => u64::from(percent),
        };
        Some(context.unwrap_or(Self::ASSUMED_CONTEXT) * percent / 100)
    }
}

impl std::fmt::Display for ToolDiet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Off => f.write_str("off"),
            Self::Percent(percent) => write!(f, "{percent}"),
        }
    }
}

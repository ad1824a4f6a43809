//! The supported model providers. The profile of each contains all rules about it that need
//! no I/O; `provider` implements its protocol.

use super::{Dialect, Think};
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    Ollama,
    OpenAi,
    Mistral,
    Anthropic,
    /// The script of `humble demo`. Settings files cannot select it.
    Scripted,
}

struct Profile {
    name: &'static str,
    label: &'static str,
    default_base_url: &'static str,
    key_variable: Option<&'static str>,
    has_version_in_url: bool,
    request_paths: &'static [&'static str],
    default_dialect: Dialect,
    server_command: Option<&'static str>,
    manages_models: bool,
    reports_capabilities: bool,
    truncates_silently: bool,
    options_only_tune_sampling: bool,
    reserved_options: &'static [&'static str],
    think_values: &'static [Think],
}

/// Shared defaults of hosted APIs.
const HOSTED: Profile = Profile {
    name: "",
    label: "",
    default_base_url: "",
    key_variable: None,
    has_version_in_url: true,
    request_paths: &["/chat/completions", "/messages"],
    default_dialect: Dialect::Native,
    server_command: None,
    manages_models: false,
    reports_capabilities: false,
    truncates_silently: false,
    options_only_tune_sampling: false,
    reserved_options: &["model", "messages", "stream", "temperature"],
    // Mistral documents no other level.
    think_values: &[
        Think::On,
        Think::Off,
        Think::Low,
        Think::Medium,
        Think::High,
    ],
};

const OLLAMA: Profile = Profile {
    name: "ollama",
    label: "Ollama",
    default_base_url: "http://localhost:11434",
    key_variable: None,
    has_version_in_url: false,
    request_paths: &["/api/chat", "/api"],
    default_dialect: Dialect::Prompt,
    server_command: Some("ollama"),
    manages_models: true,
    reports_capabilities: true,
    truncates_silently: true,
    options_only_tune_sampling: true,
    reserved_options: &["temperature"],
    think_values: &[
        Think::On,
        Think::Off,
        Think::Low,
        Think::Medium,
        Think::High,
        Think::Max,
    ],
};

const OPENAI: Profile = Profile {
    name: "openai",
    label: "OpenAI-compatible",
    default_base_url: "https://api.openai.com/v1",
    key_variable: Some("OPENAI_API_KEY"),
    // Each model takes only some of them.
    think_values: &Think::ALL,
    ..HOSTED
};

const MISTRAL: Profile = Profile {
    name: "mistral",
    label: "Mistral",
    default_base_url: "https://api.mistral.ai/v1",
    key_variable: Some("MISTRAL_API_KEY"),
    ..HOSTED
};

const ANTHROPIC: Profile = Profile {
    name: "anthropic",
    label: "Anthropic",
    default_base_url: "https://api.anthropic.com/v1",
    key_variable: Some("ANTHROPIC_API_KEY"),
    reserved_options: &["model", "messages", "system", "stream", "temperature"],
    // The newer models take them all.
    think_values: &[
        Think::On,
        Think::Off,
        Think::Low,
        Think::Medium,
        Think::High,
        Think::XHigh,
        Think::Max,
    ],
    ..HOSTED
};

const SCRIPTED: Profile = Profile {
    name: "scripted",
    label: "Demo",
    ..HOSTED
};

impl ProviderKind {
    /// The providers that `config.json` can name.
    pub const ALL: [Self; 4] = [Self::Ollama, Self::OpenAi, Self::Mistral, Self::Anthropic];

    fn profile(self) -> &'static Profile {
        match self {
            Self::Ollama => &OLLAMA,
            Self::OpenAi => &OPENAI,
            Self::Mistral => &MISTRAL,
            Self::Anthropic => &ANTHROPIC,
            Self::Scripted => &SCRIPTED,
        }
    }

    /// The spelling in `config.json`, also shown on screen.
    pub fn name(self) -> &'static str {
        self.profile().name
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name shown in forms.
    pub fn label(self) -> &'static str {
        self.profile().label
    }

    /// The base URL of a model without a `baseUrl`.
    pub fn default_base_url(self) -> &'static str {
        self.profile().default_base_url
    }

    /// The environment variable that holds the key of models that set neither `apiKey` nor
    /// `baseUrl`. `None` if such models need no key.
    pub fn key_variable(self) -> Option<&'static str> {
        self.profile().key_variable
    }

    /// The key variables of all providers.
    pub fn key_variables() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().filter_map(Self::key_variable)
    }

    /// Whether base URLs end in `/vN`.
    pub fn has_version_in_url(self) -> bool {
        self.profile().has_version_in_url
    }

    /// Request paths that users copy into `baseUrl` by mistake, longest first.
    pub fn request_paths(self) -> &'static [&'static str] {
        self.profile().request_paths
    }

    /// The dialect that `toolCalls: auto` selects.
    pub fn default_dialect(self) -> Dialect {
        self.profile().default_dialect
    }

    /// The command that starts a local server (`serve`) and downloads models (`pull`).
    pub fn server_command(self) -> Option<&'static str> {
        self.profile().server_command
    }

    /// Whether the server can pull and remove models, and list the loaded ones.
    pub fn manages_models(self) -> bool {
        self.profile().manages_models
    }

    /// Whether the server reports a model's capabilities in advance. Other servers reject
    /// requests that the model does not support.
    pub fn reports_capabilities(self) -> bool {
        self.profile().reports_capabilities
    }

    /// Whether the server silently truncates conversations that exceed the context. If so,
    /// each request sets the context size (`num_ctx`).
    pub fn truncates_silently(self) -> bool {
        self.profile().truncates_silently
    }

    /// Keys of a model's `options` without effect, because every request sets these parameters itself.
    pub fn reserved_options(self) -> &'static [&'static str] {
        self.profile().reserved_options
    }

    /// The values of `think` that the provider's API knows.
    pub fn think_values(self) -> &'static [Think] {
        self.profile().think_values
    }

    /// Whether a model's `options` only affect sampling. Other providers merge them into
    /// the request, where they could select another model or store the conversation.
    pub fn options_only_tune_sampling(self) -> bool {
        self.profile().options_only_tune_sampling
    }
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

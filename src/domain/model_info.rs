//! What a server tells about its models. All of it is from outside: bounded where
//! it is read, and raw here.

use serde::Serialize;

/// What a server says about one model. What it does not say is None, or empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ModelInfo {
    /// The most tokens that the model itself can take.
    pub context_length: Option<u32>,
    /// Tokens that the model file asks for (Ollama's `PARAMETER num_ctx`).
    pub num_ctx: Option<u32>,
    /// Tokens of context in use: the model is in memory with so many.
    pub loaded_context: Option<u32>,
    /// Does its prompt template know tools and their results?
    #[serde(rename = "template_takes_tools")]
    pub template_supports_tools: Option<bool>,
    /// In the server's words, such as `tools`, `thinking`, `vision`.
    pub capabilities: Vec<String>,
    pub family: Option<String>,
    /// As the server writes it: `4.3B`.
    pub parameter_size: Option<String>,
    /// As the server writes it: `Q4_K_M`.
    pub quantization: Option<String>,
}

impl ModelInfo {
    /// None where the server lists no capabilities at all.
    pub fn has_capability(&self, capability: &str) -> Option<bool> {
        let known = !self.capabilities.is_empty();
        known.then(|| self.capabilities.iter().any(|one| one == capability))
    }
}

/// A model as its server lists it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ListedModel {
    /// What the server is asked for.
    pub name: String,
    /// On the server's disk.
    pub bytes: Option<u64>,
    pub is_loaded: Option<bool>,
    #[serde(flatten)]
    pub info: ModelInfo,
}

impl ListedModel {
    /// False for a model that only embeds.
    pub fn can_chat(&self) -> bool {
        self.info.has_capability("completion") != Some(false)
    }

    /// What it can do beyond answering.
    pub fn extra_capabilities(&self) -> impl Iterator<Item = &str> {
        let capabilities = self.info.capabilities.iter().map(String::as_str);
        capabilities.filter(|ability| *ability != "completion")
    }
}

/// What one server has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ModelList {
    pub models: Vec<ListedModel>,
    /// It has more than are listed here.
    #[serde(rename = "is_cut")]
    pub is_truncated: bool,
}

/// Do these name the same model? A name without a tag means `:latest`; a colon
/// before a slash is a port.
pub fn is_same_model(one: &str, other: &str) -> bool {
    with_default_tag(one) == with_default_tag(other)
}

fn with_default_tag(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.contains(':') {
        name.to_owned()
    } else {
        format!("{name}:latest")
    }
}

//! Model information reported by servers. It is untrusted: size limits apply where it is
//! read, and the text here is unsanitized.

use serde::Serialize;

/// Information about one model. Fields not reported are `None` or empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ModelInfo {
    /// The model's own maximum, in tokens.
    pub context_length: Option<u32>,
    /// The context size set in the model file, in tokens (Ollama's `PARAMETER num_ctx`).
    pub num_ctx: Option<u32>,
    /// The context size with which the model is loaded, in tokens.
    pub loaded_context: Option<u32>,
    /// Whether the prompt template supports tools and their results.
    #[serde(rename = "template_takes_tools")]
    pub template_supports_tools: Option<bool>,
    /// As listed by the server, such as `tools`, `thinking`, `vision`.
    pub capabilities: Vec<String>,
    pub family: Option<String>,
    /// As written by the server: `4.3B`.
    pub parameter_size: Option<String>,
    /// As written by the server: `Q4_K_M`.
    pub quantization: Option<String>,
}

impl ModelInfo {
    /// Whether the model has this capability; `None` if the server lists no capabilities.
    pub fn has_capability(&self, capability: &str) -> Option<bool> {
        let is_known = !self.capabilities.is_empty();
        is_known.then(|| self.capabilities.iter().any(|listed| listed == capability))
    }
}

/// A model as listed by its server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ListedModel {
    /// The name used in requests.
    pub name: String,
    /// The size on the server's disk.
    pub bytes: Option<u64>,
    pub is_loaded: Option<bool>,
    #[serde(flatten)]
    pub info: ModelInfo,
}

impl ListedModel {
    /// Whether the model may support chat. False for embedding models.
    pub fn can_chat(&self) -> bool {
        self.info.has_capability("completion") != Some(false)
    }

    /// The listed capabilities other than chat.
    pub fn extra_capabilities(&self) -> impl Iterator<Item = &str> {
        let capabilities = self.info.capabilities.iter().map(String::as_str);
        capabilities.filter(|capability| *capability != "completion")
    }
}

/// The models of one server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ModelList {
    pub models: Vec<ListedModel>,
    /// The server has more models than listed here.
    #[serde(rename = "is_cut")]
    pub is_truncated: bool,
}

/// Whether two names refer to the same model. A name without a tag means `:latest`; a colon
/// before a slash belongs to a port.
pub fn is_same_model(name: &str, other: &str) -> bool {
    with_default_tag(name) == with_default_tag(other)
}

fn with_default_tag(name: &str) -> String {
    let last_segment = name.rsplit('/').next().unwrap_or(name);
    if last_segment.contains(':') {
        name.to_owned()
    } else {
        format!("{name}:latest")
    }
}

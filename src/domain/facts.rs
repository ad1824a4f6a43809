//! Model information reported by servers. It is untrusted: size limits apply where it is
//! read, and the text here is raw.

use serde::Serialize;

/// Information about one model. Fields not reported are `None` or empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ModelFacts {
    /// The model's own maximum, in tokens.
    pub context_length: Option<u32>,
    /// The context size set in the model file, in tokens (Ollama's `PARAMETER num_ctx`).
    pub num_ctx: Option<u32>,
    /// The context size with which the model is loaded, in tokens.
    pub loaded_context: Option<u32>,
    /// Whether the prompt template supports tools and their results.
    pub template_takes_tools: Option<bool>,
    /// As named by the server, such as `tools`, `thinking`, `vision`.
    pub capabilities: Vec<String>,
    pub family: Option<String>,
    /// As written by the server: `4.3B`.
    pub parameter_size: Option<String>,
    /// As written by the server: `Q4_K_M`.
    pub quantization: Option<String>,
}

impl ModelFacts {
    /// `None` if the server lists no capabilities.
    pub fn can(&self, capability: &str) -> Option<bool> {
        let known = !self.capabilities.is_empty();
        known.then(|| self.capabilities.iter().any(|known| known == capability))
    }
}

/// A model as listed by its server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ServerModel {
    /// The name used in requests.
    pub name: String,
    /// Size on the server's disk.
    pub bytes: Option<u64>,
    pub is_loaded: Option<bool>,
    #[serde(flatten)]
    pub facts: ModelFacts,
}

impl ServerModel {
    /// False for embedding models.
    pub fn can_chat(&self) -> bool {
        self.facts.can("completion") != Some(false)
    }

    /// Capabilities other than chat.
    pub fn abilities(&self) -> impl Iterator<Item = &str> {
        let capabilities = self.facts.capabilities.iter().map(String::as_str);
        capabilities.filter(|ability| *ability != "completion")
    }
}

/// The models of one server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Catalogue {
    pub models: Vec<ServerModel>,
    /// The server has more models than listed here.
    pub is_cut: bool,
}

/// Whether two names refer to the same model. A name without a tag means `:latest`; a colon
/// before a slash belongs to a port.
pub fn is_same_model(one: &str, other: &str) -> bool {
    tagged(one) == tagged(other)
}

fn tagged(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.contains(':') {
        name.to_owned()
    } else {
        format!("{name}:latest")
    }
}

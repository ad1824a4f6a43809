//! Whether a model takes images.

use crate::domain::{ModelConfig, ModelInfo, ProviderKind};

/// Ollama's name for the capability to take images.
const VISION: &str = "vision";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageSupport {
    Yes,
    No,
    /// Neither configured nor reported. Attached images are sent, and the server may refuse them.
    #[default]
    Unknown,
}

impl ImageSupport {
    /// The setting `vision` decides. Without it, Ollama reports each model's capabilities, and
    /// the current models of OpenAI and Anthropic take images.
    pub fn of(model: &ModelConfig, info: Option<&ModelInfo>) -> Self {
        let reported = || info.and_then(|info| info.has_capability(VISION));
        match model.vision.or_else(reported) {
            Some(true) => Self::Yes,
            Some(false) => Self::No,
            None => match model.provider {
                ProviderKind::Anthropic => Self::Yes,
                ProviderKind::OpenAi if model.has_default_base_url() => Self::Yes,
                // The demo plays a fixed script, which ignores images.
                ProviderKind::Scripted => Self::No,
                ProviderKind::OpenAi | ProviderKind::Mistral | ProviderKind::Ollama => {
                    Self::Unknown
                }
            },
        }
    }
}

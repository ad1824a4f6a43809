//! The only file that names every provider's adapter.

use super::adapter::ProviderAdapter;
use super::anthropic::Anthropic;
use super::mistral::Mistral;
use super::ollama::Ollama;
use super::openai::OpenAi;
use crate::domain::ProviderKind;

/// The adapter for this provider's servers. `None` for the scripted provider, which has no
/// server.
pub fn adapter_for(provider: ProviderKind) -> Option<&'static dyn ProviderAdapter> {
    match provider {
        ProviderKind::Ollama => Some(&Ollama),
        ProviderKind::OpenAi => Some(&OpenAi),
        ProviderKind::Mistral => Some(&Mistral),
        ProviderKind::Anthropic => Some(&Anthropic),
        ProviderKind::Scripted => None,
    }
}

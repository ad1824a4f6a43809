//! The only file that names every provider's adapter.

use super::adapter::ProviderAdapter;
use super::anthropic::Anthropic;
use super::ollama::Ollama;
use super::{mistral, openai};
use crate::domain::ProviderKind;

/// The adapter for this provider's servers. `None` for the scripted provider, which has no
/// server.
pub fn adapter_for(provider: ProviderKind) -> Option<&'static dyn ProviderAdapter> {
    match provider {
        ProviderKind::Ollama => Some(&Ollama),
        ProviderKind::OpenAi => Some(&openai::ADAPTER),
        ProviderKind::Mistral => Some(&mistral::ADAPTER),
        ProviderKind::Anthropic => Some(&Anthropic),
        ProviderKind::Scripted => None,
    }
}

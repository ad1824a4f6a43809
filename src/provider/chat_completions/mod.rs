//! The protocol of `/chat/completions`, shared by the adapters for OpenAI-compatible servers and
//! Mistral.

mod decoder;
pub(super) mod models;
mod reasoning_assembler;
mod request;
mod tool_call_assembler;

pub(super) use decoder::ChatCompletionsDecoder;
pub(super) use reasoning_assembler::REASONING_KEYS;
pub(super) use request::{ChatCompletionsFlavor, body};

/// The path of chat requests, relative to the base URL.
pub(super) const PATH: &str = "chat/completions";

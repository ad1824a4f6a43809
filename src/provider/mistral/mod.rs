//! The adapter for Mistral's variant of `/chat/completions`: call ids have nine characters, tool
//! results include the tool's name, and a user message must not follow a tool result directly.

use super::chat_completions::{ChatCompletionsAdapter, ChatCompletionsFlavor};
use crate::domain::ProviderKind;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The API rejects a call id that is not exactly this many letters and digits.
const ID_CHARS: usize = 9;
const ID_ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// The assistant message inserted between a tool result and a user message. Without it, the API
/// answers `Unexpected role 'user' after role 'tool'`.
const SEPARATOR: &str = "OK.";

pub(super) static ADAPTER: ChatCompletionsAdapter = ChatCompletionsAdapter(ChatCompletionsFlavor {
    provider: ProviderKind::Mistral,
    // All models with adjustable thinking accept `high`, but not all accept the other levels.
    default_effort: "high",
    call_id,
    no_content: Value::String(String::new()),
    results_have_names: true,
    adjust_body: separate_results,
});

fn separate_results(body: &mut Map<String, Value>) {
    let Some(Value::Array(messages)) = body.get_mut("messages") else {
        return;
    };
    for message in std::mem::take(messages) {
        let follows_tool = messages.last().is_some_and(|last| last["role"] == "tool");
        if follows_tool && message["role"] == "user" {
            messages.push(json!({"role": "assistant", "content": SEPARATOR}));
        }
        messages.push(message);
    }
}

/// Converts a call id to one that the API accepts. Deterministic, so that a call and its result
/// keep the same id.
pub fn call_id(id: &str) -> String {
    if id.len() == ID_CHARS && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    let digest = Sha256::digest(id.as_bytes());
    let bytes = digest.iter().take(ID_CHARS);
    bytes
        .map(|byte| char::from(ID_ALPHABET[usize::from(*byte) % ID_ALPHABET.len()]))
        .collect()
}

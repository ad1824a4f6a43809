//! The adapter for OpenAI and servers compatible with its `/chat/completions`.

use super::chat_completions::{ChatCompletionsAdapter, ChatCompletionsFlavor};
use crate::domain::ProviderKind;
use serde_json::{Map, Value, json};

pub(super) static ADAPTER: ChatCompletionsAdapter = ChatCompletionsAdapter(ChatCompletionsFlavor {
    provider: ProviderKind::OpenAi,
    // The default of OpenAI's models.
    default_effort: "medium",
    call_id: str::to_owned,
    no_content: Value::Null,
    results_have_names: false,
    adjust_body: request_usage,
});

fn request_usage(body: &mut Map<String, Value>) {
    body.entry("stream_options")
        .or_insert(json!({"include_usage": true}));
}

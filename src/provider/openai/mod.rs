//! The adapter for OpenAI and servers compatible with its `/chat/completions`.

use super::chat_completions::{ChatCompletionsAdapter, ChatCompletionsFlavor};
use crate::domain::{ProviderKind, Think};
use serde_json::{Map, Value, json};

pub(super) static ADAPTER: ChatCompletionsAdapter = ChatCompletionsAdapter(ChatCompletionsFlavor {
    provider: ProviderKind::OpenAi,
    effort,
    call_id: str::to_owned,
    no_content: Value::Null,
    results_have_names: false,
    adjust_body: request_usage,
});

fn request_usage(body: &mut Map<String, Value>) {
    body.entry("stream_options")
        .or_insert(json!({"include_usage": true}));
}

/// `medium` is the default of OpenAI's models. Models that always think reject `none`; the
/// parameter is then omitted.
fn effort(think: Think) -> &'static str {
    match think {
        Think::Off => "none",
        Think::Low => "low",
        Think::On | Think::Medium => "medium",
        Think::High => "high",
    }
}

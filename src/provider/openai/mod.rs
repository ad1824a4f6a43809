//! The adapter for OpenAI and servers compatible with its `/chat/completions`.

use super::adapter::{ProviderAdapter, ReplyDecoder};
use super::chat_completions::{self, ChatCompletionsDecoder, ChatCompletionsFlavor};
use super::error::FailureCause;
use super::parameter_fallback::ParameterFallback;
use super::server_client::ServerClient;
use super::types::ChatRequest;
use crate::domain::{ModelInfo, ModelList, ProviderKind, Think};
use futures::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use tokio::time::Instant;

const FLAVOR: ChatCompletionsFlavor = ChatCompletionsFlavor {
    provider: ProviderKind::OpenAi,
    effort,
    call_id: str::to_owned,
    no_content: Value::Null,
    results_have_names: false,
};

#[derive(Debug)]
pub(super) struct OpenAi;

impl ProviderAdapter for OpenAi {
    fn chat_path(&self) -> &'static str {
        chat_completions::PATH
    }

    fn chat_body(&self, request: &ChatRequest, fallback: ParameterFallback) -> Value {
        let mut body = chat_completions::body(request, fallback, &FLAVOR);
        body.entry("stream_options")
            .or_insert(json!({"include_usage": true}));
        fallback.apply(&mut body);
        Value::Object(body)
    }

    fn decoder(&self) -> Box<dyn ReplyDecoder> {
        Box::new(ChatCompletionsDecoder::new(ProviderKind::OpenAi))
    }

    fn list_models<'a>(
        &self,
        server: &'a ServerClient,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<ModelList, FailureCause>> {
        chat_completions::models::list(server, deadline).boxed()
    }

    fn model_info<'a>(
        &self,
        server: &'a ServerClient,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<ModelInfo, FailureCause>> {
        chat_completions::models::model_info(server, deadline).boxed()
    }
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

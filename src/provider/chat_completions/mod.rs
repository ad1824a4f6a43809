//! The protocol of `/chat/completions`, and the adapter that OpenAI-compatible servers and Mistral
//! share. A flavor lists the differences.

mod decoder;
mod models;
mod reasoning_assembler;
mod request;
mod tool_call_assembler;

pub(super) use reasoning_assembler::REASONING_KEYS;
pub(super) use request::ChatCompletionsFlavor;

use super::adapter::{ProviderAdapter, ReplyDecoder};
use super::error::FailureCause;
use super::parameter_fallback::ParameterFallback;
use super::server_client::ServerClient;
use super::types::ChatRequest;
use crate::domain::{ModelInfo, ModelList};
use decoder::ChatCompletionsDecoder;
use futures::future::{BoxFuture, FutureExt};
use serde_json::Value;
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct ChatCompletionsAdapter(pub ChatCompletionsFlavor);

impl ProviderAdapter for ChatCompletionsAdapter {
    fn chat_path(&self) -> &'static str {
        "chat/completions"
    }

    fn chat_body(&self, request: &ChatRequest, fallback: ParameterFallback) -> Value {
        let mut body = request::body(request, fallback, &self.0);
        (self.0.adjust_body)(&mut body);
        fallback.apply(&mut body);
        Value::Object(body)
    }

    fn decoder(&self) -> Box<dyn ReplyDecoder> {
        Box::new(ChatCompletionsDecoder::new(self.0.provider))
    }

    fn list_models<'a>(
        &self,
        server: &'a ServerClient,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<ModelList, FailureCause>> {
        models::list(server, deadline).boxed()
    }

    fn model_info<'a>(
        &self,
        server: &'a ServerClient,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<ModelInfo, FailureCause>> {
        models::model_info(server, deadline).boxed()
    }
}

//! The adapter for Anthropic's `/v1/messages`.

mod content_block;
mod decoder;
mod models;
mod request;
mod thinking;
mod token_counts;

use super::adapter::{ProviderAdapter, ReplyDecoder};
use super::error::FailureCause;
use super::parameter_fallback::ParameterFallback;
use super::server_client::ServerClient;
use super::types::ChatRequest;
use crate::domain::{ModelInfo, ModelList};
use futures::future::{self, BoxFuture, FutureExt};
use reqwest::header::HeaderName;
use serde_json::Value;
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Anthropic;

impl ProviderAdapter for Anthropic {
    fn chat_path(&self) -> &'static str {
        "messages"
    }

    fn embeddings_path(&self) -> Option<&'static str> {
        None
    }

    fn chat_body(&self, request: &ChatRequest, fallback: ParameterFallback) -> Value {
        request::body(request, fallback)
    }

    fn decoder(&self) -> Box<dyn ReplyDecoder> {
        Box::<decoder::AnthropicDecoder>::default()
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (HeaderName::from_static("x-api-key"), key.to_owned())
    }

    fn extra_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn list_models<'a>(
        &self,
        server: &'a ServerClient,
        _deadline: Instant,
    ) -> BoxFuture<'a, Result<ModelList, FailureCause>> {
        models::list(server).boxed()
    }

    /// Empty, because no information is requested about single models.
    fn model_info<'a>(
        &self,
        _server: &'a ServerClient,
        _deadline: Instant,
    ) -> BoxFuture<'a, Result<ModelInfo, FailureCause>> {
        future::ready(Ok(ModelInfo::default())).boxed()
    }
}

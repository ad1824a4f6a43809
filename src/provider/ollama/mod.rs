//! The adapter for Ollama's `/api`: chat, model information, pull and removal.

mod decoder;
mod model_info;
mod models;
mod ndjson;
mod pull;
mod request;

use super::adapter::{ProviderAdapter, ReplyDecoder};
use super::error::FailureCause;
use super::parameter_fallback::ParameterFallback;
use super::pull::PullProgress;
use super::server_client::ServerClient;
use super::types::ChatRequest;
use crate::domain::{ModelInfo, ModelList};
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{BoxStream, StreamExt};
use serde_json::Value;
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Ollama;

impl ProviderAdapter for Ollama {
    fn chat_path(&self) -> &'static str {
        "api/chat"
    }

    fn embeddings_path(&self) -> Option<&'static str> {
        Some("api/embed")
    }

    fn chat_body(&self, request: &ChatRequest, fallback: ParameterFallback) -> Value {
        request::body(request, fallback)
    }

    fn decoder(&self) -> Box<dyn ReplyDecoder> {
        Box::<decoder::OllamaDecoder>::default()
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

    fn is_loaded<'a>(&self, server: &'a ServerClient) -> BoxFuture<'a, Option<bool>> {
        models::is_loaded(server).boxed()
    }

    fn pull_model(
        &self,
        server: ServerClient,
        name: String,
    ) -> BoxStream<'static, Result<PullProgress, FailureCause>> {
        pull::pull(server, name).boxed()
    }

    fn remove_model<'a>(
        &self,
        server: &'a ServerClient,
        name: &'a str,
    ) -> BoxFuture<'a, Result<(), FailureCause>> {
        pull::remove(server, name).boxed()
    }
}

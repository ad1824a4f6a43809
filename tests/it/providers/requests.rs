//! Sends requests to a scripted server and collects the reply.

use crate::providers::decoding::{DecodedReply, join_parts};
use crate::providers::model_server::ModelServer;
use crate::support::fixtures::model_config;
use futures::StreamExt;
use humble::domain::model::{ApiKey, Secret};
use humble::domain::{Message, ModelConfig, ProviderKind, Toolset};
use humble::provider::{
    ChatRequest, FailureCause, Provider, ProviderError, ReplyStream, StreamPart,
};
use std::sync::Arc;
use std::time::Duration;

pub const CHAT: &str = "/api/chat";
pub const COMPLETIONS: &str = "/v1/chat/completions";

pub fn ollama(server: &ModelServer) -> ModelConfig {
    model_config(ProviderKind::Ollama, &server.url())
}

pub fn openai(server: &ModelServer) -> ModelConfig {
    model_config(ProviderKind::OpenAi, &format!("{}/v1", server.url()))
}

pub fn with_key(mut model: ModelConfig, key: &str) -> ModelConfig {
    model.api_key = ApiKey::Known(Secret::new(key));
    model
}

pub fn request(model: &ModelConfig) -> ChatRequest {
    ChatRequest {
        model: Arc::new(model.clone()),
        messages: vec![Message::User("안녕".into())],
        tools: Arc::new(Toolset::default()),
        num_ctx: 4096,
        temperature: None,
    }
}

/// All parts of the stream, within ten seconds.
pub async fn collect_parts(stream: ReplyStream) -> Vec<Result<StreamPart, ProviderError>> {
    let parts = tokio::time::timeout(Duration::from_secs(10), stream.collect());
    parts.await.expect("stream ends")
}

/// The next part, within ten seconds.
pub async fn next_part(stream: &mut ReplyStream) -> Option<Result<StreamPart, ProviderError>> {
    let part = tokio::time::timeout(Duration::from_secs(10), stream.next());
    part.await.expect("a part arrives")
}

/// Sends a request with a new provider and returns the decoded reply.
pub async fn ask(model: &ModelConfig) -> DecodedReply {
    ask_with(&Provider::new(), model).await
}

pub async fn ask_with(provider: &Provider, model: &ModelConfig) -> DecodedReply {
    let parts = collect_parts(provider.stream(request(model))).await;
    let parts = parts.into_iter();
    join_parts(
        parts
            .map(|part| part.map_err(|error| error.cause))
            .collect(),
    )
}

/// The cause of the failure of a request to this model.
pub async fn failure_cause(model: &ModelConfig) -> FailureCause {
    ask(model).await.failed.expect("request fails")
}

pub fn status_failure(status: u16, message: &str) -> FailureCause {
    FailureCause::Status {
        status,
        message: Some(message.to_owned()),
        retry_after: None,
        path: None,
    }
}

//! The contract between the shared HTTP layer and one provider's protocol. An adapter
//! builds requests, decodes replies and lists models; connecting, retrying without a
//! rejected parameter and error reporting are shared by all providers.

use super::error::FailureCause;
use super::parameter_fallback::ParameterFallback;
use super::pull::PullProgress;
use super::reply_builder::DecodedPart;
use super::server_client::ServerClient;
use super::types::ChatRequest;
use crate::domain::{ModelInfo, ModelList};
use futures::future::{self, BoxFuture, FutureExt};
use futures::stream::{self, BoxStream, StreamExt};
use reqwest::header::{AUTHORIZATION, HeaderName};
use serde_json::Value;
use std::fmt::Debug;
use tokio::time::Instant;

/// One provider's protocol.
pub trait ProviderAdapter: Debug + Sync {
    /// Relative to the base URL.
    fn chat_path(&self) -> &'static str;

    /// `None` if the provider has none.
    fn embeddings_path(&self) -> Option<&'static str> {
        Some("embeddings")
    }

    fn chat_body(&self, request: &ChatRequest, fallback: ParameterFallback) -> Value;

    /// One for each reply.
    fn decoder(&self) -> Box<dyn ReplyDecoder>;

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (AUTHORIZATION, format!("Bearer {key}"))
    }

    fn extra_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The models of a server. The caller enforces `deadline`; an adapter uses it to drop
    /// optional details early enough that the list itself still arrives in time.
    fn list_models<'a>(
        &self,
        server: &'a ServerClient,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<ModelList, FailureCause>>;

    /// The server's information about `server.model`; empty if it reports none. The caller
    /// enforces `deadline`, as for [`Self::list_models`].
    fn model_info<'a>(
        &self,
        server: &'a ServerClient,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<ModelInfo, FailureCause>>;

    /// Whether the server has `server.model` in memory. `None` if the server does not report it.
    fn is_loaded<'a>(&self, _server: &'a ServerClient) -> BoxFuture<'a, Option<bool>> {
        future::ready(None).boxed()
    }

    /// The stream ends after its first error.
    fn pull_model(
        &self,
        _server: ServerClient,
        _name: String,
    ) -> BoxStream<'static, Result<PullProgress, FailureCause>> {
        stream::iter([Err(FailureCause::Unsupported)]).boxed()
    }

    /// From the server's disk.
    fn remove_model<'a>(
        &self,
        _server: &'a ServerClient,
        _name: &'a str,
    ) -> BoxFuture<'a, Result<(), FailureCause>> {
        future::ready(Err(FailureCause::Unsupported)).boxed()
    }
}

/// Decodes the bytes of one reply, however they are split.
pub trait ReplyDecoder: Debug + Send {
    fn push(&mut self, bytes: &[u8]) -> Vec<DecodedPart>;

    /// Returns the remaining parts after the connection closed. The last one is an error if
    /// the reply was cut off.
    fn finish(self: Box<Self>) -> Vec<DecodedPart>;

    /// Whether the reply is complete, and only token counts or an end marker may follow. Always
    /// false for protocols whose end marker comes with the token counts.
    fn is_settled(&self) -> bool {
        false
    }
}

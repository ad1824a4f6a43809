//! The contract between the shared HTTP layer and one provider's protocol. An adapter
//! builds requests, decodes replies and lists models; connecting, retrying without a
//! refused parameter and error reporting are the same for every provider.

use super::error::FailureCause;
use super::parameter_fallback::ParameterFallback;
use super::pull::PullProgress;
use super::reply_builder::ReplyPiece;
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
    /// Where chat requests are posted, relative to the base URL.
    fn chat_path(&self) -> &'static str;

    fn chat_body(&self, request: &ChatRequest, fallback: ParameterFallback) -> Value;

    /// A decoder for one reply to a chat request.
    fn decoder(&self) -> Box<dyn ReplyDecoder>;

    /// The header that carries the API key.
    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (AUTHORIZATION, format!("Bearer {key}"))
    }

    /// Headers sent with every request.
    fn extra_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The models of a server. The caller enforces `deadline`; an adapter uses it to drop
    /// optional details early enough that the list itself still gets through.
    fn list_models<'a>(
        &self,
        server: &'a ServerClient,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<ModelList, FailureCause>>;

    /// What the server reports about `server.model`; empty if it reports nothing. The caller
    /// enforces `deadline`, as for [`Self::list_models`].
    fn model_facts<'a>(
        &self,
        server: &'a ServerClient,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<ModelInfo, FailureCause>>;

    /// Whether `server.model` is in the memory of the server; None if the server does not report
    /// it.
    fn is_loaded<'a>(&self, _server: &'a ServerClient) -> BoxFuture<'a, Option<bool>> {
        future::ready(None).boxed()
    }

    /// Downloads a model to the server. The stream ends after its first error.
    fn pull_model(
        &self,
        _server: ServerClient,
        _name: String,
    ) -> BoxStream<'static, Result<PullProgress, FailureCause>> {
        stream::iter([Err(FailureCause::Unsupported)]).boxed()
    }

    /// Deletes a model from the server's disk.
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
    /// Feeds bytes and returns the pieces they complete.
    fn push(&mut self, bytes: &[u8]) -> Vec<ReplyPiece>;

    /// Ends the reply when the connection closes: returns the end of the reply, or an
    /// error if it was cut off.
    fn finish(self: Box<Self>) -> Vec<ReplyPiece>;

    /// Whether the reply is complete and only token counts may follow. False for protocols
    /// whose end marker comes with the counts or after them.
    fn is_settled(&self) -> bool {
        false
    }
}

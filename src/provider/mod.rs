//! Talks to model servers. Each provider has a folder with its [`adapter::ProviderAdapter`], which
//! is registered in `registry`; no other module depends on the provider's protocol. Building
//! requests and decoding replies is pure; network access happens only while a returned stream or
//! future is polled.

pub mod adapter;
mod anthropic;
mod body_reader;
mod chat_completions;
mod embeddings;
pub mod error;
pub mod error_body;
mod error_messages;
mod error_response;
mod http_clients;
mod http_provider;
pub mod mistral;
mod model_list;
mod ollama;
mod openai;
mod paced_body;
pub mod parameter_fallback;
mod pull;
mod raw_arguments;
pub mod registry;
mod render_call;
pub mod reply_builder;
mod reply_log;
mod reply_secrets;
pub mod reply_stream;
pub mod schema;
pub mod scripted;
pub mod server_client;
mod tools_unsupported;
pub mod types;

pub use error::{FailureCause, PAUSE_MAX, ProviderError};
pub use pull::{PullProgress, PullStream};
pub use reply_stream::ReplyStream;
pub use scripted::PullStep;
pub use scripted::{RecordedRequests, Script, ScriptStep};
pub use types::{ChatRequest, EndReason, NativeCall, StreamPart};

use crate::domain::{ModelConfig, ModelInfo, ModelList, SecretRegistry};
use http_provider::HttpProvider;
use std::sync::Arc;
use std::time::Duration;

/// Sends chat requests and manages a server's models. Cheap to clone; clones share connections
/// and the record of rejected parameters.
#[derive(Debug, Clone)]
pub enum Provider {
    Http(Arc<HttpProvider>),
    Scripted(Arc<Script>),
}

impl Provider {
    /// A provider that uses the network. Clients and connections are created on first use.
    pub fn new() -> Self {
        Self::with_secrets(SecretRegistry::default())
    }

    /// Like [`Self::new`]. Adds the keys of all requests to `secrets`, and removes `secrets` from
    /// all that servers send.
    pub fn with_secrets(secrets: SecretRegistry) -> Self {
        Self::Http(Arc::new(HttpProvider::new(secrets)))
    }

    /// A provider that replays a script instead of using the network.
    pub fn scripted(script: Script) -> Self {
        Self::Scripted(Arc::new(script))
    }

    /// Sends a chat request and streams the reply. All work, including connecting, happens while
    /// the stream is polled; dropping the stream closes the connection.
    pub fn stream(&self, request: ChatRequest) -> ReplyStream {
        match self {
            Self::Http(http) => reply_stream::stream_reply(http.clone(), request),
            Self::Scripted(script) => script.stream(request),
        }
    }

    /// Whether the server has this model in memory. `None` if the server does not report it within
    /// a second.
    pub async fn is_loaded(&self, model: &ModelConfig) -> Option<bool> {
        match self {
            Self::Http(http) => http.is_loaded(model).await,
            Self::Scripted(_) => None,
        }
    }

    /// The server's information about a model. Empty if the server reports none.
    ///
    /// # Errors
    /// The server cannot be reached, rejects the request, or does not answer within three seconds.
    pub async fn model_info(&self, model: &ModelConfig) -> Result<ModelInfo, ProviderError> {
        match self {
            Self::Http(http) => http.model_info(model).await,
            Self::Scripted(script) => Ok(script.catalog().model_info(model)),
        }
    }

    /// The models of a server. `server` is any model configured for that server; only its address,
    /// key, CA file and provider are used.
    ///
    /// # Errors
    /// The server cannot be reached, rejects the request, or does not send its list within
    /// `timeout`. Missing details are not an error.
    pub async fn list_models(
        &self,
        server: &ModelConfig,
        timeout: Duration,
    ) -> Result<ModelList, ProviderError> {
        match self {
            Self::Http(http) => http.list_models(server, timeout).await,
            Self::Scripted(script) => {
                let catalog = script.catalog();
                let result = tokio::time::timeout(timeout, catalog.list_models(server)).await;
                let seconds = timeout.as_secs();
                result.unwrap_or_else(|_| {
                    Err(ProviderError::new(
                        server,
                        FailureCause::Timeout { seconds },
                    ))
                })
            }
        }
    }

    /// Downloads a model to the server while the stream is polled.
    pub fn pull(&self, server: &ModelConfig, name: &str) -> PullStream {
        match self {
            Self::Http(http) => http.pull(server, name),
            Self::Scripted(script) => script.catalog().pull(server, name),
        }
    }

    /// Deletes a model from the server's disk.
    ///
    /// # Errors
    /// The server cannot be reached, does not have the model, refuses, or does not answer within
    /// thirty seconds.
    pub async fn remove(&self, server: &ModelConfig, name: &str) -> Result<(), ProviderError> {
        match self {
            Self::Http(http) => http.remove(server, name).await,
            Self::Scripted(script) => script.catalog().remove(server, name),
        }
    }
}

impl Default for Provider {
    fn default() -> Self {
        Self::new()
    }
}

//! The wire layer: requests to model servers and what their streams say. The only
//! place that decides a wire shape of theirs. Decoders and bodies are pure; `http`
//! alone touches the network, and only while somebody polls its stream.

pub mod adapter;
mod anthropic;
mod body_format;
mod chat_completions;
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
pub mod parameter_fallback;
mod pull;
pub mod registry;
mod render_call;
pub mod reply_builder;
mod reply_log;
pub mod reply_stream;
pub mod schema;
pub mod scripted;
pub mod server_client;
mod tools_unsupported;
pub mod types;

pub use error::{Cause, Fault, PAUSE_MAX};
pub use pull::{PullProgress, PullStream};
pub use reply_stream::ReplyStream;
pub use scripted::PullStep;
pub use scripted::{Requests, Script, Step};
pub use types::{EndReason, NativeCall, Request, StreamPart};

use crate::domain::{Catalogue, ModelConfig, ModelFacts};
use std::sync::Arc;
use std::time::Duration;

/// Whoever answers requests. Cheap to clone; clones share connections and what was
/// learnt about servers.
#[derive(Debug, Clone)]
pub enum Provider {
    Http(Arc<http_provider::HttpProvider>),
    Scripted(Arc<Script>),
}

impl Provider {
    /// Talks to model servers. Nothing is set up before the first request.
    pub fn new() -> Self {
        Self::Http(Arc::default())
    }

    /// Follows a script instead.
    pub fn scripted(script: Script) -> Self {
        Self::Scripted(Arc::new(script))
    }

    /// Asks a model. Everything, connecting included, happens while the stream is
    /// polled; dropping it drops the connection.
    pub fn stream(&self, request: Request) -> ReplyStream {
        match self {
            Self::Http(http) => reply_stream::reply(http.clone(), request),
            Self::Scripted(script) => script.stream(request),
        }
    }

    /// Does Ollama hold this model in memory? None where that is not known within
    /// a second, or where the server is no Ollama.
    pub async fn is_loaded(&self, model: &ModelConfig) -> Option<bool> {
        match self {
            Self::Http(http) => http.is_loaded(model).await,
            Self::Scripted(_) => None,
        }
    }

    /// What the server says about a model, within three seconds. A server that
    /// lists its models without saying anything about them gives empty facts.
    ///
    /// # Errors
    /// The server cannot be asked, or Ollama does not have the model.
    pub async fn facts(&self, model: &ModelConfig) -> Result<ModelFacts, Fault> {
        match self {
            Self::Http(http) => http.facts(model).await,
            Self::Scripted(script) => Ok(script.catalog().facts(model)),
        }
    }

    /// What a server has, within `time_max`. `server` is any model of it: address,
    /// key and protocol count.
    ///
    /// # Errors
    /// The server cannot be asked for its list. Details that it does not give in
    /// time are left out.
    pub async fn catalogue(
        &self,
        server: &ModelConfig,
        time_max: Duration,
    ) -> Result<Catalogue, Fault> {
        match self {
            Self::Http(http) => http.catalogue(server, time_max).await,
            Self::Scripted(script) => {
                let catalog = script.catalog();
                let listed = tokio::time::timeout(time_max, catalog.catalogue(server)).await;
                let seconds = time_max.as_secs();
                listed.unwrap_or_else(|_| Err(Fault::new(server, Cause::Silent { seconds })))
            }
        }
    }

    /// Pulls a model to an Ollama, while the stream is polled.
    pub fn pull(&self, server: &ModelConfig, name: &str) -> PullStream {
        match self {
            Self::Http(http) => http.pull(server, name),
            Self::Scripted(script) => script.catalog().pull(server, name),
        }
    }

    /// Removes a model from the disk of an Ollama, within thirty seconds.
    ///
    /// # Errors
    /// The server cannot be asked, does not have the model, or keeps it.
    pub async fn remove(&self, server: &ModelConfig, name: &str) -> Result<(), Fault> {
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

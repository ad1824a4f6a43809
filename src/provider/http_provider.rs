//! Requests to model servers over HTTP. Sends chat requests, retrying without parameters that the
//! server rejects, and enforces the deadlines of requests for models and their details.

use super::adapter::ReplyDecoder;
use super::embeddings;
use super::error::{FailureCause, ProviderError, RequestTarget};
use super::error_response::read_error_response;
use super::http_clients::HttpClients;
use super::model_list::MODELS_MAX;
use super::parameter_fallback::ParameterFallback;
use super::pull::PullStream;
use super::registry::adapter_for;
use super::schema;
use super::server_client::ServerClient;
use super::types::ChatRequest;
use crate::domain::{Dialect, ModelConfig, ModelInfo, ModelList, Notice, SecretRegistry};
use crate::sync::lock_ignoring_poison;
use futures::stream::{self, StreamExt};
use reqwest::{Method, Response};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

const IS_LOADED_TIMEOUT: Duration = Duration::from_secs(1);
const MODEL_INFO_TIMEOUT: Duration = Duration::from_secs(3);

/// Shares connections, and remembers until the program exits which parameters were rejected.
#[derive(Debug)]
pub struct HttpProvider {
    /// Removed from all that servers send.
    pub(super) secrets: SecretRegistry,
    clients: Arc<HttpClients>,
    /// By model and base URL.
    fallbacks: Mutex<HashMap<(String, String), ParameterFallback>>,
    /// The last notice about tools sent without their schemas, kept to avoid repeating it.
    last_schema_notice: Mutex<Option<Notice>>,
}

/// A response with a success status whose body has not been read yet.
pub(super) struct AcceptedReply {
    pub response: Response,
    pub decoder: Box<dyn ReplyDecoder>,
    pub notices: Vec<Notice>,
}

impl HttpProvider {
    pub fn new(secrets: SecretRegistry) -> Self {
        Self {
            secrets,
            clients: Arc::default(),
            fallbacks: Mutex::default(),
            last_schema_notice: Mutex::default(),
        }
    }

    /// The error of a request for `model`, without secrets.
    pub(super) fn error(&self, model: &ModelConfig, cause: FailureCause) -> ProviderError {
        let redact = |text: String| self.secrets.redact_known_values(&text);
        ProviderError::new(model, cause.map_server_texts(redact))
    }

    /// Sends a chat request and waits for the head of a successful response. If the server
    /// rejects a parameter, sends this and later requests without it or with a replacement.
    pub(super) async fn open_reply(
        &self,
        request: &ChatRequest,
    ) -> Result<AcceptedReply, ProviderError> {
        let model = &request.model;
        let error = |cause| self.error(model, cause);
        let server = self.server(model.clone()).map_err(error)?;
        let adapter = server.adapter;
        let initial_fallback = self.fallback_for(model);
        let mut fallback = initial_fallback;
        // This loop ends because `after_rejection` never restores a rejected parameter.
        loop {
            let body = adapter.chat_body(request, fallback);
            let response = server
                .send(Method::POST, adapter.chat_path(), Some(&body))
                .await
                .map_err(error)?;
            if response.status().is_success() {
                let mut notices =
                    fallback.notices_since(initial_fallback, &RequestTarget::of(model));
                notices.extend(self.new_schema_notice(request));
                self.save_fallback(model, fallback);
                return Ok(AcceptedReply {
                    response,
                    decoder: adapter.decoder(),
                    notices,
                });
            }
            let status = response.status();
            let (cause, server_error) = read_error_response(response).await;
            let next_fallback = server_error
                .filter(|_| matches!(status.as_u16(), 400 | 422))
                .and_then(|server_error| fallback.after_rejection(&server_error, &body));
            fallback = next_fallback.ok_or_else(|| error(cause))?;
        }
    }

    pub(super) async fn is_loaded(&self, model: &ModelConfig) -> Option<bool> {
        let server = self.server(Arc::new(model.clone())).ok()?;
        timeout(IS_LOADED_TIMEOUT, server.adapter.is_loaded(&server))
            .await
            .ok()?
    }

    pub(super) async fn model_info(&self, model: &ModelConfig) -> Result<ModelInfo, ProviderError> {
        let deadline = Instant::now() + MODEL_INFO_TIMEOUT;
        let info = async {
            let server = self.server(Arc::new(model.clone()))?;
            server.adapter.model_info(&server, deadline).await
        };
        within(deadline, MODEL_INFO_TIMEOUT, info)
            .await
            .map_err(|cause| self.error(model, cause))
    }

    pub(super) async fn list_models(
        &self,
        model: &ModelConfig,
        timeout: Duration,
    ) -> Result<ModelList, ProviderError> {
        let deadline = Instant::now() + timeout;
        let list = async {
            let server = self.server(Arc::new(model.clone()))?;
            server.adapter.list_models(&server, deadline).await
        };
        let result = within(deadline, timeout, list).await;
        let mut list = result.map_err(|cause| self.error(model, cause))?;
        list.is_truncated |= list.models.len() > MODELS_MAX;
        list.models.truncate(MODELS_MAX);
        Ok(list)
    }

    pub(super) async fn embed(
        &self,
        model: &ModelConfig,
        texts: &[String],
    ) -> Result<Vec<Vec<f32>>, ProviderError> {
        let reply = async {
            let server = self.server(Arc::new(model.clone()))?;
            let path = server.adapter.embeddings_path();
            let path = path.ok_or(FailureCause::Unsupported)?;
            let body = embeddings::request_body(&model.model, texts);
            let reply = server.post_json(path, &body).await?;
            embeddings::parse_reply(&reply)
        };
        reply.await.map_err(|cause| self.error(model, cause))
    }

    pub(super) fn pull(self: &Arc<Self>, model: &ModelConfig, name: &str) -> PullStream {
        let this = Arc::clone(self);
        let model = Arc::new(model.clone());
        let steps = match self.server(model.clone()) {
            Ok(server) => server.adapter.pull_model(server, name.to_owned()),
            Err(cause) => stream::iter([Err(cause)]).boxed(),
        };
        PullStream::new(steps.map(move |step| step.map_err(|cause| this.error(&model, cause))))
    }

    pub(super) async fn remove(
        &self,
        model: &ModelConfig,
        name: &str,
    ) -> Result<(), ProviderError> {
        let removal = async {
            let server = self.server(Arc::new(model.clone()))?;
            server.adapter.remove_model(&server, name).await
        };
        removal.await.map_err(|cause| self.error(model, cause))
    }

    fn server(&self, model: Arc<ModelConfig>) -> Result<ServerClient, FailureCause> {
        let adapter = adapter_for(model.provider).ok_or(FailureCause::Unsupported)?;
        self.secrets.add(model.config_secrets());
        let clients = self.clients.clone();
        Ok(ServerClient::new(
            model,
            adapter,
            clients,
            self.secrets.clone(),
        ))
    }

    /// A notice about tools sent without their schemas, unless it equals the previous one.
    fn new_schema_notice(&self, request: &ChatRequest) -> Option<Notice> {
        if request.model.dialect != Dialect::Native || request.tools.is_empty() {
            return None;
        }
        let notice = schema::tool_schemas(&request.tools).notice()?;
        let mut last = lock_ignoring_poison(&self.last_schema_notice);
        (last.as_ref() != Some(&notice)).then(|| last.insert(notice).clone())
    }

    fn fallback_for(&self, model: &ModelConfig) -> ParameterFallback {
        let fallbacks = lock_ignoring_poison(&self.fallbacks);
        let fallback = fallbacks.get(&fallback_key(model));
        fallback.copied().unwrap_or_default()
    }

    fn save_fallback(&self, model: &ModelConfig, fallback: ParameterFallback) {
        if fallback != ParameterFallback::default() {
            lock_ignoring_poison(&self.fallbacks).insert(fallback_key(model), fallback);
        }
    }
}

fn fallback_key(model: &ModelConfig) -> (String, String) {
    (model.model.clone(), model.base_url.clone())
}

/// The error reports `timeout`, the whole time allowed.
async fn within<T>(
    deadline: Instant,
    timeout: Duration,
    work: impl Future<Output = Result<T, FailureCause>>,
) -> Result<T, FailureCause> {
    let seconds = timeout.as_secs();
    let result = timeout_at(deadline, work).await;
    result.unwrap_or(Err(FailureCause::Timeout { seconds }))
}

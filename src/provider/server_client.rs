//! Sends requests to one model server: builds URLs and headers, and reads JSON responses of
//! bounded size. A key is sent only to the configured origin and never logged.

use super::adapter::ProviderAdapter;
use super::error::{FailureCause, origin, without_credentials};
use super::error_response::read_error_response;
use super::http_clients::HttpClients;
use super::reply_builder::parse_json;
use crate::domain::model::ApiKey;
use crate::domain::{ModelConfig, SecretRegistry};
use crate::http_util::{self, RequestFailure, read_body_prefix};
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use reqwest::{Method, Response};
use serde_json::Value;
use std::sync::Arc;
use url::Url;

/// Large, because the description of a model can contain a license and a tokenizer.
const JSON_BYTES_MAX: usize = 16 << 20;

/// The server of one configured model.
#[derive(Debug, Clone)]
pub struct ServerClient {
    pub(super) model: Arc<ModelConfig>,
    pub(super) adapter: &'static dyn ProviderAdapter,
    clients: Arc<HttpClients>,
    pub(super) secrets: SecretRegistry,
}

impl ServerClient {
    pub(super) fn new(
        model: Arc<ModelConfig>,
        adapter: &'static dyn ProviderAdapter,
        clients: Arc<HttpClients>,
        secrets: SecretRegistry,
    ) -> Self {
        Self {
            model,
            adapter,
            clients,
            secrets,
        }
    }

    pub(super) fn with_base_url(&self, base_url: &str) -> Self {
        let mut model = ModelConfig::clone(&self.model);
        model.base_url = base_url.to_owned();
        Self {
            model: Arc::new(model),
            ..self.clone()
        }
    }

    pub(super) async fn get_json(&self, path: &str) -> Result<Value, FailureCause> {
        self.request_json(Method::GET, path, None).await
    }

    pub(super) async fn post_json(&self, path: &str, body: &Value) -> Result<Value, FailureCause> {
        self.request_json(Method::POST, path, Some(body)).await
    }

    async fn request_json(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, FailureCause> {
        let response = self.send_ok(method, path, body).await?;
        let body = read_body_prefix(response, JSON_BYTES_MAX).await;
        if body.is_empty() {
            return Err(FailureCause::EmptyReply);
        }
        let mut json = parse_json(&body).map_err(FailureCause::Malformed)?;
        self.secrets.redact_message(&mut json);
        Ok(json)
    }

    /// Any status other than success is an error.
    pub(super) async fn send_ok(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Response, FailureCause> {
        let response = self.send(method, path, body).await?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(read_error_response(response).await.0)
        }
    }

    /// Returns the response, whatever its status, except a redirect, which is an error.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Response, FailureCause> {
        let url = request_url(&self.model.base_url, path)?;
        let key = self.key_header()?;
        let client = self.clients.get(&url, self.model.ca_file.as_deref())?;
        let mut request = client.request(method, url.clone());
        if let Some((name, key)) = key {
            request = request.header(name, key);
        }
        for (name, value) in self.adapter.extra_headers() {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            let text = body.to_string();
            tracing::debug!("request to {}/{path}: {text}", origin(&url));
            request = request.header(CONTENT_TYPE, "application/json").body(text);
        }
        let response = request
            .send()
            .await
            .map_err(|error| connection_failure(http_util::request_failure(&error, &url)))?;
        tracing::debug!("{} answers {}", origin(&url), response.status());
        if response.status().is_redirection() {
            return Err(FailureCause::Redirected {
                to: redirect_target(&url, &response),
            });
        }
        Ok(response)
    }

    fn key_header(&self) -> Result<Option<(HeaderName, HeaderValue)>, FailureCause> {
        match &self.model.api_key {
            ApiKey::NotNeeded => Ok(None),
            ApiKey::MissingVariable(variable) => Err(FailureCause::MissingKey {
                variable: variable.clone(),
            }),
            ApiKey::Unusable(why) => Err(FailureCause::UnusableKey { why: why.clone() }),
            ApiKey::Known(secret) => {
                let (name, value) = self.adapter.key_header(secret.expose());
                let mut value =
                    HeaderValue::from_str(&value).map_err(|_| FailureCause::UnusableKey {
                        why: "it contains characters that are not allowed in an HTTP header"
                            .to_owned(),
                    })?;
                value.set_sensitive(true);
                Ok(Some((name, value)))
            }
        }
    }
}

const NO_SCHEME: &str = "start the address with http:// or https://";

/// Appends `path` to the base URL, keeping the base URL's own path and query. A query in `path` is
/// appended to the base URL's query.
fn request_url(base_url: &str, path: &str) -> Result<Url, FailureCause> {
    let invalid = |why: &str| FailureCause::InvalidBaseUrl {
        given: without_credentials(base_url),
        why: why.to_owned(),
    };
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut url = Url::parse(base_url).map_err(|error| match error {
        url::ParseError::RelativeUrlWithoutBase => invalid(NO_SCHEME),
        other => invalid(&other.to_string()),
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid(NO_SCHEME));
    }
    url.path_segments_mut()
        .map_err(|()| invalid("it has no host"))?
        .pop_if_empty()
        .extend(path.split('/'));
    if !query.is_empty() {
        let base_query = url.query().map(|base_query| format!("{base_query}&"));
        url.set_query(Some(&(base_query.unwrap_or_default() + query)));
    }
    Ok(url)
}

fn redirect_target(url: &Url, response: &Response) -> String {
    let location = response.headers().get(LOCATION);
    let target = location
        .and_then(|location| location.to_str().ok())
        .and_then(|location| url.join(location).ok());
    match target {
        Some(target) => format!("{}{}", origin(&target), target.path()),
        None => "an invalid address".to_owned(),
    }
}

fn connection_failure(failure: RequestFailure) -> FailureCause {
    match failure {
        RequestFailure::Unresolved => FailureCause::HostNotFound,
        RequestFailure::Refused => FailureCause::ConnectionRefused,
        RequestFailure::ConnectTimeout => FailureCause::ConnectTimeout,
        RequestFailure::Reset => FailureCause::ConnectionReset,
        RequestFailure::InvalidResponse { why } | RequestFailure::Unreachable { why } => {
            FailureCause::Unreachable { why }
        }
    }
}

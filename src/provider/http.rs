//! Asks: address, key, refused parameters, and why no answer came. A key goes only
//! to the origin that config.json names, and never into the log.

use super::error::{Cause, Fault, Place, origin, without_credentials, without_secrets};
use super::error_body::Complaint;
use super::http_clients::Clients;
use super::parameter_fallback::Adapted;
use super::types::Request;
use super::{anthropic, mistral, ollama, openai, schema};
use crate::domain::model::ApiKey;
use crate::domain::{Dialect, ModelConfig, Notice, ProviderKind};
use crate::http_util::{self, RequestFailure, read_body_prefix};
use crate::sync::lock_ignoring_poison;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use reqwest::{Method, Response};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;
use url::Url;

const ERROR_BODY_BYTES_MAX: usize = 64 << 10;
const ERROR_BODY_TIME_MAX: Duration = Duration::from_secs(5);

/// Clients and what was learnt about servers, both for as long as the program runs.
#[derive(Debug, Default)]
pub struct Http {
    clients: Clients,
    /// By model and base URL.
    adapted: Mutex<HashMap<(String, String), Adapted>>,
    /// The last notice about tools whose schemas are not sent.
    told_of_schemas: Mutex<Option<Notice>>,
}

/// An answer whose status is success.
pub(super) struct Answer {
    pub response: Response,
    pub notices: Vec<Notice>,
}

impl Http {
    /// Sends a request and waits for the head of a successful answer. A parameter
    /// that the server refuses is left out, and that is remembered (S2.6).
    pub(super) async fn ask(&self, request: &Request) -> Result<Answer, Fault> {
        let model = &request.model;
        let fault = |cause| Fault::new(model, cause);
        let (path, body): (_, fn(&Request, Adapted) -> Value) = match model.provider {
            ProviderKind::Ollama => ("api/chat", ollama::body),
            ProviderKind::OpenAi => ("chat/completions", openai::body),
            ProviderKind::Mistral => ("chat/completions", mistral::body),
            ProviderKind::Anthropic => ("messages", anthropic::body),
            ProviderKind::Scripted => return Err(fault(Cause::Unsupported)),
        };
        let known = self.adapted(model);
        let mut adapted = known;
        // Ends: no step of `after` can be taken twice.
        loop {
            let body = body(request, adapted);
            let response = self
                .send(model, Method::POST, path, Some(&body))
                .await
                .map_err(fault)?;
            if response.status().is_success() {
                let mut notices = adapted.notices(known, &Place::of(model));
                notices.extend(self.notice_of_schemas(request));
                self.remember(model, adapted);
                return Ok(Answer { response, notices });
            }
            let status = response.status();
            let (cause, complaint) = refusal(response).await;
            let next = complaint
                .filter(|_| matches!(status.as_u16(), 400 | 422))
                .and_then(|complaint| adapted.after(&complaint, &body));
            adapted = next.ok_or_else(|| fault(cause))?;
        }
    }

    pub(super) async fn send(
        &self,
        model: &ModelConfig,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Response, Cause> {
        let url = address(&model.base_url, path)?;
        let key = key_header(model)?;
        let client = self.clients.get(&url, model.ca_file.as_deref())?;
        let mut request = client.request(method, url.clone());
        if let Some((name, key)) = key {
            request = request.header(name, key);
        }
        if model.provider == ProviderKind::Anthropic {
            request = request.header("anthropic-version", anthropic::VERSION);
        }
        if let Some(body) = body {
            let text = body.to_string();
            if tracing::enabled!(tracing::Level::DEBUG) {
                let text = without_secrets(&text, model);
                tracing::debug!("request to {}/{path}: {text}", origin(&url));
            }
            request = request.header(CONTENT_TYPE, "application/json").body(text);
        }
        let response = request
            .send()
            .await
            .map_err(|fault| unanswered(http_util::request_failure(&fault, &url)))?;
        tracing::debug!("{} answers {}", origin(&url), response.status());
        if response.status().is_redirection() {
            return Err(Cause::Redirected {
                to: redirected_to(&url, &response),
            });
        }
        Ok(response)
    }

    /// Says once which part of the tools goes without a schema.
    fn notice_of_schemas(&self, request: &Request) -> Option<Notice> {
        if request.model.dialect != Dialect::Native || request.tools.is_empty() {
            return None;
        }
        let notice = schema::of(&request.tools).notice()?;
        let mut told = lock_ignoring_poison(&self.told_of_schemas);
        (told.as_ref() != Some(&notice)).then(|| told.insert(notice).clone())
    }

    fn adapted(&self, model: &ModelConfig) -> Adapted {
        let known = lock_ignoring_poison(&self.adapted);
        known.get(&target(model)).copied().unwrap_or_default()
    }

    fn remember(&self, model: &ModelConfig, adapted: Adapted) {
        if adapted != Adapted::default() {
            lock_ignoring_poison(&self.adapted).insert(target(model), adapted);
        }
    }
}

fn target(model: &ModelConfig) -> (String, String) {
    (model.model.clone(), model.base_url.clone())
}

/// `path` under the base URL, whose own path and query stay; a query of `path`
/// comes after it.
fn address(base_url: &str, path: &str) -> Result<Url, Cause> {
    let bad = |why: &str| Cause::BadUrl {
        given: without_credentials(base_url),
        why: why.to_owned(),
    };
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut url = Url::parse(base_url).map_err(|fault| bad(&fault.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("it must begin with http:// or https://"));
    }
    url.path_segments_mut()
        .map_err(|()| bad("it has no host"))?
        .pop_if_empty()
        .extend(path.split('/'));
    if !query.is_empty() {
        let before = url.query().map(|before| format!("{before}&"));
        url.set_query(Some(&(before.unwrap_or_default() + query)));
    }
    Ok(url)
}

fn key_header(model: &ModelConfig) -> Result<Option<(HeaderName, HeaderValue)>, Cause> {
    match &model.api_key {
        ApiKey::NotNeeded => Ok(None),
        ApiKey::MissingVariable(variable) => Err(Cause::MissingKey {
            variable: variable.clone(),
        }),
        ApiKey::Unusable(why) => Err(Cause::UnusableKey { why: why.clone() }),
        ApiKey::Known(secret) => {
            let (name, value) = match model.provider {
                ProviderKind::Anthropic => (
                    HeaderName::from_static("x-api-key"),
                    secret.expose().to_owned(),
                ),
                _ => (AUTHORIZATION, format!("Bearer {}", secret.expose())),
            };
            let mut value = HeaderValue::from_str(&value).map_err(|_| Cause::UnusableKey {
                why: "it holds characters that no header may hold".to_owned(),
            })?;
            value.set_sensitive(true);
            Ok(Some((name, value)))
        }
    }
}

fn redirected_to(url: &Url, response: &Response) -> String {
    let location = response.headers().get(LOCATION);
    let target = location
        .and_then(|location| location.to_str().ok())
        .and_then(|location| url.join(location).ok());
    match target {
        Some(target) => format!("{}{}", origin(&target), target.path()),
        None => "nowhere".to_owned(),
    }
}

fn unanswered(why: RequestFailure) -> Cause {
    match why {
        RequestFailure::Unresolved => Cause::Unresolved,
        RequestFailure::Refused => Cause::Refused,
        RequestFailure::ConnectTimeout => Cause::ConnectTimeout,
        RequestFailure::Reset => Cause::Reset,
        RequestFailure::Unreachable { why } => Cause::Unreachable { why },
    }
}

/// What an answer that is no success says, and the server's complaint in it.
pub(super) async fn refusal(response: Response) -> (Cause, Option<Complaint>) {
    let status = response.status().as_u16();
    let path = response.url().path().to_owned();
    let retry_after = http_util::retry_after(response.headers());
    let read = read_body_prefix(response, ERROR_BODY_BYTES_MAX);
    let body = tokio::time::timeout(ERROR_BODY_TIME_MAX, read)
        .await
        .unwrap_or_default();
    let complaint = Complaint::in_body(&body);
    let overflow = complaint
        .clone()
        .filter(|_| (400..500).contains(&status))
        .and_then(|complaint| complaint.overflow().ok());
    let message = complaint
        .as_ref()
        .map(|complaint| complaint.message.clone());
    // A server that lacks the model has the address.
    let names_the_model = complaint
        .as_ref()
        .is_some_and(|complaint| complaint.message.to_lowercase().contains("model"));
    let path = (status == 404 && !names_the_model).then_some(path);
    let is_unpaid = complaint.as_ref().is_some_and(Complaint::is_about_credit);
    let takes_no_tools = complaint.as_ref().is_some_and(Complaint::refuses_tools);
    let cause = overflow.unwrap_or_else(|| match message {
        message if status == 402 || is_unpaid => Cause::NoCredit {
            status,
            message: message.unwrap_or_default(),
        },
        Some(message) if takes_no_tools => Cause::NoTools { status, message },
        message => Cause::Status {
            status,
            message,
            retry_after,
            path,
        },
    });
    (cause, complaint)
}

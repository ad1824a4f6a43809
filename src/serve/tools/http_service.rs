//! Requests to the services of the built-in tools: bounded in size and time, retried where that
//! is safe, with errors that describe the problem and the next step to a model.

use crate::http_util::{
    CONNECT_TIMEOUT_SECONDS, RequestFailure, is_loopback, read_body_prefix, request_failure,
    retry_after, root_cause,
};
use crate::sync::lock_ignoring_poison;
use reqwest::{Client, StatusCode, redirect};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use url::Url;

pub const USER_AGENT: &str = concat!("humble/", env!("CARGO_PKG_VERSION"));
const ATTEMPTS_MAX: u32 = 3;
/// Time limit of one attempt, from connecting to the last byte.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause before the first retry. Each further retry doubles it.
const BACKOFF: Duration = Duration::from_millis(500);
/// If a service asks for a longer pause, the call fails.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(5);
const BODY_BYTES_MAX: usize = 1 << 20;
const REDIRECTS_MAX: usize = 3;
/// Longer explanations from a service are truncated.
const REASON_CHARS_MAX: usize = 200;

/// The name of a service in messages to the model and the user.
#[derive(Debug, Clone, Copy)]
pub struct ServiceName {
    /// The start of a sentence, such as `The weather service`.
    pub subject: &'static str,
    /// The setting with its address.
    pub setting: &'static str,
}

/// HTTP clients by `(is_loopback, is_secure)`, built on first use, because loading certificates takes
/// time.
#[derive(Debug, Default)]
pub struct ServiceClients(Mutex<HashMap<(bool, bool), Client>>);

impl ServiceClients {
    fn get(&self, url: &Url) -> Result<Client, String> {
        let kind = (is_loopback(url), url.scheme() == "https");
        let mut clients = lock_ignoring_poison(&self.0);
        if let Some(client) = clients.get(&kind) {
            return Ok(client.clone());
        }
        let client = build_client(kind).map_err(|error| root_cause(&error))?;
        clients.insert(kind, client.clone());
        Ok(client)
    }
}

fn build_client((is_loopback, is_secure): (bool, bool)) -> reqwest::Result<Client> {
    let builder = || {
        let builder = Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(Duration::from_secs(CONNECT_TIMEOUT_SECONDS))
            .redirect(redirect::Policy::custom(follow_on_same_host));
        if is_loopback {
            builder.no_proxy()
        } else {
            builder
        }
    };
    // Plain HTTP needs certificates only for an HTTPS proxy.
    let without_certificates = || builder().tls_certs_only([]).build();
    match (is_secure, is_loopback) {
        (true, _) => builder().build(),
        (false, true) => without_certificates(),
        (false, false) => builder().build().or_else(|_| without_certificates()),
    }
}

/// A redirect to a different host leads to a service that the user did not choose.
fn follow_on_same_host(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let previous = attempt.previous();
    let is_same_host = previous
        .first()
        .is_some_and(|first| first.host() == attempt.url().host());
    if is_same_host && previous.len() <= REDIRECTS_MAX {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

struct AttemptError {
    /// A predicate whose subject is the service, such as `did not answer within 10 s`.
    what: String,
    /// Whether another attempt may succeed, and the pause that the service asked for.
    retry: Option<Option<Duration>>,
}

impl AttemptError {
    fn permanent(what: String) -> Self {
        Self { what, retry: None }
    }

    fn transient(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            retry: Some(None),
        }
    }
}

/// GETs a JSON document. `url` contains the whole query.
///
/// # Errors
/// A text for the model. Transient failures are retried first.
pub async fn get_json(
    clients: &ServiceClients,
    service: ServiceName,
    url: &Url,
) -> Result<Value, String> {
    let client = clients.get(url).map_err(|why| {
        let subject = service.subject;
        format!("{subject} cannot be reached, because HTTPS is not available here: {why}.")
    })?;
    let mut backoff = BACKOFF;
    let mut attempt = 1;
    loop {
        let response = timeout(ATTEMPT_TIMEOUT, request(&client, url)).await;
        let error = match response {
            Ok(Ok(document)) => return Ok(document),
            Ok(Err(error)) => error,
            Err(_) => {
                let seconds = ATTEMPT_TIMEOUT.as_secs();
                AttemptError::transient(format!("did not answer within {seconds} s"))
            }
        };
        let pause = match error.retry {
            Some(requested) => requested.unwrap_or(backoff),
            None => return Err(failure(service, url, &error.what, attempt)),
        };
        if attempt == ATTEMPTS_MAX || pause > RETRY_AFTER_MAX {
            return Err(failure(service, url, &error.what, attempt));
        }
        tracing::debug!("{} {}, retrying", service.subject, error.what);
        sleep(pause).await;
        backoff *= 2;
        attempt += 1;
    }
}

fn failure(service: ServiceName, url: &Url, what: &str, attempts: u32) -> String {
    let ServiceName { subject, setting } = service;
    let host = url.host_str().unwrap_or_default();
    let tried = match attempts {
        1 => String::new(),
        count => format!(" It was asked {count} times."),
    };
    format!(
        "{subject} ({host}) {what}.{tried} Do not make up an answer: tell the user that the \
         service failed. They can try again later, or check their network and `{setting}` in \
         config.json."
    )
}

async fn request(client: &Client, url: &Url) -> Result<Value, AttemptError> {
    let response = client.get(url.clone()).send().await;
    let response = response.map_err(|error| connection_error(&error, url))?;
    let status = response.status();
    let pause = retry_after(response.headers());
    if status.is_redirection() {
        let what = "answered with a redirect to a different address".to_owned();
        return Err(AttemptError::permanent(what));
    }
    // One more byte than allowed shows that there is more.
    let body = read_body_prefix(response, BODY_BYTES_MAX + 1).await;
    if !status.is_success() {
        return Err(status_error(status, pause, &body));
    }
    if body.len() > BODY_BYTES_MAX {
        let what = "sent more than 1 MiB, which is not a valid answer".to_owned();
        return Err(AttemptError::permanent(what));
    }
    serde_json::from_slice(&body).map_err(|error| match error.is_eof() {
        // The connection may have broken.
        true => AttemptError::transient("sent an incomplete answer"),
        false => AttemptError::permanent("sent something that is not JSON".to_owned()),
    })
}

fn connection_error(error: &reqwest::Error, url: &Url) -> AttemptError {
    match request_failure(error, url) {
        RequestFailure::Unresolved => {
            AttemptError::permanent("cannot be found: its host name has no address".to_owned())
        }
        RequestFailure::Refused => {
            AttemptError::transient("cannot be reached: the connection was refused")
        }
        RequestFailure::ConnectTimeout => {
            AttemptError::transient("cannot be reached: connecting took too long")
        }
        RequestFailure::Reset => AttemptError::transient("closed the connection without an answer"),
        RequestFailure::InvalidResponse { why } => {
            AttemptError::permanent(format!("sent an invalid answer: {why}"))
        }
        RequestFailure::Unreachable { why } => {
            AttemptError::permanent(format!("cannot be reached: {why}"))
        }
    }
}

fn status_error(status: StatusCode, pause: Option<Duration>, body: &[u8]) -> AttemptError {
    let reason = reason(body).map_or_else(String::new, |reason| format!(": {reason}"));
    let what = format!("answered with HTTP {}{reason}", status.as_u16());
    match status {
        StatusCode::TOO_MANY_REQUESTS => AttemptError {
            what: format!("has received too many requests (HTTP 429){reason}"),
            retry: Some(pause),
        },
        status if status.is_server_error() => AttemptError {
            what,
            retry: Some(pause),
        },
        _ => AttemptError::permanent(what),
    }
}

/// On one line.
fn reason(body: &[u8]) -> Option<String> {
    let document: Value = serde_json::from_slice(body).ok()?;
    let reason = ["reason", "error", "message"]
        .iter()
        .find_map(|key| document.get(key)?.as_str())?;
    let words: Vec<&str> = reason.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(REASON_CHARS_MAX).collect();
    Some(line.trim_end_matches('.').to_owned()).filter(|line| !line.is_empty())
}

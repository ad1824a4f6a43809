//! Requests to metadata, registration and token endpoints, with limits on addresses, redirects,
//! size and time.

use super::addresses::{AddressPolicy, display_text, display_url};
use super::error::OAuthError;
use crate::domain::SecretRegistry;
use crate::domain::model::Secret;
use crate::http_util::{self, CONNECT_TIMEOUT_SECONDS};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Client, RequestBuilder, redirect};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

const BODY_BYTES_MAX: usize = 1 << 20;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum number of redirects of a metadata document.
const REDIRECTS_MAX: usize = 3;

const SECRET_FIELDS: &str = "code code_verifier refresh_token client_secret client_assertion token";

/// The HTTP client for the authorization servers of one MCP server.
#[derive(Clone)]
pub struct OAuthHttp {
    client: Client,
    pub policy: AddressPolicy,
    /// The secrets that endpoints may repeat in their answers, including those of all requests.
    pub secrets: SecretRegistry,
}

/// A complete answer.
pub struct OAuthAnswer {
    pub status: u16,
    /// The body, if it is JSON.
    pub json: Option<Value>,
    /// The kind of body, in a few words for errors.
    pub body_kind: String,
}

impl OAuthHttp {
    /// Creates a client for requests on behalf of the MCP server at `server_url`.
    ///
    /// # Errors
    /// The certificates of the system cannot be loaded.
    pub async fn for_server(
        server_url: &Url,
        secrets: &SecretRegistry,
    ) -> Result<Self, OAuthError> {
        let policy = AddressPolicy::for_server(server_url).await;
        let is_loopback = http_util::is_loopback(server_url);
        let building = move || {
            let builder = Client::builder()
                .user_agent(concat!("humble/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(Duration::from_secs(CONNECT_TIMEOUT_SECONDS))
                .redirect(redirect::Policy::none())
                .dns_resolver(Arc::new(policy));
            // A server on this machine does not need TLS, and a small system may have no
            // certificates.
            match builder.build() {
                Err(_) if is_loopback => Client::builder()
                    .redirect(redirect::Policy::none())
                    .dns_resolver(Arc::new(policy))
                    .no_proxy()
                    .tls_certs_only([])
                    .build(),
                result => result,
            }
        };
        // Reading certificates blocks.
        match tokio::task::spawn_blocking(building).await {
            Ok(Ok(client)) => Ok(Self {
                client,
                policy,
                secrets: secrets.clone(),
            }),
            Ok(Err(error)) => Err(OAuthError::ClientSetup(http_util::root_cause(&error))),
            Err(error) => Err(OAuthError::ClientSetup(error.to_string())),
        }
    }

    /// Requests a metadata document. Follows redirects within its origin.
    ///
    /// # Errors
    /// The URL is not allowed, or there was no complete answer.
    pub async fn get(&self, url: &Url) -> Result<OAuthAnswer, OAuthError> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS_MAX {
            self.policy.check(&url)?;
            let request = self.client.get(url.clone());
            match self.send(&url, request).await? {
                Sent::Answered(mut answer) => {
                    if let Some(document) = &mut answer.json {
                        self.secrets.redact_message(document);
                    }
                    return Ok(answer);
                }
                Sent::Redirected(Some(target)) if target.origin() == url.origin() => url = target,
                Sent::Redirected(_) => return Err(OAuthError::Redirect(display_url(&url))),
            }
        }
        Err(OAuthError::Redirect(display_url(&url)))
    }

    /// Posts a form, with an `Authorization` header if the client authenticates that way. Never
    /// follows a redirect, because that would send credentials elsewhere.
    ///
    /// # Errors
    /// The URL is not allowed, or there was no complete answer.
    pub async fn post_form(
        &self,
        url: &Url,
        form: &[(&str, String)],
        authorization: Option<HeaderValue>,
    ) -> Result<OAuthAnswer, OAuthError> {
        self.secrets
            .add_tokens(request_secrets(form, authorization.as_ref()));
        let content_type = "application/x-www-form-urlencoded";
        let mut request = self.client.post(url.clone()).body(encode_form(form));
        if let Some(value) = authorization {
            request = request.header(AUTHORIZATION, value);
        }
        self.post(url, request.header(CONTENT_TYPE, content_type))
            .await
    }

    /// Posts JSON. Never follows a redirect either.
    ///
    /// # Errors
    /// The URL is not allowed, or there was no complete answer.
    pub async fn post_json(&self, url: &Url, body: &Value) -> Result<OAuthAnswer, OAuthError> {
        let request = self.client.post(url.clone()).body(body.to_string());
        self.post(url, request.header(CONTENT_TYPE, "application/json"))
            .await
    }

    async fn post(&self, url: &Url, request: RequestBuilder) -> Result<OAuthAnswer, OAuthError> {
        self.policy.check(url)?;
        match self.send(url, request).await? {
            Sent::Answered(answer) => Ok(answer),
            Sent::Redirected(_) => Err(OAuthError::Redirect(display_url(url))),
        }
    }

    async fn send(&self, url: &Url, request: RequestBuilder) -> Result<Sent, OAuthError> {
        // Sites with a proxy in front may choose the response by this header.
        let request = request.header(ACCEPT, "application/json");
        let sending = async {
            let mut response = request
                .send()
                .await
                .map_err(|error| request_error(url, &error))?;
            let status = response.status();
            if status.is_redirection() {
                let location = response.headers().get(LOCATION);
                let location = location.and_then(|location| location.to_str().ok());
                let target = location.and_then(|location| url.join(location).ok());
                return Ok(Sent::Redirected(target));
            }
            let mut body = Vec::new();
            let content_type = response.headers().get(CONTENT_TYPE).cloned();
            while let Some(bytes) = response
                .chunk()
                .await
                .map_err(|error| request_error(url, &error))?
            {
                if body.len() + bytes.len() > BODY_BYTES_MAX {
                    return Err(OAuthError::TooLarge {
                        url: display_url(url),
                        bytes_max: BODY_BYTES_MAX,
                    });
                }
                body.extend_from_slice(&bytes);
            }
            Ok(Sent::Answered(OAuthAnswer {
                status: status.as_u16(),
                json: serde_json::from_slice(&body).ok(),
                body_kind: describe_body(content_type.as_ref(), &body),
            }))
        };
        let sent = timeout(REQUEST_TIMEOUT, sending).await;
        let sent = sent.unwrap_or_else(|_| {
            Err(OAuthError::Timeout {
                url: display_url(url),
                after: REQUEST_TIMEOUT,
            })
        });
        let outcome = match &sent {
            Ok(Sent::Answered(answer)) => answer.status.to_string(),
            Ok(Sent::Redirected(_)) => "redirect".to_owned(),
            Err(_) => "failed".to_owned(),
        };
        tracing::debug!("sign-in request to {}: {outcome}", display_url(url));
        sent
    }
}

/// The secrets in a form and in its `Authorization` header.
pub(super) fn request_secrets(
    form: &[(&str, String)],
    authorization: Option<&HeaderValue>,
) -> Vec<Secret> {
    let in_form = form
        .iter()
        .filter(|(name, _)| SECRET_FIELDS.split(' ').any(|field| field == *name))
        .map(|(_, value)| value.as_str());
    // After `Basic`; the client secret is percent-encoded in it.
    let header = authorization.and_then(|value| value.to_str().ok());
    let in_header = header.and_then(|text| text.split_once(' '));
    let in_header = in_header.map(|(_, credentials)| credentials);
    in_form.chain(in_header).map(Secret::new).collect()
}

fn request_error(url: &Url, error: &reqwest::Error) -> OAuthError {
    let (url, why) = (display_url(url), http_util::root_cause(error));
    match http_util::is_invalid_response(error) {
        true => OAuthError::InvalidResponse { url, why },
        false => OAuthError::Unreachable { url, why },
    }
}

/// Names a body by its content type, or by its first character if the type is missing.
fn describe_body(content_type: Option<&HeaderValue>, body: &[u8]) -> String {
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let media_type = content_type.and_then(|value| value.split(';').next());
    let media_type = media_type.unwrap_or_default().trim().to_ascii_lowercase();
    match (media_type.as_str(), body.trim_ascii_start().first()) {
        (_, None) => "an empty body".to_owned(),
        ("text/html" | "application/xhtml+xml", _) => "a web page".to_owned(),
        ("", Some(b'<')) => "a web page".to_owned(),
        ("", _) => "a body without a content type".to_owned(),
        (media_type, _) => format!("a body of type `{}`", display_text(media_type)),
    }
}

fn encode_form(form: &[(&str, String)]) -> String {
    let mut encoder = url::form_urlencoded::Serializer::new(String::new());
    encoder.extend_pairs(form);
    encoder.finish()
}

enum Sent {
    Answered(OAuthAnswer),
    Redirected(Option<Url>),
}

impl OAuthAnswer {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.json.as_ref()?.get(key)?.as_str()
    }
}

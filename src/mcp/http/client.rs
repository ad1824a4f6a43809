//! The HTTP client for one server: certificates, proxies and redirects. The user's headers go only
//! to the origin of the configured URL.

use super::error::{DisplayUrl, HttpError};
use crate::domain::SecretRegistry;
use crate::domain::model::Secret;
use crate::http_util::{self, CONNECT_TIMEOUT_SECONDS, RequestFailure};
use crate::mcp::oauth::{Authorizer, TokenRejection};
use reqwest::header::{
    AUTHORIZATION, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{Body, Client, Method, Response, redirect};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use url::Url;

const REDIRECTS_MAX: usize = 5;
/// Servers drop idle connections after 5 s or more. We close ours earlier, so that no request is
/// sent on a connection that the server is closing.
const IDLE_MAX: Duration = Duration::from_secs(4);
const KEEPALIVE: Duration = Duration::from_secs(30);
const DISPLAY_URL_CHARS_MAX: usize = 300;

/// A client for one server URL, with the headers sent in every request. Dropping it closes all
/// idle connections.
pub struct RemoteClient {
    client: Client,
    pub url: Url,
    headers: HeaderMap,
    /// Removed from text in responses.
    pub secrets: SecretRegistry,
    /// Adds access tokens; `None` if the user configured an `Authorization` header.
    authorizer: Option<Authorizer>,
}

pub struct HttpRequest {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    /// The body, and a token that is cancelled when sending the body starts.
    pub body: Option<(Vec<u8>, CancellationToken)>,
}

impl RemoteClient {
    /// Reads certificates, so call it on a thread that may block.
    ///
    /// # Errors
    /// An invalid URL or header, or unusable certificates on this machine.
    pub fn new(
        url: &str,
        headers: &[(String, String)],
        secrets: SecretRegistry,
    ) -> Result<Self, HttpError> {
        let mut url = Url::parse(url).map_err(|error| HttpError::ClientSetup(error.to_string()))?;
        url.set_fragment(None);
        let mut header_map = HeaderMap::new();
        for (name, value) in headers {
            let invalid_header = |part| {
                let name = name.clone();
                HttpError::InvalidHeader { name, part }
            };
            let header_name =
                HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid_header("name"))?;
            let mut value = HeaderValue::from_str(value).map_err(|_| invalid_header("value"))?;
            value.set_sensitive(true);
            header_map.append(header_name, value);
        }
        Ok(Self {
            client: build_client(&url)?,
            secrets,
            url,
            headers: header_map,
            authorizer: None,
        })
    }

    /// Uses the access tokens of `authorizer`, unless the headers already contain credentials.
    #[must_use]
    pub fn with_authorizer(mut self, authorizer: Option<Authorizer>) -> Self {
        self.authorizer = authorizer.filter(|_| !self.headers.contains_key(AUTHORIZATION));
        self
    }

    /// Sends a request with the current access token, if there is one. If the server rejects the
    /// token, obtains a new one and sends the request once more. See [`Self::send_with_token`].
    ///
    /// # Errors
    /// The connection failed, a redirect could not be followed, a new token could not be obtained,
    /// or the user has to sign in.
    pub async fn send(&self, request: &HttpRequest) -> Result<Response, HttpError> {
        let Some(authorizer) = &self.authorizer else {
            return self.send_with_token(request, None).await;
        };
        let mut is_repeated = false;
        loop {
            let token = authorizer.token().await;
            let response = self.send_with_token(request, token.as_ref()).await?;
            let status = response.status().as_u16();
            if !matches!(status, 401 | 403) {
                return Ok(response);
            }
            let rejection = authorizer.handle_rejection(status, response.headers(), token.as_ref());
            match rejection.await {
                TokenRejection::Retry if !is_repeated => is_repeated = true,
                TokenRejection::Retry | TokenRejection::SignInNeeded => {
                    return Err(HttpError::SignInRequired);
                }
                TokenRejection::MoreScopesNeeded(scopes) => {
                    return Err(HttpError::MoreScopesRequired(scopes.join(", ")));
                }
                TokenRejection::Failed(error) => {
                    return Err(HttpError::TokenRequestFailed(error.to_string()));
                }
                TokenRejection::Unrelated => return Ok(response),
            }
        }
    }

    /// Sends a request, follows redirects within the origin, and returns once the response headers
    /// have arrived. The caller limits the time.
    ///
    /// # Errors
    /// The connection failed, or a redirect could not be followed.
    async fn send_with_token(
        &self,
        request: &HttpRequest,
        token: Option<&Secret>,
    ) -> Result<Response, HttpError> {
        let authorization = token.map(bearer_header).transpose()?;
        let mut url = request.url.clone();
        for _ in 0..=REDIRECTS_MAX {
            // The protocol's headers override the user's.
            let mut headers = self.headers.clone();
            for (name, value) in &request.headers {
                headers.insert(name, value.clone());
            }
            if let Some(value) = &authorization {
                headers.insert(AUTHORIZATION, value.clone());
            }
            if let Some((body, _)) = &request.body {
                headers.insert(CONTENT_LENGTH, body.len().into());
            }
            let mut builder = self.client.request(request.method.clone(), url.clone());
            builder = builder.headers(headers);
            if let Some((body, send_started)) = &request.body {
                builder = builder.body(body_with_signal(body.clone(), send_started.clone()));
            }
            let response = builder
                .send()
                .await
                .map_err(|error| request_error(&error, &url, self.display_url(&url)))?;
            tracing::debug!(
                "{} {} {}",
                request.method,
                self.display_url(&url),
                response.status()
            );
            match self.redirect_target(&url, &request.method, &response)? {
                Some(target) => url = target,
                None => return Ok(response),
            }
        }
        Err(HttpError::RedirectLoop)
    }

    /// The URL to follow, if the response is a redirect. Only redirects that keep method, body and
    /// origin are followed.
    fn redirect_target(
        &self,
        url: &Url,
        method: &Method,
        response: &Response,
    ) -> Result<Option<Url>, HttpError> {
        let status = response.status().as_u16();
        let keeps_method = match status {
            301 | 302 | 307 | 308 => true,
            303 => *method == Method::GET,
            _ => return Ok(None),
        };
        let location = response
            .headers()
            .get(LOCATION)
            .and_then(|location| location.to_str().ok());
        let target = location.and_then(|location| url.join(location).ok());
        let Some(target) = target else {
            return Ok(None);
        };
        if target.origin() != url.origin() {
            return Err(HttpError::CrossOriginRedirect(self.display_url(&target)));
        }
        if !keeps_method {
            return Err(HttpError::RedirectToGet(self.display_url(&target)));
        }
        Ok(Some(target))
    }

    /// A URL that is safe to show: without user, password and query, and with secrets in the path
    /// redacted.
    pub fn display_url(&self, url: &Url) -> DisplayUrl {
        let mut public_url = url.clone();
        public_url.set_query(None);
        public_url.set_fragment(None);
        // This fails for URLs without a host, such as `javascript:1`.
        let _ = public_url
            .set_username("")
            .and_then(|()| public_url.set_password(None));
        truncate_url(&self.secrets.redact(public_url.as_str()))
    }
}

fn bearer_header(token: &Secret) -> Result<HeaderValue, HttpError> {
    let value = HeaderValue::try_from(format!("Bearer {}", token.expose()));
    let mut value = value.map_err(|_| HttpError::SignInRequired)?;
    value.set_sensitive(true);
    Ok(value)
}

/// A URL from a server may have any length.
fn truncate_url(url: &str) -> String {
    match url.char_indices().nth(DISPLAY_URL_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &url[..end]),
        None => url.to_owned(),
    }
}

/// A body that cancels `send_started` when it is first read, at which point the request headers
/// have been written.
fn body_with_signal(body: Vec<u8>, send_started: CancellationToken) -> Body {
    Body::wrap_stream(futures::stream::once(async move {
        send_started.cancel();
        Ok::<_, std::io::Error>(body)
    }))
}

fn build_client(url: &Url) -> Result<Client, HttpError> {
    let builder = || {
        let builder = Client::builder()
            .user_agent(concat!("humble/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(CONNECT_TIMEOUT_SECONDS))
            .tcp_keepalive(KEEPALIVE)
            .pool_idle_timeout(IDLE_MAX)
            .redirect(redirect::Policy::none());
        if http_util::is_loopback(url) {
            builder.no_proxy()
        } else {
            builder
        }
    };
    let build_without_certificates = || builder().tls_certs_only([]).build();
    let client = match (url.scheme(), http_util::is_loopback(url)) {
        ("https", _) => builder().build(),
        // Without TLS, only a proxy may need certificates.
        (_, true) => build_without_certificates(),
        (_, false) => builder().build().or_else(|_| build_without_certificates()),
    };
    client.map_err(|error| HttpError::ClientSetup(http_util::root_cause(&error)))
}

fn request_error(error: &reqwest::Error, url: &Url, display_url: DisplayUrl) -> HttpError {
    match http_util::request_failure(error, url) {
        RequestFailure::Unresolved => HttpError::Unresolved(display_url),
        RequestFailure::Refused => HttpError::Refused(display_url),
        RequestFailure::ConnectTimeout => HttpError::ConnectTimeout {
            url: display_url,
            seconds: CONNECT_TIMEOUT_SECONDS,
        },
        RequestFailure::Reset => HttpError::Reset,
        RequestFailure::InvalidResponse { why } => HttpError::InvalidResponse(why),
        RequestFailure::Unreachable { why } if is_tls_failure(url, &why) => HttpError::Tls {
            url: display_url,
            why,
        },
        RequestFailure::Unreachable { why } => HttpError::Unreachable {
            url: display_url,
            why,
        },
    }
}

/// Whether `why` describes a TLS failure. The TLS library has no error type to match.
fn is_tls_failure(url: &Url, why: &str) -> bool {
    let why = why.to_ascii_lowercase();
    let terms = [
        "certificate",
        "tls",
        "corrupt message",
        "handshake",
        "alert",
    ];
    url.scheme() == "https" && terms.iter().any(|term| why.contains(term))
}

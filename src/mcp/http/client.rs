//! Sends HTTP requests: trusted certificates, proxies and redirects. The user's headers go only to
//! the origin of the configured URL.

use super::error::{DisplayUrl, HttpError};
use crate::domain::Redactor;
use crate::http_util::{self, CONNECT_TIMEOUT_SECONDS, RequestFailure};
use reqwest::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Body, Client, Method, Response, redirect};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use url::Url;

const REDIRECTS_MAX: usize = 5;
/// Servers drop idle connections after 5 s or more. We close ours earlier, or a request could
/// collide with the closing connection.
const IDLE_MAX: Duration = Duration::from_secs(4);
const KEEPALIVE: Duration = Duration::from_secs(30);

/// A client for one server URL and the headers of every request. Dropping it closes all idle
/// connections.
pub struct RemoteClient {
    client: Client,
    pub url: Url,
    headers: HeaderMap,
    /// Removes the secrets sent to the server from its responses.
    pub redactor: Arc<Redactor>,
}

pub struct HttpRequest {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    /// The body, and a token that is cancelled once the body is being sent.
    pub body: Option<(Vec<u8>, CancellationToken)>,
}

impl RemoteClient {
    /// Reads certificates, so call it on a thread that may block.
    ///
    /// # Errors
    /// An invalid URL or header, or unusable certificates on this computer.
    pub fn new(
        url: &str,
        headers: &[(String, String)],
        redactor: Arc<Redactor>,
    ) -> Result<Self, HttpError> {
        let mut url = Url::parse(url).map_err(|error| HttpError::ClientSetup(error.to_string()))?;
        url.set_fragment(None);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let bad = |why: String| HttpError::ClientSetup(format!("header `{name}`: {why}"));
            let key =
                HeaderName::from_bytes(name.as_bytes()).map_err(|error| bad(error.to_string()))?;
            let mut value = HeaderValue::from_str(value).map_err(|error| bad(error.to_string()))?;
            value.set_sensitive(true);
            map.append(key, value);
        }
        Ok(Self {
            client: build_client(&url)?,
            redactor,
            url,
            headers: map,
        })
    }

    /// Returns the response headers, after redirects within the origin. The caller sets the
    /// deadline.
    ///
    /// # Errors
    /// Why there is no response.
    pub async fn send(&self, request_parts: &HttpRequest) -> Result<Response, HttpError> {
        let mut url = request_parts.url.clone();
        for _ in 0..=REDIRECTS_MAX {
            let mut request = self
                .client
                .request(request_parts.method.clone(), url.clone());
            // The protocol's headers override the user's.
            let mut headers = self.headers.clone();
            for (name, value) in &request_parts.headers {
                headers.insert(name, value.clone());
            }
            if let Some((body, _)) = &request_parts.body {
                headers.insert(CONTENT_LENGTH, body.len().into());
            }
            request = request.headers(headers);
            if let Some((body, sent)) = &request_parts.body {
                request = request.body(body_with_signal(body.clone(), sent.clone()));
            }
            let response = request
                .send()
                .await
                .map_err(|error| connect_error(&error, &url, self.display_url(&url)))?;
            tracing::debug!(
                "{} {} {}",
                request_parts.method,
                self.display_url(&url),
                response.status()
            );
            match self.redirect_target(&url, &request_parts.method, &response)? {
                Some(target) => url = target,
                None => return Ok(response),
            }
        }
        Err(HttpError::RedirectLoop)
    }

    /// The target, if the response is a redirect. Only redirects that keep method, body and origin
    /// are followed.
    fn redirect_target(
        &self,
        url: &Url,
        method: &Method,
        response: &Response,
    ) -> Result<Option<Url>, HttpError> {
        let status = response.status().as_u16();
        let follows = match status {
            301 | 302 | 307 | 308 => true,
            303 => *method == Method::GET,
            _ => return Ok(None),
        };
        let location = response
            .headers()
            .get(LOCATION)
            .and_then(|location| location.to_str().ok());
        let target = location.and_then(|location| url.join(location).ok());
        match target {
            Some(target) if target.origin() == url.origin() && follows => Ok(Some(target)),
            Some(target) => Err(HttpError::CrossOriginRedirect(self.display_url(&target))),
            None => Ok(None),
        }
    }

    /// A URL safe to show: without user, password, query, and tokens in the path.
    pub fn display_url(&self, url: &Url) -> DisplayUrl {
        let mut bare = url.clone();
        bare.set_query(None);
        bare.set_fragment(None);
        // This fails for URLs without a host, such as `javascript:1`.
        let _ = bare.set_username("").and_then(|()| bare.set_password(None));
        truncate_url(&self.redactor.redact(bare.as_str()))
    }
}

/// A URL from a server may have any length.
fn truncate_url(url: &str) -> String {
    match url.char_indices().nth(DISPLAY_URL_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &url[..end]),
        None => url.to_owned(),
    }
}

/// A body that cancels `sent` when it is read; the request headers are written by then.
fn body_with_signal(body: Vec<u8>, sent: CancellationToken) -> Body {
    Body::wrap_stream(futures::stream::once(async move {
        sent.cancel();
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
    let plain = || builder().tls_certs_only([]).build();
    let built = match (url.scheme(), http_util::is_loopback(url)) {
        ("https", _) => builder().build(),
        // Plain HTTP needs certificates only for a proxy.
        (_, true) => plain(),
        (_, false) => builder().build().or_else(|_| plain()),
    };
    built.map_err(|error| HttpError::ClientSetup(http_util::root_cause(&error)))
}

fn connect_error(error: &reqwest::Error, url: &Url, at: DisplayUrl) -> HttpError {
    match http_util::request_failure(error, url) {
        RequestFailure::Unresolved => HttpError::Unresolved(at),
        RequestFailure::Refused => HttpError::Refused(at),
        RequestFailure::ConnectTimeout => HttpError::ConnectTimeout {
            at,
            seconds: CONNECT_TIMEOUT_SECONDS,
        },
        RequestFailure::Reset => HttpError::Reset,
        RequestFailure::Unreachable { why } if is_tls(url, &why) => HttpError::Tls { at, why },
        RequestFailure::Unreachable { why } => HttpError::Unreachable { at, why },
    }
}

/// The TLS library has no error type that we could match.
fn is_tls(url: &Url, why: &str) -> bool {
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

/// Maximum length of a URL that is shown.
const DISPLAY_URL_CHARS_MAX: usize = 300;

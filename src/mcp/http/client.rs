//! Sends HTTP requests: what is trusted, which proxy is used, which redirects are
//! followed. Headers of the person's go to the origin of the configured URL alone.

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
/// Servers drop idle connections after 5 s and more: ours go first, or a request
/// could meet the closing of its connection.
const IDLE_MAX: Duration = Duration::from_secs(4);
const KEEPALIVE: Duration = Duration::from_secs(30);

/// A server that is reached by URL: where it is, and what it is told with every
/// request. Dropping it closes every idle connection.
pub struct RemoteClient {
    client: Client,
    pub url: Url,
    headers: HeaderMap,
    /// Removes what the server was told in confidence from what it says.
    pub redactor: Arc<Redactor>,
}

/// One request.
pub struct HttpRequest {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    /// With what is cancelled once it is on its way.
    pub body: Option<(Vec<u8>, CancellationToken)>,
}

impl RemoteClient {
    /// Takes long enough (certificates are read) to be called where that holds up nobody.
    ///
    /// # Errors
    /// What is wrong with the URL, a header or the certificates of this computer.
    pub fn new(
        url: &str,
        headers: &[(String, String)],
        redactor: Arc<Redactor>,
    ) -> Result<Self, HttpError> {
        let mut url = Url::parse(url).map_err(|error| HttpError::ClientSetup(error.to_string()))?;
        url.set_fragment(None);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let bad = |why: String| HttpError::ClientSetup(format!("the header `{name}`: {why}"));
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|it| bad(it.to_string()))?;
            let mut value = HeaderValue::from_str(value).map_err(|it| bad(it.to_string()))?;
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

    /// The head of the answer, after redirects within the origin. The deadline for it is
    /// the caller's.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn send(&self, ask: &HttpRequest) -> Result<Response, HttpError> {
        let mut url = ask.url.clone();
        for _ in 0..=REDIRECTS_MAX {
            let mut request = self.client.request(ask.method.clone(), url.clone());
            // Ours come last: they belong to the protocol.
            let mut headers = self.headers.clone();
            for (name, value) in &ask.headers {
                headers.insert(name, value.clone());
            }
            if let Some((body, _)) = &ask.body {
                headers.insert(CONTENT_LENGTH, body.len().into());
            }
            request = request.headers(headers);
            if let Some((body, sent)) = &ask.body {
                request = request.body(body_with_signal(body.clone(), sent.clone()));
            }
            let response = request
                .send()
                .await
                .map_err(|fault| connect_error(&fault, &url, self.display_url(&url)))?;
            tracing::debug!(
                "{} {} {}",
                ask.method,
                self.display_url(&url),
                response.status()
            );
            match self.redirect_target(&url, &ask.method, &response)? {
                Some(target) => url = target,
                None => return Ok(response),
            }
        }
        Err(HttpError::RedirectLoop)
    }

    /// Where a redirect leads, if the answer is one. Only one that keeps method, body and
    /// origin is followed.
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
        let location = response.headers().get(LOCATION);
        let location = location.and_then(|location| location.to_str().ok());
        let target = location.and_then(|location| url.join(location).ok());
        match target {
            Some(target) if target.origin() == url.origin() && follows => Ok(Some(target)),
            Some(target) => Err(HttpError::CrossOriginRedirect(self.display_url(&target))),
            None => Ok(None),
        }
    }

    /// An address as it may be shown: without user, password and query, and without
    /// tokens in its path.
    pub fn display_url(&self, url: &Url) -> DisplayUrl {
        let mut bare = url.clone();
        bare.set_query(None);
        bare.set_fragment(None);
        // Where this cannot be, there is none: such as in `javascript:1`.
        let _ = bare.set_username("").and_then(|()| bare.set_password(None));
        truncate_url(&self.redactor.redact(bare.as_str()))
    }
}

/// An address that somebody else wrote may be of any length.
fn truncate_url(place: &str) -> String {
    match place.char_indices().nth(DISPLAY_URL_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &place[..end]),
        None => place.to_owned(),
    }
}

/// A body that tells when it is taken: the head is written by then.
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
        // Without TLS no certificate is needed, unless for a proxy.
        (_, true) => plain(),
        (_, false) => builder().build().or_else(|_| plain()),
    };
    built.map_err(|fault| HttpError::ClientSetup(http_util::root_cause(&fault)))
}

fn connect_error(fault: &reqwest::Error, url: &Url, at: DisplayUrl) -> HttpError {
    match http_util::request_failure(fault, url) {
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

/// The library of TLS has no type of its own that could be told here.
fn is_tls(url: &Url, why: &str) -> bool {
    let why = why.to_ascii_lowercase();
    let words = [
        "certificate",
        "tls",
        "corrupt message",
        "handshake",
        "alert",
    ];
    url.scheme() == "https" && words.iter().any(|word| why.contains(word))
}

/// Of an address, as it is shown.
const DISPLAY_URL_CHARS_MAX: usize = 300;

//! Shared HTTP helpers: connection failures, `Retry-After`, loopback addresses, and reading the
//! start of a body.

use crate::domain::HostScope;
use reqwest::Response;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use std::error::Error;
use std::io;
use std::time::Duration;
use url::Url;

/// Connect timeout in seconds. It does not limit the time until the response.
pub const CONNECT_TIMEOUT_SECONDS: u64 = 10;

/// Why a request got no response. The server may still have received the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestFailure {
    /// The host name could not be resolved.
    Unresolved,
    Refused,
    ConnectTimeout,
    /// The connection ended before the response headers. The server may have received and executed
    /// the request.
    Reset,
    InvalidResponse {
        why: String,
    },
    Unreachable {
        why: String,
    },
}

/// Classifies the error of a request to `url`.
pub fn request_failure(error: &reqwest::Error, url: &Url) -> RequestFailure {
    let io_kinds: Vec<_> = error_sources(error)
        .filter_map(|source| source.downcast_ref::<io::Error>())
        .map(io::Error::kind)
        .collect();
    let was_closed = io_kinds.iter().any(|kind| {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
        matches!(
            kind,
            BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof
        )
    });
    let why = root_cause(error);
    if error.is_dns() {
        RequestFailure::Unresolved
    } else if io_kinds.contains(&io::ErrorKind::ConnectionRefused) {
        match proxy_variable().filter(|_| !is_loopback(url)) {
            None => RequestFailure::Refused,
            // The error does not show whether the proxy or the server refused.
            Some(name) => RequestFailure::Unreachable {
                why: format!("{why}; the proxy set in {name} may be the cause"),
            },
        }
    } else if error.is_timeout() {
        RequestFailure::ConnectTimeout
    // hyper has no error type for a connection closed before the response headers.
    } else if !error.is_connect() && (was_closed || why.contains("connection closed")) {
        RequestFailure::Reset
    } else if is_invalid_response(error) {
        RequestFailure::InvalidResponse { why }
    } else {
        RequestFailure::Unreachable { why }
    }
}

/// Whether the response is not valid HTTP, for example because of a malformed header.
pub fn is_invalid_response(error: &reqwest::Error) -> bool {
    // In a connection error, such a message comes from TLS or a proxy, not from the response. hyper is not a direct dependency, so only its
    // messages identify the error.
    !error.is_connect() && root_cause(error).starts_with("invalid HTTP ")
}

fn proxy_variable() -> Option<&'static str> {
    let names = [
        ["HTTPS_PROXY", "https_proxy"],
        ["HTTP_PROXY", "http_proxy"],
        ["ALL_PROXY", "all_proxy"],
    ];
    names
        .into_iter()
        .flatten()
        .find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// `Retry-After`, in seconds or as a date (RFC 9110, section 10.2.3).
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    // Some servers send fractions. A number too large for a `Duration` becomes the maximum.
    if let Some(seconds) = text
        .parse::<f64>()
        .ok()
        .filter(|_| text.chars().all(is_number))
    {
        return Some(Duration::try_from_secs_f64(seconds.ceil()).unwrap_or(Duration::MAX));
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let delay = date.duration_since(jiff::Timestamp::now());
    Some(Duration::try_from(delay).unwrap_or_default())
}

/// Whether the URL points to this machine; such URLs are never proxied.
pub fn is_loopback(url: &Url) -> bool {
    HostScope::of_url(url).is_some_and(HostScope::is_probably_loopback)
}

/// The error's sources, outermost first.
pub fn error_sources(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |source| (*source).source())
}

/// The innermost error message; the outer messages only repeat the URL.
pub fn root_cause(error: &reqwest::Error) -> String {
    error_sources(error)
        .last()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

/// The first `bytes_max` bytes of a body, or fewer if the connection breaks.
pub async fn read_body_prefix(mut response: Response, bytes_max: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        let remaining = bytes_max - body.len();
        body.extend_from_slice(&bytes[..bytes.len().min(remaining)]);
        if bytes.len() >= remaining {
            break;
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_this_machine_bypass_proxies() {
        let bypasses = |url: &str| is_loopback(&Url::parse(url).expect(url));
        for url in [
            "http://localhost:11434/",
            "http://localhost./",
            "http://ollama.localhost:11434/",
            "https://127.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://0.0.0.0:11434/",
            "http://[::]:11434/",
        ] {
            assert!(bypasses(url), "{url}");
        }
        for url in [
            "http://localhost.example.com/",
            "http://192.168.1.5/",
            "http://0.0.0.1/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::1]/",
        ] {
            assert!(!bypasses(url), "{url}");
        }
    }
}

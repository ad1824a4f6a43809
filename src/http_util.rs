//! What all that speaks HTTP here has in common: why no answer came, when to ask
//! again, which addresses are this machine, and the beginning of a body.

use reqwest::Response;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use std::error::Error;
use std::io;
use std::time::Duration;
use url::{Host, Url};

/// Seconds until a connection must stand. A slow answer has no deadline here.
pub const CONNECT_TIMEOUT_SECONDS: u64 = 10;

/// Why a request found no answer. That does not mean that it was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestFailure {
    /// The name of the host has no address.
    Unresolved,
    Refused,
    ConnectTimeout,
    /// The connection ended before the head of an answer came. The server may have received
    /// the request, and carried it out.
    Reset,
    Unreachable {
        why: String,
    },
}

pub fn request_failure(fault: &reqwest::Error, url: &Url) -> RequestFailure {
    let kinds: Vec<_> = error_sources(fault)
        .filter_map(|source| source.downcast_ref::<io::Error>())
        .map(io::Error::kind)
        .collect();
    let was_closed = kinds.iter().any(|kind| {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
        matches!(
            kind,
            BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof
        )
    });
    let why = root_cause(fault);
    if fault.is_dns() {
        RequestFailure::Unresolved
    } else if kinds.contains(&io::ErrorKind::ConnectionRefused) {
        match proxy_variable().filter(|_| !is_loopback(url)) {
            None => RequestFailure::Refused,
            // Which of the two refused is not told.
            Some(name) => RequestFailure::Unreachable {
                why: format!("{why}; it may be the proxy that {name} names"),
            },
        }
    } else if fault.is_timeout() {
        RequestFailure::ConnectTimeout
    // hyper has no type of its own for a connection closed before the head.
    } else if !fault.is_connect() && (was_closed || why.contains("connection closed")) {
        RequestFailure::Reset
    } else {
        RequestFailure::Unreachable { why }
    }
}

/// The variable that names a proxy, where one does.
fn proxy_variable() -> Option<&'static str> {
    let names = [
        "HTTPS_PROXY",
        "https_proxy",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
    ];
    names
        .into_iter()
        .find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// `Retry-After` in seconds or as a date (RFC 9110, 10.2.3).
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    // Some servers send fractions, and no number is too large to be a number.
    if let Some(seconds) = text
        .parse::<f64>()
        .ok()
        .filter(|_| text.chars().all(is_number))
    {
        return Some(Duration::try_from_secs_f64(seconds.ceil()).unwrap_or(Duration::MAX));
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let pause = date.duration_since(jiff::Timestamp::now());
    Some(Duration::try_from(pause).unwrap_or_default())
}

/// Addresses of this machine are never reached through a proxy.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.') == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback())
        }
        None => false,
    }
}

/// The errors under an error.
pub fn error_sources(fault: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(fault.source(), |source| (*source).source())
}

/// The words nearest to the root: the outer ones repeat the address.
pub fn root_cause(fault: &reqwest::Error) -> String {
    error_sources(fault)
        .last()
        .map_or_else(|| fault.to_string(), ToString::to_string)
}

/// What comes of a body, at most so many bytes.
pub async fn read_body_prefix(mut response: Response, bytes_max: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        let room = bytes_max - body.len();
        body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() >= room {
            break;
        }
    }
    body
}

//! Streams for messages that the server initiates: the required stream of HTTP+SSE, and the
//! optional stream of streamable HTTP.

use super::client::RemoteClient;
use super::connection::{Connection, SESSION_ID};
use super::error::HttpError;
use super::request::RequestOutcome;
use super::response::{BodyKind, ErrorResponse, EventStream};
use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use url::Url;

/// Time limit for the event with the message endpoint.
const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(5);
/// The same after the response headers, as long as streamable HTTP has not been tried.
const ENDPOINT_TIMEOUT_SHORT: Duration = Duration::from_secs(1);
/// Delay before a stream is reopened; doubles each time.
const REOPEN_DELAY: Duration = Duration::from_secs(1);
const REOPEN_DELAY_MIN: Duration = Duration::from_millis(100);
const REOPEN_DELAY_MAX: Duration = Duration::from_secs(30);
/// A stream that stayed open this long resets the delay.
const HEALTHY_AFTER: Duration = Duration::from_secs(10);
/// Time limit for the response headers of a stream.
const RESPONSE_HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Number of consecutive failed attempts, the last one a connection failure, that end the connection,
/// once the stream has been open.
const CONSECUTIVE_FAILURES_MAX: u32 = 2;

/// How long to wait for the message endpoint on an open stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointWait {
    /// The stream may also be the one that streamable HTTP allows, which names no endpoint and may
    /// stay silent. Servers that use HTTP+SSE name the endpoint at once.
    Short,
    /// The server does not use streamable HTTP, as far as known.
    Long,
}

/// Opens the HTTP+SSE stream and reads the message endpoint.
///
/// # Errors
/// There is no such stream, or it names no endpoint at its own origin.
pub async fn open_sse_endpoint(
    remote: &RemoteClient,
    wait: EndpointWait,
) -> Result<(Url, EventStream), HttpError> {
    let opening = async {
        let request = super::client::HttpRequest {
            method: Method::GET,
            url: remote.url.clone(),
            headers: HeaderMap::from_iter([(
                ACCEPT,
                HeaderValue::from_static("text/event-stream"),
            )]),
            body: None,
        };
        let response = remote.send(&request).await?;
        if !response.status().is_success() {
            return Err(ErrorResponse::read(remote, response).await.to_http_error());
        }
        let base = response.url().clone();
        match BodyKind::of(&response) {
            BodyKind::EventStream => {}
            BodyKind::HtmlPage => return Err(HttpError::HtmlPage(Default::default())),
            BodyKind::Other(kind) => return Err(HttpError::UnexpectedContentType(kind)),
            BodyKind::Json | BodyKind::Unknown => return Err(HttpError::NoEventStream),
        }
        let is_short = wait == EndpointWait::Short;
        if is_short && response.headers().contains_key(SESSION_ID) {
            return Err(HttpError::StreamableStream);
        }
        let mut stream = EventStream::new(response);
        let reading = read_endpoint(&mut stream, wait);
        let endpoint = match is_short {
            true => timeout(ENDPOINT_TIMEOUT_SHORT, reading)
                .await
                .unwrap_or(Err(HttpError::NoEndpoint(ENDPOINT_TIMEOUT_SHORT))),
            false => reading.await,
        }?;
        Ok((resolve_endpoint(remote, &base, &endpoint)?, stream))
    };
    let opened = timeout(ENDPOINT_TIMEOUT, opening).await;
    opened.unwrap_or(Err(HttpError::NoEndpoint(ENDPOINT_TIMEOUT)))
}

async fn read_endpoint(stream: &mut EventStream, wait: EndpointWait) -> Result<Vec<u8>, HttpError> {
    while let Some(event) = stream.next().await? {
        if event.name == b"endpoint" {
            return Ok(event.data);
        }
        // HTTP+SSE names the endpoint before any message.
        let is_message = event.name.is_empty() || event.name == b"message";
        if is_message && wait == EndpointWait::Short {
            return Err(HttpError::StreamableStream);
        }
    }
    Err(HttpError::StreamEnded)
}

/// The URL that messages are posted to. It must have the same origin, because the user's headers
/// are sent to it.
fn resolve_endpoint(remote: &RemoteClient, base: &Url, endpoint: &[u8]) -> Result<Url, HttpError> {
    let text = std::str::from_utf8(endpoint).map_err(|_| HttpError::BadEndpoint)?;
    let url = base.join(text.trim()).map_err(|_| HttpError::BadEndpoint)?;
    if url.origin() == base.origin() {
        Ok(url)
    } else {
        Err(HttpError::ForeignEndpoint(remote.display_url(&url)))
    }
}

/// Delivers the messages of the HTTP+SSE stream until its end.
pub async fn read_to_end(connection: &Connection, mut stream: EventStream) -> RequestOutcome {
    loop {
        match stream.next().await {
            Ok(Some(event)) => deliver_event(connection, event.name, event.data).await,
            Ok(None) => return RequestOutcome::Completed,
            Err(error) => return RequestOutcome::ConnectionLost(error),
        }
    }
}

async fn deliver_event(connection: &Connection, name: Vec<u8>, data: Vec<u8>) {
    let is_message = name.is_empty() || name == b"message";
    if is_message && !data.is_empty() {
        connection.deliver(data, None).await;
    }
}

/// Keeps the server stream of streamable HTTP open as long as the server allows. Returns
/// `Completed` if the server offers no such stream.
pub async fn keep_open(connection: &Connection) -> RequestOutcome {
    let mut delay = REOPEN_DELAY;
    let mut last_id = Vec::new();
    let mut failures = 0;
    let mut was_open = false;
    loop {
        let started_at = Instant::now();
        let mut server_delay = None;
        match open_stream(connection, &last_id).await {
            StreamOpening::Stream(mut stream) => {
                failures = 0;
                if std::mem::replace(&mut was_open, true) {
                    // Messages sent while the stream was closed may be lost.
                    connection.shared.stream_reopened.notify_one();
                }
                loop {
                    match stream.next().await {
                        Ok(Some(event)) => deliver_event(connection, event.name, event.data).await,
                        Ok(None) => break,
                        Err(error @ HttpError::MessageTooLong(_)) => {
                            return RequestOutcome::ConnectionLost(error);
                        }
                        Err(error) => {
                            tracing::debug!("the server stream broke: {error}");
                            break;
                        }
                    }
                }
                if !stream.last_id().is_empty() {
                    last_id = stream.last_id().to_vec();
                }
                server_delay = stream.retry_delay();
            }
            StreamOpening::SessionUnknown => return RequestOutcome::SessionUnknown,
            StreamOpening::Unsupported => return RequestOutcome::Completed,
            StreamOpening::TemporaryFailure(error) => {
                failures += 1;
                if was_open && error.is_connection_failure() && failures >= CONSECUTIVE_FAILURES_MAX
                {
                    return RequestOutcome::ConnectionLost(error);
                }
            }
        }
        if started_at.elapsed() >= HEALTHY_AFTER {
            delay = REOPEN_DELAY;
        }
        let delay_before_reopening = server_delay.unwrap_or(delay);
        sleep(delay_before_reopening.clamp(REOPEN_DELAY_MIN, REOPEN_DELAY_MAX)).await;
        delay = (delay * 2).min(REOPEN_DELAY_MAX);
    }
}

enum StreamOpening {
    Stream(Box<EventStream>),
    SessionUnknown,
    /// The server offers no such stream.
    Unsupported,
    TemporaryFailure(HttpError),
}

async fn open_stream(connection: &Connection, last_id: &[u8]) -> StreamOpening {
    let response = match timeout(RESPONSE_HEAD_TIMEOUT, connection.get(last_id)).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return StreamOpening::TemporaryFailure(error),
        Err(_) => {
            return StreamOpening::TemporaryFailure(HttpError::Timeout(RESPONSE_HEAD_TIMEOUT));
        }
    };
    match response.status().as_u16() {
        404 | 410 if connection.has_session() => StreamOpening::SessionUnknown,
        429 | 500.. => StreamOpening::TemporaryFailure(
            ErrorResponse::read(&connection.remote, response)
                .await
                .to_http_error(),
        ),
        200..300 if BodyKind::of(&response) == BodyKind::EventStream => {
            StreamOpening::Stream(Box::new(EventStream::new(response)))
        }
        _ => StreamOpening::Unsupported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_must_share_the_origin_of_its_stream() {
        let base = Url::parse("http://host:8000/a/sse?x=1").expect("a URL");
        let remote = RemoteClient::new(base.as_str(), &[], Default::default()).expect("a client");
        let resolve = |endpoint: &str| {
            resolve_endpoint(&remote, &base, endpoint.as_bytes()).map(String::from)
        };
        assert_eq!(
            resolve("/messages?id=7"),
            Ok("http://host:8000/messages?id=7".to_owned())
        );
        assert_eq!(
            resolve("messages"),
            Ok("http://host:8000/a/messages".to_owned())
        );
        assert_eq!(
            resolve("http://host:8000/m"),
            Ok("http://host:8000/m".to_owned())
        );
        for foreign in [
            "http://host:8001/m",
            "https://host:8000/m",
            "//other/m",
            "http://user@other:8000/m",
        ] {
            assert!(
                matches!(resolve(foreign), Err(HttpError::ForeignEndpoint(_))),
                "{foreign}"
            );
        }
        assert_eq!(resolve("http://"), Err(HttpError::BadEndpoint));
    }
}

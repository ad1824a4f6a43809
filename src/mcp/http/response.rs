//! Reads the bodies of answers: a stream of events, one message, or what a server says
//! when it refuses. Each is bounded.

use super::client::RemoteClient;
use super::error::{HttpError, HttpStatus, ServerMessage};
use crate::domain::Redactor;
use crate::http_util;
use crate::mcp::decode;
use crate::text::sse::{EventTooLong, SseDecoder, SseEvent};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::timeout;

/// Of one message.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;
const ERROR_BODY_BYTES_MAX: usize = 64 << 10;
const ERROR_BODY_DEADLINE: Duration = Duration::from_secs(5);
/// Of what a server says, as it is shown.
const SUMMARY_CHARS_MAX: usize = 200;

/// What the head of an answer announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyKind {
    EventStream,
    Json,
    HtmlPage,
    /// Nothing, or what says nothing: the body decides.
    Unknown,
    Other(String),
}

impl BodyKind {
    pub fn of(response: &Response) -> Self {
        let value = response.headers().get(CONTENT_TYPE);
        let value = value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let kind = value
            .as_deref()
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default()
            .trim();
        match kind.to_ascii_lowercase().as_str() {
            "text/event-stream" => Self::EventStream,
            "text/html" | "application/xhtml+xml" => Self::HtmlPage,
            "" | "text/plain" | "application/octet-stream" => Self::Unknown,
            json if json == "application/json" || json.ends_with("+json") => Self::Json,
            other => Self::Other(other.chars().take(SUMMARY_CHARS_MAX).collect()),
        }
    }
}

/// A stream of events, and from where it can be resumed.
pub struct EventStream {
    response: Response,
    events: SseDecoder,
    ready: VecDeque<SseEvent>,
    is_overlong: bool,
}

impl EventStream {
    pub fn new(response: Response) -> Self {
        Self {
            response,
            events: SseDecoder::new(MESSAGE_BYTES_MAX),
            ready: VecDeque::new(),
            is_overlong: false,
        }
    }

    /// The next event, or `None` at the end of the stream. An event that was cut off is
    /// none.
    ///
    /// # Errors
    /// An event beyond the bound, or a connection that broke.
    pub async fn next(&mut self) -> Result<Option<SseEvent>, HttpError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.is_overlong {
                return Err(HttpError::MessageTooLong(MESSAGE_BYTES_MAX));
            }
            let Some(bytes) = chunk(&mut self.response).await? else {
                return Ok(None);
            };
            for event in self.events.push(bytes.as_ref()) {
                match event {
                    Ok(event) => self.ready.push_back(event),
                    Err(EventTooLong) => self.is_overlong = true,
                }
            }
        }
    }

    pub fn last_id(&self) -> &[u8] {
        self.events.last_event_id()
    }

    pub fn retry(&self) -> Option<Duration> {
        self.events.retry_millis().map(Duration::from_millis)
    }
}

async fn chunk(response: &mut Response) -> Result<Option<impl AsRef<[u8]> + use<>>, HttpError> {
    let chunk = response.chunk().await;
    chunk.map_err(|fault| HttpError::BodyInterrupted(http_util::root_cause(&fault)))
}

/// One message, which is the whole of the body.
pub async fn read_body(mut response: Response) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(bytes) = chunk(&mut response).await? {
        let bytes = bytes.as_ref();
        if body.len() + bytes.len() > MESSAGE_BYTES_MAX {
            return Err(HttpError::MessageTooLong(MESSAGE_BYTES_MAX));
        }
        body.extend_from_slice(bytes);
    }
    Ok(body)
}

/// An answer whose status is no success.
pub struct ErrorResponse {
    pub status: u16,
    pub retry_after: Option<Duration>,
    /// The error of JSON-RPC in its body, if that is one.
    pub error: Option<Value>,
    /// The id that it answers.
    pub id: Option<Value>,
    server_message: ServerMessage,
    is_html: bool,
    url: String,
}

impl ErrorResponse {
    pub async fn read(remote: &RemoteClient, response: Response) -> Self {
        let status = response.status().as_u16();
        let retry_after = http_util::retry_after(response.headers());
        let at = remote.display_url(response.url());
        let mut is_page = BodyKind::of(&response) == BodyKind::HtmlPage;
        let read = http_util::read_body_prefix(response, ERROR_BODY_BYTES_MAX);
        let body = timeout(ERROR_BODY_DEADLINE, read).await.unwrap_or_default();
        is_page |= body.trim_ascii_start().starts_with(b"<");
        let mut message = decode::parse_message(&body);
        let field = |key: &str, message: &mut Option<Value>| {
            let fields = message.as_mut().and_then(Value::as_object_mut)?;
            fields.remove(key).filter(|value| !value.is_null())
        };
        let summary = summarize_body(&remote.redactor, &body, message.as_ref());
        Self {
            status,
            retry_after,
            error: field("error", &mut message).filter(Value::is_object),
            id: field("id", &mut message),
            server_message: ServerMessage(summary),
            is_html: is_page,
            url: at,
        }
    }

    /// Does it speak of the session?
    pub fn mentions_session(&self) -> bool {
        self.server_message
            .0
            .to_ascii_lowercase()
            .contains("session")
    }

    pub fn to_http_error(&self) -> HttpError {
        let summary = self.server_message.clone();
        match self.status {
            401 => HttpError::Unauthorized(summary),
            403 => HttpError::Forbidden(summary),
            404 | 405 | 410 => HttpError::NotFound {
                at: self.url.clone(),
                status: self.status,
                said: if self.is_html {
                    ServerMessage::default()
                } else {
                    summary
                },
            },
            429 => HttpError::RateLimited {
                said: summary,
                pause: self.retry_after,
            },
            status => HttpError::Status {
                status: HttpStatus(status),
                said: summary,
            },
        }
    }
}

/// What a body says, in one short line: the message of an error, the title of a page, or
/// its first words. Without secrets.
pub fn summarize_body(redactor: &Redactor, body: &[u8], message: Option<&Value>) -> String {
    let text = String::from_utf8_lossy(body);
    let words = match message {
        Some(message) => {
            let at = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
            let known = [
                "/error/message",
                "/error_description",
                "/message",
                "/error",
                "/detail",
            ];
            let told = known.iter().find_map(|pointer| at(pointer));
            told.unwrap_or(text.as_ref())
        }
        None if text.trim_start().starts_with('<') => html_title(&text).unwrap_or_default(),
        None => text.as_ref(),
    };
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    // It becomes the middle of a sentence.
    let words = words.trim_end_matches('.');
    match words.char_indices().nth(SUMMARY_CHARS_MAX) {
        Some((end, _)) => format!("{}…", redactor.redact_prefix(words, end).0),
        None => redactor.redact(words),
    }
}

fn html_title(page: &str) -> Option<&str> {
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<title>")? + "<title>".len();
    let end = start + lower[start..].find('<')?;
    Some(&page[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn body_summary_is_one_short_line() {
        let of = |body: &str| {
            let message = serde_json::from_str(body).ok();
            summarize_body(&Redactor::default(), body.as_bytes(), message.as_ref())
        };
        assert_eq!(of(""), "");
        assert_eq!(of("  no\n such\tthing. "), "no such thing");
        assert_eq!(of(r#"{"error":{"message":"Bad Request"}}"#), "Bad Request");
        assert_eq!(of(r#"{"error":"invalid_token"}"#), "invalid_token");
        assert_eq!(of(r#"{"detail":"Not Found"}"#), "Not Found");
        assert_eq!(of(r#"{"a":1}"#), r#"{"a":1}"#);
        assert_eq!(
            of("<html><TITLE>502 Bad\nGateway</TITLE><p>x"),
            "502 Bad Gateway"
        );
        assert_eq!(of("<p>no title"), "");
        assert_eq!(of(&"한".repeat(300)).chars().count(), SUMMARY_CHARS_MAX + 1);
        assert_eq!(
            summarize_body(&Redactor::default(), b"\xff", Some(&json!(null))),
            "\u{fffd}"
        );
    }
}

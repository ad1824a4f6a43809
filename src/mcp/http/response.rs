//! Reads response bodies: an event stream, one message, or an error. All have a size limit.

use super::client::RemoteClient;
use super::error::{HttpError, HttpStatus, ServerMessage};
use crate::domain::SecretRegistry;
use crate::http_util;
use crate::mcp::session::decode;
use crate::text::sse::{EventTooLong, SseDecoder, SseEvent};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::timeout;

/// Maximum size of one message.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;
const ERROR_BODY_BYTES_MAX: usize = 64 << 10;
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of server text that is shown.
const SUMMARY_CHARS_MAX: usize = 200;

/// The content type of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyKind {
    EventStream,
    Json,
    HtmlPage,
    /// Missing or generic, so the body decides.
    Unknown,
    Other(String),
}

impl BodyKind {
    pub fn of(response: &Response) -> Self {
        let value = response
            .headers()
            .get(CONTENT_TYPE)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let content_type = value
            .as_deref()
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default()
            .trim();
        match content_type.to_ascii_lowercase().as_str() {
            "text/event-stream" => Self::EventStream,
            "text/html" | "application/xhtml+xml" => Self::HtmlPage,
            "" | "text/plain" | "application/octet-stream" => Self::Unknown,
            json if json == "application/json" || json.ends_with("+json") => Self::Json,
            other => Self::Other(other.chars().take(SUMMARY_CHARS_MAX).collect()),
        }
    }
}

/// An event stream that keeps the id from which it can be resumed.
pub struct EventStream {
    response: Response,
    decoder: SseDecoder,
    events: VecDeque<SseEvent>,
    is_overlong: bool,
}

impl EventStream {
    pub fn new(response: Response) -> Self {
        Self {
            response,
            decoder: SseDecoder::new(MESSAGE_BYTES_MAX),
            events: VecDeque::new(),
            is_overlong: false,
        }
    }

    /// The next event, or `None` at the end of the stream. An incomplete last event is dropped.
    ///
    /// # Errors
    /// An event over the size limit, or a broken connection.
    pub async fn next(&mut self) -> Result<Option<SseEvent>, HttpError> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if self.is_overlong {
                return Err(HttpError::MessageTooLong(MESSAGE_BYTES_MAX));
            }
            let Some(bytes) = next_chunk(&mut self.response).await? else {
                return Ok(None);
            };
            for event in self.decoder.push(bytes.as_ref()) {
                match event {
                    Ok(event) => self.events.push_back(event),
                    Err(EventTooLong) => self.is_overlong = true,
                }
            }
        }
    }

    pub fn last_id(&self) -> &[u8] {
        self.decoder.last_event_id()
    }

    pub fn retry_delay(&self) -> Option<Duration> {
        self.decoder.retry_millis().map(Duration::from_millis)
    }
}

async fn next_chunk(
    response: &mut Response,
) -> Result<Option<impl AsRef<[u8]> + use<>>, HttpError> {
    let chunk = response.chunk().await;
    chunk.map_err(|error| HttpError::BodyInterrupted(http_util::root_cause(&error)))
}

/// Reads a body that consists of one message.
pub async fn read_body(mut response: Response) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(bytes) = next_chunk(&mut response).await? {
        let bytes = bytes.as_ref();
        if body.len() + bytes.len() > MESSAGE_BYTES_MAX {
            return Err(HttpError::MessageTooLong(MESSAGE_BYTES_MAX));
        }
        body.extend_from_slice(bytes);
    }
    Ok(body)
}

pub struct ErrorResponse {
    pub status: u16,
    pub retry_after: Option<Duration>,
    /// The JSON-RPC error in the body, if there is one.
    pub error: Option<Value>,
    /// The request id in the body.
    pub id: Option<Value>,
    server_message: ServerMessage,
    is_html: bool,
    url: String,
}

impl ErrorResponse {
    pub async fn read(remote: &RemoteClient, response: Response) -> Self {
        let status = response.status().as_u16();
        let retry_after = http_util::retry_after(response.headers());
        let url = remote.display_url(response.url());
        let mut is_html = BodyKind::of(&response) == BodyKind::HtmlPage;
        let reading = http_util::read_body_prefix(response, ERROR_BODY_BYTES_MAX);
        let body = timeout(ERROR_BODY_TIMEOUT, reading)
            .await
            .unwrap_or_default();
        is_html |= body.trim_ascii_start().starts_with(b"<");
        let mut message = decode::parse_message(&body);
        let take_field = |key: &str, message: &mut Option<Value>| {
            let fields = message.as_mut().and_then(Value::as_object_mut)?;
            fields.remove(key).filter(|value| !value.is_null())
        };
        let summary = summarize_body(&remote.secrets, &body, message.as_ref());
        Self {
            status,
            retry_after,
            error: take_field("error", &mut message).filter(Value::is_object),
            id: take_field("id", &mut message),
            server_message: ServerMessage(summary),
            is_html,
            url,
        }
    }

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
                url: self.url.clone(),
                status: self.status,
                message: if self.is_html {
                    ServerMessage::default()
                } else {
                    summary
                },
            },
            429 => HttpError::RateLimited {
                message: summary,
                retry_after: self.retry_after,
            },
            status => HttpError::Status {
                status: HttpStatus(status),
                message: summary,
            },
        }
    }
}

/// Summarizes a body in one line without secrets: its error message, the title of a web page, or
/// its first words.
pub fn summarize_body(secrets: &SecretRegistry, body: &[u8], message: Option<&Value>) -> String {
    let text = String::from_utf8_lossy(body);
    let text = match message {
        Some(message) => {
            let field = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
            let pointers = [
                "/error/message",
                "/error_description",
                "/message",
                "/error",
                "/detail",
            ];
            let message_text = pointers.iter().find_map(|pointer| field(pointer));
            message_text.unwrap_or(text.as_ref())
        }
        None if text.trim_start().starts_with('<') => html_title(&text).unwrap_or_default(),
        None => text.as_ref(),
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // The text becomes part of a sentence.
    let text = text.trim_end_matches('.');
    match text.char_indices().nth(SUMMARY_CHARS_MAX) {
        Some((end, _)) => format!("{}…", secrets.redact_prefix(text, end).0),
        None => secrets.redact(text),
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
        let summary = |body: &str| {
            let message = serde_json::from_str(body).ok();
            summarize_body(
                &SecretRegistry::default(),
                body.as_bytes(),
                message.as_ref(),
            )
        };
        assert_eq!(summary(""), "");
        assert_eq!(summary("  no\n such\tthing. "), "no such thing");
        assert_eq!(
            summary(r#"{"error":{"message":"Bad Request"}}"#),
            "Bad Request"
        );
        assert_eq!(summary(r#"{"error":"invalid_token"}"#), "invalid_token");
        assert_eq!(summary(r#"{"detail":"Not Found"}"#), "Not Found");
        assert_eq!(summary(r#"{"a":1}"#), r#"{"a":1}"#);
        assert_eq!(
            summary("<html><TITLE>502 Bad\nGateway</TITLE><p>x"),
            "502 Bad Gateway"
        );
        assert_eq!(summary("<p>no title"), "");
        assert_eq!(
            summary(&"한".repeat(300)).chars().count(),
            SUMMARY_CHARS_MAX + 1
        );
        assert_eq!(
            summarize_body(&SecretRegistry::default(), b"\xff", Some(&json!(null))),
            "\u{fffd}"
        );
    }
}

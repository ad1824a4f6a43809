//! Posts one message and reads its response, in whatever form it arrives. A stream that ends before
//! the response is resumed if the server supports that.

use super::connection::{Connection, HttpKind, answers_request};
use super::error::{HttpError, HttpStatus, IS_NOT_FOUND_KEY, SYNTHETIC_ERROR_CODE, ServerMessage};
use super::outgoing_message::OutgoingMessage;
use super::response::{BodyKind, ErrorResponse, EventStream, read_body, summarize_body};
use crate::mcp::session::decode;
use crate::mcp::stdio::startup::HandshakeStage;
use reqwest::Response;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// The longest `Retry-After` that we honor.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);
const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(1);
const RETRIES_MAX: u32 = 5;
/// Delay before resuming a stream, unless the server sets another.
const RESUME_DELAY: Duration = Duration::from_secs(1);
const RESUME_DELAY_MIN: Duration = Duration::from_millis(100);
const RESUME_DELAY_MAX: Duration = Duration::from_secs(60);
/// Maximum number of consecutive resumptions without an event.
const RESUMPTIONS_MAX: u32 = 5;

/// JSON-RPC code for an unknown session. Some servers use it for other errors, too.
const SESSION_NOT_FOUND_CODE: i64 = -32001;
const PING_TIMEOUT: Duration = Duration::from_secs(5);
const SESSION_ERROR_BYTES_MAX: usize = 4_096;

/// The outcome of sending one message.
#[derive(Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The message arrived and, if it was a request, was answered.
    Completed,
    /// Only this message failed.
    Failed(HttpError),
    /// The whole connection is unusable.
    ConnectionLost(HttpError),
    /// The server did not execute the message because it does not recognize the session.
    SessionUnknown,
}

/// Posts `outgoing` and reads until its response is complete.
pub async fn exchange(
    connection: Arc<Connection>,
    outgoing: OutgoingMessage,
    send_started: CancellationToken,
) -> RequestOutcome {
    let exchanging = send_with_retries(&connection, &outgoing, &send_started);
    let outcome = match outgoing.time_limit() {
        Some(time_limit) => timeout(time_limit, exchanging)
            .await
            .unwrap_or(RequestOutcome::Failed(HttpError::Timeout(time_limit))),
        None => exchanging.await,
    };
    match outcome {
        // Until the session is open, a single failure is fatal.
        RequestOutcome::Failed(error)
            if outgoing.id.is_some()
                && connection.shared.startup.stage() != HandshakeStage::Open =>
        {
            RequestOutcome::ConnectionLost(error)
        }
        RequestOutcome::Failed(error) => {
            if let Some(id) = &outgoing.id {
                let message = if outgoing.is_method("subscriptions/listen")
                    && error == HttpError::StreamEnded
                {
                    // The subscription did not fail; it must be reopened.
                    json!({ "jsonrpc": "2.0", "id": id, "result": {} })
                } else {
                    let error = json!({
                        "code": SYNTHETIC_ERROR_CODE,
                        "message": error.to_string(),
                        "data": { IS_NOT_FOUND_KEY: matches!(error, HttpError::NotFound { .. }) },
                    });
                    json!({ "jsonrpc": "2.0", "id": id, "error": error })
                };
                connection
                    .deliver(message.to_string().into_bytes(), Some(id))
                    .await;
            }
            if error.is_internal_error() && is_session_dead(&connection).await {
                return RequestOutcome::SessionUnknown;
            }
            RequestOutcome::Failed(error)
        }
        outcome => outcome,
    }
}

async fn send_with_retries(
    connection: &Connection,
    outgoing: &OutgoingMessage,
    send_started: &CancellationToken,
) -> RequestOutcome {
    let mut retries = 0;
    loop {
        let response = match connection.post(outgoing, send_started).await {
            Ok(response) => response,
            Err(error) => return RequestOutcome::ConnectionLost(error),
        };
        if response.status().is_success() {
            return match read_response(connection, outgoing, response).await {
                Ok(()) => RequestOutcome::Completed,
                Err(HttpError::SessionLost) => RequestOutcome::SessionUnknown,
                Err(error) if error.is_connection_failure() => {
                    RequestOutcome::ConnectionLost(error)
                }
                Err(error) => RequestOutcome::Failed(error),
            };
        }
        let error_response = ErrorResponse::read(&connection.remote, response).await;
        match retry_delay(&error_response, outgoing) {
            Some(delay)
                if retries < RETRIES_MAX && connection.shared.startup.has_time_for(delay) =>
            {
                connection
                    .shared
                    .startup
                    .set_retry_reason(Some(error_response.to_http_error()));
                sleep(delay).await;
                connection.shared.startup.set_retry_reason(None);
            }
            _ => return handle_error_response(connection, outgoing, error_response).await,
        }
        retries += 1;
    }
}

/// The delay before repeating a request that the server has not executed; `None` if it must not be
/// repeated.
fn retry_delay(error_response: &ErrorResponse, outgoing: &OutgoingMessage) -> Option<Duration> {
    match (error_response.status, error_response.retry_after) {
        (429 | 503, Some(delay)) => (delay <= RETRY_AFTER_MAX).then_some(delay),
        (429, None) if outgoing.id.is_some() => Some(RETRY_AFTER_DEFAULT),
        _ => None,
    }
}

/// Decides whether an error status concerns only this message, the session or the whole connection.
async fn handle_error_response(
    connection: &Connection,
    outgoing: &OutgoingMessage,
    error_response: ErrorResponse,
) -> RequestOutcome {
    let status = error_response.status;
    let answers_message =
        error_response.error.is_some() && error_response.id == outgoing.id && outgoing.id.is_some();
    let is_session_unknown = is_in_session(connection, outgoing)
        && match status {
            404 | 410 => true,
            // Some servers use 400 for an unknown session, but also for other errors.
            400 => !answers_message || error_response.mentions_session(),
            // The tool itself may have failed.
            500 => error_response.mentions_session(),
            _ => false,
        };
    if is_session_unknown {
        return RequestOutcome::SessionUnknown;
    }
    if let 401 | 403 = status {
        connection
            .shared
            .outcome
            .set_likely_cause(error_response.to_http_error().into());
        return RequestOutcome::ConnectionLost(error_response.to_http_error());
    }
    match (&outgoing.id, &error_response.error) {
        // The body contains the response to this request, whatever id it names.
        (Some(id), Some(error)) if status != 429 => {
            let message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            connection
                .deliver(message.to_string().into_bytes(), Some(id))
                .await;
            match status == 500 && !answers_message && is_session_dead(connection).await {
                true => RequestOutcome::SessionUnknown,
                false => RequestOutcome::Completed,
            }
        }
        _ => RequestOutcome::Failed(error_response.to_http_error()),
    }
}

fn is_in_session(connection: &Connection, outgoing: &OutgoingMessage) -> bool {
    connection.has_session() && !outgoing.is_method("initialize")
}

/// Whether the server rejects even a `ping` in the session. Some servers answer an unknown session
/// with status 500, which is also the status of a tool that failed after it began.
async fn is_session_dead(connection: &Connection) -> bool {
    let ping = json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping" });
    let ping = OutgoingMessage::new(&ping, &connection.shared.param_headers);
    if !is_in_session(connection, &ping) {
        return false;
    }
    let send_started = CancellationToken::new();
    let response = timeout(PING_TIMEOUT, connection.post(&ping, &send_started)).await;
    matches!(response, Ok(Ok(response)) if matches!(response.status().as_u16(), 400 | 404 | 410 | 500))
}

/// Whether the first message of a successful response says that the server does not recognize the
/// session: some servers know no status for it.
fn is_session_unknown(connection: &Connection, outgoing: &OutgoingMessage, text: &[u8]) -> bool {
    if !is_in_session(connection, outgoing) || text.len() > SESSION_ERROR_BYTES_MAX {
        return false;
    }
    let Some(Value::Object(message)) = decode::parse_message(text) else {
        return false;
    };
    let id = message.get("id").filter(|id| !id.is_null());
    let error = message.get("error");
    let text = error.and_then(|error| error.get("message")?.as_str());
    id.is_none_or(|id| Some(decode::requested_id(id)) == outgoing.id)
        && error.and_then(|error| error.get("code")?.as_i64()) == Some(SESSION_NOT_FOUND_CODE)
        && text.is_some_and(|text| text.to_ascii_lowercase().contains("session"))
}

async fn read_response(
    connection: &Connection,
    outgoing: &OutgoingMessage,
    response: Response,
) -> Result<(), HttpError> {
    let status = response.status().as_u16();
    let kind = BodyKind::of(&response);
    // A message without an id expects no response, and later messages may be waiting for it to be
    // accepted.
    let Some(id) = &outgoing.id else {
        return Ok(());
    };
    let expected_id = Some(id);
    if kind == BodyKind::EventStream {
        return read_event_stream(connection, outgoing, EventStream::new(response)).await;
    }
    if matches!(status, 202 | 204) {
        // The status means that no answer follows, but the body may hold it nevertheless.
        let body = read_body(response).await.unwrap_or_default();
        let message = decode::parse_message(&body);
        if message.is_some_and(|message| answers_request(&message, id)) {
            connection.deliver(body, expected_id).await;
            return Ok(());
        }
        return wait_for_other_stream(connection, outgoing, HttpStatus(status)).await;
    }
    if let BodyKind::Other(kind) = kind {
        return match connection.http_kind {
            HttpKind::Sse => Ok(()),
            HttpKind::Streamable => Err(HttpError::UnexpectedContentType(kind)),
        };
    }
    let body = read_body(response).await?;
    if is_session_unknown(connection, outgoing, &body) {
        return Err(HttpError::SessionLost);
    }
    let is_json =
        body.trim_ascii_start().starts_with(b"{") || body.trim_ascii_start().starts_with(b"[");
    let summary_text = || ServerMessage(summarize_body(&connection.remote.secrets, &body, None));
    match (connection.http_kind, kind) {
        _ if is_json => {}
        (HttpKind::Sse, _) => return Ok(()),
        (_, BodyKind::HtmlPage) => return Err(HttpError::HtmlPage(summary_text())),
        _ if body.trim_ascii_start().starts_with(b"<") => {
            return Err(HttpError::HtmlPage(summary_text()));
        }
        _ if decode::parse_message(&body).is_some() => {
            return Err(HttpError::NotJsonRpc(summary_text().0));
        }
        _ => return Err(HttpError::NotJson(summary_text())),
    }
    let summary = summary_text();
    match connection.deliver(body, expected_id).await {
        true => Ok(()),
        false if connection.http_kind == HttpKind::Sse => Ok(()),
        false if summary.0.is_empty() => Err(HttpError::NotJson(summary)),
        false => Err(HttpError::MismatchedResponse),
    }
}

/// The server accepted a request without answering it, which the protocol does not allow. A legacy
/// server may still answer on its stream, so this returns only once it is known to have none. Until
/// then, the response or a cancellation ends the exchange.
async fn wait_for_other_stream(
    connection: &Connection,
    outgoing: &OutgoingMessage,
    status: HttpStatus,
) -> Result<(), HttpError> {
    if connection.http_kind == HttpKind::Sse {
        return Ok(());
    }
    let may_be_answered = !connection.is_modern() && !outgoing.is_method("initialize");
    if may_be_answered {
        connection.lacks_server_stream.cancelled().await;
    }
    Err(HttpError::NoAnswer(status))
}

/// Reads a stream, and the streams that resume it, until the response arrives.
async fn read_event_stream(
    connection: &Connection,
    outgoing: &OutgoingMessage,
    mut stream: EventStream,
) -> Result<(), HttpError> {
    let expected_id = outgoing.id.as_ref();
    let mut last_id: Vec<u8> = Vec::new();
    let mut empty_resumptions = 0;
    let mut has_message = false;
    loop {
        let mut has_event = false;
        let error = loop {
            match stream.next().await {
                Ok(Some(event)) => {
                    has_event = true;
                    let is_message = event.name.is_empty() || event.name == b"message";
                    if !is_message || event.data.is_empty() {
                        continue;
                    }
                    // After another message, the request has begun.
                    let is_first = !std::mem::replace(&mut has_message, true);
                    if is_first && is_session_unknown(connection, outgoing, &event.data) {
                        return Err(HttpError::SessionLost);
                    }
                    if connection.deliver(event.data, expected_id).await {
                        return Ok(());
                    }
                }
                Ok(None) => break HttpError::StreamEnded,
                Err(error @ HttpError::MessageTooLong(_)) => return Err(error),
                Err(error) => break error,
            }
        };
        if !stream.last_id().is_empty() {
            last_id = stream.last_id().to_vec();
        }
        empty_resumptions = if has_event { 0 } else { empty_resumptions + 1 };
        let may_resume = connection.http_kind == HttpKind::Streamable && expected_id.is_some();
        if !may_resume || last_id.is_empty() || empty_resumptions >= RESUMPTIONS_MAX {
            return expected_id.map_or(Ok(()), |_| Err(error));
        }
        let delay = stream.retry_delay().unwrap_or(RESUME_DELAY);
        sleep(delay.clamp(RESUME_DELAY_MIN, RESUME_DELAY_MAX)).await;
        let response = connection.get(&last_id).await?;
        if !response.status().is_success() || BodyKind::of(&response) != BodyKind::EventStream {
            return Err(error);
        }
        stream = EventStream::new(response);
    }
}

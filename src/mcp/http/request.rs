//! One message of ours: posted, and its answer read, however it comes. A stream that
//! ends before the answer is resumed where the server allows that.

use super::connection::{Connection, HttpKind};
use super::error::{HttpError, SYNTHETIC_ERROR_CODE, ServerMessage};
use super::outgoing_message::OutgoingMessage;
use super::response::{BodyKind, ErrorResponse, EventStream, read_body, summarize_body};
use crate::mcp::startup::HandshakeStage;
use reqwest::Response;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// A server may ask for so much patience, so often.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);
const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(1);
const RETRIES_MAX: u32 = 5;
/// Before a stream is resumed whose server named no time.
const RESUME_DELAY: Duration = Duration::from_secs(1);
const RESUME_DELAY_MIN: Duration = Duration::from_millis(100);
const RESUME_DELAY_MAX: Duration = Duration::from_secs(60);
/// Resumptions in a row that brought no event.
const RESUMPTIONS_MAX: u32 = 5;

/// What came of a message.
#[derive(Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// It arrived, and was answered where an answer belongs to it.
    Completed,
    /// This one failed, and says nothing of others.
    Failed(HttpError),
    /// The connection is of no use any more.
    ConnectionLost(HttpError),
    /// The server did nothing, since it does not know the session.
    SessionUnknown,
}

/// Posts `out` and reads what comes back until its answer is there.
pub async fn exchange(
    connection: Arc<Connection>,
    out: OutgoingMessage,
    sent: CancellationToken,
) -> RequestOutcome {
    let talk = send_with_retries(&connection, &out, &sent);
    let ended = match out.deadline() {
        Some(deadline) => timeout(deadline, talk)
            .await
            .unwrap_or(RequestOutcome::Failed(HttpError::Timeout(deadline))),
        None => talk.await,
    };
    match ended {
        // Before a session is open, one failure is all that there is to tell.
        RequestOutcome::Failed(fault)
            if out.id.is_some() && connection.shared.startup.stage() != HandshakeStage::Open =>
        {
            RequestOutcome::ConnectionLost(fault)
        }
        RequestOutcome::Failed(fault) => {
            if let Some(id) = &out.id {
                let message =
                    if out.is_method("subscriptions/listen") && fault == HttpError::StreamEnded {
                        // Nothing failed: it has to be opened again.
                        json!({ "jsonrpc": "2.0", "id": id, "result": {} })
                    } else {
                        let error =
                            json!({ "code": SYNTHETIC_ERROR_CODE, "message": fault.to_string() });
                        json!({ "jsonrpc": "2.0", "id": id, "error": error })
                    };
                connection
                    .deliver(message.to_string().into_bytes(), Some(id))
                    .await;
            }
            RequestOutcome::Failed(fault)
        }
        ended => ended,
    }
}

async fn send_with_retries(
    connection: &Connection,
    out: &OutgoingMessage,
    sent: &CancellationToken,
) -> RequestOutcome {
    let mut retries = 0;
    loop {
        let response = match connection.post(out, sent).await {
            Ok(response) => response,
            Err(fault) => return RequestOutcome::ConnectionLost(fault),
        };
        if response.status().is_success() {
            return match read_answer(connection, out, response).await {
                Ok(()) => RequestOutcome::Completed,
                Err(fault) if fault.is_connection_failure() => {
                    RequestOutcome::ConnectionLost(fault)
                }
                Err(fault) => RequestOutcome::Failed(fault),
            };
        }
        let refusal = ErrorResponse::read(&connection.remote, response).await;
        match retry_delay(&refusal, out) {
            Some(pause)
                if retries < RETRIES_MAX && connection.shared.startup.has_time_for(pause) =>
            {
                connection
                    .shared
                    .startup
                    .set_retry_reason(Some(refusal.to_http_error()));
                sleep(pause).await;
                connection.shared.startup.set_retry_reason(None);
            }
            _ => return handle_error_response(connection, out, refusal).await,
        }
        retries += 1;
    }
}

/// How long to wait before the same is asked again. The server did nothing yet.
fn retry_delay(refusal: &ErrorResponse, out: &OutgoingMessage) -> Option<Duration> {
    match (refusal.status, refusal.retry_after) {
        (429 | 503, Some(pause)) => (pause <= RETRY_AFTER_MAX).then_some(pause),
        (429, None) if out.id.is_some() => Some(RETRY_AFTER_DEFAULT),
        _ => None,
    }
}

/// What a status that is no success means for the message, and for the session.
async fn handle_error_response(
    connection: &Connection,
    out: &OutgoingMessage,
    refusal: ErrorResponse,
) -> RequestOutcome {
    let status = refusal.status;
    let answers_this = refusal.error.is_some() && refusal.id == out.id && out.id.is_some();
    let in_session = connection.has_session() && !out.is_method("initialize");
    let is_lost = in_session
        && match status {
            404 => true,
            // Servers say so with 400 as well, and with that other things too.
            400 => !answers_this || refusal.mentions_session(),
            _ => false,
        };
    if is_lost {
        return RequestOutcome::SessionUnknown;
    }
    if let 401 | 403 = status {
        connection
            .shared
            .outcome
            .set_likely_cause(refusal.to_http_error().into());
        return RequestOutcome::ConnectionLost(refusal.to_http_error());
    }
    match (&out.id, &refusal.error) {
        // The answer is in the body, whoever it says that it is for.
        (Some(id), Some(error)) if status != 429 => {
            let message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            connection
                .deliver(message.to_string().into_bytes(), Some(id))
                .await;
            RequestOutcome::Completed
        }
        _ => RequestOutcome::Failed(refusal.to_http_error()),
    }
}

async fn read_answer(
    connection: &Connection,
    out: &OutgoingMessage,
    response: Response,
) -> Result<(), HttpError> {
    let asked = out.id.as_ref();
    let status = response.status().as_u16();
    let kind = BodyKind::of(&response);
    // What is waited for by others must not last as long as a stream may.
    if asked.is_none() {
        return Ok(());
    }
    if kind == BodyKind::EventStream {
        return read_event_stream(connection, asked, EventStream::new(response)).await;
    }
    // It was taken, and will be answered elsewhere, if at all.
    if matches!(status, 202 | 204) {
        return Ok(());
    }
    if let BodyKind::Other(kind) = kind {
        return match connection.http_kind {
            HttpKind::Sse => Ok(()),
            HttpKind::Streamable => Err(HttpError::UnexpectedContentType(kind)),
        };
    }
    let body = read_body(response).await?;
    let is_json =
        body.trim_ascii_start().starts_with(b"{") || body.trim_ascii_start().starts_with(b"[");
    let told = || ServerMessage(summarize_body(&connection.remote.redactor, &body, None));
    match (connection.http_kind, kind) {
        _ if is_json => {}
        (HttpKind::Sse, _) => return Ok(()),
        (_, BodyKind::HtmlPage) => return Err(HttpError::HtmlPage(told())),
        _ if body.trim_ascii_start().starts_with(b"<") => return Err(HttpError::HtmlPage(told())),
        _ => return Err(HttpError::NotJson(told())),
    }
    let words = told();
    match connection.deliver(body, asked).await {
        true => Ok(()),
        false if connection.http_kind == HttpKind::Sse => Ok(()),
        false if words.0.is_empty() => Err(HttpError::NotJson(words)),
        false => Err(HttpError::MismatchedAnswer),
    }
}

/// Reads a stream, and the streams that go on where it ended, until the answer came.
async fn read_event_stream(
    connection: &Connection,
    asked: Option<&Value>,
    mut stream: EventStream,
) -> Result<(), HttpError> {
    let mut last_id: Vec<u8> = Vec::new();
    let mut empty_resumptions = 0;
    loop {
        let mut has_begun = false;
        let end = loop {
            match stream.next().await {
                Ok(Some(event)) => {
                    has_begun = true;
                    let is_message = event.name.is_empty() || event.name == b"message";
                    if is_message
                        && !event.data.is_empty()
                        && connection.deliver(event.data, asked).await
                    {
                        return Ok(());
                    }
                }
                Ok(None) => break HttpError::StreamEnded,
                Err(fault @ HttpError::MessageTooLong(_)) => return Err(fault),
                Err(fault) => break fault,
            }
        };
        if !stream.last_id().is_empty() {
            last_id = stream.last_id().to_vec();
        }
        empty_resumptions = if has_begun { 0 } else { empty_resumptions + 1 };
        let may_resume = connection.http_kind == HttpKind::Streamable && asked.is_some();
        if !may_resume || last_id.is_empty() || empty_resumptions >= RESUMPTIONS_MAX {
            return asked.map_or(Ok(()), |_| Err(end));
        }
        let delay = stream.retry().unwrap_or(RESUME_DELAY);
        sleep(delay.clamp(RESUME_DELAY_MIN, RESUME_DELAY_MAX)).await;
        let response = connection.get(&last_id).await?;
        if !response.status().is_success() || BodyKind::of(&response) != BodyKind::EventStream {
            return Err(end);
        }
        stream = EventStream::new(response);
    }
}

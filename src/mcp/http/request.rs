//! One message of ours: posted, and its answer read, however it comes. A stream that
//! ends before the answer is resumed where the server allows that.

use super::connection::{Connection, HttpKind};
use super::error::{HttpError, NO_CODE, Said};
use super::outgoing::Outgoing;
use super::response::{Kind, Refusal, Stream, said, whole};
use crate::mcp::startup::Stage;
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
    Well,
    /// This one failed, and says nothing of others.
    Failed(HttpError),
    /// The connection is of no use any more.
    Broken(HttpError),
    /// The server did nothing, since it does not know the session.
    Unknown,
}

/// Posts `out` and reads what comes back until its answer is there.
pub async fn exchange(
    connection: Arc<Connection>,
    out: Outgoing,
    sent: CancellationToken,
) -> RequestOutcome {
    let talk = talk(&connection, &out, &sent);
    let ended = match out.deadline() {
        Some(deadline) => timeout(deadline, talk)
            .await
            .unwrap_or(RequestOutcome::Failed(HttpError::Slow(deadline))),
        None => talk.await,
    };
    match ended {
        // Before a session is open, one failure is all that there is to tell.
        RequestOutcome::Failed(fault)
            if out.id.is_some() && connection.shared.startup.stage() != Stage::Open =>
        {
            RequestOutcome::Broken(fault)
        }
        RequestOutcome::Failed(fault) => {
            if let Some(id) = &out.id {
                let message = if out.is("subscriptions/listen") && fault == HttpError::StreamEnded {
                    // Nothing failed: it has to be opened again.
                    json!({ "jsonrpc": "2.0", "id": id, "result": {} })
                } else {
                    let error = json!({ "code": NO_CODE, "message": fault.to_string() });
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

async fn talk(connection: &Connection, out: &Outgoing, sent: &CancellationToken) -> RequestOutcome {
    let mut retries = 0;
    loop {
        let response = match connection.post(out, sent).await {
            Ok(response) => response,
            Err(fault) => return RequestOutcome::Broken(fault),
        };
        if response.status().is_success() {
            return match answer(connection, out, response).await {
                Ok(()) => RequestOutcome::Well,
                Err(fault) if fault.is_of_the_way() => RequestOutcome::Broken(fault),
                Err(fault) => RequestOutcome::Failed(fault),
            };
        }
        let refusal = Refusal::read(&connection.remote, response).await;
        match pause(&refusal, out) {
            Some(pause)
                if retries < RETRIES_MAX && connection.shared.startup.has_time_for(pause) =>
            {
                connection.shared.startup.put_off(Some(refusal.fault()));
                sleep(pause).await;
                connection.shared.startup.put_off(None);
            }
            _ => return refused(connection, out, refusal).await,
        }
        retries += 1;
    }
}

/// How long to wait before the same is asked again. The server did nothing yet.
fn pause(refusal: &Refusal, out: &Outgoing) -> Option<Duration> {
    match (refusal.status, refusal.retry_after) {
        (429 | 503, Some(pause)) => (pause <= RETRY_AFTER_MAX).then_some(pause),
        (429, None) if out.id.is_some() => Some(RETRY_AFTER_DEFAULT),
        _ => None,
    }
}

/// What a status that is no success means for the message, and for the session.
async fn refused(connection: &Connection, out: &Outgoing, refusal: Refusal) -> RequestOutcome {
    let status = refusal.status;
    let answers_this = refusal.error.is_some() && refusal.id == out.id && out.id.is_some();
    let in_session = connection.has_session() && !out.is("initialize");
    let is_lost = in_session
        && match status {
            404 => true,
            // Servers say so with 400 as well, and with that other things too.
            400 => !answers_this || refusal.is_about_the_session(),
            _ => false,
        };
    if is_lost {
        return RequestOutcome::Unknown;
    }
    if let 401 | 403 = status {
        connection.shared.outcome.blame(refusal.fault().into());
        return RequestOutcome::Broken(refusal.fault());
    }
    match (&out.id, &refusal.error) {
        // The answer is in the body, whoever it says that it is for.
        (Some(id), Some(error)) if status != 429 => {
            let message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            connection
                .deliver(message.to_string().into_bytes(), Some(id))
                .await;
            RequestOutcome::Well
        }
        _ => RequestOutcome::Failed(refusal.fault()),
    }
}

async fn answer(
    connection: &Connection,
    out: &Outgoing,
    response: Response,
) -> Result<(), HttpError> {
    let asked = out.id.as_ref();
    let status = response.status().as_u16();
    let kind = Kind::of(&response);
    // What is waited for by others must not last as long as a stream may.
    if asked.is_none() {
        return Ok(());
    }
    if kind == Kind::Events {
        return follow(connection, asked, Stream::new(response)).await;
    }
    // It was taken, and will be answered elsewhere, if at all.
    if matches!(status, 202 | 204) {
        return Ok(());
    }
    if let Kind::Other(kind) = kind {
        return match connection.carrier {
            HttpKind::Sse => Ok(()),
            HttpKind::Http => Err(HttpError::ContentType(kind)),
        };
    }
    let body = whole(response).await?;
    let is_json =
        body.trim_ascii_start().starts_with(b"{") || body.trim_ascii_start().starts_with(b"[");
    let told = || Said(said(&connection.remote.redactor, &body, None));
    match (connection.carrier, kind) {
        _ if is_json => {}
        (HttpKind::Sse, _) => return Ok(()),
        (_, Kind::WebPage) => return Err(HttpError::WebPage(told())),
        _ if body.trim_ascii_start().starts_with(b"<") => return Err(HttpError::WebPage(told())),
        _ => return Err(HttpError::NotJson(told())),
    }
    let words = told();
    match connection.deliver(body, asked).await {
        true => Ok(()),
        false if connection.carrier == HttpKind::Sse => Ok(()),
        false if words.0.is_empty() => Err(HttpError::NotJson(words)),
        false => Err(HttpError::OtherAnswer),
    }
}

/// Reads a stream, and the streams that go on where it ended, until the answer came.
async fn follow(
    connection: &Connection,
    asked: Option<&Value>,
    mut stream: Stream,
) -> Result<(), HttpError> {
    let mut last_id: Vec<u8> = Vec::new();
    let mut in_vain = 0;
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
                Err(fault @ HttpError::TooLong(_)) => return Err(fault),
                Err(fault) => break fault,
            }
        };
        if !stream.last_id().is_empty() {
            last_id = stream.last_id().to_vec();
        }
        in_vain = if has_begun { 0 } else { in_vain + 1 };
        let may_resume = connection.carrier == HttpKind::Http && asked.is_some();
        if !may_resume || last_id.is_empty() || in_vain >= RESUMPTIONS_MAX {
            return asked.map_or(Ok(()), |_| Err(end));
        }
        let delay = stream.retry().unwrap_or(RESUME_DELAY);
        sleep(delay.clamp(RESUME_DELAY_MIN, RESUME_DELAY_MAX)).await;
        let response = connection.get(&last_id).await?;
        if !response.status().is_success() || Kind::of(&response) != Kind::Events {
            return Err(end);
        }
        stream = Stream::new(response);
    }
}

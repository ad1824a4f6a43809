//! One message of ours: posted, and its answer read, however it comes. A stream that
//! ends before the answer is resumed where the server allows that.

use super::answer::{Kind, Refusal, Stream, said, whole};
use super::fault::{Said, WebFault};
use super::outgoing::Outgoing;
use super::shared::{Carrier, Shared};
use crate::mcp::link::Stage;
use reqwest::Response;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Of an error that is not the server's own: it was made of a status.
pub const NO_CODE: i32 = 0;
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
pub enum Ended {
    /// It arrived, and was answered where an answer belongs to it.
    Well,
    /// This one failed, and says nothing of others.
    Failed(WebFault),
    /// The connection is of no use any more.
    Broken(WebFault),
    /// The server did nothing, since it does not know the session.
    Unknown,
}

/// Posts `out` and reads what comes back until its answer is there.
pub async fn exchange(shared: Arc<Shared>, out: Outgoing, sent: CancellationToken) -> Ended {
    let talk = talk(&shared, &out, &sent);
    let ended = match out.deadline() {
        Some(deadline) => timeout(deadline, talk)
            .await
            .unwrap_or(Ended::Failed(WebFault::Slow(deadline))),
        None => talk.await,
    };
    match ended {
        // Before a session is open, one failure is all that there is to tell.
        Ended::Failed(fault) if out.id.is_some() && shared.link.stage() != Stage::Open => {
            Ended::Broken(fault)
        }
        Ended::Failed(fault) => {
            if let Some(id) = &out.id {
                let message = if out.is("subscriptions/listen") && fault == WebFault::StreamEnded {
                    // Nothing failed: it has to be opened again.
                    json!({ "jsonrpc": "2.0", "id": id, "result": {} })
                } else {
                    let error = json!({ "code": NO_CODE, "message": fault.to_string() });
                    json!({ "jsonrpc": "2.0", "id": id, "error": error })
                };
                shared
                    .deliver(message.to_string().into_bytes(), Some(id))
                    .await;
            }
            Ended::Failed(fault)
        }
        ended => ended,
    }
}

async fn talk(shared: &Shared, out: &Outgoing, sent: &CancellationToken) -> Ended {
    let mut retries = 0;
    loop {
        let response = match shared.post(out, sent).await {
            Ok(response) => response,
            Err(fault) => return Ended::Broken(fault),
        };
        if response.status().is_success() {
            return match answer(shared, out, response).await {
                Ok(()) => Ended::Well,
                Err(fault) if fault.is_of_the_way() => Ended::Broken(fault),
                Err(fault) => Ended::Failed(fault),
            };
        }
        let refusal = Refusal::read(&shared.remote, response).await;
        match pause(&refusal, out) {
            Some(pause) if retries < RETRIES_MAX && shared.link.has_time_for(pause) => {
                shared.link.put_off(Some(refusal.fault()));
                sleep(pause).await;
                shared.link.put_off(None);
            }
            _ => return refused(shared, out, refusal).await,
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
async fn refused(shared: &Shared, out: &Outgoing, refusal: Refusal) -> Ended {
    let status = refusal.status;
    let answers_this = refusal.error.is_some() && refusal.id == out.id && out.id.is_some();
    let in_session = shared.has_session() && !out.is("initialize");
    let is_lost = in_session
        && match status {
            404 => true,
            // Servers say so with 400 as well, and with that other things too.
            400 => !answers_this || refusal.is_about_the_session(),
            _ => false,
        };
    if is_lost {
        return Ended::Unknown;
    }
    if let 401 | 403 = status {
        shared.link.blame(refusal.fault().into());
        return Ended::Broken(refusal.fault());
    }
    match (&out.id, &refusal.error) {
        // The answer is in the body, whoever it says that it is for.
        (Some(id), Some(error)) if status != 429 => {
            let message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            shared
                .deliver(message.to_string().into_bytes(), Some(id))
                .await;
            Ended::Well
        }
        _ => Ended::Failed(refusal.fault()),
    }
}

async fn answer(shared: &Shared, out: &Outgoing, response: Response) -> Result<(), WebFault> {
    let asked = out.id.as_ref();
    let status = response.status().as_u16();
    let kind = Kind::of(&response);
    // What is waited for by others must not last as long as a stream may.
    if asked.is_none() {
        return Ok(());
    }
    if kind == Kind::Events {
        return follow(shared, asked, Stream::new(response)).await;
    }
    // It was taken, and will be answered elsewhere, if at all.
    if matches!(status, 202 | 204) {
        return Ok(());
    }
    if let Kind::Other(kind) = kind {
        return match shared.carrier {
            Carrier::Sse => Ok(()),
            Carrier::Http => Err(WebFault::ContentType(kind)),
        };
    }
    let body = whole(response).await?;
    let is_json =
        body.trim_ascii_start().starts_with(b"{") || body.trim_ascii_start().starts_with(b"[");
    let told = || Said(said(&shared.remote.redactor, &body, None));
    match (shared.carrier, kind) {
        _ if is_json => {}
        (Carrier::Sse, _) => return Ok(()),
        (_, Kind::WebPage) => return Err(WebFault::WebPage(told())),
        _ if body.trim_ascii_start().starts_with(b"<") => return Err(WebFault::WebPage(told())),
        _ => return Err(WebFault::NotJson(told())),
    }
    let words = told();
    match shared.deliver(body, asked).await {
        true => Ok(()),
        false if shared.carrier == Carrier::Sse => Ok(()),
        false if words.0.is_empty() => Err(WebFault::NotJson(words)),
        false => Err(WebFault::OtherAnswer),
    }
}

/// Reads a stream, and the streams that go on where it ended, until the answer came.
async fn follow(
    shared: &Shared,
    asked: Option<&Value>,
    mut stream: Stream,
) -> Result<(), WebFault> {
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
                        && shared.deliver(event.data, asked).await
                    {
                        return Ok(());
                    }
                }
                Ok(None) => break WebFault::StreamEnded,
                Err(fault @ WebFault::TooLong(_)) => return Err(fault),
                Err(fault) => break fault,
            }
        };
        if !stream.last_id().is_empty() {
            last_id = stream.last_id().to_vec();
        }
        in_vain = if has_begun { 0 } else { in_vain + 1 };
        let may_resume = shared.carrier == Carrier::Http && asked.is_some();
        if !may_resume || last_id.is_empty() || in_vain >= RESUMPTIONS_MAX {
            return asked.map_or(Ok(()), |_| Err(end));
        }
        let delay = stream.retry().unwrap_or(RESUME_DELAY);
        sleep(delay.clamp(RESUME_DELAY_MIN, RESUME_DELAY_MAX)).await;
        let response = shared.get(&last_id).await?;
        if !response.status().is_success() || Kind::of(&response) != Kind::Events {
            return Err(end);
        }
        stream = Stream::new(response);
    }
}

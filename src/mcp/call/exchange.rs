//! One request of a call: sends it, reports its progress, and waits for its response or timeout.

use crate::domain::{CallId, ToolProgress, UrlElicitation};
use crate::mcp::error::McpError;
use crate::mcp::hub_event::HubEvent;
use crate::mcp::server_requests::required_pages;
use crate::mcp::session::{McpSession, error_text, raw_result};
use crate::mcp::tasks::CreatedTask;
use rmcp::model::{ClientRequest, ProgressToken, RequestId};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Progress restarts the timeout, until the call has taken this many times the timeout in total.
pub const TIMEOUTS_MAX: u32 = 10;
/// Minimum interval between progress reports of one call; a server may flood us with progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

pub enum CallEnding {
    Answered(Value),
    /// The call failed without a result, for example with a protocol error. The text says why.
    ToolFailed(String),
    Unreachable(String),
    TimedOut,
    /// The server ran nothing because it does not recognize the session.
    SessionUnknown,
}

/// How a request of a call ended.
pub enum RequestEnding {
    /// The call has ended, unless the server answered with a request for input.
    Call(CallEnding),
    /// The server continues the call as a task, whose progress it reports with this token.
    TaskCreated(Box<CreatedTask>, ProgressToken),
    /// The server ran nothing, because the user must visit these pages first.
    PagesRequired(Vec<UrlElicitation>),
}

impl From<CallEnding> for RequestEnding {
    fn from(ending: CallEnding) -> Self {
        Self::Call(ending)
    }
}

/// A call in progress; cancelled if dropped before its response.
struct OpenCall<'a> {
    session: &'a McpSession,
    request: RequestId,
    token: ProgressToken,
    tool: &'a str,
    is_answered: bool,
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.session.shared.progress.unsubscribe(&self.token);
        if !self.is_answered && !self.session.shared.outcome.has_ended() {
            self.session.cancel_call(self.request.clone(), self.tool);
        }
    }
}

/// Sends the call to `tool` and waits for its response, its timeout or the end of the session.
pub async fn exchange(
    session: &McpSession,
    (call, tool): (CallId, &str),
    request: ClientRequest,
    timeout: Duration,
    events: &mpsc::Sender<HubEvent>,
) -> RequestEnding {
    let options = PeerRequestOptions::no_options();
    let sending = session.peer.send_request_with_option(request, options);
    let Ok(mut handle) = sending.await else {
        let error = session.shared.outcome.wait_for_end().await;
        return CallEnding::Unreachable(session_ended_text(&error)).into();
    };
    let shared = &session.shared;
    let mut progress = shared.progress.subscribe(handle.progress_token.clone());
    let mut open_call = OpenCall {
        session,
        request: handle.id.clone(),
        token: handle.progress_token.clone(),
        tool,
        is_answered: false,
    };
    let mut hard_deadline = Instant::now() + timeout * TIMEOUTS_MAX;
    let mut idle_deadline = Instant::now() + timeout;
    // The earliest time for the next progress report, and the time to report the newest progress,
    // if it has not been reported yet.
    let (mut next_report_at, mut report_due_at) = (Instant::now(), None);
    // The clock stops while the server asks the user.
    let mut questions = shared.incoming_requests.open_questions();
    let mut paused_at = (*questions.borrow_and_update() > 0).then(Instant::now);
    loop {
        tokio::select! {
            // A response that arrived just before the session ended still counts.
            biased;
            answer = &mut handle.rx => {
                open_call.is_answered = true;
                let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                let token = handle.progress_token;
                let ending = classify_response(session, token, raw_result(answer)).await;
                return or_session_unknown(ending, session, &handle.id);
            }
            error = shared.outcome.wait_for_end() => {
                let ending = CallEnding::Unreachable(may_have_run_text(&error)).into();
                return or_session_unknown(ending, session, &handle.id);
            }
            Ok(()) = questions.changed() => {
                let is_asking = *questions.borrow_and_update() > 0;
                if let (false, Some(since)) = (is_asking, paused_at) {
                    hard_deadline += since.elapsed();
                    idle_deadline = Instant::now() + timeout;
                }
                paused_at = is_asking.then(|| paused_at.unwrap_or_else(Instant::now));
            }
            () = sleep_until(idle_deadline.min(hard_deadline)), if paused_at.is_none() => {
                return CallEnding::TimedOut.into();
            }
            Ok(()) = progress.changed() => {
                idle_deadline = Instant::now() + timeout;
                progress.mark_unchanged();
                report_due_at.get_or_insert(next_report_at);
            }
            () = sleep_until(report_due_at.unwrap_or(hard_deadline)), if report_due_at.is_some() => {
                (report_due_at, next_report_at) = (None, Instant::now() + PROGRESS_INTERVAL);
                let newest_progress = progress.borrow().clone();
                send_progress(call, newest_progress, events);
            }
        }
    }
}

fn classify_result(result: Value, token: ProgressToken) -> RequestEnding {
    match CreatedTask::from_result(&result) {
        Some(created) => RequestEnding::TaskCreated(Box::new(created), token),
        None => CallEnding::Answered(result).into(),
    }
}

fn send_progress(call: CallId, progress: Option<ToolProgress>, events: &mpsc::Sender<HubEvent>) {
    if let Some(progress) = progress {
        // Each report is a snapshot, so dropping one if the queue is full loses nothing.
        let _ = events.try_send(HubEvent::Progress { call, progress });
    }
}

/// Replaces `Unreachable` with `SessionUnknown` if the server rejected the request for that reason.
fn or_session_unknown(
    ending: RequestEnding,
    session: &McpSession,
    request: &RequestId,
) -> RequestEnding {
    match ending {
        RequestEnding::Call(CallEnding::Unreachable(_)) if session.shared.is_retryable(request) => {
            CallEnding::SessionUnknown.into()
        }
        ending => ending,
    }
}

fn session_ended_text(error: &McpError) -> String {
    let reason = if error.requires_sign_in() {
        "The server requires you to sign in."
    } else if error.is_access_denied() {
        "The server refused the request."
    } else {
        "The server is gone."
    };
    format!("{reason} {error}")
}

/// The text for a call that may have been sent and must not be repeated blindly.
pub fn may_have_run_text(error: &McpError) -> String {
    match error.requires_sign_in() || error.is_access_denied() {
        true => session_ended_text(error),
        false => format!(
            "{} It is not known whether the tool ran.",
            session_ended_text(error)
        ),
    }
}

async fn classify_response(
    session: &McpSession,
    token: ProgressToken,
    result: Result<Value, ServiceError>,
) -> RequestEnding {
    let ending = match result {
        Ok(result) => return classify_result(result, token),
        // The server answered, so the call did not fail in transit.
        Err(ServiceError::McpError(error)) => match required_pages(&error) {
            Some(Ok(pages)) => return RequestEnding::PagesRequired(pages),
            Some(Err(why)) => CallEnding::ToolFailed(why),
            None => CallEnding::ToolFailed(error_text(&ServiceError::McpError(error))),
        },
        Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => {
            CallEnding::Unreachable(may_have_run_text(
                &session.shared.outcome.wait_for_end().await,
            ))
        }
        Err(error) => CallEnding::Unreachable(error_text(&error)),
    };
    ending.into()
}

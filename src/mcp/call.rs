//! One tool call, from finding an open session to its outcome. The future owns the call: dropping
//! the future cancels the call on the server.

use super::error::McpError;
use super::hub_event::HubEvent;
use super::result_text::{RenderedResult, render_result};
use super::server_requests::{
    INPUT_ROUNDS_MAX, InputRequired, answer_input_requests, required_pages, visit_pages,
};
use super::session::{McpSession, error_text, raw_result};
use super::supervisor::ServerSupervisor;
use crate::domain::{
    Arguments, CallId, Pin, Redactor, ServerId, ToolOutcome, ToolProgress, UrlElicitation,
};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ProgressToken, RequestId,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Progress restarts the timeout, until the call has taken this many times the timeout in total.
const TIMEOUTS_MAX: u32 = 10;
/// Minimum interval between progress reports of one call; a server may flood us with progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

/// One approved call.
#[derive(Debug, Clone, PartialEq)]
pub struct McpCall {
    pub id: CallId,
    pub server: ServerId,
    pub tool: String,
    pub arguments: Arguments,
    /// The approved definition. The call does not run if the server's definition of the tool has
    /// changed since, for example after a restart.
    pub pin: Option<Pin>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    pub outcome: ToolOutcome,
    /// The raw JSON result, if the server sent one; failed tool calls have one too.
    pub result: Option<Value>,
}

impl From<ToolOutcome> for CallResult {
    fn from(outcome: ToolOutcome) -> Self {
        Self {
            outcome,
            result: None,
        }
    }
}

/// Runs `call`, reopening the server's session if it has ended.
pub async fn run_call(
    supervisor: Arc<ServerSupervisor>,
    call: McpCall,
    cancel: CancellationToken,
    events: mpsc::Sender<HubEvent>,
) -> CallResult {
    let started = Instant::now();
    let ending = match attempt(&supervisor, call.clone(), &cancel, &events).await {
        // The server no longer recognized the session and ran nothing, so repeat the call in a new
        // session.
        Ok(CallEnding::SessionUnknown) => attempt(&supervisor, call, &cancel, &events).await,
        ending => ending,
    };
    let ending = match ending {
        Ok(ending) => ending,
        Err(outcome) => return outcome.into(),
    };
    let elapsed = started.elapsed();
    let redactors = supervisor.redactors();
    match ending {
        CallEnding::Unreachable(_) if supervisor.stop.is_cancelled() => {
            let why = "The server was switched off during the call.".to_owned();
            ToolOutcome::Unreachable { why, elapsed }.into()
        }
        CallEnding::Answered(mut result) => {
            redact_credentials(&mut result, &redactors.credentials);
            let RenderedResult { text, is_error } = render_result(&result);
            let outcome = match is_error {
                true => ToolOutcome::Failed { text, elapsed },
                false => ToolOutcome::Succeeded { text, elapsed },
            };
            let result = Some(result);
            CallResult { outcome, result }
        }
        CallEnding::ToolFailed(text) => {
            let text = redactors.credentials.redact_known_values(&text);
            ToolOutcome::Failed { text, elapsed }.into()
        }
        CallEnding::Unreachable(why) => {
            let why = redactors.all.redact(&why);
            ToolOutcome::Unreachable { why, elapsed }.into()
        }
        CallEnding::PagesRequired(_) => {
            let text = "The server keeps requiring visits to web pages.".to_owned();
            ToolOutcome::Failed { text, elapsed }.into()
        }
        CallEnding::TimedOut => ToolOutcome::TimedOut { elapsed }.into(),
        CallEnding::SessionUnknown => {
            let why = "The server drops every session right after opening it.".to_owned();
            ToolOutcome::Unreachable { why, elapsed }.into()
        }
    }
}

/// Results go to the model and into the saved conversation, so they must not contain the
/// credentials that the server received.
pub fn redact_credentials(result: &mut Value, redactor: &Redactor) {
    if redactor.is_empty() {
        return;
    }
    match result {
        Value::String(text) => *text = redactor.redact_known_values(text),
        Value::Array(items) => {
            for item in items {
                redact_credentials(item, redactor);
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                redact_credentials(field, redactor);
            }
        }
        _ => {}
    }
}

/// Tries a call once on an open session. An error is the final outcome of a call that was
/// interrupted or never sent.
async fn attempt(
    supervisor: &ServerSupervisor,
    call: McpCall,
    cancel: &CancellationToken,
    events: &mpsc::Sender<HubEvent>,
) -> Result<CallEnding, ToolOutcome> {
    let session = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(ToolOutcome::Interrupted),
        session = supervisor.session() => session,
    };
    match session {
        Ok(_) if !supervisor.matches_approved_definition(&call) => {
            let why = "its server changed the tool after it was approved".to_owned();
            Err(ToolOutcome::NotRun { why })
        }
        Ok(session) => {
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ToolOutcome::Interrupted),
                ending = run_rounds(supervisor, &session, call, events) => Ok(ending),
            }
        }
        Err(why) => Ok(CallEnding::Unreachable(why)),
    }
}

enum CallEnding {
    Answered(Value),
    /// The server answered with a protocol error.
    ToolFailed(String),
    /// The server ran nothing, because the user must visit these pages first.
    PagesRequired(Vec<UrlElicitation>),
    Unreachable(String),
    TimedOut,
    /// The server ran nothing because it does not recognize the session.
    SessionUnknown,
}

/// A request in progress; cancelled if dropped before its response.
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
            self.session.cancel(self.request.clone(), self.tool);
        }
    }
}

/// Sends the call, and repeats it with the user's answers each time the server requires input.
async fn run_rounds(
    supervisor: &ServerSupervisor,
    session: &McpSession,
    call: McpCall,
    events: &mpsc::Sender<HubEvent>,
) -> CallEnding {
    let McpCall {
        id,
        server,
        tool,
        arguments,
        ..
    } = call;
    let requests = &supervisor.context.requests;
    let mut params = CallToolRequestParams::new(tool.clone()).with_arguments(arguments);
    for _ in 0..=INPUT_ROUNDS_MAX {
        let timeout = supervisor.tool_timeout();
        let ending = exchange(session, id, params.clone(), timeout, events).await;
        let answering = async {
            match ending {
                CallEnding::PagesRequired(pages) => {
                    let incoming = &session.shared.incoming_requests;
                    let visited = visit_pages(pages, incoming, requests, &server).await;
                    visited.map_err(CallEnding::ToolFailed)
                }
                CallEnding::Answered(result) => {
                    let Some(required) = InputRequired::from_result(&result) else {
                        return Err(CallEnding::Answered(result));
                    };
                    let answers = answer_input_requests(&required, requests, &server).await;
                    params.input_responses = Some(answers.map_err(CallEnding::ToolFailed)?);
                    params.request_state = required.state;
                    Ok(())
                }
                ending => Err(ending),
            }
        };
        let answered = tokio::select! {
            biased;
            // A finished call is final, even if the session ended right after it.
            answered = answering => answered,
            error = session.shared.outcome.wait_for_end() => {
                return CallEnding::Unreachable(may_have_run_text(&error));
            }
        };
        if let Err(ending) = answered {
            return ending;
        }
    }
    CallEnding::ToolFailed(format!(
        "The server asked for input more than {INPUT_ROUNDS_MAX} times in one call."
    ))
}

/// Sends the call and waits for its response, its timeout or the end of the session.
async fn exchange(
    session: &McpSession,
    call: CallId,
    params: CallToolRequestParams,
    timeout: Duration,
    events: &mpsc::Sender<HubEvent>,
) -> CallEnding {
    let tool = params.name.to_string();
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let options = PeerRequestOptions::no_options();
    let sending = session.peer.send_request_with_option(request, options);
    let Ok(mut handle) = sending.await else {
        let error = session.shared.outcome.wait_for_end().await;
        return CallEnding::Unreachable(session_ended_text(&error));
    };
    let shared = &session.shared;
    let mut progress = shared.progress.subscribe(handle.progress_token.clone());
    let mut open_call = OpenCall {
        session,
        request: handle.id.clone(),
        token: handle.progress_token.clone(),
        tool: &tool,
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
                let ending = classify_response(session, raw_result(answer)).await;
                return or_session_unknown(ending, session, &handle.id);
            }
            error = shared.outcome.wait_for_end() => {
                let ending = CallEnding::Unreachable(may_have_run_text(&error));
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
                return CallEnding::TimedOut;
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

fn send_progress(call: CallId, progress: Option<ToolProgress>, events: &mpsc::Sender<HubEvent>) {
    if let Some(progress) = progress {
        // Each report is a snapshot, so dropping one if the queue is full loses nothing.
        let _ = events.try_send(HubEvent::Progress { call, progress });
    }
}

/// Replaces `Unreachable` with `SessionUnknown` if the server rejected the request for that reason.
fn or_session_unknown(ending: CallEnding, session: &McpSession, request: &RequestId) -> CallEnding {
    match ending {
        CallEnding::Unreachable(_) if session.shared.is_retryable(request) => {
            CallEnding::SessionUnknown
        }
        ending => ending,
    }
}

/// The text for a call that was not sent because its session ended.
fn session_ended_text(error: &McpError) -> String {
    let reason = match error.wants_sign_in() {
        true => "The server requires you to sign in.",
        false => "The server is gone.",
    };
    format!("{reason} {error}")
}

/// The text for a call that may have been sent and must not be repeated blindly.
fn may_have_run_text(error: &McpError) -> String {
    match error.wants_sign_in() {
        true => session_ended_text(error),
        false => format!(
            "{} It is not known whether the tool ran.",
            session_ended_text(error)
        ),
    }
}

async fn classify_response(
    session: &McpSession,
    result: Result<Value, ServiceError>,
) -> CallEnding {
    match result {
        Ok(result) => CallEnding::Answered(result),
        // The server answered, so the call did not fail in transit.
        Err(ServiceError::McpError(error)) => match required_pages(&error) {
            Some(Ok(pages)) => CallEnding::PagesRequired(pages),
            Some(Err(why)) => CallEnding::ToolFailed(why),
            None => CallEnding::ToolFailed(error_text(&ServiceError::McpError(error))),
        },
        Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => {
            CallEnding::Unreachable(may_have_run_text(
                &session.shared.outcome.wait_for_end().await,
            ))
        }
        Err(error) => CallEnding::Unreachable(error_text(&error)),
    }
}

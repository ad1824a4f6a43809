//! One call of a tool, from finding an open session to its outcome. The future
//! owns the call: dropping it cancels the call at the server.

use super::error::McpError;
use super::hub_event::HubEvent;
use super::result_text::{RenderedResult, render_result};
use super::session::{McpSession, error_text, raw_result};
use super::supervisor::ServerSupervisor;
use crate::domain::{Arguments, CallId, Pin, Redactor, ServerId, ToolOutcome, ToolProgress};
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

/// Progress puts the time-out off, up to so many time-outs in all.
const TIMEOUTS_MAX: u32 = 10;
/// Progress of one call is told no more often: a server may send it in a flood.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

/// One approved call.
#[derive(Debug, Clone, PartialEq)]
pub struct McpCall {
    pub id: CallId,
    pub server: ServerId,
    pub tool: String,
    pub arguments: Arguments,
    /// The definition that was approved. The tool is not called if its server has
    /// another by the time of the call, as after a restart.
    pub pin: Option<Pin>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    pub outcome: ToolOutcome,
    /// The server's own result, where it gave one: also of a tool that failed.
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

/// Runs `call` on a server, whose session is opened again where it has ended.
pub async fn run_call(
    supervisor: Arc<ServerSupervisor>,
    call: McpCall,
    cancel: CancellationToken,
    events: mpsc::Sender<HubEvent>,
) -> CallResult {
    let started = Instant::now();
    let ended = match attempt(&supervisor, call.clone(), &cancel, &events).await {
        // The server forgot a session, and did nothing: another one may do it.
        Ok(CallEnding::SessionUnknown) => attempt(&supervisor, call, &cancel, &events).await,
        ended => ended,
    };
    let ended = match ended {
        Ok(ended) => ended,
        Err(outcome) => return outcome.into(),
    };
    let elapsed = started.elapsed();
    let redactors = supervisor.redactors();
    match ended {
        CallEnding::Unreachable(_) if supervisor.stop.is_cancelled() => {
            let why = "The server was switched off while it worked on the call.".to_owned();
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
        CallEnding::TimedOut => ToolOutcome::TimedOut { elapsed }.into(),
        CallEnding::SessionUnknown => {
            let why = "The server forgets each session as soon as it is open.".to_owned();
            ToolOutcome::Unreachable { why, elapsed }.into()
        }
    }
}

/// Results go to the model and into the saved conversation, and so must not hold the
/// credentials that the server was given.
fn redact_credentials(result: &mut Value, redactor: &Redactor) {
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

/// One try of a call on an open session; an error is the outcome of one that was not even
/// tried.
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
                ended = exchange(&session, call, supervisor.tool_timeout(), events) => Ok(ended),
            }
        }
        Err(why) => Ok(CallEnding::Unreachable(why)),
    }
}

enum CallEnding {
    Answered(Value),
    /// The server is well and says no.
    ToolFailed(String),
    Unreachable(String),
    TimedOut,
    /// The server did nothing, since it does not know the session any more.
    SessionUnknown,
}

/// An open request. Dropped before it was answered, it is cancelled.
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

async fn exchange(
    session: &McpSession,
    call: McpCall,
    patience: Duration,
    events: &mpsc::Sender<HubEvent>,
) -> CallEnding {
    let params = CallToolRequestParams::new(call.tool.clone()).with_arguments(call.arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let options = PeerRequestOptions::no_options();
    let sending = session.peer.send_request_with_option(request, options);
    let Ok(mut handle) = sending.await else {
        let fault = session.shared.outcome.wait_for_end().await;
        return CallEnding::Unreachable(session_ended_text(&fault));
    };
    let mut progress = session
        .shared
        .progress
        .subscribe(handle.progress_token.clone());
    let mut open = OpenCall {
        session,
        request: handle.id.clone(),
        token: handle.progress_token.clone(),
        tool: &call.tool,
        is_answered: false,
    };
    let hard_deadline = Instant::now() + patience * TIMEOUTS_MAX;
    let mut idle_deadline = Instant::now() + patience;
    // When progress may be told again, and when the newest is to be told.
    let (mut next_report_at, mut report_due_at) = (Instant::now(), None);
    loop {
        tokio::select! {
            // An answer that came just before the end counts.
            biased;
            answer = &mut handle.rx => {
                open.is_answered = true;
                let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                let ended = classify_response(session, raw_result(answer)).await;
                return or_session_unknown(ended, session, &handle.id);
            }
            fault = session.shared.outcome.wait_for_end() => {
                let ended = CallEnding::Unreachable(may_have_run_text(&fault));
                return or_session_unknown(ended, session, &handle.id);
            }
            () = sleep_until(idle_deadline.min(hard_deadline)) => return CallEnding::TimedOut,
            Ok(()) = progress.changed() => {
                idle_deadline = Instant::now() + patience;
                progress.mark_unchanged();
                report_due_at.get_or_insert(next_report_at);
            }
            () = sleep_until(report_due_at.unwrap_or(hard_deadline)), if report_due_at.is_some() => {
                (report_due_at, next_report_at) = (None, Instant::now() + PROGRESS_INTERVAL);
                let newest = progress.borrow().clone();
                send_progress(call.id, newest, events);
            }
        }
    }
}

fn send_progress(call: CallId, progress: Option<ToolProgress>, events: &mpsc::Sender<HubEvent>) {
    if let Some(progress) = progress {
        // Each is a snapshot: where there is no room, the next one will do.
        let _ = events.try_send(HubEvent::Progress { call, progress });
    }
}

fn or_session_unknown(ended: CallEnding, session: &McpSession, request: &RequestId) -> CallEnding {
    match ended {
        CallEnding::Unreachable(_) if session.shared.is_retryable(request) => {
            CallEnding::SessionUnknown
        }
        ended => ended,
    }
}

/// Why a call that was not sent has no answer: its session has ended.
fn session_ended_text(fault: &McpError) -> String {
    let what = match fault.wants_sign_in() {
        true => "The server answers only those who have signed in.",
        false => "The server is gone.",
    };
    format!("{what} {fault}")
}

/// The same for a call that may have been sent, which must not be repeated unthinkingly.
fn may_have_run_text(fault: &McpError) -> String {
    match fault.wants_sign_in() {
        true => session_ended_text(fault),
        false => format!(
            "{} It is not known whether the tool ran.",
            session_ended_text(fault)
        ),
    }
}

async fn classify_response(
    session: &McpSession,
    result: Result<Value, ServiceError>,
) -> CallEnding {
    match result {
        Ok(result) => CallEnding::Answered(result),
        // That is the tool's answer.
        Err(error @ ServiceError::McpError(_)) => CallEnding::ToolFailed(error_text(&error)),
        Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => {
            CallEnding::Unreachable(may_have_run_text(
                &session.shared.outcome.wait_for_end().await,
            ))
        }
        Err(error) => CallEnding::Unreachable(error_text(&error)),
    }
}

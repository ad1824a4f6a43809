//! One call of a tool, from finding an open session to its outcome. The future
//! owns the call: dropping it cancels the call at the server.

use super::error::McpError;
use super::hub_event::HubEvent;
use super::result_text::{RenderedResult, answer};
use super::session::{Session, explain, raw};
use super::supervisor::ServerSupervisor;
use crate::domain::{Arguments, CallId, Pin, Progress, Redactor, ServerId, ToolOutcome};
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
const REPORT_EVERY: Duration = Duration::from_millis(50);

/// One approved call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
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
pub async fn run(
    supervisor: Arc<ServerSupervisor>,
    call: Call,
    cancel: CancellationToken,
    events: mpsc::Sender<HubEvent>,
) -> CallResult {
    let started = Instant::now();
    let ended = match once(&supervisor, call.clone(), &cancel, &events).await {
        // The server forgot a session, and did nothing: another one may do it.
        Ok(Ended::Refused) => once(&supervisor, call, &cancel, &events).await,
        ended => ended,
    };
    let ended = match ended {
        Ok(ended) => ended,
        Err(outcome) => return outcome.into(),
    };
    let elapsed = started.elapsed();
    let redactors = supervisor.redactors();
    match ended {
        Ended::Unreachable(_) if supervisor.stop.is_cancelled() => {
            let why = "The server was switched off while it worked on the call.".to_owned();
            ToolOutcome::Unreachable { why, elapsed }.into()
        }
        Ended::Answered(mut result) => {
            without_credentials(&mut result, &redactors.credentials);
            let RenderedResult { text, is_error } = answer(&result);
            let outcome = match is_error {
                true => ToolOutcome::Failed { text, elapsed },
                false => ToolOutcome::Succeeded { text, elapsed },
            };
            let result = Some(result);
            CallResult { outcome, result }
        }
        Ended::Failed(text) => {
            let text = redactors.credentials.without_values(&text);
            ToolOutcome::Failed { text, elapsed }.into()
        }
        Ended::Unreachable(why) => {
            let why = redactors.all.redacted(&why);
            ToolOutcome::Unreachable { why, elapsed }.into()
        }
        Ended::TimedOut => ToolOutcome::TimedOut { elapsed }.into(),
        Ended::Refused => {
            let why = "The server forgets each session as soon as it is open.".to_owned();
            ToolOutcome::Unreachable { why, elapsed }.into()
        }
    }
}

/// Results go to the model and into the saved conversation, and so must not hold the
/// credentials that the server was given.
fn without_credentials(result: &mut Value, redactor: &Redactor) {
    if redactor.is_empty() {
        return;
    }
    match result {
        Value::String(text) => *text = redactor.without_values(text),
        Value::Array(items) => {
            for item in items {
                without_credentials(item, redactor);
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                without_credentials(field, redactor);
            }
        }
        _ => {}
    }
}

/// One try of a call on an open session; an error is the outcome of one that was not even
/// tried.
async fn once(
    supervisor: &ServerSupervisor,
    call: Call,
    cancel: &CancellationToken,
    events: &mpsc::Sender<HubEvent>,
) -> Result<Ended, ToolOutcome> {
    let session = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(ToolOutcome::Interrupted),
        session = supervisor.session() => session,
    };
    match session {
        Ok(_) if !supervisor.has_as_approved(&call) => {
            let why = "its server changed the tool after it was approved".to_owned();
            Err(ToolOutcome::NotRun { why })
        }
        Ok(session) => {
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ToolOutcome::Interrupted),
                ended = talk(&session, call, supervisor.tool_timeout(), events) => Ok(ended),
            }
        }
        Err(why) => Ok(Ended::Unreachable(why)),
    }
}

enum Ended {
    Answered(Value),
    /// The server is well and says no.
    Failed(String),
    Unreachable(String),
    TimedOut,
    /// The server did nothing, since it does not know the session any more.
    Refused,
}

/// An open request. Dropped before it was answered, it is cancelled.
struct Open<'a> {
    session: &'a Session,
    request: RequestId,
    token: ProgressToken,
    tool: &'a str,
    answered: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.session.shared.progress.forget(&self.token);
        if !self.answered && !self.session.shared.outcome.has_ended() {
            self.session.cancel(self.request.clone(), self.tool);
        }
    }
}

async fn talk(
    session: &Session,
    call: Call,
    patience: Duration,
    events: &mpsc::Sender<HubEvent>,
) -> Ended {
    let params = CallToolRequestParams::new(call.tool.clone()).with_arguments(call.arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let options = PeerRequestOptions::no_options();
    let sending = session.peer.send_request_with_option(request, options);
    let Ok(mut handle) = sending.await else {
        let fault = session.shared.outcome.ended().await;
        return Ended::Unreachable(gone(&fault));
    };
    let mut progress = session.shared.progress.watch(handle.progress_token.clone());
    let mut open = Open {
        session,
        request: handle.id.clone(),
        token: handle.progress_token.clone(),
        tool: &call.tool,
        answered: false,
    };
    let last = Instant::now() + patience * TIMEOUTS_MAX;
    let mut idle = Instant::now() + patience;
    // When progress may be told again, and when the newest is to be told.
    let (mut free, mut due) = (Instant::now(), None);
    loop {
        tokio::select! {
            // An answer that came just before the end counts.
            biased;
            answer = &mut handle.rx => {
                open.answered = true;
                let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                let ended = ended(session, raw(answer)).await;
                return unless_refused(ended, session, &handle.id);
            }
            fault = session.shared.outcome.ended() => {
                let ended = Ended::Unreachable(lost(&fault));
                return unless_refused(ended, session, &handle.id);
            }
            () = sleep_until(idle.min(last)) => return Ended::TimedOut,
            Ok(()) = progress.changed() => {
                idle = Instant::now() + patience;
                progress.mark_unchanged();
                due.get_or_insert(free);
            }
            () = sleep_until(due.unwrap_or(last)), if due.is_some() => {
                (due, free) = (None, Instant::now() + REPORT_EVERY);
                let newest = progress.borrow().clone();
                report(call.id, newest, events);
            }
        }
    }
}

fn report(call: CallId, progress: Option<Progress>, events: &mpsc::Sender<HubEvent>) {
    if let Some(progress) = progress {
        // Each is a snapshot: where there is no room, the next one will do.
        let _ = events.try_send(HubEvent::Progress { call, progress });
    }
}

fn unless_refused(ended: Ended, session: &Session, request: &RequestId) -> Ended {
    match ended {
        Ended::Unreachable(_) if session.shared.was_refused(request) => Ended::Refused,
        ended => ended,
    }
}

/// Why a call that was not sent has no answer: its session has ended.
fn gone(fault: &McpError) -> String {
    let what = match fault.wants_sign_in() {
        true => "The server answers only those who have signed in.",
        false => "The server is gone.",
    };
    format!("{what} {fault}")
}

/// The same for a call that may have been sent, which must not be repeated unthinkingly.
fn lost(fault: &McpError) -> String {
    match fault.wants_sign_in() {
        true => gone(fault),
        false => format!("{} It is not known whether the tool ran.", gone(fault)),
    }
}

async fn ended(session: &Session, result: Result<Value, ServiceError>) -> Ended {
    match result {
        Ok(result) => Ended::Answered(result),
        // That is the tool's answer.
        Err(error @ ServiceError::McpError(_)) => Ended::Failed(explain(&error)),
        Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => {
            Ended::Unreachable(lost(&session.shared.outcome.ended().await))
        }
        Err(error) => Ended::Unreachable(explain(&error)),
    }
}

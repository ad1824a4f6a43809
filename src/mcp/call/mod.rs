//! One tool call, from finding an open session to its outcome. The future owns the call: dropping
//! the future cancels the call on the server, unless its task is kept.

pub mod cancelled_requests;
pub mod exact_arguments;
pub mod exchange;
pub mod open_request;
pub mod output_check;
pub mod progress_router;
pub mod result_check;
pub mod result_text;

use crate::domain::{Arguments, CallId, Pin, ServerId, ServerTask, ToolOutcome, UrlElicitation};
use crate::mcp::call::exchange::{
    CallEnding, RequestEnding, TIMEOUTS_MAX, exchange, may_have_run_text,
};
use crate::mcp::call::output_check::output_mismatch;
use crate::mcp::call::result_check::invalid_result_text;
use crate::mcp::call::result_text::{RenderedResult, render_result};
use crate::mcp::hub_event::HubEvent;
use crate::mcp::server_requests::{
    INPUT_ROUNDS_MAX, InputRequired, answer_input_requests, visit_pages,
};
use crate::mcp::session::McpSession;
use crate::mcp::session::missing_back_channel::report_missing_back_channel;
use crate::mcp::supervisor::ServerSupervisor;
use crate::mcp::supervisor::server_log;
use crate::mcp::tasks::{CreatedTask, TaskCall, TaskEnd, follow_task, legacy_task_request};
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ProgressToken};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

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
    /// The task that an earlier call started. If set, the task is followed and the tool is not
    /// called again.
    pub task: Option<ServerTask>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    pub outcome: ToolOutcome,
    /// The parts of the result that are not for the model, as text.
    pub user_text: String,
    /// The raw JSON result, if the server sent one; failed tool calls have one too.
    pub result: Option<Value>,
}

impl From<ToolOutcome> for CallResult {
    fn from(outcome: ToolOutcome) -> Self {
        Self {
            outcome,
            user_text: String::new(),
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
    let tool = call.tool.clone();
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
    let mut result = finished_call(&supervisor, ending, started.elapsed());
    match &mut result.outcome {
        ToolOutcome::Failed { text, .. } => report_missing_back_channel(&supervisor, text).await,
        ToolOutcome::Succeeded { text, .. } => {
            let definition = supervisor.tool(&tool);
            let mismatch = output_mismatch(definition.as_ref(), result.result.as_ref());
            text.extend(mismatch.await.map(|line| format!("\n{line}")));
        }
        _ => {}
    }
    result
}

fn finished_call(
    supervisor: &ServerSupervisor,
    ending: CallEnding,
    elapsed: Duration,
) -> CallResult {
    match ending {
        CallEnding::Unreachable(_) if supervisor.stop.is_cancelled() => {
            let why = "The server was switched off during the call.".to_owned();
            ToolOutcome::Unreachable { why, elapsed }.into()
        }
        CallEnding::Answered(result) => {
            if let Some(text) = invalid_result_text(&result, supervisor.is_modern()) {
                return ToolOutcome::Failed { text, elapsed }.into();
            }
            let RenderedResult {
                text,
                user_text,
                is_error,
            } = render_result(&result);
            let outcome = match is_error {
                true => ToolOutcome::Failed { text, elapsed },
                false => ToolOutcome::Succeeded { text, elapsed },
            };
            let result = Some(result);
            CallResult {
                outcome,
                user_text,
                result,
            }
        }
        CallEnding::ToolFailed(text) => ToolOutcome::Failed { text, elapsed }.into(),
        CallEnding::Unreachable(why) => ToolOutcome::Unreachable { why, elapsed }.into(),
        CallEnding::TimedOut => ToolOutcome::TimedOut { elapsed }.into(),
        CallEnding::SessionUnknown => {
            let why = "The server did not recognize the session of the call, nor the new one in \
                       which it was repeated."
                .to_owned();
            ToolOutcome::Unreachable { why, elapsed }.into()
        }
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
        Ok(_) if !supervisor.matches_approved_definition(&call.tool, call.pin.as_ref()) => {
            Err(changed_tool_outcome(call.task.is_some()))
        }
        Ok(session) => {
            let running = async {
                match call.task.clone() {
                    Some(task) => {
                        let call = task_call(supervisor, (call.id, &call.server), None, events);
                        follow_task(call, session, task, None).await.into()
                    }
                    None => run_with_input(supervisor, &session, call, events).await,
                }
            };
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ToolOutcome::Interrupted),
                ending = running => Ok(ending),
            }
        }
        Err(why) => Ok(CallEnding::Unreachable(why)),
    }
}

/// What the user must do before a call is repeated.
enum InputStep {
    Pages(Vec<UrlElicitation>),
    Answers(InputRequired),
}

/// Sends the call, and repeats it with the user's answers each time the server requires input.
async fn run_with_input(
    supervisor: &ServerSupervisor,
    session: &McpSession,
    call: McpCall,
    events: &mpsc::Sender<HubEvent>,
) -> CallEnding {
    let (id, server, tool, arguments) = (call.id, call.server, call.tool, call.arguments);
    let requests = &supervisor.context.requests;
    let mut params =
        CallToolRequestParams::new(tool.clone()).with_arguments(arguments.clone().into());
    if session.logs_requests {
        server_log::request_messages(&mut params);
    }
    for _ in 0..=INPUT_ROUNDS_MAX {
        let timeout = supervisor.tool_timeout();
        let definition = supervisor.tool(&tool);
        let as_task = legacy_task_request(
            session,
            definition.as_ref(),
            &params,
            timeout * TIMEOUTS_MAX,
        );
        let mut request = as_task.unwrap_or_else(|| {
            ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()))
        });
        exact_arguments::attach(&mut request, &arguments);
        let step = match exchange(session, (id, &tool), request, timeout, events).await {
            RequestEnding::TaskCreated(created, token) => {
                let call = task_call(supervisor, (id, &server), Some(token), events);
                return follow_created_task(call, session, *created).await;
            }
            RequestEnding::PagesRequired(pages) => InputStep::Pages(pages),
            RequestEnding::Call(CallEnding::Answered(result)) => {
                match InputRequired::from_result(&result) {
                    Some(required) => InputStep::Answers(required),
                    None => return CallEnding::Answered(result),
                }
            }
            RequestEnding::Call(ending) => return ending,
        };
        let answering = async {
            match step {
                InputStep::Pages(pages) => {
                    let incoming = &session.shared.incoming_requests;
                    visit_pages(pages, incoming, requests, &server).await
                }
                InputStep::Answers(required) => {
                    let answers = answer_input_requests(&required, requests, &server).await?;
                    params.input_responses = Some(answers);
                    params.request_state = required.state;
                    Ok(())
                }
            }
        };
        let answered = tokio::select! {
            biased;
            answered = answering => answered,
            error = session.shared.outcome.wait_for_end() => {
                return CallEnding::Unreachable(may_have_run_text(&error));
            }
        };
        if let Err(why) = answered {
            return CallEnding::ToolFailed(why);
        }
    }
    CallEnding::ToolFailed(format!(
        "The server asked for input more than {INPUT_ROUNDS_MAX} times in one call."
    ))
}

fn changed_tool_outcome(is_task: bool) -> ToolOutcome {
    if !is_task {
        let why = "its server changed the tool after it was approved".to_owned();
        return ToolOutcome::NotRun { why };
    }
    ToolOutcome::Unreachable {
        why: "The server has changed the tool since the call, so its task was not followed."
            .to_owned(),
        elapsed: Duration::ZERO,
    }
}

fn task_call<'a>(
    supervisor: &'a ServerSupervisor,
    (id, server): (CallId, &'a ServerId),
    progress_token: Option<ProgressToken>,
    events: &'a mpsc::Sender<HubEvent>,
) -> TaskCall<'a> {
    TaskCall {
        id,
        server,
        supervisor,
        events,
        time_max: supervisor.tool_timeout() * TIMEOUTS_MAX,
        progress_token,
    }
}

async fn follow_created_task(
    call: TaskCall<'_>,
    session: &McpSession,
    created: CreatedTask,
) -> CallEnding {
    match created.task {
        Ok(task) => follow_task(call, session.clone(), task, Some(created.state))
            .await
            .into(),
        Err(why) => CallEnding::ToolFailed(format!(
            "The server runs the call as a task that cannot be followed: {why}. Its result is lost."
        )),
    }
}

impl From<TaskEnd> for CallEnding {
    fn from(end: TaskEnd) -> Self {
        match end {
            TaskEnd::Result(result) => Self::Answered(result),
            TaskEnd::Failed(text) => Self::ToolFailed(text),
            TaskEnd::Unreachable(why) => Self::Unreachable(why),
            TaskEnd::TimedOut => Self::TimedOut,
        }
    }
}

//! Requests that create and follow tasks.

use crate::domain::Tool;
use crate::mcp::call::open_request::CancelOnDrop;
use crate::mcp::http::{IS_NOT_FOUND_KEY, SYNTHETIC_ERROR_CODE};
use crate::mcp::session::{McpSession, error_text, raw_result};
use rmcp::model::{
    CallToolRequestParams, ClientRequest, CustomRequest, ErrorCode, ExtensionCapabilities,
    JsonObject, TASKS_EXTENSION_ID,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

pub fn declared_extensions() -> ExtensionCapabilities {
    let tasks = (TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
    ExtensionCapabilities::from_iter([tasks])
}

/// The call as a task, if both the tool and the server of a 2025-11-25 session support it. A server
/// with the extension decides by itself.
pub fn legacy_task_request(
    session: &McpSession,
    tool: Option<&Tool>,
    params: &CallToolRequestParams,
    time_to_live: Duration,
) -> Option<ClientRequest> {
    let support = tool?.extra.get("execution")?.get("taskSupport")?.as_str()?;
    if !matches!(support, "required" | "optional") || !session.shared.task_support.is_declared() {
        return None;
    }
    let mut params = serde_json::to_value(params).ok()?;
    let milliseconds = u64::try_from(time_to_live.as_millis()).unwrap_or(u64::MAX);
    params["task"] = json!({ "ttl": milliseconds });
    let request = CustomRequest::new("tools/call", Some(params));
    Some(ClientRequest::CustomRequest(request))
}

/// Why a request about a task has no result.
#[derive(Debug)]
pub enum TaskRequestError {
    /// The server answered with this error.
    Refused(String),
    /// The server does not recognize the task. Contains its error.
    UnknownTask(String),
    /// The session ended or the answer took too long. Contains the reason.
    Unanswered(String),
}

impl TaskRequestError {
    /// The error without its final period, for the end of a sentence.
    pub fn clause(&self) -> &str {
        match self {
            Self::Refused(why) | Self::UnknownTask(why) | Self::Unanswered(why) => {
                why.trim_end_matches('.')
            }
        }
    }

    /// An error that the server answered with. "Invalid parameters" is taken to be about the task's
    /// id, unless `carries_answers`: then the user's answers may be what is invalid.
    fn from_answer(error: &ServiceError, carries_answers: bool) -> Self {
        let why = error_text(error);
        match error {
            ServiceError::McpError(error)
                if error.code == ErrorCode::INVALID_PARAMS && !carries_answers =>
            {
                Self::UnknownTask(why)
            }
            ServiceError::McpError(error)
                if error.code.0 == SYNTHETIC_ERROR_CODE
                    && error
                        .data
                        .as_ref()
                        .is_some_and(|data| data[IS_NOT_FOUND_KEY] == true) =>
            {
                Self::UnknownTask(why)
            }
            ServiceError::McpError(_) => Self::Refused(why),
            _ => Self::Unanswered(why),
        }
    }
}

/// Sends `request` and waits for its result for at most `time_limit`. Dropping the future cancels
/// the request.
pub async fn exchange(
    session: &McpSession,
    request: ClientRequest,
    time_limit: Option<Duration>,
) -> Result<Value, TaskRequestError> {
    let unanswered = |error: &ServiceError| TaskRequestError::Unanswered(error_text(error));
    let carries_answers = matches!(request, ClientRequest::UpdateTaskRequest(_));
    let options = PeerRequestOptions::no_options();
    let sending = session.peer.send_request_with_option(request, options);
    let mut handle = sending.await.map_err(|error| unanswered(&error))?;
    let mut open_request = CancelOnDrop::new(session, handle.id.clone());
    let answering = async {
        match time_limit {
            Some(time_limit) => timeout(time_limit, &mut handle.rx).await.map_err(|_| {
                let seconds = time_limit.as_secs();
                TaskRequestError::Unanswered(format!("no answer within {seconds} s"))
            }),
            None => Ok((&mut handle.rx).await),
        }
    };
    let answer = tokio::select! {
        biased;
        answer = answering => answer?,
        error = session.shared.outcome.wait_for_end() => {
            return Err(TaskRequestError::Unanswered(error.to_string()));
        }
    };
    open_request.is_answered = true;
    raw_result(answer.unwrap_or(Err(ServiceError::TransportClosed)))
        .map_err(|error| TaskRequestError::from_answer(&error, carries_answers))
}

/// The answer is ignored.
pub fn send_without_waiting(session: &McpSession, request: ClientRequest) {
    let options = PeerRequestOptions::no_options();
    let sending = session.peer.send_request_with_option(request, options);
    // One poll queues the request. There is no second one, so tokio's cooperative budget must not
    // make it return early.
    let _ = futures::FutureExt::now_or_never(tokio::task::unconstrained(sending));
}

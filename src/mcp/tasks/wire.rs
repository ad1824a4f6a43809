//! The JSON of tasks. Pure.

use crate::domain::{ServerTask, TaskProtocol};
use crate::mcp::session::bounded_text::bounded_text;
use serde_json::{Map, Value};
use std::sync::OnceLock;
use std::time::Duration;

/// Maximum number of characters shown of a text from the server.
const TEXT_CHARS_MAX: usize = 300;

/// Whether a server with `initialize` runs calls as tasks, according to its capabilities.
#[derive(Debug, Default)]
pub struct LegacyTaskSupport(OnceLock<bool>);

impl LegacyTaskSupport {
    /// Reads the result of `initialize`. rmcp does not support this capability.
    pub fn read(&self, result: &Value) {
        let declared = result.pointer("/capabilities/tasks/requests/tools/call");
        let _ = self.0.set(declared.is_some_and(|value| !value.is_null()));
    }

    pub fn is_declared(&self) -> bool {
        self.0.get() == Some(&true)
    }
}

/// The answer to a call that became a task.
#[derive(Debug, Clone, PartialEq)]
pub struct CreatedTask {
    /// The error is the reason why the task cannot be followed, as a clause.
    pub task: Result<ServerTask, String>,
    pub state: TaskState,
}

impl CreatedTask {
    /// `None` if the result is not a task.
    pub fn from_result(result: &Value) -> Option<Self> {
        let is_task = result.get("resultType").and_then(Value::as_str) == Some("task");
        let (state, protocol) = match result.get("task") {
            _ if is_task => (result, TaskProtocol::Extension),
            Some(task) if task.get("taskId").is_some() && result.get("content").is_none() => {
                (task, TaskProtocol::Legacy)
            }
            _ => return None,
        };
        let id = state.get("taskId").and_then(Value::as_str);
        let task = match id {
            Some(id) => ServerTask::new(id, protocol),
            None => Err("it has no id".to_owned()),
        };
        Some(Self {
            task,
            state: TaskState::from_json(state),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskStatus {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
    /// The status that the server sent, if it was text.
    Unknown(Option<String>),
}

impl TaskStatus {
    fn label(&self) -> &str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "needs input",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Unknown(_) => "unknown status",
        }
    }
}

/// The state of a task, as `tasks/get` reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskState {
    pub status: TaskStatus,
    pub message: Option<String>,
    /// How long to wait before the next request, as the server suggests.
    pub poll_interval: Option<Duration>,
    /// Requests to the user, by their keys.
    pub input_requests: Map<String, Value>,
    /// The result of the call, if the task is completed.
    pub result: Option<Value>,
    /// The JSON-RPC error of the call, if the task failed.
    pub error: Option<Value>,
}

impl TaskState {
    pub fn from_json(state: &Value) -> Self {
        let text = |key: &str| state.get(key).and_then(Value::as_str);
        let status = match text("status") {
            Some("working") => TaskStatus::Working,
            Some("input_required") => TaskStatus::InputRequired,
            Some("completed") => TaskStatus::Completed,
            Some("failed") => TaskStatus::Failed,
            Some("cancelled") => TaskStatus::Cancelled,
            other => TaskStatus::Unknown(other.map(shorten)),
        };
        let interval = state.get("pollIntervalMs").or(state.get("pollInterval"));
        let interval = interval.and_then(Value::as_f64);
        let milliseconds = interval.filter(|number| number.is_finite() && *number >= 0.0);
        let requests = state.get("inputRequests").and_then(Value::as_object);
        Self {
            status,
            message: text("statusMessage")
                .map(shorten)
                .filter(|text| !text.is_empty()),
            // The cast saturates, and the interval is bounded where it is used.
            poll_interval: milliseconds.map(|number| Duration::from_millis(number as u64)),
            input_requests: requests.cloned().unwrap_or_default(),
            result: state
                .get("result")
                .filter(|result| result.is_object())
                .cloned(),
            error: state.get("error").filter(|error| !error.is_null()).cloned(),
        }
    }

    /// The status in words, with the server's message.
    pub fn summary(&self) -> String {
        match &self.message {
            Some(message) => format!("{}: {message}", self.status.label()),
            None => self.status.label().to_owned(),
        }
    }

    /// The message as the end of a sentence.
    pub fn message_clause(&self) -> String {
        let message = self.message.as_deref().unwrap_or_default();
        match message.trim_end_matches('.') {
            "" => ".".to_owned(),
            message => format!(": {message}."),
        }
    }

    /// The error of a failed task, as a sentence for the model.
    pub fn failure_text(&self) -> String {
        let message = self.error.as_ref().and_then(|error| error.get("message"));
        let code = self.error.as_ref().and_then(|error| error.get("code"));
        match (
            message.and_then(Value::as_str),
            code.and_then(Value::as_i64),
        ) {
            (Some(message), Some(code)) => {
                format!("{} (JSON-RPC error {code})", bounded_text(message))
            }
            (Some(message), None) => bounded_text(message),
            (None, _) => format!("The task failed{}", self.message_clause()),
        }
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tasks_of_both_protocols_are_recognized_and_other_results_are_not() {
        let state = json!({ "taskId": "t", "status": "working", "pollInterval": 2_000 });
        let legacy = CreatedTask::from_result(&json!({ "task": state })).expect("a task");
        assert_eq!(legacy.task, ServerTask::new("t", TaskProtocol::Legacy));
        assert_eq!(legacy.state.poll_interval, Some(Duration::from_secs(2)));
        let extension = json!({
            "resultType": "task", "taskId": "t", "status": "working", "pollIntervalMs": 5,
        });
        let extension = CreatedTask::from_result(&extension).expect("a task");
        assert_eq!(
            extension.task,
            ServerTask::new("t", TaskProtocol::Extension)
        );
        assert_eq!(extension.state.status, TaskStatus::Working);
        let without_id = CreatedTask::from_result(&json!({ "resultType": "task", "taskId": 7 }));
        assert_eq!(
            without_id.map(|created| created.task),
            Some(Err("it has no id".to_owned()))
        );
        for other in [
            json!({ "content": [] }),
            json!({ "content": [], "task": { "taskId": "t" } }),
            json!({ "task": "t", "structuredContent": {} }),
            json!({ "resultType": "complete", "taskId": "t" }),
            json!(7),
        ] {
            assert_eq!(CreatedTask::from_result(&other), None, "{other}");
        }
    }

    #[test]
    fn hostile_task_states_are_bounded() {
        let state = |value: Value| TaskState::from_json(&value);
        assert_eq!(state(json!(null)).status, TaskStatus::Unknown(None));
        let odd = state(json!({ "status": "엉".repeat(1 << 20), "pollIntervalMs": 1e300 }));
        assert_eq!(
            odd.status,
            TaskStatus::Unknown(Some("엉".repeat(TEXT_CHARS_MAX)))
        );
        assert_eq!(odd.poll_interval, Some(Duration::from_millis(u64::MAX)));
        for interval in [json!(-1), json!("soon"), json!(null)] {
            assert_eq!(
                state(json!({ "pollIntervalMs": interval })).poll_interval,
                None
            );
        }
        let message = state(json!({ "status": "working", "statusMessage": "x".repeat(1 << 20) }));
        assert_eq!(message.summary().len(), "working: ".len() + TEXT_CHARS_MAX);
        assert_eq!(
            state(json!({ "status": "working", "statusMessage": "" })).summary(),
            "working"
        );
    }

    #[test]
    fn a_failure_is_explained_by_its_error_or_its_message() {
        let text = |value: Value| TaskState::from_json(&value).failure_text();
        let error = json!({ "code": -32603, "message": "boom" });
        assert_eq!(
            text(json!({ "status": "failed", "error": error })),
            "boom (JSON-RPC error -32603)"
        );
        assert_eq!(
            text(json!({ "status": "failed", "statusMessage": "No disk." })),
            "The task failed: No disk."
        );
        assert_eq!(
            text(json!({ "status": "failed", "error": 7 })),
            "The task failed."
        );
    }
}

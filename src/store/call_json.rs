//! The JSON of a tool call in sessions and journals.

use crate::domain::{
    Arguments, CallId, CallTask, LaunchId, Pin, ServerId, ServerTask, TaskProtocol, ToolCall,
    ToolOutcome, ToolState,
};
use serde_json::{Value, json};
use std::time::Duration;

/// Maximum nesting of arguments stored as plain JSON. serde_json reads at most 127, and the file
/// around the arguments needs some of them.
const ARGUMENTS_DEPTH_MAX: usize = 100;

/// Without the result text.
pub(super) fn to_json(call: &ToolCall) -> Value {
    let mut entry = json!({
        "server": call.server,
        "tool": call.tool,
        "arguments": arguments_to_json(&call.arguments),
    });
    if let Some(original) = &call.original {
        entry["asked"] = arguments_to_json(original);
    }
    if let Some(CallTask { task, launch, pin }) = call.task.as_deref() {
        entry["task"] = json!({
            "id": task.id(),
            "protocol": task.protocol,
            "launch": launch.as_str(),
            "pin": pin.as_str(),
        });
    }
    if let ToolState::Done(outcome) = &call.state {
        entry["outcome"] = outcome_name(outcome).into();
        if let Some(elapsed) = outcome.elapsed() {
            let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            entry["milliseconds"] = milliseconds.into();
        }
    }
    entry
}

/// As a JSON object, or as a string of JSON if they are deeply nested or an object would lose digits.
fn arguments_to_json(arguments: &Arguments) -> Value {
    let is_shallow = arguments.values().all(|value| is_shallow(value, 1));
    match is_shallow && !arguments.has_digits() {
        true => json!(arguments),
        false => arguments.to_json().into(),
    }
}

fn is_shallow(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => {
            depth < ARGUMENTS_DEPTH_MAX && items.iter().all(|item| is_shallow(item, depth + 1))
        }
        Value::Object(members) => {
            depth < ARGUMENTS_DEPTH_MAX
                && members.values().all(|member| is_shallow(member, depth + 1))
        }
        _ => true,
    }
}

/// `None` if a required field is missing.
pub(super) fn from_json(entry: &Value) -> Option<ToolCall> {
    let object = |key: &str| match entry.get(key)? {
        Value::Object(arguments) => Some(Arguments::from(arguments.clone())),
        Value::String(json) => Arguments::from_json(json).ok(),
        _ => None,
    };
    let outcome = entry.get("outcome").and_then(Value::as_str);
    let milliseconds = entry.get("milliseconds").and_then(Value::as_u64);
    let elapsed = Duration::from_millis(milliseconds.unwrap_or_default());
    let server = ServerId::new(entry.get("server")?.as_str()?);
    let tool = entry.get("tool")?.as_str()?.to_owned();
    let arguments = object("arguments").unwrap_or_default();
    let state = ToolState::Done(outcome_from_name(outcome, elapsed));
    Some(ToolCall {
        original: object("asked"),
        task: task_from_json(entry).map(Box::new),
        ..ToolCall::stored(server, tool, arguments, state)
    })
}

/// `None` if the call has no task, or a field of it is missing or invalid.
fn task_from_json(entry: &Value) -> Option<CallTask> {
    let task = entry.get("task")?;
    let text = |key: &str| task.get(key)?.as_str().map(str::to_owned);
    let protocol: TaskProtocol = serde_json::from_value(task.get("protocol")?.clone()).ok()?;
    Some(CallTask {
        task: ServerTask::new(&text("id")?, protocol).ok()?,
        launch: LaunchId::from_hash(text("launch")?),
        pin: Pin::from_hash(text("pin")?),
    })
}

fn outcome_name(outcome: &ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Succeeded { .. } => "succeeded",
        ToolOutcome::Failed { .. } => "failed",
        ToolOutcome::Unreachable { .. } => "unreachable",
        ToolOutcome::TimedOut { .. } => "timed_out",
        ToolOutcome::Refused => "refused",
        ToolOutcome::Denied { .. } => "denied",
        ToolOutcome::Never => "never",
        ToolOutcome::Interrupted => "interrupted",
        ToolOutcome::Cancelled { .. } => "cancelled",
        ToolOutcome::Left { .. } => "left",
        ToolOutcome::Reused { .. } => "reused",
        ToolOutcome::NotRun { .. } => "not_run",
        ToolOutcome::WasText => "was_text",
    }
}

/// The outcome with this name, without a text, because result texts are not stored. A call
/// whose end was not recorded was interrupted.
fn outcome_from_name(name: Option<&str>, elapsed: Duration) -> ToolOutcome {
    let text = String::new();
    match name.unwrap_or_default() {
        "succeeded" => ToolOutcome::Succeeded { text, elapsed },
        "failed" => ToolOutcome::Failed { text, elapsed },
        "unreachable" => ToolOutcome::Unreachable { why: text, elapsed },
        "timed_out" => ToolOutcome::TimedOut { elapsed },
        "refused" => ToolOutcome::Refused,
        "cancelled" => ToolOutcome::Cancelled { elapsed },
        "left" => ToolOutcome::Left { elapsed },
        "denied" => ToolOutcome::Denied { message: None },
        "never" => ToolOutcome::Never,
        "reused" => ToolOutcome::Reused { of: CallId(0) },
        "not_run" => ToolOutcome::NotRun { why: text },
        "was_text" => ToolOutcome::WasText,
        _ => ToolOutcome::Interrupted,
    }
}

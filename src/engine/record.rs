//! What a turn leaves in the session: the prompt and the final answer as
//! messages, everything else beside them under `humble` (S9.3).

use crate::domain::{
    Body, SavedMessage, Session, ToolCall, ToolOutcome, ToolState, Transcript, Usage,
};
use jiff::Timestamp;
use serde_json::{Value, json};

/// Cancelled turns that are kept beside the messages at most.
const CANCELLED_MAX: usize = 100;

/// Adds an answered turn. `turn` is the fold of its events.
pub fn answered(
    session: &mut Session,
    prompt: &str,
    answer: &str,
    turn: &Transcript,
    usage: Usage,
) {
    session.messages.push(SavedMessage::user(prompt));
    session.messages.push(SavedMessage::assistant(answer));
    let mut beside = json!({ "message": session.messages.len() - 1 });
    if usage != Usage::default() {
        beside["usage"] = json!(usage);
    }
    let (tools, thinking) = summary(turn);
    if !tools.is_empty() {
        beside["tools"] = tools.into();
    }
    if !thinking.is_empty() {
        beside["thinking"] = thinking.into();
    }
    list(session, "turns").push(beside);
}

/// Keeps the words of a turn that ended without an answer; never sent.
pub fn cancelled(session: &mut Session, prompt: &str, words: &str, at: Timestamp) {
    let after = session.messages.len();
    let list = list(session, "cancelled");
    list.push(json!({ "at": at.to_string(), "after": after, "prompt": prompt, "words": words }));
    if list.len() > CANCELLED_MAX {
        list.remove(0);
    }
}

/// The list under `key`; a value of another shape, written by someone else, is
/// moved aside rather than lost.
fn list<'a>(session: &'a mut Session, key: &str) -> &'a mut Vec<Value> {
    let slot = session.humble.entry(key).or_insert_with(|| json!([]));
    if !slot.is_array() {
        *slot = json!([slot.take()]);
    }
    match slot {
        Value::Array(list) => list,
        _ => unreachable!("made an array just above"),
    }
}

fn summary(turn: &Transcript) -> (Vec<Value>, String) {
    let (mut tools, mut thinking) = (Vec::new(), String::new());
    for entry in turn.entries() {
        match &entry.body {
            Body::Tool(call) => tools.push(tool(call)),
            Body::Thinking { text, .. } => thinking.push_str(text),
            _ => {}
        }
    }
    (tools, thinking)
}

fn tool(call: &ToolCall) -> Value {
    let outcome = match &call.state {
        ToolState::Done(outcome) => outcome_name(outcome),
        _ => "open",
    };
    let mut summary = json!({
        "server": call.server,
        "tool": call.tool,
        "arguments": call.arguments,
        "outcome": outcome,
    });
    if let Some(original) = &call.original {
        summary["asked"] = json!(original);
    }
    if let ToolState::Done(outcome) = &call.state
        && let Some(elapsed) = outcome.elapsed()
    {
        let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        summary["milliseconds"] = milliseconds.into();
    }
    summary
}

fn outcome_name(outcome: &ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Succeeded { .. } => "succeeded",
        ToolOutcome::Failed { .. } => "failed",
        ToolOutcome::Unreachable { .. } => "unreachable",
        ToolOutcome::TimedOut { .. } => "timed_out",
        ToolOutcome::Refused => "refused",
        ToolOutcome::Denied { .. } => "denied",
        ToolOutcome::Interrupted => "interrupted",
        ToolOutcome::Reused { .. } => "reused",
        ToolOutcome::NotRun { .. } => "not_run",
        ToolOutcome::WasText => "was_text",
    }
}

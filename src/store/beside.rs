//! The shape of what stands beside the messages, under `humble`: turns and
//! cancelled turns. Reading is lenient: an entry that is not understood is left
//! where it is, and not shown.

use crate::domain::session::{CancelledNote, Notes, TurnNote};
use crate::domain::tool::CallOrigin;
use crate::domain::{CallId, ServerId, ToolCall, ToolOutcome, ToolState, Usage};
use serde_json::{Map, Value, json};
use std::time::Duration;

const TURNS: &str = "turns";
const CANCELLED: &str = "cancelled";
const INTERRUPTED: &str = "interrupted";
const REPLACES: &str = "replaces";
/// Cancelled turns that are kept at most.
const CANCELLED_MAX: usize = 100;

pub fn add_turn(humble: &mut Map<String, Value>, turn: &TurnNote) {
    let mut entry = json!({ "message": turn.message, "model": turn.model });
    if turn.usage != Usage::default() {
        entry["usage"] = json!(turn.usage);
    }
    if !turn.tools.is_empty() {
        entry["tools"] = turn.tools.iter().map(tool).collect();
    }
    if !turn.thinking.is_empty() {
        entry["thinking"] = turn.thinking.as_str().into();
    }
    if let Some(at) = turn.at {
        entry["at"] = at.to_string().into();
    }
    list(humble, TURNS).push(entry);
}

/// Adds what a continued answer took to the note of its first half, which is added here
/// where there is none.
pub fn extend_turn(humble: &mut Map<String, Value>, turn: &TurnNote) {
    let entries = list(humble, TURNS);
    let known = entries
        .iter()
        .rposition(|entry| index(entry, "message") == Some(turn.message));
    let Some(at) = known else {
        return add_turn(humble, turn);
    };
    let entry = &mut entries[at];
    let first = self::turn(entry).map(|first| (first.usage, first.thinking));
    let (usage, thinking) = first.unwrap_or_default();
    let output = [usage.output, turn.usage.output].into_iter().flatten();
    let usage = Usage {
        input: turn.usage.input.or(usage.input),
        output: output.reduce(|one, other| one + other),
    };
    entry["model"] = turn.model.as_str().into();
    if usage != Usage::default() {
        entry["usage"] = json!(usage);
    }
    if !turn.tools.is_empty() {
        let tools = entry["tools"].as_array().cloned().unwrap_or_default();
        let more = turn.tools.iter().map(tool);
        entry["tools"] = tools.into_iter().chain(more).collect();
    }
    let thoughts = [thinking, turn.thinking.clone()];
    let thoughts: Vec<String> = thoughts.into_iter().filter(|it| !it.is_empty()).collect();
    if !thoughts.is_empty() {
        entry["thinking"] = thoughts.join("\n\n").into();
    }
    if let Some(at) = turn.at {
        entry["at"] = at.to_string().into();
    }
}

pub fn add_cancelled(humble: &mut Map<String, Value>, turn: &CancelledNote) {
    let list = list(humble, CANCELLED);
    let mut entry = json!({
        "at": turn.at.to_string(),
        "after": turn.after,
        "prompt": turn.prompt,
        "words": turn.words,
    });
    for (key, is_set) in [(INTERRUPTED, turn.interrupted), (REPLACES, turn.replaces)] {
        if is_set {
            entry[key] = true.into();
        }
    }
    list.push(entry);
    if list.len() > CANCELLED_MAX {
        list.remove(0);
    }
}

/// Takes the newest cancelled turn away where this was its prompt, behind `after`
/// messages.
pub fn drop_cancelled(humble: &mut Map<String, Value>, after: usize, prompt: &str) -> bool {
    let Some(Value::Array(entries)) = humble.get_mut(CANCELLED) else {
        return false;
    };
    let is_last = |entry: &Value| {
        index(entry, "after") == Some(after) && entry.get("prompt").is_some_and(|it| it == prompt)
    };
    entries.pop_if(|entry| is_last(entry)).is_some()
}

/// What of `humble` can be shown.
pub fn read(humble: &Map<String, Value>) -> Notes {
    let entries = |key: &str| {
        humble
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    Notes {
        turns: entries(TURNS).filter_map(turn).collect(),
        cancelled: entries(CANCELLED).filter_map(cancelled).collect(),
    }
}

/// The list under `key`; a value of another shape, written by someone else, is
/// moved into it rather than lost.
fn list<'a>(humble: &'a mut Map<String, Value>, key: &str) -> &'a mut Vec<Value> {
    let slot = humble.entry(key).or_insert_with(|| json!([]));
    if !slot.is_array() {
        *slot = json!([slot.take()]);
    }
    slot.as_array_mut().expect("made an array just above")
}

/// A call and how it ended; its result is not kept.
pub fn tool(call: &ToolCall) -> Value {
    let mut entry = json!({
        "server": call.server,
        "tool": call.tool,
        "arguments": call.arguments,
    });
    if let Some(original) = &call.original {
        entry["asked"] = json!(original);
    }
    if let ToolState::Done(outcome) = &call.state {
        entry["outcome"] = name_of(outcome).into();
        if let Some(elapsed) = outcome.elapsed() {
            let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            entry["milliseconds"] = milliseconds.into();
        }
    }
    entry
}

fn turn(entry: &Value) -> Option<TurnNote> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let tools = entry
        .get("tools")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let count = |key: &str| entry.get("usage")?.get(key)?.as_u64();
    Some(TurnNote {
        message: index(entry, "message")?,
        model: text("model").to_owned(),
        usage: Usage {
            input: count("input"),
            output: count("output"),
        },
        tools: tools.filter_map(call).collect(),
        thinking: text("thinking").to_owned(),
        at: text("at").parse().ok(),
    })
}

pub(super) fn call(entry: &Value) -> Option<ToolCall> {
    let object = |key: &str| entry.get(key).and_then(Value::as_object).cloned();
    let milliseconds = entry.get("milliseconds").and_then(Value::as_u64);
    let elapsed = Duration::from_millis(milliseconds.unwrap_or_default());
    Some(ToolCall {
        // Whoever shows it gives it an id of its own.
        id: CallId(0),
        server: ServerId::new(entry.get("server")?.as_str()?),
        tool: entry.get("tool")?.as_str()?.to_owned(),
        arguments: object("arguments").unwrap_or_default(),
        original: object("asked"),
        origin: CallOrigin::Native,
        repeats: None,
        quoted: None,
        also_as: Box::default(),
        state: ToolState::Done(outcome(entry.get("outcome")?.as_str()?, elapsed)),
    })
}

fn cancelled(entry: &Value) -> Option<CancelledNote> {
    let is_set = |key: &str| entry.get(key).is_some_and(|it| *it == true);
    Some(CancelledNote {
        at: entry.get("at")?.as_str()?.parse().ok()?,
        after: index(entry, "after")?,
        prompt: entry.get("prompt")?.as_str()?.to_owned(),
        words: entry.get("words")?.as_str()?.to_owned(),
        interrupted: is_set(INTERRUPTED),
        replaces: is_set(REPLACES),
    })
}

fn index(entry: &Value, key: &str) -> Option<usize> {
    usize::try_from(entry.get(key)?.as_u64()?).ok()
}

fn name_of(outcome: &ToolOutcome) -> &'static str {
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
        ToolOutcome::Reused { .. } => "reused",
        ToolOutcome::NotRun { .. } => "not_run",
        ToolOutcome::WasText => "was_text",
    }
}

/// The outcome of this name. Texts are not kept.
fn outcome(name: &str, elapsed: Duration) -> ToolOutcome {
    let text = String::new();
    match name {
        "succeeded" => ToolOutcome::Succeeded { text, elapsed },
        "failed" => ToolOutcome::Failed { text, elapsed },
        "unreachable" => ToolOutcome::Unreachable { why: text, elapsed },
        "timed_out" => ToolOutcome::TimedOut { elapsed },
        "refused" => ToolOutcome::Refused,
        "cancelled" => ToolOutcome::Cancelled { elapsed },
        "denied" => ToolOutcome::Denied { word: None },
        "never" => ToolOutcome::Never,
        "reused" => ToolOutcome::Reused { of: CallId(0) },
        "not_run" => ToolOutcome::NotRun { why: text },
        "was_text" => ToolOutcome::WasText,
        _ => ToolOutcome::Interrupted,
    }
}

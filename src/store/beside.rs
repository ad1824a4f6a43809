//! The shape of what stands beside the messages, under `humble`: turns and
//! cancelled turns. Reading is lenient: an entry that is not understood is left
//! where it is, and not shown.

use crate::domain::session::{CancelledNote, Notes, TurnNote};
use crate::domain::tool::CallOrigin;
use crate::domain::{Arguments, CallId, ServerId, ToolCall, ToolOutcome, ToolState, Usage};
use serde_json::{Map, Value, json};
use std::time::Duration;

const TURNS: &str = "turns";
const CANCELLED: &str = "cancelled";
const INTERRUPTED: &str = "interrupted";
const REPLACES: &str = "replaces";
/// Levels of arguments that are written as JSON; the file needs some for itself.
const ARGUMENTS_DEPTH_MAX: usize = 100;
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
        "arguments": shallow(&call.arguments),
    });
    if let Some(original) = &call.original {
        entry["asked"] = shallow(original);
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

/// Arguments as they stand in a file. serde_json reads no more than 127 levels, those of the
/// file around them included: deeper ones are written as a text of JSON.
fn shallow(arguments: &Arguments) -> Value {
    match arguments.values().all(|value| is_shallow(value, 1)) {
        true => json!(arguments),
        false => json!(arguments).to_string().into(),
    }
}

fn is_shallow(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => {
            depth < ARGUMENTS_DEPTH_MAX && items.iter().all(|item| is_shallow(item, depth + 1))
        }
        Value::Object(members) => {
            depth < ARGUMENTS_DEPTH_MAX && members.values().all(|it| is_shallow(it, depth + 1))
        }
        _ => true,
    }
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
    let object = |key: &str| match entry.get(key)? {
        Value::Object(arguments) => Some(arguments.clone()),
        Value::String(json) => serde_json::from_str(json).ok(),
        _ => None,
    };
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
        is_unchecked: false,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_deep_arguments_can_be_read_again() {
        let deep = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "a": inner }));
        for levels in [1, 99, 100, 101, 127] {
            let Value::Object(arguments) = deep(levels) else {
                unreachable!("it is an object");
            };
            let call = ToolCall {
                id: CallId(0),
                server: ServerId::new("s"),
                tool: "t".to_owned(),
                original: Some(arguments.clone()),
                arguments,
                origin: CallOrigin::Native,
                repeats: None,
                quoted: None,
                is_unchecked: false,
                also_as: Box::default(),
                state: ToolState::Done(ToolOutcome::Refused),
            };
            let mut humble = Map::new();
            let turn = TurnNote {
                tools: vec![call.clone()],
                model: "m".to_owned(),
                message: 0,
                usage: Usage::default(),
                thinking: String::new(),
                at: None,
            };
            add_turn(&mut humble, &turn);
            let branches = json!({ "humble": { "branches": [{ "humble": humble }] } });
            let file: Value = serde_json::from_str(&branches.to_string()).expect("it is read");
            let humble = file["humble"]["branches"][0]["humble"].as_object();
            let notes = read(humble.expect("an object"));
            assert_eq!(notes.turns[0].tools, [call], "{levels}");
        }
    }
}

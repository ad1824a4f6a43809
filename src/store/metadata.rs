//! The JSON under the key `humble`: a session's data other than its messages and branches.
//! Parsing is lenient; unrecognized values are not shown, but kept and written back unchanged.

use super::attachment_json::{self, ATTACHMENTS};
use super::{call_json, notes_json};
use crate::domain::session::{
    CancelledTurn, Compaction, ConversationSummary, SessionChoices, SessionMetadata, StoredRecord,
    StoredRecords, StoredSummary, SummarizedPrefix, TurnRecord,
};
use crate::domain::{AgentResult, PrefixUsage, ToolCall, Usage};
use serde_json::{Map, Value, json};

pub(super) const TURNS: &str = "turns";
pub(super) const CANCELLED: &str = "cancelled";
const TITLE: &str = "title";
const PERSONA: &str = "persona";
const COMPACTED: &str = "compacted";
/// For the conversation: whether notes are sent with prompts. For a turn: the results of note agents.
const NOTES: &str = "notes";
/// The previous summary, on which a summary is based.
const PREVIOUS_SUMMARY: &str = "before";
const INTERRUPTED: &str = "interrupted";
const REPLACES: &str = "replaces";
/// The user stopped the answer of a turn.
const STOPPED: &str = "stopped";

/// Removes the recognized keys from `humble`; the rest becomes the metadata's `extra`.
pub(super) fn parse_metadata(mut humble: Map<String, Value>) -> SessionMetadata {
    SessionMetadata {
        title: take_text(&mut humble, TITLE),
        persona: take_text(&mut humble, PERSONA),
        turns: take_turns(&mut humble),
        cancelled: take_cancelled_turns(&mut humble),
        compaction: match humble.shift_remove(COMPACTED) {
            None => Compaction::Absent,
            Some(Value::Null) => Compaction::Dropped,
            Some(entry) => Compaction::Stored(Box::new(parse_summary(entry))),
        },
        consults_notes: take_flag(&mut humble, NOTES),
        extra: humble,
    }
}

/// The user's choices in a file.
pub(super) fn choices_in(root: &Map<String, Value>) -> SessionChoices {
    let value = |key: &str| root.get("humble")?.get(key);
    SessionChoices {
        title: value(TITLE).and_then(Value::as_str).map(str::to_owned),
        consults_notes: value(NOTES).and_then(Value::as_bool),
    }
}

/// A value of a different type stays in `humble`, because its shape is unknown.
fn take_flag(humble: &mut Map<String, Value>, key: &str) -> Option<bool> {
    let flag = humble.get(key)?.as_bool()?;
    humble.shift_remove(key);
    Some(flag)
}

/// A value of a different type stays in `humble`, because its shape is unknown.
fn take_text(humble: &mut Map<String, Value>, key: &str) -> Option<String> {
    let text = humble.get(key)?.as_str()?.to_owned();
    humble.shift_remove(key);
    Some(text)
}

/// Removes the persona from the file's `humble` if the conversation no longer uses one. Otherwise
/// a merge would restore it.
pub(super) fn remove_former_persona(humble: &mut Map<String, Value>, metadata: &SessionMetadata) {
    if metadata.persona.is_none() {
        humble.shift_remove(PERSONA);
    }
}

/// The other keys of `humble` stay unchanged.
pub(super) fn insert_metadata(
    humble: &mut Map<String, Value>,
    metadata: &SessionMetadata,
    choices: &SessionChoices,
) {
    for (key, text) in [(TITLE, &choices.title), (PERSONA, &metadata.persona)] {
        if let Some(text) = text {
            humble.insert(key.to_owned(), json!(text));
        }
    }
    for (key, records) in [
        (CANCELLED, cancelled_turns_to_json(&metadata.cancelled)),
        (TURNS, turns_to_json(&metadata.turns)),
    ] {
        if let Some(records) = records {
            humble.insert(key.to_owned(), records);
        }
    }
    if let Some(consults_notes) = choices.consults_notes {
        humble.insert(NOTES.to_owned(), consults_notes.into());
    }
    match &metadata.compaction {
        Compaction::Absent => {}
        Compaction::Dropped => {
            humble.insert(COMPACTED.to_owned(), Value::Null);
        }
        Compaction::Stored(summary) => {
            humble.insert(COMPACTED.to_owned(), summary_to_json(summary));
        }
    }
    humble.extend(metadata.extra.clone());
}

pub(super) fn take_turns(object: &mut Map<String, Value>) -> StoredRecords<TurnRecord> {
    parse_records(object.shift_remove(TURNS), parse_turn, turn_to_json)
}

pub(super) fn take_cancelled_turns(
    object: &mut Map<String, Value>,
) -> StoredRecords<CancelledTurn> {
    parse_records(
        object.shift_remove(CANCELLED),
        parse_cancelled_turn,
        cancelled_turn_to_json,
    )
}

pub(super) fn turns_to_json(records: &StoredRecords<TurnRecord>) -> Option<Value> {
    records_to_json(records, turn_to_json)
}

pub(super) fn cancelled_turns_to_json(records: &StoredRecords<CancelledTurn>) -> Option<Value> {
    records_to_json(records, cancelled_turn_to_json)
}

fn parse_records<T>(
    value: Option<Value>,
    parse: impl Fn(&Value) -> Option<T>,
    to_json: impl Fn(&T, Option<&Value>) -> Value,
) -> StoredRecords<T> {
    let entries = match value {
        None => return StoredRecords::Absent,
        Some(Value::Array(entries)) => entries,
        Some(value) => return StoredRecords::UnknownShape(value),
    };
    let stored = entries.into_iter().map(|entry| {
        let record = parse(&entry);
        let message_index = index_field(&entry, "message").or_else(|| index_field(&entry, "after"));
        let serializes_to_entry = |record: &T| is_identical(&to_json(record, None), &entry);
        let is_lossless = record.as_ref().is_some_and(serializes_to_entry);
        StoredRecord {
            record,
            message_index,
            original: (!is_lossless).then_some(entry),
        }
    });
    StoredRecords::List(stored.collect())
}

fn records_to_json<T>(
    records: &StoredRecords<T>,
    to_json: impl Fn(&T, Option<&Value>) -> Value,
) -> Option<Value> {
    let entry = |stored: &StoredRecord<T>| match (&stored.record, &stored.original) {
        (Some(record), original) => to_json(record, original.as_ref()),
        (None, original) => original.clone().unwrap_or_default(),
    };
    match records {
        StoredRecords::Absent => None,
        StoredRecords::UnknownShape(value) => Some(value.clone()),
        StoredRecords::List(list) => Some(list.iter().map(entry).collect()),
    }
}

/// In the `original` JSON from the file, only changed fields are replaced.
fn turn_to_json(turn: &TurnRecord, original: Option<&Value>) -> Value {
    let stored = original.and_then(|entry| Some((entry, parse_turn(entry)?)));
    let (mut entry, stored_turn) = match stored {
        Some((entry, stored_turn)) => (entry.clone(), stored_turn),
        None => {
            let entry = json!({ "message": turn.message_index, "model": turn.model });
            (entry, TurnRecord::new(turn.message_index, &turn.model))
        }
    };
    if turn.model != stored_turn.model {
        entry["model"] = turn.model.as_str().into();
    }
    if turn.usage != stored_turn.usage {
        entry["usage"] = json!(turn.usage);
    }
    if let Some(new_calls) = turn.calls.get(stored_turn.calls.len()..)
        && !new_calls.is_empty()
    {
        let tools = entry["tools"].as_array().cloned().unwrap_or_default();
        let new_tools = new_calls.iter().map(call_json::to_json);
        entry["tools"] = tools.into_iter().chain(new_tools).collect();
    }
    if turn.thinking != stored_turn.thinking {
        entry["thinking"] = turn.thinking.as_str().into();
    }
    if turn.agent_results != stored_turn.agent_results {
        let known = turn.agent_results.iter().map(notes_json::to_json);
        let stored = entry[NOTES].as_array().cloned().unwrap_or_default();
        let unknown = stored
            .into_iter()
            .filter(|result| notes_json::from_json(result).is_none());
        entry[NOTES] = known.chain(unknown).collect();
    }
    if let Some(ended_at) = turn
        .ended_at
        .filter(|_| turn.ended_at != stored_turn.ended_at)
    {
        entry["at"] = ended_at.to_string().into();
    }
    if turn.is_stopped != stored_turn.is_stopped {
        entry[STOPPED] = turn.is_stopped.into();
    }
    entry
}

fn parse_turn(entry: &Value) -> Option<TurnRecord> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let token_count = |key: &str| entry.get("usage")?.get(key)?.as_u64();
    Some(TurnRecord {
        usage: Usage {
            input: token_count("input"),
            output: token_count("output"),
            prefix: parse_prefix_usage(entry),
        },
        calls: parse_calls(entry),
        thinking: text("thinking").to_owned(),
        agent_results: parse_agent_results(entry),
        ended_at: text("at").parse().ok(),
        is_stopped: is_set(entry, STOPPED),
        ..TurnRecord::new(index_field(entry, "message")?, text("model"))
    })
}

fn parse_prefix_usage(entry: &Value) -> Option<PrefixUsage> {
    let count = |pointer: &str| entry.pointer(pointer)?.as_u64();
    Some(PrefixUsage {
        read: count("/usage/prefix/read")?,
        reused: count("/usage/prefix/reused")?,
    })
}

fn parse_agent_results(entry: &Value) -> Vec<AgentResult> {
    let results = entry.get(NOTES).and_then(Value::as_array);
    let results = results.into_iter().flatten();
    results.filter_map(notes_json::from_json).collect()
}

fn parse_calls(entry: &Value) -> Vec<ToolCall> {
    let tools = entry.get("tools").and_then(Value::as_array);
    let calls = tools.into_iter().flatten();
    calls.filter_map(call_json::from_json).collect()
}

/// Cancelled turns never change, so one from a file is written back unchanged.
fn cancelled_turn_to_json(turn: &CancelledTurn, original: Option<&Value>) -> Value {
    if let Some(entry) = original {
        return entry.clone();
    }
    let mut entry = json!({
        "at": turn.cancelled_at.to_string(),
        "after": turn.messages_before,
        "prompt": turn.prompt,
        "words": turn.partial_answer,
    });
    if !turn.attachments.is_empty() {
        entry[ATTACHMENTS] = attachment_json::list_to_json(&turn.attachments).into();
    }
    if !turn.calls.is_empty() {
        entry["tools"] = turn.calls.iter().map(call_json::to_json).collect();
    }
    if turn.was_interrupted {
        entry[INTERRUPTED] = true.into();
    }
    match turn.replaced_turns {
        0 => {}
        1 => entry[REPLACES] = true.into(),
        turns => entry[REPLACES] = turns.into(),
    }
    entry
}

fn parse_cancelled_turn(entry: &Value) -> Option<CancelledTurn> {
    let attachments = entry.get(ATTACHMENTS).and_then(Value::as_array);
    Some(CancelledTurn {
        cancelled_at: entry.get("at")?.as_str()?.parse().ok()?,
        messages_before: index_field(entry, "after")?,
        prompt: entry.get("prompt")?.as_str()?.to_owned(),
        attachments: attachments
            .map_or_else(Vec::new, |list| attachment_json::list_from_json(list)),
        partial_answer: entry.get("words")?.as_str()?.to_owned(),
        calls: parse_calls(entry),
        was_interrupted: is_set(entry, INTERRUPTED),
        replaced_turns: match entry.get(REPLACES) {
            Some(Value::Bool(true)) => 1,
            _ => index_field(entry, REPLACES).unwrap_or(0),
        },
    })
}

fn parse_summary(entry: Value) -> StoredSummary {
    let parse_known_fields = || {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        Some(ConversationSummary {
            prefix: SummarizedPrefix {
                message_count: index_field(&entry, "messages")?,
                digest: text("digest")?.to_owned(),
            },
            text: text("summary")?.to_owned(),
            model: text("model").unwrap_or_default().to_owned(),
            created_at: text("at").and_then(|at| at.parse().ok()),
        })
    };
    let previous = entry
        .get(PREVIOUS_SUMMARY)
        .filter(|previous| !previous.is_null());
    let mut stored = StoredSummary {
        summary: parse_known_fields(),
        previous: previous.map(|previous| Box::new(parse_summary(previous.clone()))),
        original: None,
    };
    if !is_identical(&summary_to_json(&stored), &entry) {
        stored.original = Some(entry);
    }
    stored
}

fn summary_to_json(stored: &StoredSummary) -> Value {
    if let Some(original) = &stored.original {
        return original.clone();
    }
    let Some(summary) = &stored.summary else {
        return Value::Null;
    };
    let mut entry = json!({
        "messages": summary.prefix.message_count,
        "digest": summary.prefix.digest,
        "summary": summary.text,
        "model": summary.model,
    });
    if let Some(at) = summary.created_at {
        entry["at"] = at.to_string().into();
    }
    if let Some(previous) = &stored.previous {
        entry[PREVIOUS_SUMMARY] = summary_to_json(previous);
    }
    entry
}

fn is_set(entry: &Value, key: &str) -> bool {
    entry.get(key).is_some_and(|value| *value == true)
}

fn index_field(entry: &Value, key: &str) -> Option<usize> {
    usize::try_from(entry.get(key)?.as_u64()?).ok()
}

/// Whether both values are equal and have their keys in the same order.
fn is_identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            let mut pairs = a.iter().zip(b);
            a.len() == b.len() && pairs.all(|(a, b)| is_identical(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let mut pairs = a.iter().zip(b);
            a.len() == b.len()
                && pairs.all(|((key_a, a), (key_b, b))| key_a == key_b && is_identical(a, b))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Arguments, CallId, ToolCall, ToolOutcome, ToolState};
    use crate::fixtures;

    #[test]
    fn deeply_nested_arguments_and_digits_round_trip() {
        let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "a": inner }));
        let exact = Arguments::from_json(r#"{"n":1e-400,"m":[18446744073709551616]}"#);
        let nested = [1, 99, 100, 101, 127].map(|levels| fixtures::object(nested(levels)));
        for arguments in nested.into_iter().chain([exact.expect("JSON")]) {
            let call = ToolCall {
                id: CallId(0),
                original: Some(arguments.clone()),
                state: ToolState::Done(ToolOutcome::Refused),
                arguments,
                ..fixtures::tool_call("s", "t", json!({}))
            };
            let mut humble = Map::new();
            let mut metadata = SessionMetadata::default();
            metadata.turns.push(TurnRecord {
                calls: vec![call.clone()],
                ..TurnRecord::new(0, "m")
            });
            insert_metadata(&mut humble, &metadata, &metadata.choices());
            let file = json!({ "humble": { "branches": [{ "humble": humble }] } });
            let file: Value = serde_json::from_str(&file.to_string()).expect("valid JSON");
            let humble = file["humble"]["branches"][0]["humble"].as_object();
            assert_eq!(
                parse_metadata(humble.expect("an object").clone()),
                metadata,
                "{file}"
            );
        }
    }
}

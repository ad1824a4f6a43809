//! Keeps the raw JSON of tool arguments that a provider sends as an object instead of a string.
//! Parsing drops repeated keys and digits of numbers, and the approval dialog must show them.

use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The paths of objects with arguments: in Ollama's lines, in chunks and bodies of chat completions,
/// and in events and messages of Anthropic. `*` stands for each item of a list.
const ARGUMENT_PATHS: [&str; 5] = [
    "message.tool_calls.*.function.arguments",
    "choices.*.delta.tool_calls.*.function.arguments",
    "choices.*.message.tool_calls.*.function.arguments",
    "content_block.input",
    "content.*.input",
];

/// Replaces objects that hold arguments with strings of their JSON. `text` is the JSON of `value`.
pub(super) fn keep_raw_arguments(value: &mut Value, text: &str) {
    for path in ARGUMENT_PATHS {
        if has_arguments(value, path) {
            replace_at_path(value, text, path);
        }
    }
}

/// The first step of a path, and the path after it.
fn split_first(path: &str) -> Option<(&str, &str)> {
    (!path.is_empty()).then(|| path.split_once('.').unwrap_or((path, "")))
}

fn has_arguments(value: &Value, path: &str) -> bool {
    match (split_first(path), value) {
        (None, Value::Object(arguments)) => !arguments.is_empty(),
        (Some(("*", rest)), Value::Array(items)) => {
            items.iter().any(|item| has_arguments(item, rest))
        }
        (Some((key, rest)), Value::Object(members)) => members
            .get(key)
            .is_some_and(|member| has_arguments(member, rest)),
        _ => false,
    }
}

/// Leaves a value unchanged where `text` differs in structure.
fn replace_at_path(value: &mut Value, text: &str, path: &str) {
    match (split_first(path), value) {
        (None, value) if has_arguments(value, path) => *value = Value::from(text),
        (Some(("*", rest)), Value::Array(items)) => {
            let raw_items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            for (item, raw) in items.iter_mut().zip(raw_items) {
                replace_at_path(item, raw.get(), rest);
            }
        }
        (Some((key, rest)), Value::Object(members)) => {
            let raw_members: HashMap<String, &RawValue> =
                serde_json::from_str(text).unwrap_or_default();
            if let (Some(member), Some(raw)) = (members.get_mut(key), raw_members.get(key)) {
                replace_at_path(member, raw.get(), rest);
            }
        }
        _ => {}
    }
}

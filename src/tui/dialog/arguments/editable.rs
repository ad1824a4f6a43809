//! The values among the arguments that can be edited one at a time: texts as they are, without
//! JSON escapes.

use super::Arguments;
use super::document::{line_count, member_path, needs_block};
use super::values::value_text;
use crate::text::lines::restore_line_endings;
use serde_json::Value;

/// If there are more values, they are edited together as JSON.
const VALUES_MAX: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditableValue {
    /// `edits[0].oldText`.
    pub label: String,
    /// The position of the value as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// The value in a few words.
    pub summary: String,
}

/// All values. Empty if there are too many to list.
pub fn editable_values(arguments: &Arguments) -> Vec<EditableValue> {
    let mut values = Vec::new();
    for (key, value) in &arguments.marked() {
        let pointer = format!("/{}", escape_pointer(key));
        collect_values(&member_path("", key), pointer, value, &mut values);
    }
    match values.len() {
        0..=VALUES_MAX => values,
        _ => Vec::new(),
    }
}

fn collect_values(label: &str, pointer: String, value: &Value, values: &mut Vec<EditableValue>) {
    match value {
        Value::Object(members) if needs_block(value) => {
            for (key, value) in members {
                let pointer = format!("{pointer}/{}", escape_pointer(key));
                collect_values(&member_path(label, key), pointer, value, values);
            }
        }
        Value::Array(items) if needs_block(value) => {
            for (index, item) in items.iter().enumerate() {
                let pointer = format!("{pointer}/{index}");
                collect_values(&format!("{label}[{index}]"), pointer, item, values);
            }
        }
        value => values.push(EditableValue {
            label: label.to_owned(),
            pointer,
            summary: match value {
                Value::String(text) if text.contains('\n') => {
                    let first = text.lines().find(|line| !line.trim().is_empty());
                    let first = Value::from(first.unwrap_or_default());
                    format!("{}: {}", line_count(text), value_text(&first))
                }
                value => value_text(value),
            },
        }),
    }
}

fn escape_pointer(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The text to edit: a string as it is, any other value as JSON.
pub fn value_to_text(arguments: &Arguments, pointer: &str) -> Option<String> {
    match arguments.value_at(pointer)? {
        Value::String(text) => Some(text.clone()),
        _ => arguments.json_at(pointer, true),
    }
}

/// The arguments with an edited value. A string stays a string.
///
/// # Errors
/// The value no longer exists, or it is not a string and its new text is not JSON.
pub fn with_edited_value(
    arguments: &Arguments,
    pointer: &str,
    text: &str,
) -> Result<Arguments, String> {
    let mut edited = arguments.clone();
    let is_replaced = match arguments.value_at(pointer) {
        // The editor shows every line end as a line break.
        Some(Value::String(old)) => {
            let value = Value::from(restore_line_endings(old, text));
            edited.replace(pointer, value)
        }
        _ => edited
            .replace_json(pointer, text)
            .map_err(|error| format!("Not valid JSON: {error}"))?,
    };
    match is_replaced {
        true => Ok(edited),
        false => Err("The arguments have changed.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments(value: Value) -> Arguments {
        value.as_object().expect("an object").clone().into()
    }

    #[test]
    fn string_arguments_are_edited_without_escapes() {
        let call = arguments(json!({
            "path": "a/b.rs", "edits": [{ "oldText": "a\n\"b\"", "x/y": 1 }],
        }));
        let values = editable_values(&call);
        let labels: Vec<_> = values.iter().map(|value| value.label.as_str()).collect();
        assert_eq!(labels, ["path", "edits[0].oldText", "edits[0].\"x/y\""]);
        let pointer = &values[1].pointer;
        assert_eq!(value_to_text(&call, pointer).as_deref(), Some("a\n\"b\""));
        let edited = with_edited_value(&call, pointer, "c\n\td").expect("a string");
        assert_eq!(edited["edits"][0]["oldText"], "c\n\td");
        let edited = with_edited_value(&edited, &values[2].pointer, "[2]").expect("JSON");
        assert_eq!(edited["edits"][0]["x/y"], json!([2]));
        assert!(with_edited_value(&call, &values[2].pointer, "two").is_err());
    }

    #[test]
    fn too_many_values_are_edited_together() {
        let values: serde_json::Map<_, _> = (0..61).map(|n| (n.to_string(), json!(n))).collect();
        assert_eq!(editable_values(&values.into()), []);
    }
}

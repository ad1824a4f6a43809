//! JSON on as few lines as are easy to read: short lists and objects stay on one line.

use crate::text::grapheme::width;
use serde_json::{Map, Value};

/// Lists and objects that are at most this wide stay on one line. Independent of the width of the
/// screen, on which a line may wrap.
pub const ONE_LINE_COLUMNS_MAX: usize = 64;
/// No text of that width is longer, except for rare combining characters.
const ONE_LINE_BYTES_MAX: usize = ONE_LINE_COLUMNS_MAX * 4;
const INDENT: usize = 2;

/// Like the usual indented JSON, except for short lists and objects inside the value. O(n).
pub fn indented_json(value: &Value) -> String {
    let mut json = String::new();
    push_lines(value, 0, &mut json);
    json
}

/// Like [`indented_json`], for the members of an object.
pub fn indented_object(members: &Map<String, Value>) -> String {
    let mut json = String::new();
    let lines = members
        .iter()
        .map(|(key, value)| (Some(key.as_str()), value));
    push_block(('{', '}'), lines, 0, &mut json);
    json
}

fn push_lines(value: &Value, indent: usize, json: &mut String) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().map(|item| (None, item));
            push_block(('[', ']'), items, indent, json);
        }
        Value::Object(members) if !members.is_empty() => {
            let members = members
                .iter()
                .map(|(key, value)| (Some(key.as_str()), value));
            push_block(('{', '}'), members, indent, json);
        }
        other => json.push_str(&other.to_string()),
    }
}

fn push_block<'a>(
    (open, close): (char, char),
    lines: impl ExactSizeIterator<Item = (Option<&'a str>, &'a Value)>,
    indent: usize,
    json: &mut String,
) {
    json.push(open);
    let count = lines.len();
    for (index, (key, value)) in lines.enumerate() {
        push_break(indent + INDENT, json);
        if let Some(key) = key {
            json.push_str(&Value::from(key).to_string());
            json.push_str(": ");
        }
        match on_one_line(value) {
            Some(line) => json.push_str(&line),
            None => push_lines(value, indent + INDENT, json),
        }
        if index + 1 < count {
            json.push(',');
        }
    }
    if count > 0 {
        push_break(indent, json);
    }
    json.push(close);
}

fn push_break(indent: usize, json: &mut String) {
    json.push('\n');
    json.extend(std::iter::repeat_n(' ', indent));
}

/// The list or object on one line, such as `["a", "b"]`, if it is short.
fn on_one_line(value: &Value) -> Option<String> {
    let mut line = String::new();
    let is_short = push_one_line(value, &mut line) && width(&line) <= ONE_LINE_COLUMNS_MAX;
    is_short.then_some(line)
}

/// Returns false, having stopped, once the line is too long.
fn push_one_line(value: &Value, line: &mut String) -> bool {
    match value {
        Value::Array(items) => {
            line.push('[');
            for (index, item) in items.iter().enumerate() {
                line.push_str(if index > 0 { ", " } else { "" });
                if !push_one_line(item, line) {
                    return false;
                }
            }
            line.push(']');
        }
        Value::Object(members) => {
            line.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                line.push_str(if index > 0 { ", " } else { "" });
                if key.len() > ONE_LINE_BYTES_MAX {
                    return false;
                }
                line.push_str(&Value::from(key.as_str()).to_string());
                line.push_str(": ");
                if !push_one_line(value, line) {
                    return false;
                }
            }
            line.push('}');
        }
        Value::String(text) if text.len() > ONE_LINE_BYTES_MAX => return false,
        other => line.push_str(&other.to_string()),
    }
    line.len() <= ONE_LINE_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn short_lists_and_objects_stay_on_one_line() {
        let value = json!({
            "tags": ["a", "b"],
            "place": { "city": "서울", "at": [37.5, 127] },
            "empty": [], "none": {}, "text": "a\nb",
            "long": ["a word of some length", "another word of some length", "and a third one"],
        });
        let expected = r#"{
  "tags": ["a", "b"],
  "place": {"city": "서울", "at": [37.5, 127]},
  "empty": [],
  "none": {},
  "text": "a\nb",
  "long": [
    "a word of some length",
    "another word of some length",
    "and a third one"
  ]
}"#;
        assert_eq!(indented_json(&value), expected);
        let members = value.as_object().expect("an object");
        assert_eq!(indented_object(members), expected);
        assert_eq!(serde_json::from_str::<Value>(expected).ok(), Some(value));
        assert_eq!(indented_object(&Map::new()), "{}");
    }

    #[test]
    fn a_list_moves_to_several_lines_once_it_is_too_wide() {
        let list = |count: usize| json!({ "a": vec![10; count] });
        let lines = |count| indented_json(&list(count)).lines().count();
        // Each number takes four columns.
        assert_eq!((lines(16), lines(17)), (3, 21));
    }
}

//! Changes one value in the text of a JSON document and no other byte. Requires valid JSON with
//! an object as root, and steps that fit its shape; `JsonDocument` checks both.
//! (`jsonc-parser`'s syntax tree can edit text as well, but it spreads a one-line object over
//! several lines when a member is added.)

use serde_json::Value;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathStep<'a> {
    Key(&'a str),
    /// An index equal to the length adds an element.
    Index(usize),
}

/// An element of a list or a member of an object.
struct ItemSpan {
    /// `None` in a list.
    key: Option<String>,
    value: Range<usize>,
}

/// The byte range of the value at `steps`, or of its nearest existing container.
pub(super) fn find(text: &str, steps: &[PathStep<'_>]) -> Range<usize> {
    let (span, _) = locate(text, steps);
    span
}

pub(super) fn set(text: &str, steps: &[PathStep<'_>], value: &Value) -> String {
    let (span, missing_steps) = locate(text, steps);
    let mut edited = text.to_owned();
    match missing_steps {
        [] => edited.replace_range(span, &to_inline_json(value)),
        [step, inner_steps @ ..] => {
            let item = new_item(step, inner_steps, value);
            let is_root = missing_steps.len() == steps.len();
            let (range, addition) = insertion(text, span, &item, is_root);
            edited.replace_range(range, &addition);
        }
    }
    edited
}

/// Follows `steps` as far as they exist. Returns the range reached and the remaining steps.
fn locate<'s, 'a>(text: &str, steps: &'s [PathStep<'a>]) -> (Range<usize>, &'s [PathStep<'a>]) {
    let start = skip_space(text, 0);
    let mut span = start..value_end(text, start);
    for (depth, step) in steps.iter().enumerate() {
        let items = items(text, &span);
        let item = match step {
            // The last of several duplicate keys wins, as in the parser.
            PathStep::Key(key) => items.iter().rfind(|item| item.key.as_deref() == Some(*key)),
            PathStep::Index(index) => items.get(*index),
        };
        match item {
            Some(item) => span = item.value.clone(),
            None => return (span, &steps[depth..]),
        }
    }
    (span, &[])
}

fn new_item(step: &PathStep<'_>, inner_steps: &[PathStep<'_>], value: &Value) -> String {
    let value = inner_steps
        .iter()
        .rev()
        .fold(to_inline_json(value), |inner, step| match step {
            PathStep::Key(key) => format!("{{ {}: {inner} }}", quote(key)),
            PathStep::Index(_) => format!("[{inner}]"),
        });
    match step {
        PathStep::Key(key) => format!("{}: {value}", quote(key)),
        PathStep::Index(_) => value,
    }
}

/// The range to replace and its new text, which add an item. In a container with items, the text
/// repeats the whitespace before the first one, so it follows the user's layout.
fn insertion(
    text: &str,
    container: Range<usize>,
    item: &str,
    is_root: bool,
) -> (Range<usize>, String) {
    let interior = container.start + 1..container.end - 1;
    match items(text, &container).last() {
        Some(last) => {
            let first_item = skip_space(text, interior.start);
            let leading_space = &text[interior.start..first_item];
            (
                last.value.end..last.value.end,
                format!(",{leading_space}{item}"),
            )
        }
        None if is_root => (interior, format!("\n  {item}\n")),
        None => (interior, format!(" {item} ")),
    }
}

fn items(text: &str, container: &Range<usize>) -> Vec<ItemSpan> {
    let bytes = text.as_bytes();
    let is_object = bytes[container.start] == b'{';
    let mut items = Vec::new();
    let mut offset = skip_space(text, container.start + 1);
    while offset < container.end - 1 {
        let mut key = None;
        if is_object {
            let end = string_end(text, offset);
            key = serde_json::from_str(&text[offset..end]).ok();
            let colon = skip_space(text, end);
            offset = skip_space(text, colon + 1);
        }
        let end = value_end(text, offset);
        items.push(ItemSpan {
            key,
            value: offset..end,
        });
        offset = skip_space(text, end);
        if bytes[offset] == b',' {
            offset = skip_space(text, offset + 1);
        }
    }
    items
}

fn skip_space(text: &str, from: usize) -> usize {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    from + text.as_bytes()[from..]
        .iter()
        .take_while(|byte| is_space(byte))
        .count()
}

/// The end of the string with its opening quotation mark at `from`.
fn string_end(text: &str, from: usize) -> usize {
    let mut is_escaped = false;
    for (offset, byte) in text.bytes().enumerate().skip(from + 1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return offset + 1,
            _ => {}
        }
    }
    text.len()
}

fn value_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0;
    let mut offset = from;
    while offset < bytes.len() {
        match bytes[offset] {
            b'"' => {
                offset = string_end(text, offset);
                if depth == 0 {
                    return offset;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return offset,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return offset + 1;
                }
            }
            b',' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return offset,
            _ => {}
        }
        offset += 1;
    }
    offset
}

fn quote(key: &str) -> String {
    Value::from(key).to_string()
}

/// A value on one line, with spaces as in hand-written JSON.
fn to_inline_json(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Object(map) if !map.is_empty() => {
            let members = map
                .iter()
                .map(|(key, value)| format!("{}: {}", quote(key), to_inline_json(value)));
            format!("{{ {} }}", joined(members.collect()))
        }
        Value::Array(items) => format!("[{}]", joined(items.iter().map(to_inline_json).collect())),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_edit_of_json_changes_only_the_target_value() {
        use PathStep::{Index, Key};
        let cases: [(&str, &[PathStep<'_>], Value, &str); 12] = [
            ("{}", &[Key("a")], json!(1), "{\n  \"a\": 1\n}"),
            (" { } \n", &[Key("a")], json!(1), " {\n  \"a\": 1\n} \n"),
            (r#"{"a":1}"#, &[Key("a")], json!(2), r#"{"a":2}"#),
            (r#"{"a":1}"#, &[Key("b")], json!(2), r#"{"a":1,"b": 2}"#),
            (
                "{\r\n\t\"a\" : 1.0\r\n}",
                &[Key("b")],
                json!("x"),
                "{\r\n\t\"a\" : 1.0,\r\n\t\"b\": \"x\"\r\n}",
            ),
            (
                r#"{"a":{"b":[1,2]}, "c": 1.50}"#,
                &[Key("a"), Key("b"), Index(1)],
                json!(true),
                r#"{"a":{"b":[1,true]}, "c": 1.50}"#,
            ),
            (
                r#"{"a":[]}"#,
                &[Key("a"), Index(0), Key("b")],
                json!(1),
                r#"{"a":[ { "b": 1 } ]}"#,
            ),
            (
                r#"{"a": [1]}"#,
                &[Key("a"), Index(1)],
                json!(2),
                r#"{"a": [1,2]}"#,
            ),
            (
                r#"{"a":1,"a":2}"#,
                &[Key("a")],
                json!(3),
                r#"{"a":1,"a":3}"#,
            ),
            (
                r#"{"\u0061":"} \" ]"}"#,
                &[Key("a")],
                json!(["x", "y"]),
                r#"{"\u0061":["x", "y"]}"#,
            ),
            (
                r#"{"한":{},"b":null}"#,
                &[Key("한"), Key("글")],
                json!({"k": []}),
                r#"{"한":{ "글": { "k": [] } },"b":null}"#,
            ),
            (
                r#"{"b":0}"#,
                &[Key("x"), Key("y")],
                json!(false),
                r#"{"b":0,"x": { "y": false }}"#,
            ),
        ];
        for (before, steps, value, after) in cases {
            assert_eq!(set(before, steps, &value), after, "{before}");
        }
    }
}

//! Summaries of a call's arguments and outcome for its one-line row. Values are shown without their
//! names, apart from flags; unfolding the row shows everything.

use crate::domain::Arguments;
use crate::domain::tool::{ToolCall, ToolOutcome, ToolState};
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use serde_json::{Map, Value};

/// Keys of the old and the new text of an edit.
const EDIT_KEYS: [(&str, &str); 7] = [
    ("oldText", "newText"),
    ("old_text", "new_text"),
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("old_content", "new_content"),
    ("oldContent", "newContent"),
];
const VALUE_COLUMNS_MAX: usize = 32;
const RESULT_COLUMNS_MAX: usize = 60;
/// Bytes at the start of a text that are examined, assuming at most 16 bytes per column.
const EXAMINED_BYTES_MAX: usize = RESULT_COLUMNS_MAX * 16;
/// The lines of longer texts are not counted.
const COUNTED_BYTES_MAX: usize = 64 << 10;
const VALUES_MAX: usize = 5;

/// The arguments in brief, such as `17, 25` or `src/b.py, 1 edit`. Empty if no value has a
/// summary.
pub fn argument_summary(arguments: &Arguments) -> String {
    let edit = named_edit_keys(arguments);
    let values = arguments.iter().filter_map(|(key, value)| match edit {
        Some((old, _)) if key == old => Some("1 edit".to_owned()),
        Some((_, new)) if key == new => None,
        _ if value.is_number() => Some(arguments.member_json(key)),
        _ => value_summary(key, value),
    });
    let mut values: Vec<String> = values.take(VALUES_MAX + 1).collect();
    if values.len() > VALUES_MAX {
        values.truncate(VALUES_MAX);
        values.push("…".to_owned());
    }
    values.join(", ")
}

/// The keys of an old and a new text, if their names leave no doubt.
pub fn named_edit_keys(members: &Map<String, Value>) -> Option<(&'static str, &'static str)> {
    let is_text = |key: &str| members.get(key).is_some_and(Value::is_string);
    let mut named = EDIT_KEYS.into_iter();
    named.find(|(old, new)| is_text(old) && is_text(new))
}

fn value_summary(key: &str, value: &Value) -> Option<String> {
    let plural = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    };
    match value {
        Value::Null | Value::Bool(false) => None,
        // For a flag, the name is shown instead of the value.
        Value::Bool(true) => Some(shorten(key, VALUE_COLUMNS_MAX, Clean::unambiguous_line)),
        Value::Number(number) => Some(number.to_string()),
        // The summary is computed for each frame, so the lines of a long text are not counted.
        Value::String(text) if text.len() > COUNTED_BYTES_MAX => Some("long text".to_owned()),
        Value::String(text) if text.trim().contains('\n') => {
            Some(plural(text.lines().count(), "line"))
        }
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(shorten(
            text.trim(),
            VALUE_COLUMNS_MAX,
            Clean::unambiguous_line,
        )),
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) => {
            let word = key.strip_suffix('s').filter(|word| !word.is_empty());
            let word = Clean::single_line(word.unwrap_or("item"));
            Some(plural(items.len(), word.as_str()))
        }
        Value::Object(members) => Some(plural(members.len(), "field")),
    }
}

/// The result of a finished call if it is short, or the reason why the call has no result.
pub fn outcome_summary(call: &ToolCall) -> Option<String> {
    let ToolState::Done(outcome) = &call.state else {
        return None;
    };
    match outcome {
        ToolOutcome::Succeeded { text, .. } => {
            let text = text.trim();
            let is_brief = text.len() <= EXAMINED_BYTES_MAX && !text.contains('\n');
            let line = Clean::single_line(if is_brief { text } else { "" });
            let fits = is_brief && width(line.as_str()) <= RESULT_COLUMNS_MAX;
            (fits && !text.is_empty()).then(|| line.into())
        }
        ToolOutcome::Failed { text, .. } => first_line(text),
        ToolOutcome::Unreachable { why, .. } | ToolOutcome::NotRun { why } => first_line(why),
        ToolOutcome::Denied { message } => message.as_deref().and_then(first_line),
        _ => None,
    }
}

fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(shorten(line, RESULT_COLUMNS_MAX, Clean::escaped_line))
}

/// `text` in at most `columns` columns; `…` marks a truncated end.
fn shorten(text: &str, columns: usize, clean: fn(&str) -> Clean) -> String {
    let start = &text[..text.floor_char_boundary(EXAMINED_BYTES_MAX)];
    let clean = clean(start);
    if start.len() == text.len() && width(clean.as_str()) <= columns {
        return clean.into();
    }
    format!("{}…", truncate_to_width(clean.as_str(), columns - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn summary(value: &Value) -> String {
        argument_summary(&value.as_object().expect("an object").clone().into())
    }

    #[test]
    fn arguments_are_summarized_by_their_values() {
        assert_eq!(summary(&json!({ "a": 17, "b": 25 })), "17, 25");
        let edit = json!({ "path": "src/b.py", "edits": [{ "oldText": "a" }], "dryRun": false });
        assert_eq!(summary(&edit), "src/b.py, 1 edit");
        let replace = json!({ "path": "b.py", "old_string": "a\nb", "new_string": "c" });
        assert_eq!(summary(&replace), "b.py, 1 edit");
        let write = json!({ "path": "a.rs", "content": "one\ntwo\nthree\n", "force": true });
        assert_eq!(summary(&write), "a.rs, 3 lines, force");
        assert_eq!(summary(&json!({})), "");
        assert_eq!(summary(&json!({ "text": "서울 날씨" })), "서울 날씨");
        let long = summary(&json!({ "text": "가".repeat(1_000) }));
        assert_eq!(width(&long), 31);
    }

    #[test]
    fn no_value_imitates_a_line_or_hides_text() {
        let text = summary(&json!({ "a": "x\u{202e}y\u{1b}[2J", "b": "one\u{2028}two" }));
        assert!(!text.contains(['\u{202e}', '\u{1b}', '\n']), "{text:?}");
        let hyphen = summary(&json!({ "a": "docs\u{2011}mirror" }));
        assert_eq!(hyphen, "docs⟨U+2011⟩mirror");
    }
}

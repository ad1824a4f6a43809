//! Keys and values of arguments as text on one line. Different keys, and different values, never
//! look alike: a string that could be mistaken for something else is quoted as JSON.

use crate::domain::DIGITS_MARK;
use crate::text::{Clean, ScriptContext};
use crate::tui::widgets::wrapped_line::{TAB, TAB_SIGN};
use serde_json::Value;

/// Replaces a space at the end of a line, where it would be invisible.
const FINAL_SPACE: &str = "⟨SP⟩";

/// Text in which nothing is invisible and nothing looks like something else.
pub fn shown_text(raw: &str) -> String {
    Clean::unambiguous(raw).into()
}

/// JSON as text in which nothing looks like something else. Each string is judged by itself, so
/// that look-alikes in one value are marked even if another value uses their script.
pub fn shown_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(quote) = rest.find('"') {
        let (before, string) = rest.split_at(quote + 1);
        let (inside, after) = string.split_at(string_end(string));
        if let Some(digits) = inside.strip_prefix(DIGITS_MARK) {
            shown.push_str(&shown_text(&before[..quote]));
            shown.push_str(digits);
            rest = &after[after.len().min(1)..];
            continue;
        }
        shown.push_str(&shown_text(before));
        shown.push_str(&shown_text(inside));
        let (quote, after) = after.split_at(after.len().min(1));
        shown.push_str(quote);
        rest = after;
    }
    shown.push_str(&shown_text(rest));
    shown
}

/// The offset of the quote that ends a JSON string.
fn string_end(string: &str) -> usize {
    let mut is_escaped = false;
    let end = string.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.unwrap_or(string.len())
}

/// A key, quoted unless it is a plain word.
pub fn key_text(key: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@');
    let starts_plain = key.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$' | '@'));
    let shown = Clean::unambiguous(key);
    if starts_plain && key.chars().all(is_plain) && shown.as_str() == key {
        return key.to_owned();
    }
    shown_text(&Value::from(key).to_string())
}

/// A value on one line: a string as it is if nothing else looks like it, otherwise JSON.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) if text.starts_with(DIGITS_MARK) => shown_json(&value.to_string()),
        Value::String(text) if is_unmistakable(text) => shown_text(text),
        other => shown_json(&other.to_string()),
    }
}

/// Whether a string without quotes cannot be mistaken for another value or for two values.
pub fn is_unmistakable(text: &str) -> bool {
    let is_json = || serde_json::from_str::<Value>(text).is_ok();
    !text.is_empty()
        && !text.starts_with(['"', '{', '['])
        && !has_hidden_blanks(text)
        && !text.contains('\n')
        && !is_json()
}

/// Whether the text has blanks that could be mistaken for the gap between two values: at an end,
/// several in a row, or wider than one column.
fn has_hidden_blanks(text: &str) -> bool {
    text.trim().len() < text.len() || text.contains("  ") || text.contains(['\t', '\u{3000}'])
}

/// Whether the text reads better as a line of its own than in quotes.
pub fn needs_own_line(text: &str) -> bool {
    text.contains('\n') || (!is_unmistakable(text) && text.contains(['"', '\\', '\t']))
}

/// One line of a text. Tabs and a final space become visible; other characters change only if they
/// are invisible or look-alikes. `context` describes the whole text.
pub fn line_text(raw: &str, context: &ScriptContext) -> String {
    let mut shown = String::with_capacity(raw.len());
    for part in raw.split_inclusive(['\t', TAB_SIGN]) {
        let text = part.trim_end_matches(['\t', TAB_SIGN]);
        shown.push_str(Clean::unambiguous_part(text, context).as_str());
        match part[text.len()..].chars().next() {
            Some('\t') => shown.push_str(TAB),
            Some(symbol) => shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(symbol))),
            None => {}
        }
    }
    if raw.ends_with(' ') && shown.ends_with(' ') {
        shown.pop();
        shown.push_str(FINAL_SPACE);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strings_that_could_be_misread_are_quoted() {
        let cases = [
            (json!("src/b.py"), "src/b.py"),
            (json!("서울의 날씨"), "서울의 날씨"),
            (json!(false), "false"),
            (json!("false"), "\"false\""),
            (json!("42"), "\"42\""),
            (json!(42), "42"),
            (json!(""), "\"\""),
            (json!("a  dryRun  true"), "\"a  dryRun  true\""),
            (json!(" a"), "\" a\""),
            (json!("{}"), "\"{}\""),
            (json!({}), "{}"),
            (json!("a\u{202e}b"), "a⟨U+202E⟩b"),
            (json!("a⟨U+202E⟩b"), "a⟨U+27E8⟩U+202E⟩b"),
        ];
        for (value, text) in cases {
            assert_eq!(value_text(&value), text);
        }
    }

    #[test]
    fn keys_with_syntax_characters_are_quoted() {
        for (key, text) in [
            ("path", "path"),
            ("a.b", "\"a.b\""),
            ("a[0]", "\"a[0]\""),
            ("path:", "\"path:\""),
            ("", "\"\""),
            ("한글", "한글"),
            ("12", "\"12\""),
            ("- a", "\"- a\""),
        ] {
            assert_eq!(key_text(key), text);
        }
    }

    #[test]
    fn blanks_in_lines_are_visible() {
        let shown = |line: &str| line_text(line, &ScriptContext::of(line));
        assert_eq!(shown("\tif a:\t"), "⇥   if a:⇥   ");
        assert_eq!(shown("⇥"), "⟨U+21E5⟩");
        assert_eq!(shown("a  "), "a ⟨SP⟩");
        assert_eq!(shown("⟨SP⟩"), "⟨U+27E8⟩SP⟩");
        assert_eq!(shown("a\r"), "a⟨CR⟩");
    }

    #[test]
    fn numbers_have_the_digits_that_the_model_wrote() {
        let text = r#"{"n":123456789012345678901234567890,"a":[1e-400,"1e-400",{"x":18446744073709551616}]}"#;
        let arguments = crate::domain::Arguments::from_json(text).expect("JSON");
        let marked = serde_json::Value::Object(arguments.marked());
        assert_eq!(value_text(&marked), text);
        assert_eq!(value_text(&marked["n"]), "123456789012345678901234567890");
        assert_eq!(value_text(&marked["a"][0]), "1e-400");
        assert_eq!(value_text(&marked["a"][1]), "\"1e-400\"");
    }

    #[test]
    fn each_string_of_json_is_judged_for_look_alikes_by_itself() {
        let json =
            json!({ "텍스트": "ＡＢＣ 한글", "b": ["Ａ", "сору \\\" \n한글", "привет\nсор"] });
        let shown = r#"{"텍스트":"ＡＢＣ 한글","b":["⟨U+FF21⟩","сору \\\" \n한글","привет\nсор"]}"#;
        assert_eq!(value_text(&json), shown);
    }
}

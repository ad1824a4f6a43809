//! Separates the whitespace that belongs to a value from layout: the newlines and indentation that
//! only put the tags on their own lines.

use super::grammar::ValueDecoding;
use super::xml;
use std::borrow::Cow;

/// The value in `text`, the complete text between the tags. O(len).
pub(super) fn trim_value(text: &str, decoding: ValueDecoding) -> Cow<'_, str> {
    match decoding {
        ValueDecoding::TrimLineEnds => trim_lines(text),
        ValueDecoding::Bare => between_line_ends(text).into(),
        ValueDecoding::Xml => xml::content(between_line_ends(text)),
    }
}

/// Like [`trim_value`], for a value without its end tag. The newline before the following tag is
/// always layout.
pub(super) fn trim_unclosed_value(text: &str, decoding: ValueDecoding) -> Cow<'_, str> {
    let text = text.trim_end_matches([' ', '\t']);
    match decoding {
        ValueDecoding::Bare | ValueDecoding::Xml if after_line_end(text).is_none() => {
            trim_value(before_line_end(text).unwrap_or(text), decoding)
        }
        _ => trim_value(text, decoding),
    }
}

fn after_line_end(text: &str) -> Option<&str> {
    text.strip_prefix("\r\n")
        .or_else(|| text.strip_prefix('\n'))
}

fn before_line_end(text: &str) -> Option<&str> {
    text.strip_suffix("\r\n")
        .or_else(|| text.strip_suffix('\n'))
}

/// Removes one newline on each side if there is one on both. A newline on only one side belongs to
/// the value.
fn between_line_ends(text: &str) -> &str {
    after_line_end(text)
        .and_then(before_line_end)
        .unwrap_or(text)
}

/// Removes shared indentation, or else one newline on either side.
fn trim_lines(text: &str) -> Cow<'_, str> {
    if let Some(value) = after_line_end(text).and_then(without_shared_indentation) {
        return value.into();
    }
    let text = after_line_end(text).unwrap_or(text);
    before_line_end(text).unwrap_or(text).into()
}

/// Removes the shared indentation if the call is laid out as a tree: the closing tag is indented on
/// its own line, and every line of the value is indented at least as deeply.
fn without_shared_indentation(text: &str) -> Option<String> {
    let (value, tag_indentation) = text.rsplit_once('\n')?;
    let is_blank = |text: &str| text.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
    if tag_indentation.is_empty() || !is_blank(tag_indentation) {
        return None;
    }
    let mut shared: Option<&str> = None;
    for line in value.lines().filter(|line| !is_blank(line)) {
        let indentation = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        if !indentation.starts_with(tag_indentation) {
            return None;
        }
        let common = shared.map_or(indentation, |shared| common_prefix(shared, indentation));
        shared = Some(common);
    }
    let shared_bytes = shared?.len();
    let unindent = |line| str::get(line, shared_bytes..).unwrap_or_default();
    let lines: Vec<_> = value.split('\n').map(unindent).collect();
    Some(lines.join("\n"))
}

fn common_prefix<'a>(first: &'a str, second: &str) -> &'a str {
    let equal_bytes = first
        .bytes()
        .zip(second.bytes())
        .take_while(|(a, b)| a == b);
    &first[..equal_bytes.count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_one_newline_is_stripped_on_either_side() {
        for (text, expected) in [
            ("\n서울\n", "서울"),
            ("서울", "서울"),
            ("서울\n", "서울"),
            ("\r\n서울\r\n", "서울"),
            ("\n\n  a\n\nb  \n\n", "\n  a\n\nb  \n"),
            ("\n    if x:\n        y\n", "    if x:\n        y"),
            ("\n", ""),
            ("\n\n", ""),
            ("", ""),
            ("  ", "  "),
        ] {
            assert_eq!(
                trim_value(text, ValueDecoding::TrimLineEnds),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn indented_value_loses_its_common_indentation() {
        for (text, expected) in [
            ("\n      서울\n    ", "서울"),
            (
                "\n      if x:\n        y\n\n      z\n    ",
                "if x:\n  y\n\nz",
            ),
            ("\n    a\n    ", "a"),
            // If a line is indented less than the closing tag, the layout is not a tree.
            ("\na\n  b\n    ", "a\n  b\n    "),
            ("\n\tx\n    ", "\tx\n    "),
        ] {
            assert_eq!(
                trim_value(text, ValueDecoding::TrimLineEnds),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn bare_and_xml_values_lose_newlines_only_if_both_sides_have_one() {
        for decoding in [ValueDecoding::Bare, ValueDecoding::Xml] {
            assert_eq!(trim_value("\n서울\n", decoding), "서울");
            assert_eq!(trim_value("a\nb\n", decoding), "a\nb\n");
            assert_eq!(trim_value("\na", decoding), "\na");
            assert_eq!(trim_value(" a ", decoding), " a ");
        }
        assert_eq!(trim_value("\n&lt;b&gt;\n", ValueDecoding::Xml), "<b>");
        assert_eq!(trim_value("&lt;", ValueDecoding::Bare), "&lt;");
    }
}

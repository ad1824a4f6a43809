//! Splits and cleans untrusted text that is quoted in a prompt or on screen, and restores line
//! endings after an edit.

use super::invisible::Invisible;
use super::line_diff::{LineChange, diff_lines};
use std::collections::VecDeque;

/// Splits text at every character that any program treats as a line break, so every line of a
/// quotation gets its quote mark.
pub fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let line_breaks = [
            '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
        ];
        let Some(end) = text.find(line_breaks) else {
            return rest.take();
        };
        let after = &text[end..];
        let break_bytes = match after.starts_with("\r\n") {
            true => 2,
            false => after.chars().next().map_or(1, char::len_utf8),
        };
        rest = Some(&after[break_bytes..]);
        Some(&text[..end])
    })
}

/// Restores the line endings of `original` in a text that was edited with `\n` as line ending. A new
/// line gets the ending of the line it replaces, or else the common ending of all lines, or else `\n`.
/// O(n), with a bounded search for common lines.
pub fn restore_line_endings(original: &str, edited: &str) -> String {
    if !original.contains('\r') {
        return edited.to_owned();
    }
    let (old, old_ends) = lines_and_endings(original);
    let new: Vec<&str> = edited.split('\n').collect();
    let first = old_ends.first().copied().unwrap_or("\n");
    let is_uniform = old_ends[..old.len() - 1].iter().all(|end| *end == first);
    let usual = if is_uniform { first } else { "\n" };
    let mut old_ends = old_ends.into_iter();
    let mut replaced = VecDeque::new();
    let mut text = String::with_capacity(edited.len() + new.len());
    let mut last_end = "";
    for (change, line) in diff_lines(&old, &new) {
        let end = match change {
            LineChange::Removed => {
                replaced.extend(old_ends.next());
                continue;
            }
            LineChange::Same => {
                replaced.clear();
                old_ends.next()
            }
            LineChange::Added => replaced.pop_front(),
        };
        text.push_str(last_end);
        text.push_str(line);
        last_end = end.filter(|end| !end.is_empty()).unwrap_or(usual);
    }
    text
}

/// The lines of a text, and the `\n`, `\r\n` or `\r` after each; the last has none.
fn lines_and_endings(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut lines, mut ends) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find(['\n', '\r']) {
        let length = if rest[at..].starts_with("\r\n") { 2 } else { 1 };
        lines.push(&rest[..at]);
        ends.push(&rest[at..at + length]);
        rest = &rest[at + length..];
    }
    lines.push(rest);
    ends.push("");
    (lines, ends)
}

/// Removes bidirectional controls, tags, Han variation selectors and control characters other than
/// tab.
pub fn strip_hidden_controls(line: &str) -> String {
    line.chars().filter(|&c| !is_hidden_control(c)).collect()
}

fn is_hidden_control(c: char) -> bool {
    use Invisible::{Bidi, Control, HanSelector, Tag};
    // Joiners and the variation selectors of emoji and Mongolian are kept: legitimate text needs
    // them.
    match Invisible::classify(c) {
        Some(Control) => c != '\t',
        kind => matches!(kind, Some(Bidi | Tag | HanSelector)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_at_every_kind_of_line_break() {
        let text = "a\rb\u{2028}c\u{2029}d\u{b}e\u{c}f\u{85}g\r\nh\n\ni";
        let lines: Vec<&str> = split_lines(text).collect();
        assert_eq!(lines, ["a", "b", "c", "d", "e", "f", "g", "h", "", "i"]);
        assert_eq!(split_lines("").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn line_endings_survive_an_edit() {
        for (original, edited, expected) in [
            ("a\r\nb\rc\nd", "a\nb\nc\nd", "a\r\nb\rc\nd"),
            ("a\r\nb\rc\nd", "a\nB\nc\nd", "a\r\nB\rc\nd"),
            ("a\r\nb\r\n", "a\nx\nb\n", "a\r\nx\r\nb\r\n"),
            ("a\r\nb\nc", "a\nx\nb\nc", "a\r\nx\nb\nc"),
            ("a\r\nb", "a\nb\nc", "a\r\nb\r\nc"),
            ("a\r\nb\r\n", "a\nb", "a\r\nb"),
            ("a\r\nb\r\nc", "c", "c"),
            ("a\r", "a\n", "a\r"),
            ("\r\n\r", "\n\n", "\r\n\r"),
            ("a\nb", "b\na", "b\na"),
        ] {
            assert_eq!(
                restore_line_endings(original, edited),
                expected,
                "{original:?}"
            );
        }
    }

    #[test]
    fn hidden_controls_are_stripped_and_tabs_kept() {
        let line = strip_hidden_controls("\u{202e}왼\u{2066}쪽\t\u{e0041}\u{1b}[31m");
        assert_eq!(line, "왼쪽\t[31m");
    }
}

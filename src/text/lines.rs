//! Splits and cleans untrusted text that is quoted in a prompt or on screen.

use super::invisible::Invisible;

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
    fn hidden_controls_are_stripped_and_tabs_kept() {
        let line = strip_hidden_controls("\u{202e}왼\u{2066}쪽\t\u{e0041}\u{1b}[31m");
        assert_eq!(line, "왼쪽\t[31m");
    }
}

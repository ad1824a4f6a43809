//! Completes unfinished syntax at the end of streamed text: `**bold` is bold from its first letter
//! on, and no delimiter appears only to vanish with the next token.

use super::emphasis::{OpenRun, emphasis_runs};
use super::line_syntax::{self, is_blank};
use super::math::{TextEnd, mask_math, math_spans};
use super::scan::BlockScanner;
use std::ops::Range;

/// Delimiters of emphasis that is not closed within this many bytes are shown as text.
const EMPHASIS_BYTES_MAX: usize = 240;
/// An unfinished link has at most this many bytes.
const LINK_BYTES_MAX: usize = 400;
/// An unfinished character reference has at most this many bytes.
const REFERENCE_BYTES_MAX: usize = 9;
const CHECKBOX_STARTS: [&str; 7] = ["[", "[ ", "[x", "[X", "[ ]", "[x]", "[X]"];

/// The number of bytes of an unfinished line that can be shown: none while its first characters are
/// ambiguous, otherwise all.
pub fn visible_length(text: &str, scanner: &BlockScanner) -> usize {
    if is_blank(text) || scanner.could_close_fence(text) {
        return 0;
    }
    if scanner.is_in_fence() {
        return text.len();
    }
    let mut start = 0;
    loop {
        start += line_syntax::indent(&text[start..]);
        let rest = &text[start..];
        match line_syntax::list_marker(rest) {
            _ if rest.starts_with('>') => start += 1,
            Some(marker) if marker.columns < rest.len() => start += marker.columns,
            _ if rest.is_empty() || is_undecided(rest) => return 0,
            _ => return text.len(),
        }
    }
}

/// Whether the text could still become the start of more than one construct.
fn is_undecided(text: &str) -> bool {
    let Some(first) = text.bytes().next() else {
        return false;
    };
    let is_single_run = text.bytes().all(|byte| byte == first);
    let digits = text.trim_end_matches(['.', ')']);
    match first {
        b'`' | b'~' => is_single_run && text.len() < 3,
        b'-' | b'*' | b'_' | b'+' | b'=' => is_single_run && text.len() <= 3,
        b'#' => is_single_run && text.len() <= 6,
        b'0'..=b'9' => {
            digits.len() + 1 >= text.len()
                && digits.len() <= 9
                && digits.bytes().all(|byte| byte.is_ascii_digit())
        }
        b'[' => CHECKBOX_STARTS.contains(&text),
        _ => false,
    }
}

/// Closes open constructs at the end of a paragraph and drops trailing delimiters, which may yet
/// open or close a construct. Returns the ranges of math, which is left as it is. O(len).
pub fn close_pending(text: &mut String) -> Vec<Range<usize>> {
    let math = math_spans(text, TextEnd::Growing);
    if math.is_empty() {
        close_constructs(text);
        return math;
    }
    let masked = mask_math(text, &math);
    let mut closed = masked.clone();
    close_constructs(&mut closed);
    let pairs = masked.bytes().zip(closed.bytes());
    let kept = pairs.take_while(|(before, after)| before == after).count();
    text.truncate(kept);
    text.push_str(&closed[kept..]);
    math
}

fn close_constructs(text: &mut String) {
    let trimmed = text
        .trim_end_matches(['*', '_', '`', '~', ' '])
        .trim_end_matches('\\');
    let end = strip_link_start(trimmed).len();
    text.truncate(end);
    let is_near_end = |open: &OpenRun| end - open.start <= EMPHASIS_BYTES_MAX;
    let mut open_runs = emphasis_runs(text).open_runs;
    open_runs.retain(is_near_end);
    let code_span = open_runs.iter().position(|open| open.delimiter == b'`');
    match code_span {
        // Nothing else can be open inside a code span.
        Some(code_span) => open_runs.truncate(code_span + 1),
        None => close_pending_link(text),
    }
    for open in open_runs.iter().rev() {
        // A delimiter after a letter or digit counts only once it is closed.
        let before = text
            .get(..open.start)
            .and_then(|text| text.chars().next_back());
        if open.delimiter == b'`' || before.is_none_or(|c| !c.is_ascii_alphanumeric()) {
            let delimiter = char::from(open.delimiter);
            text.extend(std::iter::repeat_n(delimiter, open.length));
        }
    }
}

/// Strips a trailing `[`, `!` or `![` that may start a link or image. Keeps `[` in a word and `!`
/// after one.
fn strip_link_start(text: &str) -> &str {
    let is_start = |rest: &&str, is_edge: fn(char) -> bool| {
        let before = rest.chars().next_back();
        before.is_none_or(is_edge)
    };
    let before_bracket = text
        .strip_suffix('[')
        .filter(|rest| is_start(rest, |c| !c.is_ascii_alphanumeric() && c != ']'));
    let rest = before_bracket.unwrap_or(text);
    let before_image = rest
        .strip_suffix('!')
        .filter(|rest| is_start(rest, |c| matches!(c, ' ' | '[' | '\n')));
    match before_image {
        Some(rest) => rest.strip_suffix('[').unwrap_or(rest),
        None => rest,
    }
}

/// Completes or removes an unfinished link, autolink or character reference.
fn close_pending_link(text: &mut String) {
    let search_start = text.floor_char_boundary(text.len().saturating_sub(LINK_BYTES_MAX));
    if let Some(start) = text[search_start..]
        .rfind('&')
        .map(|start| search_start + start)
        && text.len() - start <= REFERENCE_BYTES_MAX
        && text[start + 1..]
            .bytes()
            .all(|byte| byte == b'#' || byte.is_ascii_alphanumeric())
    {
        return text.truncate(start);
    }
    if let Some(start) = text[search_start..]
        .rfind('<')
        .map(|start| search_start + start)
        && !text[start..].contains(['>', ' ', '\n'])
    {
        let scheme_start = &text[start + 1..];
        match ["https://", "http://"]
            .iter()
            .any(|scheme| scheme.starts_with(scheme_start))
        {
            true => text.truncate(start),
            false if scheme_start.starts_with("http") => text.push('>'),
            false => {}
        }
        return;
    }
    let Some(start) = text[search_start..]
        .rfind('[')
        .map(|start| search_start + start)
    else {
        return;
    };
    // A badge is an image inside a link: `[![badge](image)](https://exam`.
    let is_badge = text[..start].ends_with("[!");
    let Some(end) = text[start..].find(']').map(|end| start + end) else {
        close_link_text(text, start);
        return close_badge(text, is_badge);
    };
    match &text.as_bytes()[end + 1..] {
        [] => close_link_text(text, start),
        [b'(', ..] => match close_link_target(text, end + 2) {
            Some(end) if is_badge && text[end..].starts_with("](") => {
                close_link_target(text, end + 2);
                return;
            }
            Some(end) if is_badge && text.len() > end => return text.push_str("()"),
            _ => {}
        },
        _ => return,
    }
    close_badge(text, is_badge);
}

fn close_badge(text: &mut String, is_badge: bool) {
    if is_badge {
        text.push_str("]()");
    }
}

/// Completes `[text` as a link, but not `list[0`, `[1` or a label.
fn close_link_text(text: &mut String, start: usize) {
    let before = text[..start].chars().next_back();
    let first = text[start + 1..].chars().next();
    let is_link = first.is_some_and(char::is_alphabetic) && !text[start..].contains('\n');
    if is_link && before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != ']') {
        let closing = if text.ends_with(']') { "()" } else { "]()" };
        text.push_str(closing);
    }
}

/// Completes the link target that starts at `start`, such as `https://exam`, and drops an
/// unfinished title. Returns the end of the target if it was already complete.
fn close_link_target(text: &mut String, start: usize) -> Option<usize> {
    let mut depth = 1;
    let mut end = text.len();
    for (index, c) in text[start..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ' ' if text[start + index..].starts_with(" \"") => {
                end = start + index;
                break;
            }
            ' ' | '\n' | '<' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(start + index + 1);
        }
    }
    text.truncate(end);
    text.extend(std::iter::repeat_n(')', depth));
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(text: &str) -> String {
        let mut text = text.to_owned();
        close_pending(&mut text);
        text
    }

    #[test]
    fn pending_markdown_constructs_are_closed_or_dropped() {
        assert_eq!(completed("a **b"), "a **b**");
        assert_eq!(completed("a **b*"), "a **b**");
        assert_eq!(completed("a **b *c "), "a **b *c***");
        assert_eq!(completed("see `x"), "see `x`");
        assert_eq!(completed("[a](https://b"), "[a](https://b)");
        assert_eq!(completed("[a](https://b/(c"), "[a](https://b/(c))");
        assert_eq!(completed("[a](https://b \"ti"), "[a](https://b)");
        assert_eq!(completed("see [the do"), "see [the do]()");
        assert_eq!(completed("see [the docs]"), "see [the docs]()");
        assert_eq!(completed("see <https://a."), "see <https://a.>");
        assert_eq!(completed("see <htt"), "see ");
        assert_eq!(completed("a &am"), "a ");
        assert_eq!(completed("a **"), "a");
        assert_eq!(completed("`` a ` b"), "`` a ` b``");
        assert_eq!(completed("料金は[公式"), "料金は[公式]()");
        assert_eq!(completed("[![Bui"), "[![Bui]()]()");
        assert_eq!(completed("[![B](https://i"), "[![B](https://i)]()");
        assert_eq!(completed("[![B](i)"), "[![B](i)]()");
        assert_eq!(completed("[![B](i)]"), "[![B](i)]()");
        assert_eq!(completed("[![B](i)](https://c"), "[![B](i)](https://c)");
        assert_eq!(completed("**굵게"), "**굵게**");
    }

    #[test]
    fn complete_or_literal_markdown_is_unchanged() {
        assert_eq!(completed("a **b** c"), "a **b** c");
        assert_eq!(completed("2*3"), "2*3");
        assert_eq!(completed("list[0"), "list[0");
        assert_eq!(completed("see [1"), "see [1");
        assert_eq!(completed("[a](b) c"), "[a](b) c");
        assert_eq!(completed("[![B](i)](c) d"), "[![B](i)](c) d");
        assert_eq!(completed("[docs][do"), "[docs][do");
        assert_eq!(completed("Hello!"), "Hello!");
        assert_eq!(
            completed(&format!("*{}", "a".repeat(300))),
            format!("*{}", "a".repeat(300))
        );
    }

    #[test]
    fn ambiguous_line_starts_are_withheld() {
        let scanner = BlockScanner::default();
        for text in [
            "-", "- ", "1. - ", "**", "1", "1.", "- *", "> #", "``", "  --", "- [x",
        ] {
            assert_eq!(visible_length(text, &scanner), 0, "{text}");
        }
        for text in ["- a", "*a", "1. a", "2024 ", "```", "- [link", "---- "] {
            assert_eq!(visible_length(text, &scanner), text.len(), "{text}");
        }
    }
}

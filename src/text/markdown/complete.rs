//! What is still coming in, as it will look once it is whole: `**bold` is bold from
//! its first letter on, and no sign appears only to vanish with the next token.

use super::delimiter::delimiters;
use super::line::{self, is_blank};
use super::scan::Scanner;

/// Emphasis that is not closed within so many bytes is taken for signs.
const EMPHASIS_BYTES_MAX: usize = 240;
/// A link's target that is still coming in.
const TARGET_BYTES_MAX: usize = 400;
/// What may become a task's box.
const BOXES: [&str; 6] = ["[", "[ ", "[x", "[X", "[ ]", "[x]"];

/// The bytes of a line that is still coming in that can be shown: all but signs at
/// its beginning of which nobody knows yet what they begin.
pub fn shown(text: &str, scanner: &Scanner) -> usize {
    if is_blank(text) || scanner.may_close_fence(text) {
        return 0;
    }
    if scanner.is_in_fence() {
        return text.len();
    }
    let (mut at, mut begun) = (0, false);
    loop {
        at += line::indent(&text[at..]);
        let rest = &text[at..];
        match line::marker(rest) {
            _ if rest.starts_with('>') => at += 1,
            Some(marker) if marker.columns < rest.len() => at += marker.columns,
            _ if !is_undecided(rest) => return text.len(),
            _ if begun => return at,
            _ => return 0,
        }
        begun = true;
    }
}

/// Could this be the beginning of different things?
fn is_undecided(text: &str) -> bool {
    let Some(sign) = text.bytes().next() else {
        return false;
    };
    let same = text.bytes().all(|byte| byte == sign);
    let digits = text.trim_end_matches(['.', ')']);
    match sign {
        b'`' | b'~' => same && text.len() < 3,
        b'-' | b'*' | b'_' | b'+' | b'=' => same && text.len() <= 3,
        b'#' => same && text.len() <= 6,
        b'0'..=b'9' => {
            digits.len() + 1 >= text.len()
                && digits.len() <= 9
                && digits.bytes().all(|byte| byte.is_ascii_digit())
        }
        b'[' => BOXES.contains(&text),
        _ => false,
    }
}

/// Closes what is open at the end of a paragraph, and takes signs at its very end
/// away that may begin or close something. O(len).
pub fn complete(text: &mut String) {
    let kept = text.trim_end_matches(['*', '_', '`', '~', ' ']);
    let kept = kept.trim_end_matches('\\').len();
    text.truncate(kept);
    let near = |at: usize| kept - at <= EMPHASIS_BYTES_MAX;
    let open = delimiters(text).open;
    let ticks = open.iter().find(|open| open.sign == b'`');
    if ticks.is_none_or(|ticks| !near(ticks.at)) {
        close_link(text);
    }
    for open in open.iter().rev().filter(|open| near(open.at)) {
        // Within a word only a sign that is closed counts.
        let before = text[..open.at].chars().next_back();
        if open.sign == b'`' || before.is_none_or(|c| !c.is_ascii_alphanumeric()) {
            let sign = char::from(open.sign);
            text.extend(std::iter::repeat_n(sign, open.length));
        }
    }
}

/// `[words](https://exam` is a link already.
fn close_link(text: &mut String) {
    let Some(at) = text.rfind("](") else { return };
    let target = &text[at + 2..];
    let plain = |c: char| !c.is_whitespace() && !matches!(c, '(' | ')' | '<' | '>');
    if target.len() <= TARGET_BYTES_MAX && target.chars().all(plain) {
        text.push(')');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(text: &str) -> String {
        let mut text = text.to_owned();
        complete(&mut text);
        text
    }

    #[test]
    fn what_is_begun_is_closed() {
        assert_eq!(completed("a **b"), "a **b**");
        assert_eq!(completed("a **b*"), "a **b**");
        assert_eq!(completed("a **b *c "), "a **b *c***");
        assert_eq!(completed("see `x"), "see `x`");
        assert_eq!(completed("[a](https://b"), "[a](https://b)");
        assert_eq!(completed("**굵게"), "**굵게**");
    }

    #[test]
    fn what_is_whole_or_no_sign_stays() {
        assert_eq!(completed("a **b** c"), "a **b** c");
        assert_eq!(completed("2*3"), "2*3");
        assert_eq!(completed("a **"), "a");
        assert_eq!(
            completed(&format!("*{}", "a".repeat(300))),
            format!("*{}", "a".repeat(300))
        );
    }

    #[test]
    fn signs_that_may_begin_different_things_wait() {
        let scanner = Scanner::default();
        for text in ["-", "**", "1", "1.", "- *", "> #", "``", "  --", "- [x"] {
            assert!(shown(text, &scanner) < text.len(), "{text}");
        }
        for text in ["- a", "*a", "1. a", "2024 ", "```", "- [link", "---- "] {
            assert_eq!(shown(text, &scanner), text.len(), "{text}");
        }
    }
}

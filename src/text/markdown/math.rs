//! Finds TeX math in the text of a leaf: `\(…\)`, `\[…\]`, `$…$` and `$$…$$`. Math is shown exactly
//! as written, because a lost backslash changes a formula. Anything else, such as a price, keeps
//! the meaning that CommonMark gives it.

use super::unclosed_backticks::UnclosedBackticks;
use std::ops::Range;

/// Maximum length of `$…$` in bytes. It never spans lines, so that two prices are rarely mistaken
/// for math.
const SINGLE_DOLLAR_BYTES_MAX: usize = 400;

/// Whether the text may still grow, in which case unclosed math extends to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEnd {
    Final,
    Growing,
}

/// The byte ranges of all math in `text`, delimiters included, in order. O(len).
pub fn math_spans(text: &str, end: TextEnd) -> Vec<Range<usize>> {
    let mut scan = MathScan::new(text, end);
    let mut spans = Vec::new();
    let mut position = 0;
    while let Some(start) = scan.next_candidate(position) {
        position = match scan.math_end(start) {
            Some(end) => {
                spans.push(start..end);
                end
            }
            None => scan.after_candidate(start),
        };
    }
    spans
}

/// Replaces each byte of math with a full stop, so that no search for other syntax finds anything
/// in it. Offsets stay the same.
pub fn mask_math(text: &str, spans: &[Range<usize>]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    for span in spans {
        masked.push_str(&text[copied..span.start]);
        masked.extend(std::iter::repeat_n('.', span.len()));
        copied = span.end;
    }
    masked.push_str(&text[copied..]);
    masked
}

/// The delimiter that closes display math, if `line` opens it: a line of `$$`, or a line that
/// starts with `\[` and does not close it.
pub fn opens_display_math(line: &str) -> Option<&'static str> {
    let line = line.trim();
    match line.strip_prefix("\\[") {
        Some(rest) => (!rest.contains("\\]")).then_some("\\]"),
        None => (line == "$$").then_some("$$"),
    }
}

struct MathScan<'a> {
    text: &'a str,
    end: TextEnd,
    /// For each kind of delimiter (`\(`, `\[` and `$$`): nothing closes it in the rest of the text.
    is_unclosed: [bool; 3],
    unclosed_backticks: UnclosedBackticks,
}

impl<'a> MathScan<'a> {
    fn new(text: &'a str, end: TextEnd) -> Self {
        Self {
            text,
            end,
            is_unclosed: [false; 3],
            unclosed_backticks: UnclosedBackticks::default(),
        }
    }

    fn next_candidate(&self, position: usize) -> Option<usize> {
        let mut bytes = self.text.as_bytes()[position..].iter();
        let distance = bytes.position(|byte| matches!(byte, b'\\' | b'$' | b'`'))?;
        Some(position + distance)
    }

    fn math_end(&mut self, start: usize) -> Option<usize> {
        let rest = &self.text[start..];
        if rest.starts_with("\\(") {
            self.find_close(start, "\\)", 0)
        } else if rest.starts_with("\\[") {
            // `\[text\](url)` is an escaped link.
            let end = self.find_close(start, "\\]", 1)?;
            (!self.text[end..].starts_with('(')).then_some(end)
        } else if rest.starts_with("$$") {
            self.find_close(start, "$$", 2)
        } else if rest.starts_with('$') {
            self.single_dollar_end(start)
        } else {
            None
        }
    }

    /// The end of `close` after the two-byte delimiter at `start`, ignoring escaped characters.
    fn find_close(&mut self, start: usize, close: &str, kind: usize) -> Option<usize> {
        if self.is_unclosed[kind] {
            return None;
        }
        let bytes = self.text.as_bytes();
        let mut position = start + 2;
        while position < bytes.len() {
            if bytes[position..].starts_with(close.as_bytes()) {
                return Some(position + close.len());
            }
            position += if bytes[position] == b'\\' { 2 } else { 1 };
        }
        self.is_unclosed[kind] = true;
        (self.end == TextEnd::Growing).then_some(bytes.len())
    }

    /// The end of `$…$`. As in Pandoc, but stricter, so that prices stay text: no space inside
    /// either delimiter, and no letter or digit outside.
    fn single_dollar_end(&self, start: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let before = start.checked_sub(1).and_then(|index| bytes.get(index));
        let first = bytes.get(start + 1)?;
        if is_word(before) || first.is_ascii_whitespace() {
            return None;
        }
        let limit = bytes.len().min(start + SINGLE_DOLLAR_BYTES_MAX);
        let mut position = start + 1;
        let mut has_command = false;
        while position < limit {
            match bytes[position] {
                b'\n' | b'`' => return None,
                b'\\' => {
                    has_command = true;
                    position += 1;
                }
                b'$' if !bytes[position - 1].is_ascii_whitespace()
                    && !is_word(bytes.get(position + 1)) =>
                {
                    return Some(position + 1);
                }
                _ => {}
            }
            position += 1;
        }
        // Without a TeX command it may just as well be a price.
        let is_open = self.end == TextEnd::Growing && has_command && limit == bytes.len();
        is_open.then_some(limit)
    }

    /// Where to continue after a candidate that does not start math.
    fn after_candidate(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        if bytes[start] == b'\\' {
            let escaped = self.text[start + 1..].chars().next();
            return start + 1 + escaped.map_or(0, char::len_utf8);
        }
        let run = bytes[start..].iter();
        let length = run.take_while(|byte| **byte == bytes[start]).count();
        let run_end = start + length;
        match bytes[start] {
            b'`' => self.code_span_end(run_end, length).unwrap_or(run_end),
            _ => run_end,
        }
    }

    /// The end of the code span whose opening run of `length` backticks ends at `position`.
    fn code_span_end(&mut self, mut position: usize, length: usize) -> Option<usize> {
        let unclosed = &mut self.unclosed_backticks;
        if unclosed.contains(self.text, length, position) {
            return None;
        }
        let bytes = self.text.as_bytes();
        while let Some(distance) = bytes[position..].iter().position(|byte| *byte == b'`') {
            position += distance;
            let run = bytes[position..].iter();
            let run = run.take_while(|byte| **byte == b'`').count();
            position += run;
            if run == length {
                return Some(position);
            }
        }
        unclosed.insert(length);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, end: TextEnd) -> Vec<&str> {
        let spans = math_spans(text, end).into_iter();
        spans.map(|span| &text[span]).collect()
    }

    #[test]
    fn each_pair_of_delimiters_encloses_math() {
        let text = r"a \( x \, y \) b \[ \{ 1 \\ 2 \} \] c $a\;b$는 $$ \\ z $$";
        let spans = [
            r"\( x \, y \)",
            r"\[ \{ 1 \\ 2 \} \]",
            r"$a\;b$",
            r"$$ \\ z $$",
        ];
        assert_eq!(found(text, TextEnd::Final), spans);
        assert_eq!(found("$$\na\n$$", TextEnd::Final), ["$$\na\n$$"]);
    }

    #[test]
    fn prices_escapes_and_code_are_not_math() {
        for text in [
            "from $5 to $10",
            "**$5** and `$x$`",
            r"\$5 and \$6",
            r"\*not\* \# \_a\_",
            r"\[text\](https://a.b)",
            r"`\(` and ``a ` \(`` x",
            "US$5 or A$6",
            "$a\nb$",
            r"\\( a \\) is a line break",
        ] {
            let spans = found(text, TextEnd::Final);
            assert_eq!(spans, [""; 0], "{text}");
        }
    }

    #[test]
    fn unclosed_math_extends_to_the_end_while_text_arrives() {
        for (text, math) in [
            (r"so \( x \,", r"\( x \,"),
            ("so $$\nx", "$$\nx"),
            (r"so $\int x", r"$\int x"),
        ] {
            assert_eq!(found(text, TextEnd::Growing), [math]);
            assert_eq!(found(text, TextEnd::Final), [""; 0]);
        }
        assert_eq!(found("costs $5 or *two", TextEnd::Growing), [""; 0]);
    }

    #[test]
    fn masking_math_keeps_every_offset() {
        let text = "한 $a*b$ *c*";
        let spans = math_spans(text, TextEnd::Final);
        assert_eq!(mask_math(text, &spans), "한 ..... *c*");
    }

    #[test]
    fn dollars_in_code_of_long_backtick_runs_are_not_math() {
        let (eight, nine) = ("`".repeat(8), "`".repeat(9));
        let text = format!("{eight} {nine} $a\\;b$ {nine}");
        assert!(found(&text, TextEnd::Final).is_empty());
    }
}

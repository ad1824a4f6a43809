//! Finds delimiter runs of emphasis and code: those still open at the end of a text, and those that
//! CommonMark would treat as literal text for lack of a space. In `**단어(word)**는`, CommonMark does
//! not let the second run close, because it is between punctuation and a letter. Such text is
//! common in Korean, Chinese and Japanese.

use super::unclosed_backticks::UnclosedBackticks;

/// An unclosed opening run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenRun {
    pub delimiter: u8,
    pub length: usize,
    /// Byte offset in the text.
    pub start: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmphasisRuns {
    /// Outermost first. Unclosed backticks are included; runs after them count all the same.
    pub open_runs: Vec<OpenRun>,
    /// Offsets at which an inserted invisible space makes a run open or close.
    pub invisible_spaces: Vec<usize>,
}

#[cfg(test)]
thread_local! {
    /// Bytes searched for delimiters, for which tests set a bound.
    pub static BYTES_SEARCHED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn count_searched(_bytes: usize) {
    #[cfg(test)]
    BYTES_SEARCHED.set(BYTES_SEARCHED.get() + _bytes);
}

fn is_space(c: Option<char>) -> bool {
    c.is_none_or(char::is_whitespace)
}

fn is_punctuation(c: Option<char>) -> bool {
    c.is_some_and(|c| !c.is_alphanumeric() && !c.is_whitespace())
}

/// Whether `c` is a letter of a script that puts no spaces between words, or none between a word
/// and its particles.
fn is_cjk(c: Option<char>) -> bool {
    c.is_some_and(|c| {
        c.is_alphanumeric()
            && matches!(c, '\u{1100}'..='\u{11FF}' | '\u{2E80}'..='\u{A4CF}' | '\u{A960}'..='\u{A97F}'
                | '\u{AC00}'..='\u{D7FF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FFDC}'
                | '\u{20000}'..='\u{3FFFF}')
    })
}

/// A run of one delimiter character, and its neighbors.
struct DelimiterRun {
    delimiter: u8,
    length: usize,
    start: usize,
    before: Option<char>,
    after: Option<char>,
}

impl DelimiterRun {
    fn is_left_flanking(&self) -> bool {
        let is_edge = is_space(self.before) || is_punctuation(self.before);
        !is_space(self.after) && (!is_punctuation(self.after) || is_edge)
    }

    fn is_right_flanking(&self) -> bool {
        let is_edge = is_space(self.after) || is_punctuation(self.after);
        !is_space(self.before) && (!is_punctuation(self.before) || is_edge)
    }

    fn can_close(&self) -> bool {
        let is_inside_word = self.is_left_flanking() && !is_punctuation(self.after);
        self.is_right_flanking() && (self.delimiter != b'_' || !is_inside_word)
    }

    fn can_open(&self) -> bool {
        let is_inside_word = self.is_right_flanking() && !is_punctuation(self.before);
        self.is_left_flanking() && (self.delimiter != b'_' || !is_inside_word)
    }

    fn end(&self) -> usize {
        self.start + self.length
    }
}

/// Ignores escaped delimiters.
fn next_run(text: &str, mut start: usize) -> Option<DelimiterRun> {
    let bytes = text.as_bytes();
    loop {
        let is_delimiter = |byte: &u8| matches!(byte, b'\\' | b'`' | b'*' | b'_' | b'~');
        start += bytes[start..].iter().position(is_delimiter)?;
        let delimiter = bytes[start];
        if delimiter == b'\\' {
            start += 1 + text[start + 1..].chars().next().map_or(0, char::len_utf8);
            continue;
        }
        let length = bytes[start..]
            .iter()
            .take_while(|byte| **byte == delimiter)
            .count();
        return Some(DelimiterRun {
            delimiter,
            length,
            start,
            before: text[..start].chars().next_back(),
            after: text[start + length..].chars().next(),
        });
    }
}

/// Scans the delimiter runs of `text`. O(len).
pub fn emphasis_runs(text: &str) -> EmphasisRuns {
    count_searched(text.len());
    let mut runs = EmphasisRuns::default();
    let mut unclosed = UnclosedBackticks::default();
    let mut position = 0;
    while let Some(run) = next_run(text, position) {
        position = run.end();
        if run.delimiter != b'`' {
            runs.push_run(&run);
            continue;
        }
        let closing = match unclosed.contains(text, run.length, run.end()) {
            true => None,
            false => closing_backticks_end(text, &run),
        };
        match closing {
            Some(end) => position = end,
            None => {
                // Only the first unclosed run of each length is open.
                if !unclosed.insert(run.length) {
                    continue;
                }
                runs.open_runs.push(OpenRun {
                    delimiter: run.delimiter,
                    length: run.length,
                    start: run.start,
                });
            }
        }
    }
    runs
}

/// The first space at or after `from` where no run is open. It depends only on the text before it,
/// so appended text never moves it. There is none after unclosed backticks. O(len).
pub fn safe_break_space(text: &str, from: usize) -> Option<usize> {
    count_searched(text.len());
    let mut runs = EmphasisRuns::default();
    let mut position = 0;
    loop {
        let run = next_run(text, position);
        let end = run.as_ref().map_or(text.len(), |run| run.start);
        if runs.open_runs.is_empty() && from < end {
            let start = position.max(from);
            let mut bytes = text.as_bytes()[start..end].iter();
            if let Some(space) = bytes.position(|byte| *byte == b' ') {
                return Some(start + space);
            }
        }
        let run = run?;
        position = run.end();
        if run.delimiter == b'`' {
            position = closing_backticks_end(text, &run)?;
        } else {
            runs.push_run(&run);
        }
    }
}

fn closing_backticks_end(text: &str, run: &DelimiterRun) -> Option<usize> {
    let mut position = run.end();
    loop {
        let distance = text.as_bytes()[position..]
            .iter()
            .position(|byte| *byte == b'`');
        count_searched(distance.unwrap_or(text.len() - position));
        position += distance?;
        let length = text.as_bytes()[position..]
            .iter()
            .take_while(|byte| **byte == b'`')
            .count();
        position += length;
        if length == run.length {
            return Some(position);
        }
    }
}

impl EmphasisRuns {
    /// Closes the open runs that `run` matches, or opens a run.
    fn push_run(&mut self, run: &DelimiterRun) {
        if run.delimiter == b'~' && run.length != 2 {
            return;
        }
        let opener = self
            .open_runs
            .iter()
            .rposition(|open| open.delimiter == run.delimiter);
        // `_` opens only at the edge of a word, so a later one inside a word is meant to close it.
        let is_edge = is_punctuation(run.before) || run.delimiter == b'_' && !is_space(run.before);
        let is_edge_in_cjk = is_edge && is_cjk(run.after);
        if let Some(mut opener) = opener
            && (run.can_close() || is_edge_in_cjk)
        {
            if !run.can_close() {
                self.invisible_spaces.push(run.end());
            }
            let mut remaining = run.length;
            loop {
                self.open_runs.truncate(opener + 1);
                let open = &mut self.open_runs[opener];
                let closed = open.length.min(remaining);
                open.length -= closed;
                remaining -= closed;
                if open.length == 0 {
                    self.open_runs.pop();
                }
                let next = self
                    .open_runs
                    .iter()
                    .rposition(|open| open.delimiter == run.delimiter);
                match next {
                    Some(next) if remaining > 0 => opener = next,
                    _ => return,
                }
            }
        }
        let is_edge_in_cjk = is_cjk(run.before) && is_punctuation(run.after);
        if run.can_open() || is_edge_in_cjk && run.delimiter != b'_' {
            if !run.can_open() {
                self.invisible_spaces.push(run.start);
            }
            self.open_runs.push(OpenRun {
                delimiter: run.delimiter,
                length: run.length,
                start: run.start,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> Vec<(char, usize)> {
        let open = emphasis_runs(text).open_runs;
        open.iter()
            .map(|open| (char::from(open.delimiter), open.length))
            .collect()
    }

    #[test]
    fn closed_runs_of_delimiters_are_not_reported_as_open() {
        assert_eq!(open("**a** *b* `c` ~~d~~ ***e*** **a *b***"), []);
        assert_eq!(open("**a *b"), [('*', 2), ('*', 1)]);
        assert_eq!(open("~~a `b * c"), [('~', 2), ('`', 1),]);
        assert_eq!(open("***a**"), [('*', 1)]);
    }

    #[test]
    fn break_space_has_no_open_run_before_it() {
        assert_eq!(safe_break_space("a b", 0), Some(1));
        assert_eq!(safe_break_space("a b", 2), None);
        assert_eq!(safe_break_space("*a b* c", 0), Some(5));
        assert_eq!(safe_break_space("`a b` c", 0), Some(5));
        assert_eq!(safe_break_space("``a ` b`` c", 0), Some(9));
        assert_eq!(safe_break_space("a `b c", 2), None);
        assert_eq!(safe_break_space("*a `b* c` d* e", 0), Some(12));
        assert_eq!(safe_break_space("a\\ b", 0), Some(2));
        assert_eq!(safe_break_space("한 글", 1), Some(3));
    }

    #[test]
    fn break_space_does_not_move_when_text_is_appended() {
        let text = "*a `b* c` d* e ``f* ` g`` ~~h _i~~ j_ *k `l";
        for from in 0..text.len() {
            let whole = safe_break_space(text, from);
            for end in whole.unwrap_or(text.len()) + 1..text.len() {
                assert_eq!(safe_break_space(&text[..end], from), whole, "{from}..{end}");
            }
            for end in 0..whole.unwrap_or(text.len()) {
                assert_eq!(safe_break_space(&text[..end], from), None, "{from}..{end}");
            }
        }
    }

    #[test]
    fn delimiters_between_spaces_or_inside_words_are_literal() {
        assert_eq!(open("2 * 3 a_b_c \\*d **"), []);
        assert_eq!(open("_a"), [('_', 1)]);
    }

    #[test]
    fn emphasis_next_to_hangul_opens_and_closes_as_intended() {
        assert_eq!(
            emphasis_runs("**단어(word)**는").invisible_spaces,
            ["**단어(word)**".len()]
        );
        assert_eq!(
            emphasis_runs("이것은**\"말\"**이다").invisible_spaces,
            ["이것은".len(), "이것은**\"말\"**".len()]
        );
        assert_eq!(
            emphasis_runs("\"**말**\"은 **(가)** 나").invisible_spaces,
            [0usize; 0]
        );
        assert_eq!(
            emphasis_runs("_기울임_은").invisible_spaces,
            ["_기울임_".len()]
        );
        assert_eq!(emphasis_runs("변수_이름_값").invisible_spaces, [0usize; 0]);
        assert_eq!(emphasis_runs("a **b** c").invisible_spaces, [0usize; 0]);
    }

    #[test]
    fn long_backtick_runs_of_different_lengths_do_not_share_their_state() {
        let (eight, nine) = ("`".repeat(8), "`".repeat(9));
        // Nothing closes the eight; the nine are code, in which nothing opens.
        let text = format!("{eight} {nine} ~~a {nine}");
        let open = emphasis_runs(&text).open_runs;
        let lengths: Vec<_> = open.iter().map(|run| (run.delimiter, run.length)).collect();
        assert_eq!(lengths, [(b'`', 8)]);
        let text = format!("{eight} {eight} {nine} b");
        let open = emphasis_runs(&text).open_runs;
        assert_eq!(open.iter().map(|run| run.length).collect::<Vec<_>>(), [9]);
    }
}

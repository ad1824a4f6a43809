//! Finds delimiter runs of emphasis and code: those still open at the end of a text, and those that
//! CommonMark would treat as literal because it recognizes word boundaries only at spaces. In
//! `**단어(word)**는`, the second run is between punctuation and a letter and would stay literal;
//! Korean, Chinese and Japanese write so all the time.

/// An unclosed opening run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenRun {
    pub sign: u8,
    pub length: usize,
    /// Byte offset.
    pub at: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmphasisRuns {
    /// Outermost first; an open code span, in which nothing else counts, is last.
    pub open: Vec<OpenRun>,
    /// Offsets at which an inserted invisible space makes a run open or close.
    pub invisible_spaces: Vec<usize>,
}

#[cfg(test)]
thread_local! {
    /// Bytes searched for delimiters; tests bound it.
    pub static BYTES_READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn count_read(_bytes: usize) {
    #[cfg(test)]
    BYTES_READ.set(BYTES_READ.get() + _bytes);
}

fn is_space(c: Option<char>) -> bool {
    c.is_none_or(char::is_whitespace)
}

fn is_punctuation(c: Option<char>) -> bool {
    c.is_some_and(|c| !c.is_alphanumeric() && !c.is_whitespace())
}

/// A letter of a script that does not separate words, or their endings, by spaces.
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
    sign: u8,
    length: usize,
    at: usize,
    before: Option<char>,
    after: Option<char>,
}

impl DelimiterRun {
    fn left_flanking(&self) -> bool {
        let edge = is_space(self.before) || is_punctuation(self.before);
        !is_space(self.after) && (!is_punctuation(self.after) || edge)
    }

    fn right_flanking(&self) -> bool {
        let edge = is_space(self.after) || is_punctuation(self.after);
        !is_space(self.before) && (!is_punctuation(self.before) || edge)
    }

    fn can_close(&self) -> bool {
        let inside = self.left_flanking() && !is_punctuation(self.after);
        self.right_flanking() && (self.sign != b'_' || !inside)
    }

    fn can_open(&self) -> bool {
        let inside = self.right_flanking() && !is_punctuation(self.before);
        self.left_flanking() && (self.sign != b'_' || !inside)
    }

    fn end(&self) -> usize {
        self.at + self.length
    }
}

/// The first run at or after `at`. An escaped delimiter does not count.
fn next_run(text: &str, mut at: usize) -> Option<DelimiterRun> {
    let bytes = text.as_bytes();
    loop {
        let is_sign = |byte: &u8| matches!(byte, b'\\' | b'`' | b'*' | b'_' | b'~');
        at += bytes[at..].iter().position(is_sign)?;
        let sign = bytes[at];
        if sign == b'\\' {
            at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8);
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| **byte == sign).count();
        return Some(DelimiterRun {
            sign,
            length,
            at,
            before: text[..at].chars().next_back(),
            after: text[at + length..].chars().next(),
        });
    }
}

/// Scans the delimiter runs of `text`. O(len), plus one search per length for unclosed backtick
/// runs.
pub fn emphasis_runs(text: &str) -> EmphasisRuns {
    count_read(text.len());
    let mut runs = EmphasisRuns::default();
    let mut unclosed_lengths = [false; 8];
    let mut at = 0;
    while let Some(run) = next_run(text, at) {
        at = run.end();
        if run.sign != b'`' {
            runs.push_run(&run);
            continue;
        }
        let is_unclosed = &mut unclosed_lengths[run.length.min(8) - 1];
        if *is_unclosed {
            continue;
        }
        match closing_backticks_end(text, &run) {
            Some(end) => at = end,
            None => {
                *is_unclosed = true;
                runs.open.push(OpenRun {
                    sign: run.sign,
                    length: run.length,
                    at: run.at,
                });
            }
        }
    }
    runs
}

/// The first space at or after `from` before which no run is open. Depends only on the text before
/// the space, so appended text never moves it. Unclosed backticks leave all following text open.
/// O(len).
pub fn safe_break_space(text: &str, from: usize) -> Option<usize> {
    count_read(text.len());
    let mut runs = EmphasisRuns::default();
    let mut at = 0;
    loop {
        let run = next_run(text, at);
        let end = run.as_ref().map_or(text.len(), |run| run.at);
        if runs.open.is_empty() && from < end {
            let start = at.max(from);
            let mut bytes = text.as_bytes()[start..end].iter();
            if let Some(space) = bytes.position(|byte| *byte == b' ') {
                return Some(start + space);
            }
        }
        let run = run?;
        at = run.end();
        if run.sign == b'`' {
            at = closing_backticks_end(text, &run)?;
        } else {
            runs.push_run(&run);
        }
    }
}

/// The end of the backtick run that closes `run`.
fn closing_backticks_end(text: &str, run: &DelimiterRun) -> Option<usize> {
    let mut at = run.end();
    loop {
        let distance = text.as_bytes()[at..].iter().position(|byte| *byte == b'`');
        count_read(distance.unwrap_or(text.len() - at));
        at += distance?;
        let length = text.as_bytes()[at..]
            .iter()
            .take_while(|byte| **byte == b'`')
            .count();
        at += length;
        if length == run.length {
            return Some(at);
        }
    }
}

impl EmphasisRuns {
    /// Matches a run of emphasis delimiters with the open ones.
    fn push_run(&mut self, run: &DelimiterRun) {
        if run.sign == b'~' && run.length != 2 {
            return;
        }
        let opener = self.open.iter().rposition(|open| open.sign == run.sign);
        // `_` opens only at the edge of a word, so it closes only there too.
        let edge = is_punctuation(run.before) || run.sign == b'_' && !is_space(run.before);
        let is_edge_in_cjk = edge && is_cjk(run.after);
        if let Some(mut opener) = opener
            && (run.can_close() || is_edge_in_cjk)
        {
            if !run.can_close() {
                self.invisible_spaces.push(run.end());
            }
            let mut left = run.length;
            loop {
                self.open.truncate(opener + 1);
                let open = &mut self.open[opener];
                let closed = open.length.min(left);
                open.length -= closed;
                left -= closed;
                if open.length == 0 {
                    self.open.pop();
                }
                let next = self.open.iter().rposition(|open| open.sign == run.sign);
                match next {
                    Some(next) if left > 0 => opener = next,
                    _ => return,
                }
            }
        }
        let is_edge_in_cjk = is_cjk(run.before) && is_punctuation(run.after);
        if run.can_open() || is_edge_in_cjk && run.sign != b'_' {
            if !run.can_open() {
                self.invisible_spaces.push(run.at);
            }
            self.open.push(OpenRun {
                sign: run.sign,
                length: run.length,
                at: run.at,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> Vec<(char, usize)> {
        let open = emphasis_runs(text).open;
        open.iter()
            .map(|open| (char::from(open.sign), open.length))
            .collect()
    }

    #[test]
    fn closed_runs_are_not_reported_as_open() {
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
}

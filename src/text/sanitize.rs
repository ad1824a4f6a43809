//! The only maker of [`Clean`]: text from outside that may reach a terminal.
//! What is saved, copied and sent is the raw text, never this.

use super::escape_sequences::EscapeSequences;
use super::invisible::{
    FilterOutput, HiddenCharPolicy, InvisibleFilter, escape_char, is_printable_ascii_byte,
};
use std::fmt;
use unicode_width::UnicodeWidthChar;

/// Columns from one tab stop to the next: what Markdown counts with.
const TAB_COLUMNS: usize = 4;

/// Text that may be drawn: no control characters but `\n`, no escape sequences,
/// no bidirectional overrides, no invisible tricks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Clean(String);

impl Clean {
    /// Cleans a whole text: escape sequences, control characters, bidirectional
    /// controls and characters without a shape are dropped; `\r\n`, `\r` and the
    /// line ends of Unicode become `\n`, a tab spaces up to the next stop. O(len).
    pub fn new(raw: &str) -> Self {
        Sanitizer::default().push(raw)
    }

    /// For approvals: nothing is dropped, everything unusual is spelt out, such as
    /// `⟨U+202E⟩` and `⟨ESC⟩`. Only `\n` and joiners inside valid clusters stay.
    pub fn escaped(raw: &str) -> Self {
        let mut shown = FilterOutput {
            text: String::with_capacity(raw.len()),
            policy: HiddenCharPolicy::Escape,
        };
        let mut filter = InvisibleFilter::default();
        raw.chars().for_each(|c| filter.push(c, &mut shown));
        filter.finish(&mut shown);
        Self(shown.text)
    }

    /// As [`Clean::spelt_out`], and `⟨` is spelt out too: whatever the text holds, no
    /// two texts are shown alike.
    pub fn unambiguous(raw: &str) -> Self {
        let mut shown = String::with_capacity(raw.len());
        for (index, part) in raw.split('⟨').enumerate() {
            if index > 0 {
                shown.push_str(&escape_char('⟨'));
            }
            shown.push_str(&Self::escaped(part).0);
        }
        Self(shown)
    }

    /// A name among other words. One with blanks in it could pass for several, or push
    /// the rest out of sight: it is quoted as JSON.
    pub fn quoted_if_needed(raw: &str) -> Self {
        let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '"' | '⟨' | '\u{2800}');
        match !raw.is_empty() && raw.chars().all(is_plain) {
            true => Self::unambiguous(raw),
            false => Self::unambiguous(&serde_json::Value::from(raw).to_string()),
        }
    }

    /// A name from outside, such as a tool's: what is hidden is spelt out, line ends
    /// too, and a name that begins or ends in blanks, or is empty, stands in quotation
    /// marks. Two names are never shown alike because of what cannot be seen.
    pub fn name(raw: &str) -> Self {
        // Signs of this spelling itself, and what passes for two spaces.
        let is_odd = |c: char| matches!(c, '\n' | '⟨' | '\u{3000}');
        let mut shown = String::with_capacity(raw.len());
        for part in raw.split_inclusive(is_odd) {
            let text = part.strip_suffix(is_odd).unwrap_or(part);
            shown.push_str(&Self::escaped(text).0);
            let odd = part[text.len()..].chars();
            odd.for_each(|c| shown.push_str(&escape_char(c)));
        }
        let has_edges = raw.trim().len() < raw.len() || raw.is_empty();
        // Only then could it be taken for one that was quoted here.
        let is_quoted = raw.starts_with('"') && raw.ends_with('"');
        if has_edges || is_quoted {
            shown = format!("\"{shown}\"");
        }
        Self(shown)
    }

    /// As [`Clean::new`], on one line: line ends become spaces.
    pub fn single_line(raw: &str) -> Self {
        Self(Self::new(raw).0.replace('\n', " "))
    }

    /// Text of this program itself.
    pub fn from_static(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends what is clean already.
    pub fn append(&mut self, more: &Self) {
        self.0.push_str(&more.0);
    }
}

impl fmt::Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl AsRef<str> for Clean {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<Clean> for String {
    fn from(clean: Clean) -> Self {
        clean.0
    }
}

/// Cleans a stream: a sequence cut between two chunks is recognised all the same.
/// `push` of the parts, joined, equals [`Clean::new`] of the whole. What it holds
/// between chunks is bounded.
#[derive(Debug, Clone, Default)]
pub struct Sanitizer {
    escape_sequences: EscapeSequences,
    filter: InvisibleFilter,
    /// A `\r` was shown as a line end: a `\n` right after it belongs to it.
    after_carriage_return: bool,
    /// Columns since the last line end.
    column: usize,
}

impl Sanitizer {
    pub fn push(&mut self, raw: &str) -> Clean {
        let mut shown = FilterOutput {
            text: String::with_capacity(raw.len()),
            policy: HiddenCharPolicy::Drop,
        };
        let mut rest = raw;
        while let Some(c) = rest.chars().next() {
            let ascii = self.ascii_run(rest);
            if let Some(last) = ascii.chars().next_back() {
                shown.text.push_str(ascii);
                self.filter.note_ascii_run(last);
                self.after_carriage_return = false;
                self.column += ascii.len();
                rest = &rest[ascii.len()..];
            } else {
                self.push_char(c, &mut shown);
                rest = &rest[c.len_utf8()..];
            }
        }
        Clean(shown.text)
    }

    /// The start of `rest` that needs no look at its single characters.
    fn ascii_run<'a>(&self, rest: &'a str) -> &'a str {
        if !self.escape_sequences.is_outside() || !self.filter.accepts_ascii_runs() {
            return "";
        }
        let end = rest.bytes().position(|byte| !is_printable_ascii_byte(byte));
        &rest[..end.unwrap_or(rest.len())]
    }

    fn push_char(&mut self, c: char, shown: &mut FilterOutput) {
        if self.escape_sequences.consumes(c) {
            return;
        }
        let ends_return = std::mem::replace(&mut self.after_carriage_return, c == '\r');
        match c {
            '\n' if ends_return => {}
            '\r' | '\u{2028}' | '\u{2029}' => self.filter.push('\n', shown),
            '\t' => {
                let columns = TAB_COLUMNS - self.column % TAB_COLUMNS;
                (0..columns).for_each(|_| self.filter.push(' ', shown));
                self.column += columns;
                return;
            }
            _ => self.filter.push(c, shown),
        }
        self.column = match c {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => 0,
            c => self.column + c.width().unwrap_or(0),
        };
    }
}

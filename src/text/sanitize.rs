//! Sanitizes untrusted text for the terminal. Only this module can construct a [`Clean`]. Saving
//! and sending use the raw text instead.

use super::escape_sequences::EscapeSequences;
use super::grapheme::clusters_forward;
use super::invisible::{
    FilterOutput, HiddenCharPolicy, InvisibleFilter, escape_char, is_printable_ascii_byte,
};
use super::look_alike::{has_look_alikes, is_unmistakable};
use super::mixed_scripts::deceptive_letters;
use super::script_context::ScriptContext;
use std::fmt;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// Columns between tab stops, as in Markdown.
const TAB_COLUMNS: usize = 4;

/// Text that is safe to draw: no control characters except `\n`, no escape sequences, no
/// bidirectional overrides, no deceptive invisible characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Clean(String);

impl Clean {
    /// Sanitizes a complete text. Drops escape sequences, control characters, bidirectional
    /// controls and invisible characters that no valid cluster needs; converts `\r\n`, `\r`,
    /// U+2028 and U+2029 to `\n`; expands tabs to the next tab stop. O(len).
    pub fn new(raw: &str) -> Self {
        Sanitizer::default().push(raw)
    }

    /// Replaces hidden and unusual characters with visible escapes, such as `⟨U+202E⟩` and `⟨ESC⟩`,
    /// so an approval shows everything. Keeps `\n`, and invisible characters that a valid cluster
    /// needs.
    pub fn escaped(raw: &str) -> Self {
        let mut output = FilterOutput {
            text: String::with_capacity(raw.len()),
            policy: HiddenCharPolicy::Escape,
        };
        let mut filter = InvisibleFilter::default();
        raw.chars().for_each(|c| filter.push(c, &mut output));
        filter.finish(&mut output);
        Self(output.text)
    }

    /// [`Clean::escaped`] of a name or a line, with line breaks escaped, too.
    pub fn escaped_line(raw: &str) -> Self {
        Self::escaped(&raw.replace('\n', "⟨LF⟩"))
    }

    /// Like [`Clean::escaped`], but different texts never look the same: escapes `⟨` too, which
    /// starts an escape, and everything that looks like another character (`look_alike.rs`,
    /// `mixed_scripts.rs`). Keeps `\n`. O(len).
    pub fn unambiguous(raw: &str) -> Self {
        Self::unambiguous_part(raw, &ScriptContext::of(raw))
    }

    /// [`Clean::unambiguous`] of a part of a value, such as a line. `context` describes the value.
    pub fn unambiguous_part(raw: &str, context: &ScriptContext) -> Self {
        let deceptive = deceptive_letters(raw, context);
        if !raw.contains('⟨') && deceptive.is_empty() && !has_look_alikes(raw) {
            return Self::escaped(raw);
        }
        let mut output = String::with_capacity(raw.len());
        // Filtered cluster by cluster where necessary; a cluster does not affect its neighbors.
        let mut unmarked = 0..0;
        for (cluster, marks) in MarkedClusters::new(raw, deceptive) {
            let Some(marked) = marks else {
                unmarked.end = cluster.end;
                continue;
            };
            output.push_str(&Self::escaped(&raw[unmarked]).0);
            output.push_str(&marked);
            unmarked = cluster.end..cluster.end;
        }
        output.push_str(&Self::escaped(&raw[unmarked]).0);
        Self(output)
    }

    /// The clusters of `raw`, each as [`Clean::unambiguous_part`] shows it in the whole text.
    pub fn unambiguous_clusters<'a>(
        raw: &'a str,
        context: &ScriptContext,
    ) -> impl Iterator<Item = (&'a str, Self)> {
        let clusters = MarkedClusters::new(raw, deceptive_letters(raw, context));
        clusters.map(move |(cluster, marked)| {
            let cluster = &raw[cluster];
            let shown = marked.map_or_else(|| Self::escaped(cluster), Self);
            (cluster, shown)
        })
    }

    /// Like [`Clean::unambiguous`], with line breaks escaped, so that the text cannot look like
    /// several lines.
    pub fn unambiguous_line(raw: &str) -> Self {
        let lines = raw.split('\n').map(|line| Self::unambiguous(line).0);
        Self(lines.collect::<Vec<_>>().join(&escape_char('\n')))
    }

    /// A name shown within other text. Quoted as a JSON string if it is empty or contains
    /// whitespace, a blank Braille cell, quotes or `⟨`, which starts an escape: spaces could make it look
    /// like several names or push the rest of the line out of sight.
    pub fn quoted_if_needed(raw: &str) -> Self {
        let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '"' | '⟨' | '\u{2800}');
        match !raw.is_empty() && raw.chars().all(is_plain) {
            true => Self::unambiguous(raw),
            false => Self::unambiguous(&serde_json::Value::from(raw).to_string()),
        }
    }

    /// An untrusted name, such as a tool's, on one line. Quotes a name that is empty or has
    /// whitespace at either end, so different names never look alike.
    pub fn name(raw: &str) -> Self {
        let name = Self::unambiguous_line(raw);
        let needs_quotes = raw.trim().len() < raw.len() || raw.is_empty();
        // Quoted again, so it cannot be mistaken for a name that was quoted here.
        let is_quoted = raw.starts_with('"') && raw.ends_with('"');
        match needs_quotes || is_quoted {
            true => Self(format!("\"{name}\"")),
            false => name,
        }
    }

    /// Like [`Clean::new`], with line breaks replaced by spaces.
    pub fn single_line(raw: &str) -> Self {
        Self(Self::new(raw).0.replace('\n', " "))
    }

    /// Trusted text from the program itself.
    pub fn from_static(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn append(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }
}

/// The clusters of a text as byte ranges. A cluster with a character that could be mistaken for
/// another also has a marked form, in which such characters are escaped.
struct MarkedClusters<'a> {
    raw: &'a str,
    offset: usize,
    /// Offsets of deceptive letters that have not been passed yet.
    deceptive: std::iter::Peekable<std::vec::IntoIter<usize>>,
}

impl<'a> MarkedClusters<'a> {
    fn new(raw: &'a str, deceptive: Vec<usize>) -> Self {
        Self {
            raw,
            offset: 0,
            deceptive: deceptive.into_iter().peekable(),
        }
    }
}

impl Iterator for MarkedClusters<'_> {
    type Item = (Range<usize>, Option<String>);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.offset;
        let cluster = clusters_forward(&self.raw[start..]).next()?;
        self.offset += cluster.len();
        let range = start..self.offset;
        let has_deceptive = self.deceptive.peek().is_some_and(|at| *at < range.end);
        if !has_deceptive && !cluster.contains('⟨') && !has_look_alikes(cluster) {
            return Some((range, None));
        }
        let mut marked = String::new();
        for (at, c) in cluster.char_indices() {
            let is_deceptive = self.deceptive.next_if_eq(&(start + at)).is_some();
            match !is_deceptive && c != '⟨' && is_unmistakable(c) {
                true => marked.push(c),
                false => marked.push_str(&escape_char(c)),
            }
        }
        Some((range, Some(marked)))
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

/// Sanitizes a stream, including sequences split between chunks. The concatenated results of
/// [`Sanitizer::push`] equal [`Clean::new`] of the whole text. Buffered input is bounded.
#[derive(Debug, Clone, Default)]
pub struct Sanitizer {
    escape_sequences: EscapeSequences,
    filter: InvisibleFilter,
    /// The last character was `\r`, already emitted as a line break; a `\n` right after it is
    /// dropped.
    is_after_carriage_return: bool,
    column: usize,
}

impl Sanitizer {
    pub fn push(&mut self, raw: &str) -> Clean {
        let mut output = FilterOutput {
            text: String::with_capacity(raw.len()),
            policy: HiddenCharPolicy::Drop,
        };
        let mut rest = raw;
        while let Some(c) = rest.chars().next() {
            let ascii_run = self.ascii_run(rest);
            if let Some(last) = ascii_run.chars().next_back() {
                output.text.push_str(ascii_run);
                self.filter.record_ascii_run(last);
                self.is_after_carriage_return = false;
                self.column += ascii_run.len();
                rest = &rest[ascii_run.len()..];
            } else {
                self.push_char(c, &mut output);
                rest = &rest[c.len_utf8()..];
            }
        }
        Clean(output.text)
    }

    /// The leading printable ASCII of `rest`, which needs no checks per character. Empty while a
    /// sequence or cluster is unfinished.
    fn ascii_run<'a>(&self, rest: &'a str) -> &'a str {
        if !self.escape_sequences.is_outside() || !self.filter.accepts_ascii_runs() {
            return "";
        }
        let end = rest.bytes().position(|byte| !is_printable_ascii_byte(byte));
        &rest[..end.unwrap_or(rest.len())]
    }

    fn push_char(&mut self, c: char, output: &mut FilterOutput) {
        if self.escape_sequences.push(c) {
            return;
        }
        let follows_carriage_return =
            std::mem::replace(&mut self.is_after_carriage_return, c == '\r');
        match c {
            '\n' if follows_carriage_return => {}
            '\r' | '\u{2028}' | '\u{2029}' => self.filter.push('\n', output),
            '\t' => {
                let spaces = TAB_COLUMNS - self.column % TAB_COLUMNS;
                (0..spaces).for_each(|_| self.filter.push(' ', output));
                self.column += spaces;
                return;
            }
            _ => self.filter.push(c, output),
        }
        self.column = match c {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => 0,
            c => self.column + c.width().unwrap_or(0),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mark_is_drawn_on_the_bracket_of_an_escape() {
        for (raw, shown) in [
            ("\u{202E}\u{301}", "⟨U+202E⟩⟨U+0301⟩"),
            ("a\u{1b}\u{301}\u{302}b", "a⟨ESC⟩⟨U+0301⟩⟨U+0302⟩b"),
            ("a\u{200D}\u{20E3}", "a⟨U+200D⟩⟨U+20E3⟩"),
            ("\u{A0}\u{FE0F}e\u{301}", "⟨U+00A0⟩⟨U+FE0F⟩e\u{301}"),
        ] {
            let escaped = Clean::escaped(raw);
            assert_eq!(escaped.as_str(), shown, "{raw:?}");
        }
    }
}

//! The answer to a question as it is typed, key by key: edits the line as a terminal does, and tells
//! typed keys from pasted ones by their times. Pure.

use super::PASTE_GAP;
use crate::text::Clean;
use crate::text::grapheme::{clusters, width};
use std::time::Instant;

/// Further bytes are ignored.
const ANSWER_BYTES_MAX: usize = 4_096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerEnd {
    Enter,
    /// Ctrl+D on an empty line.
    EndOfInput,
    /// Ctrl+Z.
    Suspend,
    /// Nobody types that fast.
    Pasted {
        /// Nothing followed the line.
        is_whole_line: bool,
    },
}

#[derive(Debug, Default)]
pub struct AnswerLine {
    text: String,
    /// The beginning of a character.
    partial: Vec<u8>,
    /// When the first key of the line arrived.
    pub begun_at: Option<Instant>,
    last_key_at: Option<Instant>,
}

impl AnswerLine {
    pub fn into_text(self) -> String {
        self.text
    }

    /// Adds bytes that arrived together. Returns what to print, and whether the line has ended.
    pub fn push(&mut self, bytes: &[u8], at: Instant) -> (String, Option<AnswerEnd>) {
        let shown = self.shown();
        let mut end = None;
        for (index, byte) in bytes.iter().enumerate() {
            let is_last = index + 1 == bytes.len();
            self.begun_at.get_or_insert(at);
            end = match byte {
                b'\r' | b'\n' => Some(self.entered(at, is_last)),
                // Ctrl+D
                0x04 if self.text.is_empty() => Some(AnswerEnd::EndOfInput),
                // Ctrl+Z
                0x1a => Some(AnswerEnd::Suspend),
                byte => {
                    self.key(*byte);
                    None
                }
            };
            self.last_key_at = Some(at);
            if end.is_some() {
                break;
            }
        }
        (change(&shown, &self.shown()), end)
    }

    fn entered(&self, at: Instant, is_last: bool) -> AnswerEnd {
        let is_fast = self.last_key_at.is_some_and(|last| at < last + PASTE_GAP);
        match is_last {
            true if !is_fast => AnswerEnd::Enter,
            is_whole_line => AnswerEnd::Pasted { is_whole_line },
        }
    }

    fn key(&mut self, byte: u8) {
        match byte {
            0x08 | 0x7f => {
                let last = clusters(&self.text).next_back();
                let kept = self.text.len() - last.map_or(0, str::len);
                self.text.truncate(kept);
            }
            // Ctrl+U
            0x15 => self.text.clear(),
            // Ctrl+W
            0x17 => {
                let text = self.text.trim_end();
                let kept = text.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.text.truncate(kept);
            }
            byte => self.insert(byte),
        }
        if self.text.is_empty() && self.partial.is_empty() {
            // A line that was emptied begins anew with the next key.
            self.begun_at = None;
        }
    }

    fn insert(&mut self, byte: u8) {
        if self.text.len() >= ANSWER_BYTES_MAX {
            return;
        }
        self.partial.push(byte);
        match std::str::from_utf8(&self.partial) {
            Ok(character) => self.text.push_str(character),
            Err(error) if error.error_len().is_none() => return,
            Err(_) => self.text.push(char::REPLACEMENT_CHARACTER),
        }
        self.partial.clear();
    }

    /// The line as it is printed: control characters as `^X`, so that no key is invisible.
    fn shown(&self) -> String {
        let mut shown = String::new();
        for character in self.text.chars() {
            match u8::try_from(character) {
                Ok(byte @ 0..=0x1f) => shown.extend(['^', char::from(byte + 0x40)]),
                _ => shown.push(character),
            }
        }
        Clean::single_line(&shown).as_str().to_owned()
    }
}

/// Erases the end of what was printed, and prints the new end.
fn change(before: &str, after: &str) -> String {
    let pairs = clusters(before).zip(clusters(after));
    let equal = pairs.take_while(|(old, new)| old == new);
    let kept: usize = equal.map(|(old, _)| old.len()).sum();
    "\u{8} \u{8}".repeat(width(&before[kept..])) + &after[kept..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Pushes these bytes, each so many milliseconds after the one before. Returns what was printed.
    fn pushed(line: &mut AnswerLine, keys: &[(u64, &[u8])]) -> (String, Option<AnswerEnd>) {
        let mut at = line.last_key_at.unwrap_or_else(Instant::now);
        let (mut printed, mut end) = (String::new(), None);
        for (gap, bytes) in keys {
            at += Duration::from_millis(*gap);
            let (change, line_end) = line.push(bytes, at);
            printed += &change;
            end = end.or(line_end);
        }
        (printed, end)
    }

    fn end_of(keys: &[(u64, &[u8])]) -> Option<AnswerEnd> {
        pushed(&mut AnswerLine::default(), keys).1
    }

    #[test]
    fn only_keys_with_pauses_between_them_are_typed() {
        let pasted = |is_whole_line| Some(AnswerEnd::Pasted { is_whole_line });
        assert_eq!(end_of(&[(0, b"y"), (60, b"\r")]), Some(AnswerEnd::Enter));
        assert_eq!(end_of(&[(0, b"\r")]), Some(AnswerEnd::Enter));
        assert_eq!(end_of(&[(0, b"y\r")]), pasted(true));
        assert_eq!(end_of(&[(0, b"y"), (20, b"\n")]), pasted(true));
        assert_eq!(end_of(&[(0, b"y"), (60, b"\rx")]), pasted(false));
        assert_eq!(end_of(&[(0, b"\r\r")]), pasted(false));
        // An input method that sends a character together with Enter looks the same.
        assert_eq!(end_of(&[(0, "ㅛ\r".as_bytes())]), pasted(true));
        assert_eq!(end_of(&[(0, "ㅛ\rx".as_bytes())]), pasted(false));
        assert_eq!(end_of(&[(0, b"\x04")]), Some(AnswerEnd::EndOfInput));
        assert_eq!(end_of(&[(0, b"y"), (60, b"\x04")]), None);
    }

    #[test]
    fn the_line_is_edited_and_printed_as_a_terminal_does() {
        let mut line = AnswerLine::default();
        let syllable = "가".as_bytes();
        let keys: [(u64, &[u8]); 3] = [(60, b"n"), (60, &syllable[..1]), (60, &syllable[1..])];
        assert_eq!(pushed(&mut line, &keys), ("n가".to_owned(), None));
        let erased = "\u{8} \u{8}".repeat(2);
        assert_eq!(pushed(&mut line, &[(60, b"\x7f")]).0, erased);
        assert_eq!(pushed(&mut line, &[(60, b"\x1b[A")]).0, "^[[A");
        assert_eq!(
            pushed(&mut line, &[(60, b"\x15")]).0,
            "\u{8} \u{8}".repeat(5)
        );
        // The line begins anew.
        assert_eq!(line.begun_at, None);
        assert_eq!(pushed(&mut line, &[(60, b"d a b\x17")]).0, "d a ");
        assert_eq!(line.into_text(), "d a ");
    }
}

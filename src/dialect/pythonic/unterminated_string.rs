//! Calls with an invalid string, as in `f(city='it's')`. Such a call ends at the end of its line,
//! so the prose and calls after it are still read.

use super::super::json_call;
use super::super::markers::CLOSERS;
use super::super::recognizer::{Advance, RecognizedForm};
use super::{PythonicRecognizer, State, tool_name};
use crate::domain::{ToolLookup, Toolset};

pub(super) const REASON: &str =
    "its arguments cannot be read: a string is not closed, or a quote in it is not escaped";

/// End of the broken call in `body`, which ends with the call's line; excludes the closing marker
/// of its wrapper. `string` is the start of the invalid string.
pub(super) fn call_end(body: &str, string: usize) -> usize {
    let rest = &body[string..];
    let closer = CLOSERS.iter().filter_map(|closer| rest.find(closer)).min();
    let line = &body[..closer.map_or(body.len(), |at| string + at)];
    line.trim_end().len()
}

impl PythonicRecognizer {
    /// Whether `c`, after `body`, shows that the last string is invalid: no value can continue with
    /// it, or the string spans a blank line.
    pub(super) fn is_unterminated(&self, c: char, body: &str) -> bool {
        let in_short = self.brackets.is_in_string() && !self.brackets.is_in_long_string();
        let blank = || body.trim_end_matches([' ', '\t', '\r']).ends_with('\n');
        self.brackets.has_stray_quote() || c == '\n' && in_short && blank()
    }

    /// Start of the invalid string. A string of an earlier item that proves invalid only now breaks
    /// this call from its start.
    pub(super) fn unterminated_string_start(&self) -> usize {
        self.string.max(self.start)
    }

    /// The string may already span several lines, so the end of its first line ends the call.
    pub(super) fn on_unterminated(&mut self, body: &str) -> Advance {
        let string = self.unterminated_string_start();
        match body[string..].find('\n') {
            Some(line) => self.end_at_line(string + line),
            None => self.enter(State::UnterminatedString),
        }
    }

    pub(super) fn end_at_line(&mut self, line: usize) -> Advance {
        self.state = State::UnterminatedAtLine(line);
        Advance::Reject
    }

    /// Parses a broken call; `body` ends with its line. Returns `None` if it names no tool.
    pub(super) fn parse_unterminated(
        &self,
        body: &str,
        offered: &Toolset,
    ) -> Option<RecognizedForm> {
        let name = tool_name(&body[self.start..self.name_end], offered);
        let is_certain = self.wrapper.is_some_and(|tag| tag.is_certain);
        if !is_certain && offered.resolve(None, name) == ToolLookup::Unknown {
            return None;
        }
        let call = &body[self.start..call_end(body, self.unterminated_string_start())];
        let piece = json_call::unusable_call(call, REASON);
        // Text after a call that continues may be part of its string.
        if !self.list && call.ends_with(')') && !call.contains('\n') {
            return Some(RecognizedForm::Statement(piece));
        }
        let mut pieces = match self.parse_items(body, offered) {
            Some(RecognizedForm::Calls(pieces)) => pieces,
            _ => Vec::new(),
        };
        pieces.push(piece);
        Some(RecognizedForm::Calls(pieces))
    }
}

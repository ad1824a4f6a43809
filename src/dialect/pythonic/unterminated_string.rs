//! Calls with a string that is none, as in `f(city='it's')`: such a call ends with its
//! line, so that the prose and the calls behind it are read.

use super::super::json_call;
use super::super::markers::CLOSERS;
use super::super::recognizer::{Advance, RecognizedForm};
use super::{PythonicRecognizer, PythonicState, tool_name};
use crate::domain::{ToolLookup, Toolset};

pub(super) const REASON: &str = "its arguments cannot be read: a string has no end, or a quotation mark in it no backslash before it";

/// Where a broken call ends in `body`, which ends with its line: before what closes
/// its wrapper. `string` is where the string began that is none.
pub(super) fn call_end(body: &str, string: usize) -> usize {
    let rest = &body[string..];
    let closer = CLOSERS.iter().filter_map(|closer| rest.find(closer)).min();
    let line = &body[..closer.map_or(body.len(), |at| string + at)];
    line.trim_end().len()
}

impl PythonicRecognizer {
    /// Whether `c`, behind `body`, shows that the last string is none: no value can go
    /// on with it, or the string runs over a blank line.
    pub(super) fn is_unterminated(&self, c: char, body: &str) -> bool {
        let in_short = self.brackets.is_in_string() && !self.brackets.is_in_long_string();
        let blank = || body.trim_end_matches([' ', '\t', '\r']).ends_with('\n');
        self.brackets.is_broken() || c == '\n' && in_short && blank()
    }

    /// Where the string that is none begins. One in an earlier item of the list, which
    /// shows only now, breaks this call from its start on.
    pub(super) fn unterminated_string_start(&self) -> usize {
        self.string.max(self.start)
    }

    /// The string may have run over line ends before that showed.
    pub(super) fn on_unterminated(&mut self, body: &str) -> Advance {
        let string = self.unterminated_string_start();
        match body[string..].find('\n') {
            Some(line) => self.end_at_line(string + line),
            None => self.hold(PythonicState::UnterminatedString),
        }
    }

    pub(super) fn end_at_line(&mut self, line: usize) -> Advance {
        self.state = PythonicState::UnterminatedAtLine(line);
        Advance::Reject
    }

    /// `body` ends with the line of the broken call. None where that is no tool's.
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
        // What follows a call that goes on may be a part of its string.
        if !self.list && call.ends_with(')') && !call.contains('\n') {
            return Some(RecognizedForm::Statement(piece));
        }
        let mut pieces = match self.read(body, offered) {
            Some(RecognizedForm::Calls(pieces)) => pieces,
            _ => Vec::new(),
        };
        pieces.push(piece);
        Some(RecognizedForm::Calls(pieces))
    }
}

//! Calls with an invalid string, as in `f(city='it's')`. Such a call ends with its line, so the
//! text and calls after it are still recognized.

use super::super::json_call;
use super::super::markers::CLOSERS;
use super::super::recognizer::{Advance, RecognizedForm};
use super::{PythonicRecognizer, State, tool_name};
use crate::domain::{ToolLookup, Toolset};

pub(super) const UNCLOSED_STRING: &str =
    "its arguments cannot be read: a string is not closed, or a quote in it is not escaped";

/// The end of an invalid call, before the closing marker of its wrapper. `body` ends with the
/// call's line.
pub(super) fn call_end(body: &str, string_start: usize) -> usize {
    let rest = &body[string_start..];
    let closers = CLOSERS.iter().filter_map(|closer| rest.find(closer));
    let end = closers
        .min()
        .map_or(body.len(), |offset| string_start + offset);
    body[..end].trim_end().len()
}

impl PythonicRecognizer {
    /// Whether `c`, after `body`, shows that the last string is invalid: no value can continue with
    /// it, or the string spans a blank line.
    pub(super) fn is_unterminated(&self, c: char, body: &str) -> bool {
        let is_in_short_string = self.brackets.is_in_string() && !self.brackets.is_in_long_string();
        let is_line_blank = || body.trim_end_matches([' ', '\t', '\r']).ends_with('\n');
        self.brackets.has_stray_quote() || c == '\n' && is_in_short_string && is_line_blank()
    }

    /// The start of the invalid string. If that string began in an earlier item, the start of the
    /// current item.
    pub(super) fn unterminated_string_start(&self) -> usize {
        self.string_start.max(self.item_start)
    }

    /// Ends the call with the first line of the invalid string. The string may already span several
    /// lines.
    pub(super) fn on_unterminated(&mut self, body: &str) -> Advance {
        let string_start = self.unterminated_string_start();
        match body[string_start..].find('\n') {
            Some(length) => self.end_at_line(string_start + length),
            None => self.enter(State::UnterminatedString),
        }
    }

    pub(super) fn end_at_line(&mut self, line_end: usize) -> Advance {
        self.state = State::UnterminatedAtLine(line_end);
        Advance::Reject
    }

    /// Parses an invalid call; `body` ends with its line. Returns `None` if it
    /// names no offered tool and nothing else makes it a call.
    pub(super) fn parse_unterminated(
        &self,
        body: &str,
        offered: &Toolset,
    ) -> Option<RecognizedForm> {
        let name = tool_name(&body[self.item_start..self.name_end], offered);
        let is_certain = self.wrapper.is_some_and(|wrapper| wrapper.is_certain);
        if !is_certain && offered.resolve(None, name) == ToolLookup::Unknown {
            return None;
        }
        let call_end = call_end(body, self.unterminated_string_start());
        let call = &body[self.item_start..call_end];
        let event = json_call::unusable_call(call, UNCLOSED_STRING);
        // Further statements are parsed only if the call ends here. Otherwise, the text after it
        // may belong to the string.
        if !self.is_list && call.ends_with(')') && !call.contains('\n') {
            return Some(RecognizedForm::Statement(event));
        }
        let mut events = match self.parse_items(body, offered) {
            Some(RecognizedForm::Calls(events)) => events,
            _ => Vec::new(),
        };
        events.push(event);
        Some(RecognizedForm::Calls(events))
    }
}

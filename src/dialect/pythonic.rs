//! Calls as Python: `[f(a=1), g()]` anywhere in the text, and one list or one call after an opening
//! marker. Without a marker, only available tools with keyword arguments count, so code and
//! Markdown remain text.

mod bare_list;
mod identifiers;
mod state;
mod unterminated_string;

use super::json_call::{self, ParsedCall};
use super::markers::Wrapper;
use super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, OpeningContext, RecognizedForm, Recognizer,
};
use super::scan_event::ScanEvent;
use super::tool_code;
use crate::domain::{ToolLookup, Toolset};
use crate::text::python::{self, BracketScanner};
use identifiers::could_name_tool;
use state::PythonicState as State;
use std::ops::Range;

pub(super) use identifiers::tool_name;

/// Longer arrays are data.
const CALLS_MAX: usize = 64;
const NAME_CHARS_MAX: usize = 256;
/// Models wrap a call in this function to see its result.
const PRINT: &str = "print";
const FORM: &str = "Python";

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    if opening.offered.is_empty() {
        return None;
    }
    let tag = opening.wrapper.or(opening.open_wrapper);
    let list = opening.marker == '['
        && (opening.wrapper.is_some() || bare_list::can_be_bare_list(opening));
    let call = starts_name(opening.marker) && tag.is_some();
    if !list && !call {
        return None;
    }
    let mut brackets = BracketScanner::default();
    brackets.push(opening.marker);
    Some(Box::new(PythonicRecognizer {
        list,
        wrapper: opening.wrapper.or(if list { None } else { tag }),
        state: if list {
            State::Item
        } else {
            State::Name { chars: 1 }
        },
        in_fence: opening.fence_info.is_some(),
        list_start: 0,
        start: 0,
        name_end: 0,
        string: 0,
        brackets,
        items: Vec::new(),
    }))
}

pub(super) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

#[derive(Debug)]
struct PythonicRecognizer {
    list: bool,
    /// The opening marker before it.
    wrapper: Option<&'static Wrapper>,
    state: State,
    in_fence: bool,
    /// Start of the current list; several may share a line.
    list_start: usize,
    /// Start of the current item; `name_end` is the end of its name.
    start: usize,
    name_end: usize,
    /// Start of the last string.
    string: usize,
    brackets: BracketScanner,
    items: Vec<ListItem>,
}

#[derive(Debug)]
struct ListItem {
    at: Range<usize>,
    /// `None` if the item is not a call.
    name_end: Option<usize>,
}

impl Recognizer for PythonicRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let char_start = body.len() - c.len_utf8();
        if let State::ListClosed { blank } = self.state {
            return self.step_after_list(c, blank, char_start);
        }
        let was_in_string = self.brackets.is_in_string();
        let ended = self.brackets.push(c);
        if !was_in_string && matches!(c, '"' | '\'') {
            self.string = char_start;
        }
        match self.state {
            State::MessageEnd { start } => self.step_message_end(&body[start..], body, offered),
            State::UnterminatedString if c == '\n' => self.end_at_line(char_start),
            State::UnterminatedString => Advance::Hold,
            State::ListClosed { .. } | State::StandsAlone | State::UnterminatedAtLine(_) => {
                Advance::Reject
            }
            State::Arguments if self.is_unterminated(c, &body[..char_start]) => {
                self.on_unterminated(&body[..char_start])
            }
            State::Item | State::AfterItem if c.is_whitespace() => Advance::Hold,
            State::Item | State::AfterItem if ended && self.list && c == ']' => {
                self.on_close(body, offered)
            }
            // A list of objects is JSON.
            State::Item if c == '{' && self.items.is_empty() => Advance::Reject,
            State::Item if starts_name(c) && self.items.len() < CALLS_MAX => {
                self.start = char_start;
                self.name(1, &body[char_start..], offered)
            }
            State::Name { chars } if python::is_name_char(c) && chars < NAME_CHARS_MAX => {
                self.name(chars + 1, &body[self.start..], offered)
            }
            State::Name { .. } if c == '(' => self.named(char_start, body, offered),
            State::FirstArgument { named } => {
                self.step_first_argument(c, named, body, offered, ended)
            }
            State::Equals if c == '=' => Advance::Reject,
            State::Equals | State::Arguments => self.in_arguments(body, offered, ended),
            State::AfterItem if c == ',' => self.enter(State::Item),
            State::Item | State::Name { .. } | State::AfterItem | State::NotACall => {
                self.reject_item(c, char_start, body, offered, ended)
            }
        }
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        let in_call = matches!(
            self.state,
            State::FirstArgument { .. } | State::Equals | State::Arguments
        );
        let in_item = matches!(self.state, State::Name { .. } | State::NotACall);
        match end {
            FormEnd::Rejected => match self.state {
                State::StandsAlone => self.parse_items(body, offered),
                State::UnterminatedAtLine(line) => self.parse_unterminated(&body[..line], offered),
                _ => None,
            },
            FormEnd::Stream if self.state == State::UnterminatedString => {
                self.parse_unterminated(body, offered)
            }
            FormEnd::Stream if matches!(self.state, State::MessageEnd { .. }) => None,
            FormEnd::Stream if in_call || in_item && !self.items.is_empty() => {
                let mut pieces = match self.parse_items(body, offered) {
                    Some(RecognizedForm::Calls(pieces)) => pieces,
                    _ => Vec::new(),
                };
                pieces.extend(self.cut_off_call(&body[self.start..]));
                Some(RecognizedForm::Calls(pieces))
            }
            FormEnd::Stream => self.parse_items(body, offered),
        }
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        match self.state {
            State::MessageEnd { start } => body.len() - start,
            State::UnterminatedAtLine(line) => {
                body.len()
                    - unterminated_string::call_end(&body[..line], self.unterminated_string_start())
            }
            State::StandsAlone => 0,
            _ if self.list_start > 0 => body.len() - self.list_start,
            _ => 0,
        }
    }
}

impl PythonicRecognizer {
    fn enter(&mut self, state: State) -> Advance {
        self.state = state;
        Advance::Hold
    }

    /// Reports the item in which the stream ended. If a quote was never closed, the prose after the
    /// call's line remains text.
    fn cut_off_call(&self, item: &str) -> Vec<ScanEvent> {
        let end = if self.list { ")]\n" } else { ")\n" };
        let short = self.brackets.is_in_string() && !self.brackets.is_in_long_string();
        let Some(at) = item.find(end).filter(|_| short) else {
            let why = json_call::CUT_OFF;
            return vec![json_call::unusable_call(item.trim_end(), why)];
        };
        let (call, rest) = item.split_at(at + end.len() - 1);
        let why = unterminated_string::REASON;
        let mut pieces = vec![json_call::unusable_call(call, why)];
        let rest = rest.trim_start();
        if !rest.is_empty() {
            pieces.push(ScanEvent::Text(rest.to_owned()));
        }
        pieces
    }

    /// Without a marker, only a possible prefix of a tool name is withheld.
    fn name(&mut self, chars: usize, part: &str, offered: &Toolset) -> Advance {
        if self.wrapper.is_none() && !could_name_tool(part, offered) {
            return Advance::Reject;
        }
        self.enter(State::Name { chars })
    }

    /// Handles the parenthesis after a name.
    fn named(&mut self, char_start: usize, body: &str, offered: &Toolset) -> Advance {
        self.name_end = char_start;
        if self.wrapper.is_some() {
            return self.enter(State::Arguments);
        }
        let name = tool_name(&body[self.start..char_start], offered);
        match offered.resolve(None, name) {
            ToolLookup::Unknown => Advance::Reject,
            _ => self.enter(State::FirstArgument { named: false }),
        }
    }

    fn step_first_argument(
        &mut self,
        c: char,
        named: bool,
        body: &str,
        offered: &Toolset,
        ended: bool,
    ) -> Advance {
        match c {
            c if c.is_whitespace() => Advance::Hold,
            ')' if !named => self.in_arguments(body, offered, ended),
            '=' if named => self.enter(State::Equals),
            c if starts_name(c) || named && python::is_name_char(c) => {
                self.enter(State::FirstArgument { named: true })
            }
            _ => Advance::Reject,
        }
    }

    fn in_arguments(&mut self, body: &str, offered: &Toolset, ended: bool) -> Advance {
        let outside = usize::from(self.list);
        if !ended && self.brackets.depth() > outside {
            return self.enter(State::Arguments);
        }
        self.items.push(ListItem {
            at: self.start..body.len(),
            name_end: Some(self.name_end),
        });
        if ended {
            // The bracket of the list closed the call as well.
            if let Some(last) = self.items.last_mut().filter(|_| self.list) {
                last.at.end -= 1;
            }
            return self.on_close(body, offered);
        }
        self.enter(State::AfterItem)
    }

    /// Handles a character that no call may have at this point.
    fn reject_item(
        &mut self,
        c: char,
        char_start: usize,
        body: &str,
        offered: &Toolset,
        ended: bool,
    ) -> Advance {
        if self.wrapper.is_none() || !self.list {
            return Advance::Reject;
        }
        match self.state {
            State::Item => self.start = char_start,
            // The previous call is part of a larger expression.
            State::AfterItem => drop(self.items.pop()),
            _ => {}
        }
        let between = self.brackets.depth() == 1 && !self.brackets.is_in_string();
        if !ended && (c != ',' || !between) {
            return self.enter(State::NotACall);
        }
        self.items.push(ListItem {
            at: self.start..char_start,
            name_end: None,
        });
        if ended {
            return self.on_close(body, offered);
        }
        self.enter(State::Item)
    }

    fn on_close(&mut self, body: &str, offered: &Toolset) -> Advance {
        if self.wrapper.is_none() && self.list {
            return self.enter(State::ListClosed { blank: false });
        }
        match self.parse_items(body, offered) {
            Some(RecognizedForm::Calls(mut pieces)) if !self.list => {
                pieces.pop().map_or(Advance::Text, |piece| {
                    Advance::Found(RecognizedForm::Statement(piece))
                })
            }
            Some(found) => Advance::Found(found),
            None => Advance::Text,
        }
    }

    /// Parses each item separately, so an invalid one does not drop its siblings.
    fn parse_items(&self, body: &str, offered: &Toolset) -> Option<RecognizedForm> {
        let read: Vec<_> = self
            .items
            .iter()
            .map(|item| (&body[item.at.clone()], self.piece(item, body, offered)))
            .collect();
        if read.iter().all(|(_, piece)| piece.is_none()) {
            return None;
        }
        let pieces = read
            .into_iter()
            .filter(|(raw, piece)| piece.is_some() || !raw.trim().is_empty())
            .map(|(raw, piece)| {
                piece.unwrap_or_else(|| json_call::unusable_call(raw.trim(), "it is not a call"))
            });
        Some(RecognizedForm::Calls(pieces.collect()))
    }

    fn piece(&self, item: &ListItem, body: &str, offered: &Toolset) -> Option<ScanEvent> {
        let name_end = item.name_end?;
        let raw = &body[item.at.clone()];
        let (name, arguments) = match raw.split_at(name_end - item.at.start) {
            (PRINT, _) => tool_code::split_call(raw)?,
            plain => plain,
        };
        let call = PythonCall {
            raw,
            name,
            arguments,
            form: self.wrapper.map_or(FORM, |tag| tag.form),
            is_certain: self.wrapper.is_some_and(|tag| tag.is_certain),
        };
        call.parse(offered)
    }
}

/// A complete `name(…)`.
pub(super) struct PythonCall<'a> {
    pub(super) raw: &'a str,
    pub(super) name: &'a str,
    /// Including their parentheses.
    pub(super) arguments: &'a str,
    pub(super) form: &'static str,
    /// Is a call even if its name or arguments are invalid.
    pub(super) is_certain: bool,
}

impl PythonCall<'_> {
    /// Returns `None` if it is code.
    pub(super) fn parse(self, offered: &Toolset) -> Option<ScanEvent> {
        let arguments = python::parse_arguments(self.arguments);
        let call = ParsedCall {
            raw: self.raw,
            server: None,
            name: tool_name(self.name, offered),
            form: self.form,
            was_repaired: arguments.as_ref().is_ok_and(|read| read.was_repaired),
            is_terminated: true,
            unmistakable: self.is_certain || arguments.is_ok(),
            arguments: arguments
                .map(|read| read.value)
                .map_err(|why| format!("its arguments cannot be read: {why}")),
        };
        json_call::resolve_call(call, offered)
    }
}

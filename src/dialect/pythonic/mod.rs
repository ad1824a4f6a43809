//! Tool calls in Python syntax: lists such as `[f(a=1), g()]`, and a list or a single call after an
//! opening marker. Without a marker, only lists of calls to available tools are recognized, and only
//! if their first arguments are not positional, so code and Markdown remain text.

mod bare_list;
mod identifiers;
mod state;
mod unterminated_string;

use super::json_call::{self, ParsedCall};
use super::markers::OpeningMarker;
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

/// Longer lists are data.
const CALLS_MAX: usize = 64;
const NAME_CHARS_MAX: usize = 256;
/// Models wrap a tool call in this function to see the result.
const PRINT: &str = "print";
const FORM: &str = "Python";

pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    if opening.offered.is_empty() {
        return None;
    }
    let wrapper = opening.wrapper.or(opening.open_wrapper);
    let is_list = opening.first_char == '['
        && (opening.wrapper.is_some() || bare_list::can_be_bare_list(opening));
    let is_single_call = starts_name(opening.first_char) && wrapper.is_some();
    if !is_list && !is_single_call {
        return None;
    }
    let mut brackets = BracketScanner::default();
    brackets.push(opening.first_char);
    Some(Box::new(PythonicRecognizer {
        is_list,
        wrapper: if is_list { opening.wrapper } else { wrapper },
        state: if is_list {
            State::BeforeItem
        } else {
            State::Name { chars: 1 }
        },
        is_in_fence: opening.fence_info.is_some(),
        list_start: 0,
        item_start: 0,
        name_end: 0,
        string_start: 0,
        brackets,
        items: Vec::new(),
    }))
}

pub(super) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

#[derive(Debug)]
struct PythonicRecognizer {
    /// False for a single call.
    is_list: bool,
    /// The opening marker before the list or call.
    wrapper: Option<&'static OpeningMarker>,
    state: State,
    is_in_fence: bool,
    /// The start of the current list; a line may contain several.
    list_start: usize,
    /// The start of the current item, which is a call or, after a marker, anything else.
    item_start: usize,
    name_end: usize,
    /// The start of the last string.
    string_start: usize,
    brackets: BracketScanner,
    items: Vec<ListItem>,
}

/// A complete item. Offsets are bytes of the body.
#[derive(Debug)]
struct ListItem {
    range: Range<usize>,
    /// `None` if the item is not a call.
    name_end: Option<usize>,
}

impl Recognizer for PythonicRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let char_start = body.len() - c.len_utf8();
        if let State::ListClosed { has_separator } = self.state {
            return self.step_after_list(c, has_separator, char_start);
        }
        let was_in_string = self.brackets.is_in_string();
        let is_closed = self.brackets.push(c);
        if !was_in_string && matches!(c, '"' | '\'') {
            self.string_start = char_start;
        }
        match self.state {
            State::PossibleCloser { start } => {
                self.step_possible_closer(&body[start..], body, offered)
            }
            State::UnterminatedString if c == '\n' => self.end_at_line(char_start),
            State::UnterminatedString => Advance::Hold,
            State::ListClosed { .. } | State::LineEnded | State::UnterminatedAtLine(_) => {
                Advance::Reject
            }
            State::Arguments if self.is_unterminated(c, &body[..char_start]) => {
                self.on_unterminated(&body[..char_start])
            }
            State::BeforeItem | State::AfterItem if c.is_whitespace() => Advance::Hold,
            State::BeforeItem | State::AfterItem if is_closed && self.is_list && c == ']' => {
                self.on_close(body, offered)
            }
            // A list of objects is JSON.
            State::BeforeItem if c == '{' && self.items.is_empty() => Advance::Reject,
            State::BeforeItem if starts_name(c) && self.items.len() < CALLS_MAX => {
                self.item_start = char_start;
                self.enter_name(1, &body[char_start..], offered)
            }
            State::Name { chars } if python::is_name_char(c) && chars < NAME_CHARS_MAX => {
                self.enter_name(chars + 1, &body[self.item_start..], offered)
            }
            State::Name { .. } if c == '(' => self.end_name(char_start, body, offered),
            State::FirstArgument { has_name } => {
                self.step_first_argument(c, has_name, body, offered, is_closed)
            }
            State::Equals if c == '=' => Advance::Reject,
            State::Equals | State::Arguments => self.step_arguments(body, offered, is_closed),
            State::AfterItem if c == ',' => self.enter(State::BeforeItem),
            State::BeforeItem | State::Name { .. } | State::AfterItem | State::NotACall => {
                self.step_invalid_item(c, char_start, body, offered, is_closed)
            }
        }
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        let is_in_arguments = matches!(
            self.state,
            State::FirstArgument { .. } | State::Equals | State::Arguments
        );
        let is_in_item = matches!(self.state, State::Name { .. } | State::NotACall);
        match end {
            FormEnd::Rejected => match self.state {
                State::LineEnded => self.parse_items(body, offered),
                State::UnterminatedAtLine(line_end) => {
                    self.parse_unterminated(&body[..line_end], offered)
                }
                _ => None,
            },
            FormEnd::Stream if self.state == State::UnterminatedString => {
                self.parse_unterminated(body, offered)
            }
            FormEnd::Stream if matches!(self.state, State::PossibleCloser { .. }) => None,
            FormEnd::Stream if is_in_arguments || is_in_item && !self.items.is_empty() => {
                let mut events = match self.parse_items(body, offered) {
                    Some(RecognizedForm::Calls(events)) => events,
                    _ => Vec::new(),
                };
                events.extend(self.cut_off_call(&body[self.item_start..]));
                Some(RecognizedForm::Calls(events))
            }
            FormEnd::Stream => self.parse_items(body, offered),
        }
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        match self.state {
            State::PossibleCloser { start } => body.len() - start,
            State::UnterminatedAtLine(line_end) => {
                let string_start = self.unterminated_string_start();
                body.len() - unterminated_string::call_end(&body[..line_end], string_start)
            }
            State::LineEnded => 0,
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

    /// The events for the item in which the stream ended. If a quote was never closed, the prose
    /// after the call's line remains text.
    fn cut_off_call(&self, item: &str) -> Vec<ScanEvent> {
        let terminator = if self.is_list { ")]\n" } else { ")\n" };
        let is_in_short_string = self.brackets.is_in_string() && !self.brackets.is_in_long_string();
        let Some(offset) = item.find(terminator).filter(|_| is_in_short_string) else {
            let call = json_call::unusable_call(item.trim_end(), json_call::CUT_OFF);
            return vec![call];
        };
        let (call, rest) = item.split_at(offset + terminator.len() - 1);
        let reason = unterminated_string::UNCLOSED_STRING;
        let mut events = vec![json_call::unusable_call(call, reason)];
        let rest = rest.trim_start();
        if !rest.is_empty() {
            events.push(ScanEvent::Text(rest.to_owned()));
        }
        events
    }

    /// Continues a name. Without a marker, it must be a possible prefix of a tool's name.
    fn enter_name(&mut self, chars: usize, prefix: &str, offered: &Toolset) -> Advance {
        if self.wrapper.is_none() && !could_name_tool(prefix, offered) {
            return Advance::Reject;
        }
        self.enter(State::Name { chars })
    }

    fn end_name(&mut self, char_start: usize, body: &str, offered: &Toolset) -> Advance {
        self.name_end = char_start;
        if self.wrapper.is_some() {
            return self.enter(State::Arguments);
        }
        let name = tool_name(&body[self.item_start..char_start], offered);
        match offered.resolve(None, name) {
            ToolLookup::Unknown => Advance::Reject,
            _ => self.enter(State::FirstArgument { has_name: false }),
        }
    }

    fn step_first_argument(
        &mut self,
        c: char,
        has_name: bool,
        body: &str,
        offered: &Toolset,
        is_closed: bool,
    ) -> Advance {
        match c {
            c if c.is_whitespace() => Advance::Hold,
            ')' if !has_name => self.step_arguments(body, offered, is_closed),
            '=' if has_name => self.enter(State::Equals),
            c if starts_name(c) || has_name && python::is_name_char(c) => {
                self.enter(State::FirstArgument { has_name: true })
            }
            _ => Advance::Reject,
        }
    }

    /// `is_closed` means that the character closed the outermost bracket.
    fn step_arguments(&mut self, body: &str, offered: &Toolset, is_closed: bool) -> Advance {
        let outer_depth = usize::from(self.is_list);
        if !is_closed && self.brackets.depth() > outer_depth {
            return self.enter(State::Arguments);
        }
        self.items.push(ListItem {
            range: self.item_start..body.len(),
            name_end: Some(self.name_end),
        });
        if is_closed {
            // The list's closing bracket also ended the call.
            if let Some(last) = self.items.last_mut().filter(|_| self.is_list) {
                last.range.end -= 1;
            }
            return self.on_close(body, offered);
        }
        self.enter(State::AfterItem)
    }

    fn step_invalid_item(
        &mut self,
        c: char,
        char_start: usize,
        body: &str,
        offered: &Toolset,
        is_closed: bool,
    ) -> Advance {
        if self.wrapper.is_none() || !self.is_list {
            return Advance::Reject;
        }
        match self.state {
            State::BeforeItem => self.item_start = char_start,
            // The previous call is part of a larger expression.
            State::AfterItem => drop(self.items.pop()),
            _ => {}
        }
        let is_between_items = self.brackets.depth() == 1 && !self.brackets.is_in_string();
        if !is_closed && (c != ',' || !is_between_items) {
            return self.enter(State::NotACall);
        }
        self.items.push(ListItem {
            range: self.item_start..char_start,
            name_end: None,
        });
        if is_closed {
            return self.on_close(body, offered);
        }
        self.enter(State::BeforeItem)
    }

    fn on_close(&mut self, body: &str, offered: &Toolset) -> Advance {
        if self.wrapper.is_none() && self.is_list {
            return self.enter(State::ListClosed {
                has_separator: false,
            });
        }
        match self.parse_items(body, offered) {
            Some(RecognizedForm::Calls(mut events)) if !self.is_list => {
                events.pop().map_or(Advance::Text, |event| {
                    Advance::Found(RecognizedForm::Statement(event))
                })
            }
            Some(form) => Advance::Found(form),
            None => Advance::Text,
        }
    }

    /// Parses each item separately, so an invalid one does not drop its siblings. `None` if no item
    /// is a call.
    fn parse_items(&self, body: &str, offered: &Toolset) -> Option<RecognizedForm> {
        let items: Vec<_> = self
            .items
            .iter()
            .map(|item| {
                let event = self.parse_item(item, body, offered);
                (&body[item.range.clone()], event)
            })
            .collect();
        if items.iter().all(|(_, event)| event.is_none()) {
            return None;
        }
        let events = items
            .into_iter()
            .filter(|(raw, event)| event.is_some() || !raw.trim().is_empty())
            .map(|(raw, event)| {
                event.unwrap_or_else(|| json_call::unusable_call(raw.trim(), "it is not a call"))
            });
        Some(RecognizedForm::Calls(events.collect()))
    }

    fn parse_item(&self, item: &ListItem, body: &str, offered: &Toolset) -> Option<ScanEvent> {
        let name_end = item.name_end?;
        let raw = &body[item.range.clone()];
        let (name, arguments) = match raw.split_at(name_end - item.range.start) {
            (PRINT, _) => tool_code::split_call(raw)?,
            parts => parts,
        };
        let call = PythonCall {
            raw,
            name,
            arguments,
            form: self.wrapper.map_or(FORM, |wrapper| wrapper.form),
            is_certain: self.wrapper.is_some_and(|wrapper| wrapper.is_certain),
        };
        call.parse(offered)
    }
}

/// A complete `name(…)`.
pub(super) struct PythonCall<'a> {
    pub(super) raw: &'a str,
    pub(super) name: &'a str,
    /// The arguments with their parentheses.
    pub(super) arguments: &'a str,
    pub(super) form: &'static str,
    /// The text is a call even if the name or the arguments are invalid.
    pub(super) is_certain: bool,
}

impl PythonCall<'_> {
    /// Resolves the tool and parses the arguments. Returns `None` if the text is code, not a call.
    pub(super) fn parse(self, offered: &Toolset) -> Option<ScanEvent> {
        let arguments = python::parse_arguments(self.arguments);
        let call = ParsedCall {
            raw: self.raw,
            server: None,
            name: tool_name(self.name, offered),
            form: self.form,
            was_repaired: arguments.as_ref().is_ok_and(|parsed| parsed.was_repaired),
            has_end: true,
            is_unmistakable: self.is_certain || arguments.is_ok(),
            arguments: arguments
                .map(|parsed| parsed.value)
                .map_err(|why| format!("its arguments cannot be read: {why}")),
        };
        json_call::resolve_call(call, offered)
    }
}

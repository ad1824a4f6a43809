//! Calls as Python (DIALECTS 22, 27, 28): `[f(a=1), g()]` anywhere in the text, and
//! one list or one call behind a literal that means a call. Without such a literal
//! only offered tools and arguments by name count, so that code and Markdown stay
//! text.

mod bare_list;
mod identifiers;
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
use std::ops::Range;

pub(super) use identifiers::tool_name;

/// An array of more is data.
const CALLS_MAX: usize = 64;
const NAME_CHARS_MAX: usize = 256;
/// What a model writes around a call whose result it wants to see.
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
    let mut outline = BracketScanner::default();
    outline.push(opening.marker);
    Some(Box::new(PythonicRecognizer {
        list,
        wrapper: opening.wrapper.or(if list { None } else { tag }),
        state: if list {
            PythonicState::Item
        } else {
            PythonicState::Name { chars: 1 }
        },
        in_fence: opening.fence_info.is_some(),
        list_start: 0,
        start: 0,
        name_end: 0,
        string: 0,
        brackets: outline,
        items: Vec::new(),
    }))
}

pub(super) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

#[derive(Debug)]
struct PythonicRecognizer {
    list: bool,
    /// What stands before it and means a call.
    wrapper: Option<&'static Wrapper>,
    state: PythonicState,
    in_fence: bool,
    /// Where the list under way begins: several may share a line.
    list_start: usize,
    /// Where the item under way begins, and where its name ends.
    start: usize,
    name_end: usize,
    /// Where the last string began.
    string: usize,
    brackets: BracketScanner,
    items: Vec<ListItem>,
}

/// What of the form has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PythonicState {
    /// An item, or the end of the list, must follow.
    Item,
    Name {
        chars: usize,
    },
    /// Behind the bracket of a call without a tag: its end, or `name=`.
    FirstArgument {
        named: bool,
    },
    /// Behind that `=`: two of them compare.
    Equals,
    Arguments,
    /// A comma, or the end of the list, must follow.
    AfterItem,
    /// An item behind a tag that is no call.
    NotACall,
    /// The end of a list without a tag: only one that stands alone on its line is a
    /// call, and no link, index or example.
    ListClosed {
        blank: bool,
    },
    /// Behind it, what may be the end of the message.
    MessageEnd {
        start: usize,
    },
    /// The list stood alone.
    StandsAlone,
    /// In a call with a string that is none: its line is waited for.
    UnterminatedString,
    /// The end of that line.
    UnterminatedAtLine(usize),
}

#[derive(Debug)]
struct ListItem {
    at: Range<usize>,
    /// None where it is no call.
    name_end: Option<usize>,
}

impl Recognizer for PythonicRecognizer {
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance {
        let here = body.len() - c.len_utf8();
        if let PythonicState::ListClosed { blank } = self.state {
            return self.step_after_list(c, blank, here);
        }
        let was_in_string = self.brackets.is_in_string();
        let ended = self.brackets.push(c);
        if !was_in_string && matches!(c, '"' | '\'') {
            self.string = here;
        }
        match self.state {
            PythonicState::MessageEnd { start } => {
                self.step_message_end(&body[start..], body, offered)
            }
            PythonicState::UnterminatedString if c == '\n' => self.end_at_line(here),
            PythonicState::UnterminatedString => Advance::Hold,
            PythonicState::ListClosed { .. }
            | PythonicState::StandsAlone
            | PythonicState::UnterminatedAtLine(_) => Advance::Reject,
            PythonicState::Arguments if self.is_unterminated(c, &body[..here]) => {
                self.on_unterminated(&body[..here])
            }
            PythonicState::Item | PythonicState::AfterItem if c.is_whitespace() => Advance::Hold,
            PythonicState::Item | PythonicState::AfterItem if ended && self.list && c == ']' => {
                self.closed(body, offered)
            }
            // A list of objects is JSON.
            PythonicState::Item if c == '{' && self.items.is_empty() => Advance::Reject,
            PythonicState::Item if starts_name(c) && self.items.len() < CALLS_MAX => {
                self.start = here;
                self.name(1, &body[here..], offered)
            }
            PythonicState::Name { chars } if python::is_name_char(c) && chars < NAME_CHARS_MAX => {
                self.name(chars + 1, &body[self.start..], offered)
            }
            PythonicState::Name { .. } if c == '(' => self.named(here, body, offered),
            PythonicState::FirstArgument { named } => self.first(c, named, body, offered, ended),
            PythonicState::Equals if c == '=' => Advance::Reject,
            PythonicState::Equals | PythonicState::Arguments => {
                self.in_arguments(body, offered, ended)
            }
            PythonicState::AfterItem if c == ',' => self.hold(PythonicState::Item),
            PythonicState::Item
            | PythonicState::Name { .. }
            | PythonicState::AfterItem
            | PythonicState::NotACall => self.reject_item(c, here, body, offered, ended),
        }
    }

    fn finish(&mut self, body: &str, offered: &Toolset, end: FormEnd) -> Option<RecognizedForm> {
        let in_call = matches!(
            self.state,
            PythonicState::FirstArgument { .. } | PythonicState::Equals | PythonicState::Arguments
        );
        let in_item = matches!(
            self.state,
            PythonicState::Name { .. } | PythonicState::NotACall
        );
        match end {
            FormEnd::Rejected if self.state == PythonicState::StandsAlone => {
                self.read(body, offered)
            }
            FormEnd::Rejected => match self.state {
                PythonicState::UnterminatedAtLine(line) => {
                    self.parse_unterminated(&body[..line], offered)
                }
                _ => None,
            },
            FormEnd::Stream if self.state == PythonicState::UnterminatedString => {
                self.parse_unterminated(body, offered)
            }
            FormEnd::Stream if matches!(self.state, PythonicState::MessageEnd { .. }) => None,
            FormEnd::Stream if in_call || in_item && !self.items.is_empty() => {
                let mut pieces = match self.read(body, offered) {
                    Some(RecognizedForm::Calls(pieces)) => pieces,
                    _ => Vec::new(),
                };
                pieces.extend(self.cut_off_call(&body[self.start..]));
                Some(RecognizedForm::Calls(pieces))
            }
            FormEnd::Stream => self.read(body, offered),
        }
    }

    fn unconsumed_bytes(&self, body: &str) -> usize {
        match self.state {
            PythonicState::MessageEnd { start } => body.len() - start,
            PythonicState::UnterminatedAtLine(line) => {
                body.len()
                    - unterminated_string::call_end(&body[..line], self.unterminated_string_start())
            }
            PythonicState::StandsAlone => 0,
            _ if self.list_start > 0 => body.len() - self.list_start,
            _ => 0,
        }
    }
}

impl PythonicRecognizer {
    fn hold(&mut self, at: PythonicState) -> Advance {
        self.state = at;
        Advance::Hold
    }

    /// The stream ended in `item`. A quotation mark that nobody closed must not swallow
    /// the prose after the line on which the call ended.
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

    /// Without a tag, only what may become the name of a tool is waited for.
    fn name(&mut self, chars: usize, part: &str, offered: &Toolset) -> Advance {
        if self.wrapper.is_none() && !could_name_tool(part, offered) {
            return Advance::Reject;
        }
        self.hold(PythonicState::Name { chars })
    }

    /// The bracket behind a name.
    fn named(&mut self, here: usize, body: &str, offered: &Toolset) -> Advance {
        self.name_end = here;
        if self.wrapper.is_some() {
            return self.hold(PythonicState::Arguments);
        }
        let name = tool_name(&body[self.start..here], offered);
        match offered.resolve(None, name) {
            ToolLookup::Unknown => Advance::Reject,
            _ => self.hold(PythonicState::FirstArgument { named: false }),
        }
    }

    fn first(
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
            '=' if named => self.hold(PythonicState::Equals),
            c if starts_name(c) || named && python::is_name_char(c) => {
                self.hold(PythonicState::FirstArgument { named: true })
            }
            _ => Advance::Reject,
        }
    }

    fn in_arguments(&mut self, body: &str, offered: &Toolset, ended: bool) -> Advance {
        let outside = usize::from(self.list);
        if !ended && self.brackets.depth() > outside {
            return self.hold(PythonicState::Arguments);
        }
        self.items.push(ListItem {
            at: self.start..body.len(),
            name_end: Some(self.name_end),
        });
        if ended {
            // The bracket of the list closed the call too.
            if let Some(last) = self.items.last_mut().filter(|_| self.list) {
                last.at.end -= 1;
            }
            return self.closed(body, offered);
        }
        self.hold(PythonicState::AfterItem)
    }

    /// The character cannot stand here.
    fn reject_item(
        &mut self,
        c: char,
        here: usize,
        body: &str,
        offered: &Toolset,
        ended: bool,
    ) -> Advance {
        if self.wrapper.is_none() || !self.list {
            return Advance::Reject;
        }
        match self.state {
            PythonicState::Item => self.start = here,
            // The call before is a part of something else.
            PythonicState::AfterItem => drop(self.items.pop()),
            _ => {}
        }
        let between = self.brackets.depth() == 1 && !self.brackets.is_in_string();
        if !ended && (c != ',' || !between) {
            return self.hold(PythonicState::NotACall);
        }
        self.items.push(ListItem {
            at: self.start..here,
            name_end: None,
        });
        if ended {
            return self.closed(body, offered);
        }
        self.hold(PythonicState::Item)
    }

    fn closed(&mut self, body: &str, offered: &Toolset) -> Advance {
        if self.wrapper.is_none() && self.list {
            return self.hold(PythonicState::ListClosed { blank: false });
        }
        match self.read(body, offered) {
            Some(RecognizedForm::Calls(mut pieces)) if !self.list => {
                pieces.pop().map_or(Advance::Text, |piece| {
                    Advance::Found(RecognizedForm::Statement(piece))
                })
            }
            Some(found) => Advance::Found(found),
            None => Advance::Text,
        }
    }

    /// Each item by itself, so that an unreadable one does not drop its siblings.
    fn read(&self, body: &str, offered: &Toolset) -> Option<RecognizedForm> {
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

/// `name(…)`, complete.
pub(super) struct PythonCall<'a> {
    pub(super) raw: &'a str,
    pub(super) name: &'a str,
    /// With their brackets.
    pub(super) arguments: &'a str,
    pub(super) form: &'static str,
    /// It is a call even where neither its name nor its arguments can be made out.
    pub(super) is_certain: bool,
}

impl PythonCall<'_> {
    /// None where it is code.
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

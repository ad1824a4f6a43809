//! Calls as Python (DIALECTS 22, 27, 28): `[f(a=1), g()]` anywhere in the text, and
//! one list or one call behind a literal that means a call. Without such a literal
//! only offered tools and arguments by name count, so that code and Markdown stay
//! text.

mod bare_list;
mod identifiers;
mod unterminated_string;

use super::json_call::{self, Written};
use super::markers::Wrapper;
use super::recognizer::{Advance, Candidate, End, Match, Opening, Recognizer};
use super::scan_event::Piece;
use super::tool_code;
use crate::domain::{Offered, Resolved};
use crate::text::python::{self, BracketScanner};
use identifiers::may_name_tool;
use std::ops::Range;

pub(super) use identifiers::tool_name;

/// An array of more is data.
const CALLS_MAX: usize = 64;
const NAME_CHARS_MAX: usize = 256;
/// What a model writes around a call whose result it wants to see.
const PRINT: &str = "print";
const FORM: &str = "Python";

pub(super) fn open(opening: &Opening<'_>) -> Option<Candidate> {
    if opening.offered.is_empty() {
        return None;
    }
    let tag = opening.wrapper.or(opening.within);
    let list =
        opening.marker == '[' && (opening.wrapper.is_some() || bare_list::may_be_bare(opening));
    let call = starts_name(opening.marker) && tag.is_some();
    if !list && !call {
        return None;
    }
    let mut outline = BracketScanner::default();
    outline.push(opening.marker);
    Some(Box::new(Pythonic {
        list,
        tag: opening.wrapper.or(if list { None } else { tag }),
        at: if list {
            At::Item
        } else {
            At::Name { chars: 1 }
        },
        in_fence: opening.fence.is_some(),
        list_start: 0,
        start: 0,
        name_end: 0,
        string: 0,
        outline,
        items: Vec::new(),
    }))
}

pub(super) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

#[derive(Debug)]
struct Pythonic {
    list: bool,
    /// What stands before it and means a call.
    tag: Option<&'static Wrapper>,
    at: At,
    in_fence: bool,
    /// Where the list under way begins: several may share a line.
    list_start: usize,
    /// Where the item under way begins, and where its name ends.
    start: usize,
    name_end: usize,
    /// Where the last string began.
    string: usize,
    outline: BracketScanner,
    items: Vec<Item>,
}

/// What of the form has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// An item, or the end of the list, must follow.
    Item,
    Name {
        chars: usize,
    },
    /// Behind the bracket of a call without a tag: its end, or `name=`.
    First {
        named: bool,
    },
    /// Behind that `=`: two of them compare.
    Equals,
    Arguments,
    /// A comma, or the end of the list, must follow.
    After,
    /// An item behind a tag that is no call.
    Junk,
    /// The end of a list without a tag: only one that stands alone on its line is a
    /// call, and no link, index or example.
    Closed {
        blank: bool,
    },
    /// Behind it, what may be the end of the message.
    Closer {
        start: usize,
    },
    /// The list stood alone.
    Alone,
    /// In a call with a string that is none: its line is waited for.
    Broken,
    /// The end of that line.
    BrokenTo(usize),
}

#[derive(Debug)]
struct Item {
    at: Range<usize>,
    /// None where it is no call.
    name_end: Option<usize>,
}

impl Recognizer for Pythonic {
    fn step(&mut self, c: char, body: &str, offered: &Offered) -> Advance {
        let here = body.len() - c.len_utf8();
        if let At::Closed { blank } = self.at {
            return self.behind(c, blank, here);
        }
        let was_in_string = self.outline.is_in_string();
        let ended = self.outline.push(c);
        if !was_in_string && matches!(c, '"' | '\'') {
            self.string = here;
        }
        match self.at {
            At::Closer { start } => self.closer(&body[start..], body, offered),
            At::Broken if c == '\n' => self.break_at(here),
            At::Broken => Advance::Hold,
            At::Closed { .. } | At::Alone | At::BrokenTo(_) => Advance::Reject,
            At::Arguments if self.is_broken(c, &body[..here]) => self.broken(&body[..here]),
            At::Item | At::After if c.is_whitespace() => Advance::Hold,
            At::Item | At::After if ended && self.list && c == ']' => self.closed(body, offered),
            // A list of objects is JSON.
            At::Item if c == '{' && self.items.is_empty() => Advance::Reject,
            At::Item if starts_name(c) && self.items.len() < CALLS_MAX => {
                self.start = here;
                self.name(1, &body[here..], offered)
            }
            At::Name { chars } if python::is_name_char(c) && chars < NAME_CHARS_MAX => {
                self.name(chars + 1, &body[self.start..], offered)
            }
            At::Name { .. } if c == '(' => self.named(here, body, offered),
            At::First { named } => self.first(c, named, body, offered, ended),
            At::Equals if c == '=' => Advance::Reject,
            At::Equals | At::Arguments => self.in_arguments(body, offered, ended),
            At::After if c == ',' => self.hold(At::Item),
            At::Item | At::Name { .. } | At::After | At::Junk => {
                self.no_call(c, here, body, offered, ended)
            }
        }
    }

    fn finish(&mut self, body: &str, offered: &Offered, end: End) -> Option<Match> {
        let in_call = matches!(self.at, At::First { .. } | At::Equals | At::Arguments);
        let in_item = matches!(self.at, At::Name { .. } | At::Junk);
        match end {
            End::Rejected if self.at == At::Alone => self.read(body, offered),
            End::Rejected => match self.at {
                At::BrokenTo(line) => self.read_broken(&body[..line], offered),
                _ => None,
            },
            End::Stream if self.at == At::Broken => self.read_broken(body, offered),
            End::Stream if matches!(self.at, At::Closer { .. }) => None,
            End::Stream if in_call || in_item && !self.items.is_empty() => {
                let mut pieces = match self.read(body, offered) {
                    Some(Match::Calls(pieces)) => pieces,
                    _ => Vec::new(),
                };
                pieces.extend(self.cut_off(&body[self.start..]));
                Some(Match::Calls(pieces))
            }
            End::Stream => self.read(body, offered),
        }
    }

    fn again(&self, body: &str) -> usize {
        match self.at {
            At::Closer { start } => body.len() - start,
            At::BrokenTo(line) => {
                body.len() - unterminated_string::end(&body[..line], self.broken_string())
            }
            At::Alone => 0,
            _ if self.list_start > 0 => body.len() - self.list_start,
            _ => 0,
        }
    }
}

impl Pythonic {
    fn hold(&mut self, at: At) -> Advance {
        self.at = at;
        Advance::Hold
    }

    /// The stream ended in `item`. A quotation mark that nobody closed must not swallow
    /// the prose after the line on which the call ended.
    fn cut_off(&self, item: &str) -> Vec<Piece> {
        let end = if self.list { ")]\n" } else { ")\n" };
        let short = self.outline.is_in_string() && !self.outline.is_in_long_string();
        let Some(at) = item.find(end).filter(|_| short) else {
            let why = json_call::CUT_OFF;
            return vec![json_call::unusable(item.trim_end(), why)];
        };
        let (call, rest) = item.split_at(at + end.len() - 1);
        let why = unterminated_string::WHY;
        let mut pieces = vec![json_call::unusable(call, why)];
        let rest = rest.trim_start();
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        pieces
    }

    /// Without a tag, only what may become the name of a tool is waited for.
    fn name(&mut self, chars: usize, part: &str, offered: &Offered) -> Advance {
        if self.tag.is_none() && !may_name_tool(part, offered) {
            return Advance::Reject;
        }
        self.hold(At::Name { chars })
    }

    /// The bracket behind a name.
    fn named(&mut self, here: usize, body: &str, offered: &Offered) -> Advance {
        self.name_end = here;
        if self.tag.is_some() {
            return self.hold(At::Arguments);
        }
        let name = tool_name(&body[self.start..here], offered);
        match offered.resolve(None, name) {
            Resolved::Unknown => Advance::Reject,
            _ => self.hold(At::First { named: false }),
        }
    }

    fn first(
        &mut self,
        c: char,
        named: bool,
        body: &str,
        offered: &Offered,
        ended: bool,
    ) -> Advance {
        match c {
            c if c.is_whitespace() => Advance::Hold,
            ')' if !named => self.in_arguments(body, offered, ended),
            '=' if named => self.hold(At::Equals),
            c if starts_name(c) || named && python::is_name_char(c) => {
                self.hold(At::First { named: true })
            }
            _ => Advance::Reject,
        }
    }

    fn in_arguments(&mut self, body: &str, offered: &Offered, ended: bool) -> Advance {
        let outside = usize::from(self.list);
        if !ended && self.outline.depth() > outside {
            return self.hold(At::Arguments);
        }
        self.items.push(Item {
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
        self.hold(At::After)
    }

    /// The character cannot stand here.
    fn no_call(
        &mut self,
        c: char,
        here: usize,
        body: &str,
        offered: &Offered,
        ended: bool,
    ) -> Advance {
        if self.tag.is_none() || !self.list {
            return Advance::Reject;
        }
        match self.at {
            At::Item => self.start = here,
            // The call before is a part of something else.
            At::After => drop(self.items.pop()),
            _ => {}
        }
        let between = self.outline.depth() == 1 && !self.outline.is_in_string();
        if !ended && (c != ',' || !between) {
            return self.hold(At::Junk);
        }
        self.items.push(Item {
            at: self.start..here,
            name_end: None,
        });
        if ended {
            return self.closed(body, offered);
        }
        self.hold(At::Item)
    }

    fn closed(&mut self, body: &str, offered: &Offered) -> Advance {
        if self.tag.is_none() && self.list {
            return self.hold(At::Closed { blank: false });
        }
        match self.read(body, offered) {
            Some(Match::Calls(mut pieces)) if !self.list => {
                pieces.pop().map_or(Advance::Text, |piece| {
                    Advance::Found(Match::Statement(piece))
                })
            }
            Some(found) => Advance::Found(found),
            None => Advance::Text,
        }
    }

    /// Each item by itself, so that an unreadable one does not drop its siblings.
    fn read(&self, body: &str, offered: &Offered) -> Option<Match> {
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
                piece.unwrap_or_else(|| json_call::unusable(raw.trim(), "it is not a call"))
            });
        Some(Match::Calls(pieces.collect()))
    }

    fn piece(&self, item: &Item, body: &str, offered: &Offered) -> Option<Piece> {
        let name_end = item.name_end?;
        let raw = &body[item.at.clone()];
        let (name, arguments) = match raw.split_at(name_end - item.at.start) {
            (PRINT, _) => tool_code::call(raw)?,
            plain => plain,
        };
        let call = Call {
            raw,
            name,
            arguments,
            form: self.tag.map_or(FORM, |tag| tag.form),
            is_certain: self.tag.is_some_and(|tag| tag.is_certain),
        };
        call.read(offered)
    }
}

/// `name(…)`, complete.
pub(super) struct Call<'a> {
    pub(super) raw: &'a str,
    pub(super) name: &'a str,
    /// With their brackets.
    pub(super) arguments: &'a str,
    pub(super) form: &'static str,
    /// It is a call even where neither its name nor its arguments can be made out.
    pub(super) is_certain: bool,
}

impl Call<'_> {
    /// None where it is code.
    pub(super) fn read(self, offered: &Offered) -> Option<Piece> {
        let arguments = python::parse_arguments(self.arguments);
        let call = Written {
            raw: self.raw,
            server: None,
            name: tool_name(self.name, offered),
            form: self.form,
            repaired: arguments.as_ref().is_ok_and(|read| read.was_repaired),
            whole: true,
            unmistakable: self.is_certain || arguments.is_ok(),
            arguments: arguments
                .map(|read| read.value)
                .map_err(|why| format!("its arguments cannot be read: {why}")),
        };
        json_call::written(call, offered)
    }
}

//! Calls as JSON (DIALECTS A): an object, an array of objects, or either wrapped.
//! An object is let go at its first key that no call has, and followed to its end
//! as text, so that a call quoted deep in an example is not one.

use super::json_call::{self, Object};
use super::recognizer::{Advance, Candidate, End, Match, Opening, Passed, Recognizer};
use super::scan_event::Piece;
use super::unterminated_json::{Progress, UnclosedString, UnterminatedJson};
use crate::domain::{Offered, Resolved};
use crate::text::{JsonEvent, JsonScanner, lenient_json};
use std::ops::Range;

/// An array of more is data.
const ELEMENTS_MAX: usize = 64;

pub(super) fn open(opening: &Opening<'_>) -> Option<Candidate> {
    if !matches!(opening.marker, '{' | '[') || opening.offered.is_empty() {
        return None;
    }
    let mut json = Json {
        form: opening.wrapper.map_or("JSON", |wrapper| wrapper.form),
        is_tagged: opening.wrapper.is_some_and(|wrapper| wrapper.is_certain),
        ..Json::default()
    };
    json.outline.push(opening.marker);
    json.levels.push(Level::new(opening.marker == '['));
    Some(Box::new(json))
}

#[derive(Debug, Default)]
struct Json {
    outline: JsonScanner,
    /// The outermost containers, as far as their keys are a call's own and not
    /// its arguments'.
    levels: Vec<Level>,
    /// The elements of arrays among them, as bytes of the body.
    elements: Vec<Element>,
    element_start: usize,
    head: Head,
    /// What cannot be read any more is followed to its end by its braces.
    broken: Option<UnterminatedJson>,
    unclosed: UnclosedString,
    /// Where it was over though nothing closed it.
    over: Option<usize>,
    form: &'static str,
    /// In a wrapper that means a call: whatever keys it has, it is one.
    is_tagged: bool,
}

#[derive(Debug)]
struct Level {
    array: bool,
    /// A container that opens here is a level too.
    wraps: bool,
}

impl Level {
    fn new(array: bool) -> Self {
        Self {
            array,
            wraps: array,
        }
    }
}

#[derive(Debug)]
struct Element {
    at: Range<usize>,
    unmistakable: bool,
}

/// What is known of the object under way before it is complete.
#[derive(Debug, Default)]
struct Head {
    names_tool: bool,
    name_follows: bool,
    has_arguments: bool,
}

impl Head {
    fn unmistakable(&self) -> bool {
        self.names_tool && self.has_arguments
    }
}

impl Recognizer for Json {
    fn step(&mut self, c: char, body: &str, offered: &Offered) -> Advance {
        if self.broken.is_some() {
            return self.step_broken(c, body, offered);
        }
        let in_string = self.outline.is_in_string();
        let over = self.unclosed.push(c, body, in_string);
        if self.is_unmistakable() && over.is_some() {
            self.over = over;
            return Advance::Reject;
        }
        let at_level = self.outline.depth() == self.levels.len();
        match self.outline.push(c) {
            JsonEvent::Opened { array } => self.opened(array, at_level, body),
            JsonEvent::Closed => {
                self.closed(body.len());
                if self.lists_other_things(body, offered) {
                    Advance::Pass
                } else {
                    Advance::Hold
                }
            }
            JsonEvent::Key if at_level => self.key(offered),
            JsonEvent::StringEnd if at_level && self.head.name_follows => {
                let name = self.outline.string().unwrap_or_default();
                self.head.names_tool = offered.resolve(None, name) != Resolved::Unknown;
                self.head.name_follows = false;
                Advance::Hold
            }
            // A list of anything else; behind a call it is only one that is no call.
            JsonEvent::StringStart | JsonEvent::LiteralStart
                if at_level && self.in_array() && !self.has_call() =>
            {
                Advance::Pass
            }
            JsonEvent::ValueEnd => self.ended(body, offered),
            JsonEvent::Invalid if self.is_unmistakable() && !self.is_between() => {
                let before = &body[..body.len() - c.len_utf8()];
                self.broken = Some(UnterminatedJson::new(self.outline.depth(), before));
                self.step_broken(c, body, offered)
            }
            JsonEvent::Invalid => Advance::Reject,
            _ => Advance::Hold,
        }
    }

    fn pass(&mut self, c: char) -> Passed {
        // A line end in a string of an example is more likely a quotation mark
        // that nobody closed: reading goes on, or later calls would be lost.
        if self.broken.is_some() || c == '\n' && self.outline.is_in_string() {
            return Passed::Outside;
        }
        match self.outline.push(c) {
            JsonEvent::ValueEnd => Passed::Ends,
            JsonEvent::Invalid => Passed::Outside,
            _ => Passed::Inside,
        }
    }

    fn again(&self, body: &str) -> usize {
        self.over.map_or(0, |over| body.len() - over)
    }

    /// A missing bracket at the end is forgiven, a call cut off is not.
    fn finish(&mut self, body: &str, offered: &Offered, end: End) -> Option<Match> {
        let mut pieces = self.read_elements(body, offered);
        let over = self.over.or_else(|| self.unclosed.at_end(body));
        if let Some(over) = over.filter(|_| self.is_unmistakable()) {
            let raw = &body[self.element_start..over];
            let why = match lenient_json::parse(raw) {
                Ok(_) => json_call::CUT_OFF.to_owned(),
                Err(why) => format!("its JSON cannot be read: {why}"),
            };
            pieces.push(json_call::unusable(raw, why));
            return Some(Match::Calls(pieces));
        }
        let in_element = self.levels.iter().any(|level| level.array) && !self.in_array();
        let is_cut = self.is_tagged && end == End::Stream && !self.in_array();
        if is_cut || self.head.unmistakable() || in_element && !pieces.is_empty() {
            pieces.push(json_call::unusable(
                &body[self.element_start..],
                json_call::CUT_OFF,
            ));
        } else if let Some(last) = self.elements.last().filter(|_| !pieces.is_empty()) {
            // A comment that nobody closed is prose after the calls.
            let tail = &body[last.at.end..];
            if tail.contains(|c: char| !c.is_whitespace() && !",]}".contains(c)) {
                pieces.push(Piece::Text(tail.to_owned()));
            }
        }
        (!pieces.is_empty()).then_some(Match::Calls(pieces))
    }
}

impl Json {
    fn is_unmistakable(&self) -> bool {
        self.is_tagged || self.head.unmistakable()
    }

    /// The first of a list tells: where it is no call, none of them is.
    fn lists_other_things(&self, body: &str, offered: &Offered) -> bool {
        let in_list = self.levels.len() == 1 && self.in_array() && !self.is_tagged;
        in_list && self.elements.len() == 1 && self.read_elements(body, offered).is_empty()
    }

    fn has_call(&self) -> bool {
        self.elements.iter().any(|element| element.unmistakable)
    }

    /// In an array, behind an element.
    fn is_between(&self) -> bool {
        self.in_array() && !self.elements.is_empty()
    }

    fn in_array(&self) -> bool {
        self.levels.last().is_some_and(|level| level.array)
    }

    fn opened(&mut self, array: bool, at_level: bool, body: &str) -> Advance {
        let Some(parent) = self.levels.last() else {
            return Advance::Reject;
        };
        if !at_level || !parent.wraps {
            return Advance::Hold;
        }
        if parent.array {
            if array || self.elements.len() == ELEMENTS_MAX {
                return Advance::Pass;
            }
            self.element_start = body.len() - 1;
            self.head = Head::default();
        }
        self.levels.push(Level::new(array));
        Advance::Hold
    }

    /// A container has closed; `end` is the byte after it.
    fn closed(&mut self, end: usize) {
        if self.outline.depth() >= self.levels.len() {
            return;
        }
        self.levels.truncate(self.outline.depth());
        if self.in_array() {
            let head = std::mem::take(&mut self.head);
            self.elements.push(Element {
                at: self.element_start..end,
                unmistakable: head.unmistakable(),
            });
        }
    }

    fn key(&mut self, offered: &Offered) -> Advance {
        let known = self
            .outline
            .string()
            .filter(|key| json_call::is_call_key(key, offered));
        let (Some(key), Some(level)) = (known, self.levels.last_mut()) else {
            // What comes after name and arguments does not undo the call.
            return if self.is_tagged {
                self.head.name_follows = false;
                if let Some(level) = self.levels.last_mut() {
                    level.wraps = false;
                }
                Advance::Hold
            } else {
                Advance::Pass
            };
        };
        level.wraps = json_call::is_wrapper_key(key);
        self.head.name_follows = json_call::is_name_key(key);
        self.head.has_arguments |= json_call::is_arguments_key(key);
        Advance::Hold
    }

    fn ended(&mut self, body: &str, offered: &Offered) -> Advance {
        let mut pieces = self.read_elements(body, offered);
        if self.elements.is_empty() && body.starts_with('{') {
            let object = Object {
                raw: body,
                unmistakable: self.head.unmistakable(),
                element: false,
                is_tagged: self.is_tagged,
                form: self.form,
                whole: true,
            };
            pieces.extend(json_call::read(&object, offered));
        }
        if pieces.is_empty() {
            Advance::Text
        } else {
            Advance::Found(Match::Calls(pieces))
        }
    }

    /// Each element by itself, so that an unreadable one does not drop its
    /// siblings. Empty where none of them is a call.
    fn read_elements(&self, body: &str, offered: &Offered) -> Vec<Piece> {
        let read: Vec<_> = self
            .elements
            .iter()
            .map(|element| {
                let object = Object {
                    raw: &body[element.at.clone()],
                    unmistakable: element.unmistakable,
                    element: true,
                    is_tagged: self.is_tagged,
                    form: self.form,
                    whole: true,
                };
                (object.raw, json_call::read(&object, offered))
            })
            .collect();
        if read.iter().all(|(_, piece)| piece.is_none()) {
            return Vec::new();
        }
        read.into_iter()
            .map(|(raw, piece)| {
                piece.unwrap_or_else(|| json_call::unusable(raw, "it is not a call"))
            })
            .collect()
    }

    /// Counts braces up to the end of the object, and goes on behind it where it
    /// was one of several.
    fn step_broken(&mut self, c: char, body: &str, offered: &Offered) -> Advance {
        let Some(broken) = &mut self.broken else {
            return Advance::Reject;
        };
        let array = self.levels.iter().rposition(|level| level.array);
        let rest = array.map_or(0, |at| at + 1);
        match broken.push(c, body, rest) {
            Progress::Goes => return Advance::Hold,
            Progress::Over(at) => {
                self.over = Some(at);
                return Advance::Reject;
            }
            Progress::Ends => {}
        }
        self.broken = None;
        self.outline.resume(rest);
        if rest > 0 {
            self.closed(body.len());
            return Advance::Hold;
        }
        self.ended(body, offered)
    }
}

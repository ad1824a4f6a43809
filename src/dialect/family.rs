//! What the scanner asks of a family of forms, and the table of families.

use super::piece::Piece;
use super::wrapper::{self, Wrapper};
use super::{json, tags, think};
use crate::domain::Offered;
use std::fmt::Debug;

/// The families, in the order in which they are asked. The first that is certain
/// wins.
pub(super) const FAMILIES: [fn(&Opening<'_>) -> Option<Form>; 6] = [
    think::open,
    wrapper::open,
    wrapper::close,
    tags::open,
    tags::open_named,
    json::open,
];

/// A form that is being followed.
pub(super) type Form = Box<dyn Recogniser>;

/// Characters at which some family opens where no wrapper stands before them.
pub(super) const MARKERS: [char; 4] = ['<', '{', '[', 'f'];

/// Where a character stands that may open a form.
#[derive(Clone, Copy)]
pub(super) struct Opening<'a> {
    pub(super) marker: char,
    /// The character shown before it.
    pub(super) before: Option<char>,
    /// Nothing but white space before it on its line.
    pub(super) at_line_start: bool,
    /// In a fence.
    pub(super) in_code: bool,
    /// The info word of the fence that is held right before it; empty where the
    /// fence has none.
    pub(super) fence: Option<&'a str>,
    /// The innermost wrapper that is held before it.
    pub(super) wrapper: Option<&'static Wrapper>,
    /// Nothing but white space and separators since a call.
    pub(super) after_call: bool,
    pub(super) offered: &'a Offered,
}

impl Opening<'_> {
    /// Whether a tag here is being talked about: inside inline code.
    pub(super) fn quoted(&self) -> bool {
        self.before == Some('`') && self.wrapper.is_none()
    }
}

pub(super) enum Step {
    /// It may still become a find.
    Hold,
    /// The character does not belong to it: what was held is a find where
    /// [`Recogniser::finish`] says so, else text.
    Reject,
    /// The character completes what was held, and that is text.
    Text,
    /// What was held is text, and so is what follows while [`Recogniser::pass`]
    /// says so: nothing in it is a call.
    Pass,
    /// The character completes a find.
    Found(Found),
}

pub(super) enum Found {
    /// Calls, unusable ones, and text between them; their raws are parts of the
    /// body, in its order.
    Calls(Vec<Piece>),
    /// A call follows in it.
    Opens(&'static Wrapper),
    /// Belongs to the call before, or frames what follows; nothing more.
    Closes,
    /// Thinking follows, up to one of these.
    ThinkingStarts {
        until: &'static Until,
    },
    ThinkingEnds,
}

/// What ends thinking.
#[derive(Debug)]
pub(super) struct Until {
    /// Tags that end it and mean nothing more.
    pub(super) tags: &'static [&'static str],
    /// What ends it and is then read itself.
    pub(super) reread: &'static [&'static str],
}

pub(super) enum Passed {
    Inside,
    /// The character is the last inside.
    Ends,
    /// The character is outside.
    Outside,
}

/// Why nothing more comes for a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The stream ended.
    Stream,
    /// Its own step rejected the next character.
    Rejected,
}

/// Follows one form from its marker on, in constant time a character.
pub(super) trait Recogniser: Debug + Send {
    /// Takes `c`; `body` is everything from the marker up to and with `c`.
    fn step(&mut self, c: char, body: &str, offered: &Offered) -> Step;

    /// Takes `c` after [`Step::Pass`].
    fn pass(&mut self, _c: char) -> Passed {
        Passed::Outside
    }

    /// Nothing more comes. None where what was held is text.
    fn finish(&mut self, _body: &str, _offered: &Offered, _end: End) -> Option<Found> {
        None
    }
}

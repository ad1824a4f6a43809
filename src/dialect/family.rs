//! What the scanner asks of a family of forms, and the table of families.

use super::piece::Piece;
use super::{json, think};
use crate::domain::Offered;
use std::fmt::Debug;

/// The families, in the order in which they are asked. The first that is certain
/// wins.
pub(super) const FAMILIES: [fn(&Opening<'_>) -> Option<Form>; 2] = [think::open, json::open];

/// A form that is being followed.
pub(super) type Form = Box<dyn Recogniser>;

/// Characters at which some family opens.
pub(super) const MARKERS: [char; 3] = ['<', '{', '['];

/// Where a marker stands.
pub(super) struct Opening<'a> {
    pub(super) marker: char,
    /// The character shown before it.
    pub(super) before: Option<char>,
    /// In a fence.
    pub(super) in_code: bool,
    pub(super) offered: &'a Offered,
}

pub(super) enum Step {
    /// It may still become a find.
    Hold,
    /// The character cannot stand here: what was held is text.
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
    Calls(Vec<Piece>),
    /// Thinking follows, up to one of these.
    ThinkingStarts {
        until: &'static [&'static str],
    },
    ThinkingEnds,
}

pub(super) enum Passed {
    Inside,
    /// The character is the last inside.
    Ends,
    /// The character is outside.
    Outside,
}

/// Follows one form from its marker on, in constant time a character.
pub(super) trait Recogniser: Debug + Send {
    /// Takes `c`; `body` is everything from the marker up to and with `c`.
    fn step(&mut self, c: char, body: &str, offered: &Offered) -> Step;

    /// Takes `c` after [`Step::Pass`].
    fn pass(&mut self, _c: char) -> Passed {
        Passed::Outside
    }

    /// The stream ended. None where what was held is text.
    fn finish(&mut self, _body: &str, _offered: &Offered) -> Option<Found> {
        None
    }
}

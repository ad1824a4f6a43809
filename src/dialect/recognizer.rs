//! The contract between the scanner and a recognizer of one family of forms.

use super::markers::Wrapper;
use super::scan_event::Piece;
use crate::domain::Offered;
use std::fmt::Debug;

/// A form that is being followed.
pub(super) type Candidate = Box<dyn Recognizer>;

/// Where a character stands that may open a form.
#[derive(Clone, Copy)]
pub(super) struct Opening<'a> {
    pub(super) marker: char,
    /// The character shown before it.
    pub(super) before: Option<char>,
    /// Nothing but white space came before it.
    pub(super) at_stream_start: bool,
    /// Nothing but white space before it on its line.
    pub(super) at_line_start: bool,
    /// Nothing but white space, and some, since a colon on its line.
    pub(super) after_colon: bool,
    /// In a fence.
    pub(super) in_code: bool,
    /// In a code span that began on this line.
    pub(super) in_span: bool,
    /// The info word of the fence that is held right before it; empty where the
    /// fence has none.
    pub(super) fence: Option<&'a str>,
    /// The innermost wrapper that is held before it.
    pub(super) wrapper: Option<&'static Wrapper>,
    /// The wrapper around the statement before, while it is open and nothing but
    /// white space and separators came since.
    pub(super) within: Option<&'static Wrapper>,
    /// Nothing but white space and separators since a call.
    pub(super) after_call: bool,
    /// A header of gpt-oss's came before.
    pub(super) framed: bool,
    pub(super) offered: &'a Offered,
}

impl Opening<'_> {
    /// Whether a tag here is being talked about: inside inline code.
    pub(super) fn quoted(&self) -> bool {
        self.before == Some('`') && self.wrapper.is_none()
    }
}

pub(super) enum Advance {
    /// It may still become a find.
    Hold,
    /// The character does not belong to it: what was held is a find where
    /// [`Recognizer::finish`] says so, else text.
    Reject,
    /// The character completes what was held, and that is text.
    Text,
    /// What was held is text, and so is what follows while [`Recognizer::pass`]
    /// says so: nothing in it is a call.
    Pass,
    /// The character completes a find.
    Found(Match),
}

pub(super) enum Match {
    /// Calls, unusable ones, and text between them; their raws are parts of the
    /// body, in its order.
    Calls(Vec<Piece>),
    /// One call, which others may follow in its wrapper, as bare as it.
    Statement(Piece),
    /// A call follows in it.
    Opens(&'static Wrapper),
    /// Belongs to the call before, or frames what follows; nothing more.
    Closes,
    /// Frames what follows, as gpt-oss does: its other tokens are no text from here on.
    Frames,
    /// Thinking follows, up to one of these.
    ThinkingStarts {
        until: &'static ThinkingEnd,
    },
    ThinkingEnds,
}

/// What ends thinking.
#[derive(Debug)]
pub(super) struct ThinkingEnd {
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
pub(super) trait Recognizer: Debug + Send {
    /// Takes `c`; `body` is everything from the marker up to and with `c`.
    fn step(&mut self, c: char, body: &str, offered: &Offered) -> Advance;

    /// Takes `c` after [`Advance::Pass`].
    fn pass(&mut self, _c: char) -> Passed {
        Passed::Outside
    }

    /// How many bytes at the end of `body` belong to something else, and are to be read
    /// again, after [`Advance::Reject`].
    fn again(&self, _body: &str) -> usize {
        0
    }

    /// Nothing more comes. None where what was held is text.
    fn finish(&mut self, _body: &str, _offered: &Offered, _end: End) -> Option<Match> {
        None
    }
}

//! The contract between the scanner and a recognizer of one family of forms.

use super::markers::Wrapper;
use super::scan_event::ScanEvent;
use crate::domain::Toolset;
use std::fmt::Debug;

/// A form that is being followed.
pub(super) type BoxedRecognizer = Box<dyn Recognizer>;

/// Where a character stands that may open a form.
#[derive(Clone, Copy)]
pub(super) struct OpeningContext<'a> {
    pub(super) marker: char,
    /// The character shown before it.
    pub(super) previous_char: Option<char>,
    /// Nothing but white space came before it.
    pub(super) at_stream_start: bool,
    /// Nothing but white space before it on its line.
    pub(super) at_line_start: bool,
    /// Nothing but white space, and some, since a colon on its line.
    pub(super) after_colon: bool,
    /// In a fence.
    pub(super) is_in_fence: bool,
    /// In a code span that began on this line.
    pub(super) is_in_code_span: bool,
    /// The info word of the fence that is held right before it; empty where the
    /// fence has none.
    pub(super) fence_info: Option<&'a str>,
    /// The innermost wrapper that is held before it.
    pub(super) wrapper: Option<&'static Wrapper>,
    /// The wrapper around the statement before, while it is open and nothing but
    /// white space and separators came since.
    pub(super) open_wrapper: Option<&'static Wrapper>,
    /// Nothing but white space and separators since a call.
    pub(super) after_call: bool,
    /// A header of gpt-oss's came before.
    pub(super) has_message_header: bool,
    pub(super) offered: &'a Toolset,
}

impl OpeningContext<'_> {
    /// Whether a tag here is being talked about: inside inline code.
    pub(super) fn is_quoted(&self) -> bool {
        self.previous_char == Some('`') && self.wrapper.is_none()
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
    PassThrough,
    /// The character completes a find.
    Found(RecognizedForm),
}

pub(super) enum RecognizedForm {
    /// Calls, unusable ones, and text between them; their raws are parts of the
    /// body, in its order.
    Calls(Vec<ScanEvent>),
    /// One call, which others may follow in its wrapper, as bare as it.
    Statement(ScanEvent),
    /// A call follows in it.
    WrapperStart(&'static Wrapper),
    /// Belongs to the call before, or frames what follows; nothing more.
    Delimiter,
    /// Frames what follows, as gpt-oss does: its other tokens are no text from here on.
    MessageHeader,
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

pub(super) enum PassThroughStatus {
    Inside,
    /// The character is the last inside.
    Ends,
    /// The character is outside.
    Outside,
}

/// Why nothing more comes for a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormEnd {
    /// The stream ended.
    Stream,
    /// Its own step rejected the next character.
    Rejected,
}

/// Follows one form from its marker on, in constant time a character.
pub(super) trait Recognizer: Debug + Send {
    /// Takes `c`; `body` is everything from the marker up to and with `c`.
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance;

    /// Takes `c` after [`Advance::Pass`].
    fn pass(&mut self, _c: char) -> PassThroughStatus {
        PassThroughStatus::Outside
    }

    /// How many bytes at the end of `body` belong to something else, and are to be read
    /// again, after [`Advance::Reject`].
    fn unconsumed_bytes(&self, _body: &str) -> usize {
        0
    }

    /// Nothing more comes. None where what was held is text.
    fn finish(&mut self, _body: &str, _offered: &Toolset, _end: FormEnd) -> Option<RecognizedForm> {
        None
    }
}

//! The contract between the scanner and the recognizers, each of which handles one family of call
//! forms.

use super::markers::Wrapper;
use super::scan_event::ScanEvent;
use crate::domain::Toolset;
use std::fmt::Debug;

/// A form that is being read.
pub(super) type BoxedRecognizer = Box<dyn Recognizer>;

/// Context of a character that may open a form.
#[derive(Clone, Copy)]
pub(super) struct OpeningContext<'a> {
    pub(super) marker: char,
    /// The character shown before the marker.
    pub(super) previous_char: Option<char>,
    /// Only whitespace precedes it in the stream.
    pub(super) at_stream_start: bool,
    /// Only whitespace precedes it on its line.
    pub(super) at_line_start: bool,
    /// Only whitespace, at least one character, since a colon on its line.
    pub(super) after_colon: bool,
    pub(super) is_in_fence: bool,
    /// In a code span that began on this line.
    pub(super) is_in_code_span: bool,
    /// Info word of the fence that is withheld directly before it; empty if the fence has none.
    pub(super) fence_info: Option<&'a str>,
    /// The innermost wrapper that is withheld before it.
    pub(super) wrapper: Option<&'static Wrapper>,
    /// The wrapper of the previous statement, if it is still open and only whitespace and
    /// separators followed.
    pub(super) open_wrapper: Option<&'static Wrapper>,
    /// Only whitespace and separators since a call.
    pub(super) after_call: bool,
    /// A gpt-oss message header came before.
    pub(super) has_message_header: bool,
    pub(super) offered: &'a Toolset,
}

impl OpeningContext<'_> {
    /// Whether the marker is in inline code, that is, only mentioned.
    pub(super) fn is_quoted(&self) -> bool {
        self.previous_char == Some('`') && self.wrapper.is_none()
    }
}

pub(super) enum Advance {
    /// The form may still be complete.
    Hold,
    /// `c` does not belong to the form. [`Recognizer::finish`] decides whether the withheld text is
    /// a form or plain text.
    Reject,
    /// `c` completes the form, and it is plain text.
    Text,
    /// The withheld text is plain text, and so is the following text as long as
    /// [`Recognizer::pass`] agrees: it contains no calls.
    PassThrough,
    /// `c` completes the form.
    Found(RecognizedForm),
}

pub(super) enum RecognizedForm {
    /// Calls, invalid calls, and the text between them. Their raw texts are parts of the body, in
    /// order.
    Calls(Vec<ScanEvent>),
    /// One call; more bare calls may follow in its wrapper.
    Statement(ScanEvent),
    /// A wrapper that contains a call.
    WrapperStart(&'static Wrapper),
    /// Markup that belongs to the previous call or frames the next one.
    Delimiter,
    /// A gpt-oss message header. After it, the other Harmony tokens are no longer text.
    MessageHeader,
    /// Thinking that lasts until one of the given ends.
    ThinkingStarts {
        until: &'static ThinkingEnd,
    },
    ThinkingEnds,
}

/// Markers that end thinking.
#[derive(Debug)]
pub(super) struct ThinkingEnd {
    /// Tags that end it and have no other meaning.
    pub(super) tags: &'static [&'static str],
    /// Markers that end it and must then be read themselves.
    pub(super) reread: &'static [&'static str],
}

pub(super) enum PassThroughStatus {
    Inside,
    /// The character is the last one inside.
    Ends,
    /// The character is outside.
    Outside,
}

/// Why a form gets no more text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormEnd {
    /// The stream ended.
    Stream,
    /// Its `step` rejected the next character.
    Rejected,
}

/// Reads one form from its marker on, in constant time per character.
pub(super) trait Recognizer: Debug + Send {
    /// Consumes `c`; `body` is everything from the marker through `c`.
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance;

    /// Consumes `c` after [`Advance::PassThrough`].
    fn pass(&mut self, _c: char) -> PassThroughStatus {
        PassThroughStatus::Outside
    }

    /// After [`Advance::Reject`]: the number of bytes at the end of `body` that must be scanned
    /// again because they are not part of the form.
    fn unconsumed_bytes(&self, _body: &str) -> usize {
        0
    }

    /// Ends the form. Returns `None` if the withheld text is plain text.
    fn finish(&mut self, _body: &str, _offered: &Toolset, _end: FormEnd) -> Option<RecognizedForm> {
        None
    }
}

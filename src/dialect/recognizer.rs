//! The contract between the scanner and the recognizers. A *form* is text that is not shown as
//! written: a call, its wrapper, a special token or a thinking tag. Each recognizer handles one
//! family of forms.

use super::markers::OpeningMarker;
use super::scan_event::ScanEvent;
use crate::domain::Toolset;
use std::fmt::Debug;

pub(super) type BoxedRecognizer = Box<dyn Recognizer>;

#[derive(Clone, Copy)]
pub(super) struct OpeningContext<'a> {
    /// The character that may open a form. The other fields describe what precedes it.
    pub(super) first_char: char,
    /// The last character shown before it.
    pub(super) previous_char: Option<char>,
    /// Only whitespace precedes it in the stream.
    pub(super) is_at_stream_start: bool,
    /// Only whitespace precedes it on its line.
    pub(super) is_at_line_start: bool,
    /// A colon on the same line precedes it, followed only by whitespace (at least one character).
    pub(super) is_after_colon: bool,
    pub(super) is_in_fence: bool,
    /// In a code span that began on this line.
    pub(super) is_in_code_span: bool,
    /// The info word of the fence that is withheld directly before it; empty if the fence
    /// has none.
    pub(super) fence_info: Option<&'a str>,
    /// The innermost wrapper that is withheld before it.
    pub(super) wrapper: Option<&'static OpeningMarker>,
    /// The wrapper of the previous statement, if it is still open and only whitespace and
    /// separators followed the statement.
    pub(super) open_wrapper: Option<&'static OpeningMarker>,
    /// A call precedes it, followed only by whitespace and separators.
    pub(super) is_after_call: bool,
    /// The stream contained a gpt-oss message header.
    pub(super) has_message_header: bool,
    /// A gpt-oss message header without its special tokens directly precedes it.
    pub(super) is_after_header: bool,
    pub(super) offered: &'a Toolset,
}

impl OpeningContext<'_> {
    /// Whether the marker directly follows a backtick, so the text mentions a form instead of using
    /// it.
    pub(super) fn is_quoted(&self) -> bool {
        self.previous_char == Some('`') && self.wrapper.is_none()
    }
}

/// The result of consuming one character `c`.
pub(super) enum Advance {
    Hold,
    /// `c` does not belong to the form. [`Recognizer::finish`] decides whether the text before it
    /// is a form or plain text.
    Reject,
    /// The text through `c` is plain text.
    Text,
    /// The withheld text is plain text without calls, and so is the text after it, until
    /// [`Recognizer::pass`] reports its end.
    PassThrough,
    Found(RecognizedForm),
}

pub(super) enum RecognizedForm {
    /// Calls, unusable calls, and text between them. Their raw texts occur in the body in this
    /// order; the rest of the body is markup.
    Calls(Vec<ScanEvent>),
    /// One call. More calls may follow in its wrapper.
    Statement(ScanEvent),
    WrapperStart(&'static OpeningMarker),
    /// Markup that is not shown, such as a closing marker after a call.
    Delimiter,
    /// A gpt-oss message header. After the first one, the other Harmony tokens are no longer text.
    MessageHeader,
    ThinkingStarts {
        until: &'static ThinkingEnd,
    },
    ThinkingEnds,
}

#[derive(Debug)]
pub(super) struct ThinkingEnd {
    /// Tags that only end the thinking.
    pub(super) tags: &'static [&'static str],
    /// Markers that also open the next form, so they are scanned again as text.
    pub(super) reread: &'static [&'static str],
}

/// Whether a character belongs to the text that is passed through.
pub(super) enum PassThroughStatus {
    Inside,
    /// The character is the last one that belongs to it.
    Ends,
    /// The character no longer belongs to it.
    Outside,
}

/// Why a recognizer gets no more text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormEnd {
    Stream,
    /// [`Recognizer::step`] rejected the next character.
    Rejected,
}

/// Reads one form, starting at its marker. [`Self::step`] takes amortized constant time.
pub(super) trait Recognizer: Debug + Send {
    /// Consumes `c`; `body` is everything from the marker through `c`.
    fn step(&mut self, c: char, body: &str, offered: &Toolset) -> Advance;

    /// Consumes `c` after [`Advance::PassThrough`]. By default, nothing is passed through.
    fn pass(&mut self, _c: char) -> PassThroughStatus {
        PassThroughStatus::Outside
    }

    /// After [`Advance::Reject`]: the number of bytes at the end of `body` that do not belong to the
    /// form and must be scanned again.
    fn unconsumed_bytes(&self, _body: &str) -> usize {
        0
    }

    /// Ends the form. Returns `None` if `body` is plain text.
    fn finish(&mut self, _body: &str, _offered: &Toolset, _end: FormEnd) -> Option<RecognizedForm> {
        None
    }
}

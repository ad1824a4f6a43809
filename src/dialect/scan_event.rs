//! What the scanner makes of a stream, and the place where it gathers.

use super::code_context::FenceTracker;
use super::whitespace_holdback::WhitespaceHoldback;
use crate::domain::{Arguments, ServerId};
use std::borrow::Cow;

/// What the scanner makes of the stream. For every way of cutting the stream into
/// chunks, the pieces are the same once neighbours of one kind are joined; their
/// raws, joined, are the stream.
#[derive(Debug, Clone, PartialEq)]
pub enum ScanEvent {
    Text(String),
    Thinking(String),
    Call(TextCall),
    /// Unmistakably a call, but not one that can be run (S5.5).
    UnusableCall(UnusableCall),
    /// All text of this round so far was thinking, and the calls in it were only
    /// thought of (DIALECTS 36 and 38).
    TextWasThinking,
    /// Neither text nor thinking nor a call: tags, fences and separators of theirs,
    /// and the white space between. It is not shown.
    Marker(String),
}

impl ScanEvent {
    /// The part of the stream that it is.
    pub fn raw(&self) -> &str {
        match self {
            Self::Text(raw) | Self::Thinking(raw) | Self::Marker(raw) => raw,
            Self::Call(call) => &call.raw,
            Self::UnusableCall(call) => &call.raw,
            Self::TextWasThinking => "",
        }
    }
}

/// A call of an offered tool, its name resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct TextCall {
    pub server: ServerId,
    pub tool: String,
    pub arguments: Arguments,
    /// As the approval dialog labels it, such as `JSON`.
    pub form: &'static str,
    /// The JSON was not valid as written.
    pub was_repaired: bool,
    /// It ended as its form does; else only the stream's end ended it, and something
    /// may be missing.
    pub is_terminated: bool,
    /// The call as the model wrote it, for `t` treat as text.
    pub raw: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnusableCall {
    pub raw: String,
    pub reason: String,
}

/// The pieces so far, joined where neighbours are of one kind.
#[derive(Debug)]
pub(super) struct ScanOutput {
    pieces: Vec<ScanEvent>,
    /// The white space at the start of the piece under way.
    holdback: Option<WhitespaceHoldback>,
    pub(super) fences: FenceTracker,
    pub(super) has_text: bool,
    /// A piece was made, be it a mark.
    has_output: bool,
}

impl Default for ScanOutput {
    fn default() -> Self {
        Self {
            pieces: Vec::new(),
            holdback: Some(WhitespaceHoldback::new(false)),
            fences: FenceTracker::default(),
            has_text: false,
            has_output: false,
        }
    }
}

impl ScanOutput {
    pub(super) fn take(&mut self) -> Vec<ScanEvent> {
        std::mem::take(&mut self.pieces)
    }

    /// Nothing has come but white space.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_output
    }

    /// Nothing but white space has come since the stream, a call or thinking.
    pub(super) fn is_holding_whitespace(&self) -> bool {
        self.holdback.is_some()
    }

    /// Nothing but white space and separators has come since a call.
    pub(super) fn is_after_call(&self) -> bool {
        self.holdback
            .as_ref()
            .is_some_and(WhitespaceHoldback::is_after_call)
    }

    /// Something that is no text ends here.
    pub(super) fn start_holdback(&mut self, after_call: bool) {
        self.end_holdback();
        self.holdback = Some(WhitespaceHoldback::new(after_call));
    }

    /// The white space so far stands before something that is no text.
    pub(super) fn end_holdback(&mut self) {
        if let Some(seam) = self.holdback.take() {
            self.push_mark(seam.withheld());
        }
    }

    pub(super) fn push(&mut self, piece: ScanEvent) {
        self.end_holdback();
        self.has_output = true;
        self.pieces.push(piece);
    }

    pub(super) fn push_marker(&mut self, raw: &str) {
        self.end_holdback();
        self.push_mark(raw);
    }

    fn push_mark(&mut self, raw: &str) {
        self.has_output |= !raw.is_empty();
        match self.pieces.last_mut() {
            _ if raw.is_empty() => {}
            Some(ScanEvent::Marker(last)) => last.push_str(raw),
            _ => self.pieces.push(ScanEvent::Marker(raw.to_owned())),
        }
    }

    /// Shows `text` and says whether that was more than white space at a seam.
    pub(super) fn push_text(&mut self, text: &str) -> bool {
        let text = self.after_seam(text);
        if text.is_empty() {
            return false;
        }
        self.fences.push(&text);
        self.has_text = true;
        self.has_output = true;
        match self.pieces.last_mut() {
            Some(ScanEvent::Text(last)) => last.push_str(&text),
            _ => self.pieces.push(ScanEvent::Text(text.into_owned())),
        }
        true
    }

    pub(super) fn push_thinking(&mut self, text: &str) {
        let text = self.after_seam(text);
        if text.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some(ScanEvent::Thinking(last)) => last.push_str(&text),
            _ => self.pieces.push(ScanEvent::Thinking(text.into_owned())),
        }
    }

    /// `text` without what the seam keeps of it, and with what the seam gives back.
    fn after_seam<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let Some(seam) = &mut self.holdback else {
            return text.into();
        };
        let Some(kept) = text.find(|c| !seam.accepts(c)) else {
            return "".into();
        };
        let Some(seam) = self.holdback.take() else {
            return text.into();
        };
        let (mark, before) = seam.split_before_text();
        self.push_mark(mark);
        [before, &text[kept..]].concat().into()
    }
}

//! What the scanner makes of a stream, and the place where it gathers.

use super::code_context::FenceTracker;
use super::whitespace_holdback::WhitespaceHoldback;
use crate::domain::{Arguments, ServerId};
use std::borrow::Cow;

/// What the scanner makes of the stream. For every way of cutting the stream into
/// chunks, the pieces are the same once neighbours of one kind are joined; their
/// raws, joined, are the stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Text(String),
    Thinking(String),
    Call(TextCall),
    /// Unmistakably a call, but not one that can be run (S5.5).
    Unusable(UnusableCall),
    /// All text of this round so far was thinking, and the calls in it were only
    /// thought of (DIALECTS 36 and 38).
    TextWasThinking,
    /// Neither text nor thinking nor a call: tags, fences and separators of theirs,
    /// and the white space between. It is not shown.
    Mark(String),
}

impl Piece {
    /// The part of the stream that it is.
    pub fn raw(&self) -> &str {
        match self {
            Self::Text(raw) | Self::Thinking(raw) | Self::Mark(raw) => raw,
            Self::Call(call) => &call.raw,
            Self::Unusable(call) => &call.raw,
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
    pub repaired: bool,
    /// It ended as its form does; else only the stream's end ended it, and something
    /// may be missing.
    pub whole: bool,
    /// The call as the model wrote it, for `t` treat as text.
    pub raw: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnusableCall {
    pub raw: String,
    pub why: String,
}

/// The pieces so far, joined where neighbours are of one kind.
#[derive(Debug)]
pub(super) struct ScanOutput {
    pieces: Vec<Piece>,
    /// The white space at the start of the piece under way.
    seam: Option<WhitespaceHoldback>,
    pub(super) page: FenceTracker,
    pub(super) has_text: bool,
    /// A piece was made, be it a mark.
    has_told: bool,
}

impl Default for ScanOutput {
    fn default() -> Self {
        Self {
            pieces: Vec::new(),
            seam: Some(WhitespaceHoldback::new(false)),
            page: FenceTracker::default(),
            has_text: false,
            has_told: false,
        }
    }
}

impl ScanOutput {
    pub(super) fn take(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.pieces)
    }

    /// Nothing has come but white space.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_told
    }

    /// Nothing but white space has come since the stream, a call or thinking.
    pub(super) fn at_seam(&self) -> bool {
        self.seam.is_some()
    }

    /// Nothing but white space and separators has come since a call.
    pub(super) fn after_call(&self) -> bool {
        self.seam
            .as_ref()
            .is_some_and(WhitespaceHoldback::is_after_call)
    }

    /// Something that is no text ends here.
    pub(super) fn start_seam(&mut self, after_call: bool) {
        self.end_seam();
        self.seam = Some(WhitespaceHoldback::new(after_call));
    }

    /// The white space so far stands before something that is no text.
    pub(super) fn end_seam(&mut self) {
        if let Some(seam) = self.seam.take() {
            self.push_mark(seam.held());
        }
    }

    pub(super) fn push(&mut self, piece: Piece) {
        self.end_seam();
        self.has_told = true;
        self.pieces.push(piece);
    }

    pub(super) fn mark(&mut self, raw: &str) {
        self.end_seam();
        self.push_mark(raw);
    }

    fn push_mark(&mut self, raw: &str) {
        self.has_told |= !raw.is_empty();
        match self.pieces.last_mut() {
            _ if raw.is_empty() => {}
            Some(Piece::Mark(last)) => last.push_str(raw),
            _ => self.pieces.push(Piece::Mark(raw.to_owned())),
        }
    }

    /// Shows `text` and says whether that was more than white space at a seam.
    pub(super) fn show(&mut self, text: &str) -> bool {
        let text = self.after_seam(text);
        if text.is_empty() {
            return false;
        }
        self.page.show(&text);
        self.has_text = true;
        self.has_told = true;
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(&text),
            _ => self.pieces.push(Piece::Text(text.into_owned())),
        }
        true
    }

    pub(super) fn think(&mut self, text: &str) {
        let text = self.after_seam(text);
        if text.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some(Piece::Thinking(last)) => last.push_str(&text),
            _ => self.pieces.push(Piece::Thinking(text.into_owned())),
        }
    }

    /// `text` without what the seam keeps of it, and with what the seam gives back.
    fn after_seam<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let Some(seam) = &mut self.seam else {
            return text.into();
        };
        let Some(kept) = text.find(|c| !seam.takes(c)) else {
            return "".into();
        };
        let Some(seam) = self.seam.take() else {
            return text.into();
        };
        let (mark, before) = seam.before_text();
        self.push_mark(mark);
        [before, &text[kept..]].concat().into()
    }
}

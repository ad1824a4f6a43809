//! From a stream of text to text, thinking and calls.

use crate::domain::{Arguments, Offered, ServerId};
use std::sync::Arc;

/// What the scanner makes of the stream. For every way of cutting the stream into
/// chunks, the pieces are the same once neighbours of one kind are joined.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Text(String),
    Thinking(String),
    Call(TextCall),
    /// Unmistakably a call, but not one that can be run (S5.5).
    Unusable(UnusableCall),
    /// All text of this round so far was thinking (DIALECTS 36).
    TextWasThinking,
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
    /// The call as the model wrote it, for `t` treat as text.
    pub raw: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnusableCall {
    pub raw: String,
    pub why: String,
}

/// Incremental and linear in the text.
#[derive(Debug)]
pub struct Scanner {
    offered: Arc<Offered>,
}

impl Scanner {
    pub fn new(offered: Arc<Offered>) -> Self {
        Self { offered }
    }

    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        let _ = &self.offered;
        vec![Piece::Text(text.to_owned())]
    }

    /// The end of the stream: what was held back is decided.
    pub fn finish(self) -> Vec<Piece> {
        Vec::new()
    }
}

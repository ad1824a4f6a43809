//! What a key can do in a text field.

/// An editing action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    Left,
    Right,
    Up,
    Down,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    Backspace,
    Delete,
    DeleteWordLeft,
    DeleteToStart,
    DeleteToEnd,
    Newline,
}

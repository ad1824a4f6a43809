//! The actions of keys in a text field.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    Move(Motion),
    Select(Motion),
    SelectAll,
    Newline,
    Backspace,
    Delete,
    /// This and the other kills put the deleted text into the kill ring.
    KillWordLeft,
    /// Deletes back to white space, as shells do.
    KillToBlank,
    KillWordRight,
    KillToStart,
    KillToEnd,
    Cut,
    Copy,
    /// Inserts the newest text of the kill ring.
    Yank,
    /// Replaces the text that was just yanked with the one killed before it.
    YankEarlier,
    Undo,
    Redo,
    /// Replaces a chip with its text (the one that ends at the cursor, else the next one, else the last
    /// one), or folds an unfolded paste again.
    Unfold,
}

/// A movement of the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    Left,
    Right,
    Up,
    Down,
    WordLeft,
    WordRight,
    /// Back to the white space before the word.
    BlankLeft,
    LineStart,
    LineEnd,
    TextStart,
    TextEnd,
}

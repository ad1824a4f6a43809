//! A text editor: lines, a cursor that moves by grapheme cluster, a selection, undo, a kill ring,
//! soft wrap. Keeps raw text and sanitizes only what is drawn. An edit re-wraps a few rows.
//! `ratatui-textarea` is not an alternative: it splits clusters joined by ZWJ and drops U+202E.

mod buffer;
mod chips;
mod completion;
mod edit;
mod folding;
mod kill_ring;
mod killing;
mod line_view;
mod motion;
mod selection;
mod undo;
mod view;

pub use chips::Chips;
pub use edit::{Edit, Motion};
pub use view::{EditorSpan, EditorView, SpanKind};

use crate::tui::widgets::wrapped_line::{FieldDisplay, WrappedLine};
use buffer::TextPosition;
use kill_ring::KillRing;
use std::ops::Range;
use undo::UndoHistory;

#[derive(Debug, Clone, Default)]
struct EditorLine {
    raw: String,
    wrapped: Option<WrappedLine>,
}

impl EditorLine {
    fn new(raw: &str) -> Self {
        Self {
            raw: raw.to_owned(),
            wrapped: None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Editor {
    /// Raw text, in which each chip is one character. Never empty.
    lines: Vec<EditorLine>,
    /// Always at a cluster boundary.
    cursor: TextPosition,
    /// The other end of the selection.
    anchor: Option<TextPosition>,
    chips: Chips,
    /// Where unfolded pastes are in the raw text.
    unfolded: Vec<Range<TextPosition>>,
    history: UndoHistory,
    kills: KillRing,
    previous: PreviousEdit,
    /// Increases with each change of the text.
    revision: u64,
    /// The column that Up and Down aim for.
    goal_column: Option<usize>,
    /// First visible row: line, and row within it.
    top: (usize, usize),
    /// First visible byte of a one-line field.
    left: usize,
    columns: u16,
    display: FieldDisplay,
}

/// The previous edit, if the next key may continue it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum PreviousEdit {
    #[default]
    Other,
    Typed,
    Erased,
    Killed,
    Yanked,
}

impl Default for Editor {
    fn default() -> Self {
        Self::new("")
    }
}

impl Editor {
    pub fn new(text: &str) -> Self {
        let mut this = Self {
            lines: vec![EditorLine::default()],
            cursor: TextPosition::default(),
            anchor: None,
            chips: Chips::default(),
            unfolded: Vec::new(),
            history: UndoHistory::default(),
            kills: KillRing::default(),
            previous: PreviousEdit::Other,
            revision: 0,
            goal_column: None,
            top: (0, 0),
            left: 0,
            columns: 80,
            display: FieldDisplay::Readable,
        };
        this.set(text);
        this
    }

    /// An editor of a text that the user approves: the cursor is before the first character, and
    /// different texts never look the same.
    pub fn for_approval(text: &str) -> Self {
        Self {
            cursor: TextPosition::default(),
            display: FieldDisplay::for_approval(text),
            ..Self::new(text)
        }
    }

    /// The whole text, with the texts of all chips.
    pub fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| self.chips.expand(&line.raw));
        lines.collect::<Vec<_>>().join("\n")
    }

    pub fn is_empty(&self) -> bool {
        matches!(&*self.lines, [line] if line.raw.is_empty())
    }

    /// Increases with each change of the text.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    pub fn is_blank(&self) -> bool {
        let is_blank = |line: &EditorLine| self.chips.expand(&line.raw).trim().is_empty();
        self.lines.iter().all(is_blank)
    }

    pub fn has_several_lines(&self) -> bool {
        self.lines.len() > 1
    }

    /// The text if it is a single line without chips.
    pub fn one_line(&self) -> Option<&str> {
        let [line] = &*self.lines else { return None };
        (!self.chips.occur_in(&line.raw)).then_some(line.raw.as_str())
    }

    /// Takes the text to use it elsewhere. The changes can no longer be undone, but killed text can
    /// still be yanked.
    pub fn take(&mut self) -> String {
        let text = self.text();
        self.set("");
        text
    }

    /// Replaces the text with unrelated text: the changes so far cannot be undone.
    pub fn set(&mut self, text: &str) {
        self.replace_all(text);
        self.discard_history();
    }

    /// Like [`Self::set`], but a long text becomes a chip.
    pub fn set_folded(&mut self, text: &str) {
        self.replace_all_folded(text);
        self.discard_history();
    }

    fn discard_history(&mut self) {
        self.history = UndoHistory::default();
        self.unfolded.clear();
        self.drop_unused_chips();
        (self.top, self.left) = ((0, 0), 0);
    }

    /// Replaces the text as one change that can be undone.
    pub fn replace_all(&mut self, text: &str) {
        self.previous = PreviousEdit::Other;
        let text = self.raw_from(text);
        self.replace(TextPosition::default()..self.end(), &text, false);
    }

    /// Like [`Self::replace_all`], but a long text becomes a chip.
    pub fn replace_all_folded(&mut self, text: &str) {
        self.previous = PreviousEdit::Other;
        let raw = self.raw_from_paste(text);
        self.replace(TextPosition::default()..self.end(), &raw, false);
    }

    /// Clears the undo history and the kill ring.
    pub fn clear_history(&mut self) {
        self.history = UndoHistory::default();
        self.kills = KillRing::default();
        self.previous = PreviousEdit::Other;
        self.drop_unused_chips();
    }

    /// Inserts typed text at the cursor, in place of the selection; `\r\n` and `\r` count as
    /// newlines. The letters of a word are undone together.
    pub fn insert(&mut self, text: &str) {
        let continues = self.previous == PreviousEdit::Typed && !self.has_selection();
        let text = self.raw_from(text);
        self.replace(self.selected_range(), &text, continues);
        self.previous = PreviousEdit::Typed;
    }

    /// Inserts pasted text at the cursor, in place of the selection. It is undone as a whole, and
    /// becomes a chip if it is long.
    pub fn paste(&mut self, text: &str) {
        self.previous = PreviousEdit::Other;
        let raw = self.raw_from_paste(text);
        self.replace(self.selected_range(), &raw, false);
    }

    fn raw_from_paste(&mut self, text: &str) -> String {
        let text = with_newlines(text);
        match self.chips.fold(&text) {
            Some(chip) => chip.to_string(),
            None => self.chips.raw(&text).into_owned(),
        }
    }

    fn raw_from(&mut self, text: &str) -> String {
        self.chips.raw(&with_newlines(text)).into_owned()
    }

    /// Applies an edit. Returns false if it had no effect, such as Up on the first row; the caller
    /// may then do something else.
    pub fn edit(&mut self, edit: Edit) -> bool {
        let previous = std::mem::take(&mut self.previous);
        match edit {
            Edit::Move(motion) => self.move_or_collapse(motion),
            Edit::Select(motion) => self.select(motion),
            Edit::SelectAll => self.select_all(),
            Edit::Newline => {
                self.insert("\n");
                self.previous = PreviousEdit::Other;
                true
            }
            Edit::Backspace => self.erase(Motion::Left, previous),
            Edit::Delete => self.erase(Motion::Right, previous),
            Edit::KillWordLeft => self.kill(Motion::WordLeft, previous),
            Edit::KillToBlank => self.kill(Motion::BlankLeft, previous),
            Edit::KillWordRight => self.kill(Motion::WordRight, previous),
            Edit::KillToStart => self.kill(Motion::LineStart, previous),
            Edit::KillToEnd => {
                let is_at_end = self.cursor.byte == self.lines[self.cursor.line].raw.len();
                let target = if is_at_end {
                    Motion::Right
                } else {
                    Motion::LineEnd
                };
                self.kill(target, previous)
            }
            Edit::Cut => self.cut(),
            Edit::Copy => self.copy(),
            Edit::Yank => self.yank(),
            Edit::YankEarlier => previous == PreviousEdit::Yanked && self.yank_earlier(),
            Edit::Undo => self.undo(),
            Edit::Redo => self.redo(),
            Edit::Unfold => self.toggle_fold(),
        }
    }

    pub fn has_selection(&self) -> bool {
        self.anchor.is_some_and(|anchor| anchor != self.cursor)
    }

    /// The selection, or an empty range at the cursor.
    fn selected_range(&self) -> Range<TextPosition> {
        let anchor = self.anchor.unwrap_or(self.cursor);
        self.cursor.min(anchor)..self.cursor.max(anchor)
    }

    /// The selected text, with the texts of chips.
    pub fn selected_text(&self) -> Option<String> {
        let range = self.selected_range();
        let raw = (!range.is_empty()).then(|| self.raw_text(range))?;
        Some(self.chips.expand(&raw).into_owned())
    }
}

/// A terminal pastes line ends as CR.
pub fn with_newlines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod key_scripts;
#[cfg(test)]
mod random_edits;
#[cfg(test)]
mod tests;

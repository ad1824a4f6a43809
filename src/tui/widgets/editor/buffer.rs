//! Changes to the lines of the text, and undoing them. An edit within a line re-wraps only the
//! rows around it.

use super::undo::Change;
use super::{Editor, EditorLine};
use crate::tui::widgets::wrapped_line::WrappedLine;
use std::ops::Range;
use unicode_segmentation::GraphemeCursor;

/// A position in the raw text. `byte` is an offset in its line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPosition {
    pub line: usize,
    pub byte: usize,
}

impl TextPosition {
    /// The end of `text` if it starts here.
    pub fn after(self, text: &str) -> Self {
        match text.rfind('\n') {
            None => Self {
                line: self.line,
                byte: self.byte + text.len(),
            },
            Some(last) => Self {
                line: self.line + text.bytes().filter(|byte| *byte == b'\n').count(),
                byte: text.len() - last - 1,
            },
        }
    }
}

impl Editor {
    /// Replaces a range with raw text, records the change, and puts the cursor after the text. If
    /// `continues`, the change may join the one before it. Returns the removed raw text.
    pub(super) fn replace(
        &mut self,
        range: Range<TextPosition>,
        text: &str,
        continues: bool,
    ) -> String {
        let before = (self.cursor, self.anchor.take());
        self.goal_column = None;
        let removed = self.splice(range.clone(), text);
        self.cursor = range.start.after(text);
        self.snap_to_cluster_end();
        let change = Change {
            start: range.start,
            bytes: self.chips.expanded_len(&removed) + self.chips.expanded_len(text),
            removed: removed.clone(),
            inserted: text.to_owned(),
            before,
            after: self.cursor,
        };
        if self.history.record(change, continues) {
            self.drop_unused_chips();
        }
        removed
    }

    /// Replaces a range with raw text. Returns the removed raw text.
    fn splice(&mut self, range: Range<TextPosition>, text: &str) -> String {
        self.move_unfolded(&range, text);
        let Range { start, end } = range;
        self.revision += 1;
        if start.line == end.line && !text.contains('\n') {
            let line = &mut self.lines[start.line];
            let cut = start.byte..end.byte;
            let removed = line.raw[cut.clone()].to_owned();
            line.raw.replace_range(cut.clone(), text);
            let (raw, chips) = (&line.raw, &self.chips);
            let spliced =
                |shown: &mut WrappedLine| shown.splice(cut.clone(), text.len(), raw, chips);
            line.wrapped.take_if(|shown| !spliced(shown));
            return removed;
        }
        let tail = self.lines[end.line].raw.split_off(end.byte);
        let first = &mut self.lines[start.line];
        first.wrapped = None;
        let mut removed = first.raw.split_off(start.byte);
        let mut parts = text.split('\n');
        first.raw.push_str(parts.next().unwrap_or_default());
        let mut added: Vec<EditorLine> = parts.map(EditorLine::new).collect();
        let last = added.last_mut().unwrap_or(first);
        last.raw.push_str(&tail);
        for line in self.lines.splice(start.line + 1..=end.line, added) {
            removed.push('\n');
            removed.push_str(&line.raw);
        }
        removed
    }

    pub(super) fn raw_text(&self, range: Range<TextPosition>) -> String {
        let Range { start, end } = range;
        let mut text = String::new();
        for line in start.line..=end.line {
            let raw = &self.lines[line].raw;
            let from = if line == start.line { start.byte } else { 0 };
            let to = if line == end.line {
                end.byte
            } else {
                raw.len()
            };
            text.push_str(&raw[from..to]);
            if line < end.line {
                text.push('\n');
            }
        }
        text
    }

    pub(super) fn end(&self) -> TextPosition {
        let line = self.lines.len() - 1;
        TextPosition {
            line,
            byte: self.lines[line].raw.len(),
        }
    }

    pub(super) fn undo(&mut self) -> bool {
        let Some(change) = self.history.pop_done() else {
            return false;
        };
        let end = change.start.after(&change.inserted);
        self.splice(change.start..end, &change.removed);
        (self.cursor, self.anchor) = change.before;
        self.history.push_undone(change);
        true
    }

    pub(super) fn redo(&mut self) -> bool {
        let Some(change) = self.history.pop_undone() else {
            return false;
        };
        let end = change.start.after(&change.removed);
        self.splice(change.start..end, &change.inserted);
        (self.cursor, self.anchor) = (change.after, None);
        self.history.push_done(change);
        true
    }

    /// Drops the texts of chips that neither the text nor undo nor the kill ring can show again.
    pub(super) fn drop_unused_chips(&mut self) {
        if self.chips.is_empty() {
            return;
        }
        let lines = self.lines.iter().map(|line| line.raw.as_str());
        let texts = lines.chain(self.history.texts()).chain(self.kills.texts());
        self.chips.retain_used(texts);
    }

    /// Moves the cursor to the next cluster boundary: inserted text may have joined its
    /// neighbors.
    pub(super) fn snap_to_cluster_end(&mut self) {
        let raw = &self.lines[self.cursor.line].raw;
        let mut cursor = GraphemeCursor::new(self.cursor.byte, raw.len(), true);
        if !cursor.is_boundary(raw, 0).unwrap_or(true) {
            let end = cursor.next_boundary(raw, 0).ok().flatten();
            self.cursor.byte = end.unwrap_or(raw.len());
        }
    }

    pub(super) fn snap_to_cluster_start(&mut self) {
        let raw = &self.lines[self.cursor.line].raw;
        let mut cursor = GraphemeCursor::new(self.cursor.byte, raw.len(), true);
        if !cursor.is_boundary(raw, 0).unwrap_or(true) {
            let start = cursor.prev_boundary(raw, 0).ok().flatten();
            self.cursor.byte = start.unwrap_or(0);
        }
    }
}

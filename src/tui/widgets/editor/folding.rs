//! Folding pastes into chips, and unfolding them.

use super::{Editor, EditorLine, TextPosition};
use std::ops::Range;

impl Editor {
    /// Whether the text has a folded paste.
    pub fn has_chip(&self) -> bool {
        self.chip_to_unfold().is_some()
    }

    /// Unfolds a chip and puts the cursor before its text, so that its beginning is visible.
    pub(super) fn unfold(&mut self) -> bool {
        let Some((start, chip)) = self.chip_to_unfold() else {
            return false;
        };
        let text = self.chips.pasted(chip).unwrap_or_default().to_owned();
        let text = self.chips.raw(&text).into_owned();
        let end = start.after(chip.encode_utf8(&mut [0; 4]));
        self.anchor = None;
        self.replace(start..end, &text, false);
        self.cursor = start;
        self.snap_to_cluster_end();
        self.unfolded.push(start..start.after(&text));
        true
    }

    /// Folds the unfolded paste at the cursor, or else unfolds a chip, or else folds the last paste
    /// that was unfolded.
    pub(super) fn toggle_fold(&mut self) -> bool {
        match self.unfolded_at_cursor() {
            Some(index) => self.fold(index),
            None => {
                self.unfold()
                    || self
                        .unfolded
                        .len()
                        .checked_sub(1)
                        .is_some_and(|last| self.fold(last))
            }
        }
    }

    /// Whether the cursor is in or beside an unfolded paste, which `Edit::Unfold` would fold.
    pub fn is_in_unfolded_paste(&self) -> bool {
        self.unfolded_at_cursor().is_some()
    }

    fn unfolded_at_cursor(&self) -> Option<usize> {
        let is_here =
            |range: &Range<TextPosition>| range.start <= self.cursor && self.cursor <= range.end;
        self.unfolded.iter().rposition(is_here)
    }

    /// Folds an unfolded paste with all edits in it, and puts the cursor after the chip. Returns false
    /// if the paste has become too short for a chip, or there are too many chips.
    fn fold(&mut self, index: usize) -> bool {
        let range = self.unfolded.remove(index);
        let text = self
            .chips
            .expand(&self.raw_text(range.clone()))
            .into_owned();
        let Some(chip) = self.chips.fold(&text) else {
            return false;
        };
        self.anchor = None;
        self.replace(range, chip.encode_utf8(&mut [0; 4]), false);
        true
    }

    /// Keeps the ranges of unfolded pastes at their texts when `range` is replaced by `text`. Text
    /// that is inserted beside a paste does not belong to it.
    pub(super) fn move_unfolded(&mut self, range: &Range<TextPosition>, text: &str) {
        // Undo puts the chip back in place of the whole paste, which then is no longer unfolded.
        let keeps =
            |paste: &Range<TextPosition>| range.start > paste.start || range.end < paste.end;
        self.unfolded.retain(keeps);
        for paste in &mut self.unfolded {
            paste.start = moved(paste.start, range, text, false);
            paste.end = moved(paste.end, range, text, true);
        }
        self.unfolded.retain(|paste| paste.start < paste.end);
    }

    /// The chip that ends at the cursor, else the next one, else the last one before.
    pub(super) fn chip_to_unfold(&self) -> Option<(TextPosition, char)> {
        if self.chips.is_empty() {
            return None;
        }
        let in_line = |(line, content): (usize, &EditorLine)| {
            let chips = content.raw.char_indices();
            let chips = chips.filter(|(_, c)| self.chips.pasted(*c).is_some());
            let at = move |(byte, c)| (TextPosition { line, byte }, c);
            chips.map(at).collect::<Vec<_>>()
        };
        let all: Vec<_> = self.lines.iter().enumerate().flat_map(in_line).collect();
        let ends_here = |(start, c): &&(TextPosition, char)| {
            start.after(c.encode_utf8(&mut [0; 4])) == self.cursor
        };
        let here = all.iter().find(ends_here);
        let next = || all.iter().find(|(start, _)| *start >= self.cursor);
        here.or_else(next).or(all.last()).copied()
    }
}

/// Where a position is after `range` was replaced by `text`. `ends_text`: the position is the end of
/// the text before it, so it stays before inserted text.
fn moved(
    at: TextPosition,
    range: &Range<TextPosition>,
    text: &str,
    ends_text: bool,
) -> TextPosition {
    let Range { start, end } = *range;
    let after = start.after(text);
    if at < start || at == start && (ends_text || start < end) {
        return at;
    }
    if at < end {
        return if ends_text { start } else { after };
    }
    let byte = match at.line == end.line {
        true => after.byte + at.byte - end.byte,
        false => at.byte,
    };
    TextPosition {
        line: after.line + at.line - end.line,
        byte,
    }
}

//! Folding of long prompts, such as a pasted log: the chat shows the first rows and how much more
//! there is. The whole text is read only when an entry is laid out, never per frame.

use crate::text::Clean;
use crate::text::numbers::group_digits;
use crate::text::wrap::wrap_line;
use std::num::NonZeroU16;

/// A prompt with more lines or more characters is folded.
const LINES_MAX: usize = 40;
const CHARS_MAX: usize = 4_000;
/// Rows of text that a folded prompt shows.
const SHOWN_ROWS: usize = 12;

/// Where the text of a laid-out entry is folded. Lines are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextFold {
    /// The line of the laid-out text that tells how much is hidden.
    pub label_line: usize,
    /// Whether the line before the label continues in the hidden part.
    cuts_line: bool,
    /// The line of the whole text that follows the hidden part: that of the first attached file.
    resume_line: usize,
}

impl TextFold {
    /// Whether a line of the whole text is hidden, or a part of it is.
    pub fn hides(&self, line: usize) -> bool {
        let first_hidden = self.label_line - usize::from(self.cuts_line);
        (first_hidden..self.resume_line).contains(&line)
    }

    /// The line of the laid-out text that shows a line of the whole text, or that replaces it.
    pub fn laid_out_line(&self, line: usize) -> usize {
        match line.checked_sub(self.resume_line) {
            Some(after) => self.label_line + 1 + after,
            None => line.min(self.label_line),
        }
    }
}

/// A long prompt as it is folded: its sanitized text in two parts.
#[derive(Debug, PartialEq, Eq)]
pub struct FoldedPrompt {
    pub shown: String,
    pub hidden: String,
    pub fold: TextFold,
}

impl FoldedPrompt {
    /// Folds a text that is laid out in this many columns. O(len).
    pub fn new(text: &str, columns: u16) -> Self {
        let clean = Clean::new(text);
        let text = clean.as_str();
        let end = shown_end(text, columns);
        let (shown, hidden) = text.split_at(end);
        let cuts_line = !hidden.starts_with('\n');
        let label_line = shown.matches('\n').count() + 1;
        Self {
            shown: shown.to_owned(),
            hidden: hidden.to_owned(),
            fold: TextFold {
                label_line,
                cuts_line,
                resume_line: text.matches('\n').count() + 1,
            },
        }
    }

    /// `… 4,988 more lines`, or characters if all of the hidden part is in one line.
    pub fn label(&self) -> String {
        let hidden = self.hidden.trim_matches('\n');
        let (count, unit) = match hidden.matches('\n').count() {
            0 if self.fold.cuts_line => (hidden.chars().count(), "character"),
            breaks => (breaks + 1, "line"),
        };
        let plural = if count == 1 { "" } else { "s" };
        format!("… {} more {unit}{plural}", group_digits(count))
    }
}

/// Whether a prompt is folded. Reads at most [`CHARS_MAX`] characters.
pub fn is_long(text: &str) -> bool {
    let text = text.trim_end_matches('\n');
    let has_many_chars = text.chars().nth(CHARS_MAX).is_some();
    has_many_chars || text.matches('\n').nth(LINES_MAX - 1).is_some()
}

/// The byte at which the first [`SHOWN_ROWS`] rows of a sanitized text end, without the line break.
fn shown_end(text: &str, columns: u16) -> usize {
    let columns = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
    let (mut rows, mut start) = (0, 0);
    // Blank lines at the beginning are not drawn.
    for line in text.split('\n') {
        let line_rows = wrap_line(line, columns);
        if rows > 0 || !line.trim().is_empty() {
            let left = SHOWN_ROWS - rows;
            if line_rows.len() >= left {
                return start + line_rows[left - 1].end;
            }
            rows += line_rows.len();
        }
        start += line.len() + 1;
    }
    text.len()
}

//! The count in the title of a list.

use crate::text::numbers::group_digits;
use crate::tui::theme::Glyphs;

/// The number of listed rows, of all rows, and of listed rows outside the view.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListCount {
    pub listed: usize,
    pub total: usize,
    pub above: usize,
    pub below: usize,
}

impl ListCount {
    /// For example `41, ↓ 33`, or `3 of 1,204` while a filter hides rows.
    pub fn note(&self, glyphs: &Glyphs) -> String {
        let mut note = group_digits(self.listed);
        if self.listed < self.total {
            note.push_str(&format!(" of {}", group_digits(self.total)));
        }
        let mut separator = ",";
        for (mark, hidden) in [(glyphs.up, self.above), (glyphs.down, self.below)] {
            if hidden > 0 {
                note.push_str(&format!("{separator} {mark} {}", group_digits(hidden)));
                separator = "";
            }
        }
        note
    }
}

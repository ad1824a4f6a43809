//! The key hints of a list.

use super::SearchList;
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey};

/// Begins the hint for the first letter that acts on a row, after the key that goes to the rows.
pub const ROW_HINT_PREFIX: &str = "then ";

impl SearchList {
    /// Hints for the keys that currently work in a list of `count` rows. `row_hints` are for the
    /// letters that act on a row.
    pub fn hints(
        &self,
        count: usize,
        enter: &str,
        row_hints: Vec<String>,
        keymap: &Keymap,
    ) -> Vec<String> {
        let hint = |key, word: &str| keymap.layer_hint(KeyContext::SearchList, key, word);
        let mut hints = Vec::new();
        if count > 0 {
            hints.extend(hint(LayerKey::Confirm, enter));
            let mut row_hints = row_hints.into_iter();
            if !self.has_row_focus
                && let Some(first) = row_hints.next()
            {
                hints.extend(hint(LayerKey::Switch, &format!("{ROW_HINT_PREFIX}{first}")));
            }
            hints.extend(row_hints);
        }
        hints.extend(hint(
            LayerKey::Back,
            match (self.has_row_focus, self.filter.is_empty()) {
                (true, _) => "back",
                (false, true) => "close",
                (false, false) => "clear",
            },
        ));
        hints
    }
}

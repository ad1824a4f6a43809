//! Reviews edits of `keys`. Keys that answer questions need consent: a tool that swaps `y` and `n`
//! would otherwise turn the user's next refusal into an approval. Other keys apply at once.

use super::{CONFIG, ChangeReviewer};
use crate::domain::KeySettings;
use std::sync::Arc;

impl ChangeReviewer {
    /// The section with only the harmless changes applied. An edit that needs consent is held back as
    /// a whole, because moving a key to another action also removes it from its earlier action.
    pub(super) fn review_keys(
        &mut self,
        before: &Arc<KeySettings>,
        after: &Arc<KeySettings>,
    ) -> Arc<KeySettings> {
        if before.binds_same_keys(after) {
            return Arc::clone(after);
        }
        let [old, new] = [before, after].map(|keys| answer_lines(keys));
        if old == new {
            self.add_harmless(CONFIG, "the keys changed");
            return Arc::clone(after);
        }
        self.add_needing_consent((CONFIG, "keys"), "`keys`: answers to questions", old, new);
        Arc::clone(before)
    }
}

/// The entries of answers to questions, one per line; `None` without any.
fn answer_lines(keys: &KeySettings) -> Option<String> {
    let lines = keys.answer_entries().map(|entry| {
        let names = match &entry.keys {
            Ok(names) => names.join(", "),
            Err(why) => format!("(cannot be used: {why})"),
        };
        let line = format!("{}: {names}", entry.action);
        super::describe::escape_newlines(&line)
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

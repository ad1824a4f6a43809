//! Reviews edits of `notes`. Tools read and write the folder, and the text of notes goes to the
//! embedding model, so a different folder or model needs consent. Removing either applies at once.

use super::super::NotesSection;
use super::{CONFIG, ChangeReviewer};
use std::path::PathBuf;

impl ChangeReviewer {
    pub(super) fn review_notes(
        &mut self,
        before: &NotesSection,
        after: &NotesSection,
    ) -> NotesSection {
        let NotesSection { vault, embed_model } = after;
        NotesSection {
            vault: self.review_vault(before.vault.as_ref(), vault.as_ref()),
            embed_model: self.review_embed_model(before.embed_model.as_ref(), embed_model.as_ref()),
        }
    }

    fn review_vault(
        &mut self,
        before: Option<&PathBuf>,
        after: Option<&PathBuf>,
    ) -> Option<PathBuf> {
        if before == after {
            return before.cloned();
        }
        if after.is_none() {
            self.add_harmless(CONFIG, "notes.vault is no longer set".to_owned());
            return None;
        }
        let [old, new] = [before, after].map(|path| path.map(|path| path.display().to_string()));
        let what = "`notes.vault`: tools could read and write notes in a different folder";
        self.add_needing_consent((CONFIG, "notes"), what, old, new);
        before.cloned()
    }

    fn review_embed_model(
        &mut self,
        before: Option<&String>,
        after: Option<&String>,
    ) -> Option<String> {
        if before == after {
            return before.cloned();
        }
        if after.is_none() {
            self.add_harmless(CONFIG, "notes.embedModel is no longer set".to_owned());
            return None;
        }
        let what = "`notes.embedModel`: the text of notes would go to a different model";
        self.add_needing_consent((CONFIG, "notes"), what, before.cloned(), after.cloned());
        before.cloned()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::review::tests::{config, described_changes};
    use serde_json::json;

    #[test]
    fn a_different_folder_or_embedding_model_needs_consent_but_removing_it_does_not() {
        let none = config(&json!({}));
        let notes =
            config(&json!({ "notes": { "vault": "/home/me/notes", "embedModel": "mini" } }));
        assert_eq!(
            described_changes(&none, &notes),
            [
                "? `notes.vault`: tools could read and write notes in a different folder: (none) -> \
                 /home/me/notes",
                "? `notes.embedModel`: the text of notes would go to a different model: (none) -> mini",
            ]
        );
        assert_eq!(
            described_changes(&notes, &none),
            [
                "= notes.vault is no longer set",
                "= notes.embedModel is no longer set"
            ]
        );
    }
}

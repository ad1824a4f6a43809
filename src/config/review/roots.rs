//! Reviews edits of `roots`. Every MCP server may ask for these folders, so an additional one
//! needs consent. Removing one applies at once.

use super::describe::comma_list;
use super::{CONFIG, ChangeReviewer};
use std::path::PathBuf;

impl ChangeReviewer {
    pub(super) fn review_roots(&mut self, before: &[PathBuf], after: &[PathBuf]) -> Vec<PathBuf> {
        let (kept, removed): (Vec<PathBuf>, Vec<PathBuf>) = before
            .iter()
            .cloned()
            .partition(|folder| after.contains(folder));
        for folder in removed {
            let what = format!("roots no longer lists {}", folder.display());
            self.add_harmless(CONFIG, what);
        }
        if after.iter().all(|folder| before.contains(folder)) {
            return after.to_vec();
        }
        let names = |folders: &[PathBuf]| {
            let names = folders.iter().map(|folder| folder.display().to_string());
            Some(comma_list(names)).filter(|names| !names.is_empty())
        };
        let what = "`roots`: MCP servers could learn of further folders";
        self.add_needing_consent((CONFIG, "roots"), what, names(&kept), names(after));
        kept
    }
}

#[cfg(test)]
mod tests {
    use crate::config::review::tests::{config, described_changes};
    use serde_json::json;

    #[test]
    fn an_additional_root_needs_consent_but_removing_one_does_not() {
        let roots = |folders: &[&str]| config(&json!({ "roots": folders }));
        assert_eq!(
            described_changes(&roots(&["/a", "/b"]), &roots(&["/b", "/c"])),
            [
                "= roots no longer lists /a",
                "? `roots`: MCP servers could learn of further folders: /b -> /b, /c",
            ]
        );
        assert_eq!(
            described_changes(&roots(&[]), &roots(&["/a"])),
            ["? `roots`: MCP servers could learn of further folders: (none) -> /a"]
        );
        assert_eq!(
            described_changes(&roots(&["/a", "/b"]), &roots(&["/b"])),
            ["= roots no longer lists /a"]
        );
        assert_eq!(
            described_changes(&roots(&["/a", "/b"]), &roots(&["/b", "/a"])),
            [""; 0]
        );
    }
}

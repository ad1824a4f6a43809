//! The notes whose paths match the text that a user has typed.

use super::vault::{NoteFile, Vault};
use crate::domain::NotePaths;
use crate::text::comparison::comparison_key;
use std::cmp::Reverse;

/// Maximum number of notes in an answer.
const PATHS_MAX: usize = 50;

/// How well a path matches, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PathMatch {
    /// The whole path, or the file name with or without its extension.
    Exact,
    /// The beginning of the path or of the file name.
    Beginning,
    Inside,
}

/// The notes that match, best first; among equally good matches, the last changed first.
pub(super) fn best_matches(vault: &Vault, fragment: &str) -> NotePaths {
    let typed = comparison_key(fragment);
    let matches = |note: NoteFile| {
        let quality = path_match(&comparison_key(&note.key), &typed)?;
        Some((quality, Reverse(note.fingerprint.modified_ns), note.key))
    };
    let listing = vault.list();
    let mut matching: Vec<_> = listing.notes.into_iter().filter_map(matches).collect();
    matching.sort_unstable();
    let is_partial = listing.is_truncated || matching.len() > PATHS_MAX;
    matching.truncate(PATHS_MAX);
    NotePaths {
        paths: matching.into_iter().map(|(_, _, path)| path).collect(),
        is_partial,
    }
}

fn path_match(path: &str, typed: &str) -> Option<PathMatch> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if [path, name, stem].contains(&typed) {
        Some(PathMatch::Exact)
    } else if path.starts_with(typed) || name.starts_with(typed) {
        Some(PathMatch::Beginning)
    } else {
        path.contains(typed).then_some(PathMatch::Inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn completion_lists_the_best_matching_note_paths_first_and_limits_their_number() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::open(folder.path()).expect("a vault");
        fs::create_dir(vault.root().join("drinks")).expect("created");
        for name in ["green-tea.md", "tea.md", "drinks/teapot.md", "날씨.md"] {
            fs::write(vault.root().join(name), "# A").expect("written");
        }
        let found = |typed: &str| best_matches(&vault, typed).paths;
        assert_eq!(found("Tea"), ["tea.md", "drinks/teapot.md", "green-tea.md"]);
        assert_eq!(found("drinks/"), ["drinks/teapot.md"]);
        assert_eq!(found("나"), ["날씨.md"], "an incomplete syllable");
        assert_eq!(found("coffee"), [""; 0]);
        assert!(!best_matches(&vault, "").is_partial);
        for number in 0..PATHS_MAX {
            let path = vault.root().join(format!("{number}.md"));
            fs::write(path, "# A").expect("written");
        }
        let all = best_matches(&vault, "");
        assert!(all.is_partial && all.paths.len() == PATHS_MAX);
    }
}

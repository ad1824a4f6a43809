//! Which of the paths that a message mentions with `@` are files, and which look like files but do
//! not exist. Names of people and packages look similar, so a path counts as missing only if its
//! folder exists or it is marked as a path.

use crate::files;
use std::io::ErrorKind;
use std::path::Path;

/// Endings that make a name without a folder look like a file.
const COMMON_ENDINGS: &str = "bash c cc cfg conf cpp cs css csv doc docx env gif go gradle h hpp \
    htm html ini ipynb java jpeg jpg js json jsonl jsx kt lock log lua md mjs pdf php pl png ps1 \
    py r rb rs rst rtf sass scss sh sql svg swift tex tf toml ts tsv tsx txt vue webp xls xlsx xml \
    yaml yml zig";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MentionedPaths {
    /// The regular files among the paths.
    pub files: Vec<String>,
    /// Paths that look like files and do not exist.
    pub missing: Vec<String>,
}

/// Looks the paths up. They are resolved as in [`super::read_path`].
pub fn look_up_mentioned(paths: Vec<String>, root: &Path) -> MentionedPaths {
    let mut mentioned = MentionedPaths::default();
    for path in paths {
        let resolved = root.join(files::expand_home(&path));
        match std::fs::metadata(&resolved) {
            Ok(metadata) if metadata.is_file() => mentioned.files.push(path),
            Err(error)
                if error.kind() == ErrorKind::NotFound && looks_missing(&path, &resolved) =>
            {
                mentioned.missing.push(path);
            }
            _ => {}
        }
    }
    mentioned
}

fn looks_missing(path: &str, resolved: &Path) -> bool {
    if ["./", "../", "~/"]
        .iter()
        .any(|start| path.starts_with(start))
    {
        return true;
    }
    let ending = Path::new(path).extension();
    let ending = ending.and_then(|ending| ending.to_str());
    let in_folder = resolved.parent().is_some_and(Path::is_dir);
    match path.contains('/') {
        // `@types/node` is a package even if there is a folder of that name.
        true => in_folder && (ending.is_some() || path.starts_with('/')),
        false => ending.is_some_and(|ending| {
            let ending = ending.to_ascii_lowercase();
            COMMON_ENDINGS
                .split_whitespace()
                .any(|common| common == ending)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_look_like_files_are_reported_missing() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        std::fs::create_dir_all(root.join("src/deep")).expect("folders");
        std::fs::create_dir_all(root.join("types")).expect("a folder");
        std::fs::write(root.join("src/a.rs"), "x").expect("a file");
        let absolute = root.join("gone").to_str().expect("UTF-8").to_owned();
        let missing = [
            "src/gone.rs",
            "gone.md",
            "./gone",
            "../gone/x",
            "~/no-such-folder/x",
            &absolute,
        ];
        let others = [
            "name",
            "john.doe",
            "example.com",
            "1.2.3",
            "types/node",
            "scope/pkg",
            "scope/pkg.js",
            "/components/Button.vue",
            "src",
            "src/deep",
            "src/deep/",
        ];
        let paths = missing.iter().chain(&others).chain(&["src/a.rs"]);
        let found = look_up_mentioned(paths.map(ToString::to_string).collect(), root);
        assert_eq!(found.files, ["src/a.rs"]);
        assert_eq!(found.missing, missing);
    }
}

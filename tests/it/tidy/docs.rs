//! Checks the documentation: every path and link must lead to something in the repository.

use super::root;
use std::fs;
use std::path::PathBuf;

/// A word in backticks with one of these prefixes is a path from the root.
const ROOTS: [&str; 6] = ["src/", "tests/", "benches/", "docs/", "assets/", ".ci/"];

/// Top-level pages, in addition to all pages in `docs`.
const PAGES: [&str; 3] = ["README.md", "CONTRIBUTING.md", "SECURITY.md"];

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = fs::read_dir(root().join("docs"))
        .expect("docs is a folder")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.sort();
    assert!(pages.len() > 3, "docs has pages");
    pages.extend(PAGES.map(|page| root().join(page)));
    pages
}

/// The page without fenced blocks, which contain commands and examples.
fn prose(page: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut kept = String::new();
    for line in page.lines() {
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => {
                kept.push_str(line);
                kept.push('\n');
            }
            _ => {}
        }
    }
    kept
}

/// Paths in backticks, including arguments of commands.
fn paths(prose: &str) -> Vec<&str> {
    let spans = prose.split('`').skip(1).step_by(2);
    spans
        .flat_map(str::split_whitespace)
        .map(|word| word.trim_end_matches([',', ';', '.']))
        .filter(|word| ROOTS.iter().any(|root| word.starts_with(root)))
        .collect()
}

/// Targets of Markdown links within the repository, without anchors.
fn links(prose: &str) -> Vec<&str> {
    let targets = prose.split("](").skip(1);
    targets
        .filter_map(|rest| rest.split([')', ' ']).next())
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .filter_map(|target| target.split('#').next())
        .filter(|target| !target.is_empty())
        .collect()
}

#[test]
fn every_path_in_the_documentation_exists() {
    let mut faults = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap_or_else(|fault| panic!("{page:?}: {fault}"));
        let prose = prose(&text);
        let folder = page.parent().expect("a page is in a folder");
        let paths = paths(&prose).into_iter().map(|path| (root(), path));
        let links = links(&prose).into_iter().map(|link| (folder, link));
        for (from, path) in paths.chain(links) {
            if !from.join(path).exists() {
                let page = page.strip_prefix(root()).expect("below the root");
                faults.push(format!("{}: `{path}` does not exist", page.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn paths_and_links_are_extracted() {
    let page = "See `src/a.rs`, `just x` and `run tests/b c`.\n```sh\n`src/no.rs` [no](no.md)\n```\n\
                [c](d.md#e) [f](#g) [h](https://i/j.md) ![k](assets/l.svg) src/bare.rs\n";
    let prose = prose(page);
    assert_eq!(paths(&prose), ["src/a.rs", "tests/b"]);
    assert_eq!(links(&prose), ["d.md", "assets/l.svg"]);
}

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

/// Folders and files whose text must not cite documents that are not here.
const CITING: [&str; 11] = [
    "src",
    "tests",
    "benches",
    "docs",
    ".ci",
    "justfile",
    "Cargo.toml",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
];

/// What builds and the fuzzer leave behind.
const GENERATED: [&str; 5] = ["target", "corpus", "artifacts", "coverage", "Cargo.lock"];

/// Every text file in `path`, which may itself be one.
fn texts(path: PathBuf) -> Vec<(PathBuf, String)> {
    if GENERATED.iter().any(|name| path.ends_with(name)) {
        return Vec::new();
    }
    if path.is_dir() {
        let entries = fs::read_dir(&path).expect("a folder of the repository");
        let entries = entries.map(|entry| entry.expect("a readable folder").path());
        return entries.flat_map(texts).collect();
    }
    let text = fs::read_to_string(&path).ok();
    text.into_iter().map(|text| (path.clone(), text)).collect()
}

/// Words that cite a document: a capital name such as `X.md` that is not at the top level, a
/// numbered section of one, or its bare name.
fn citations(line: &str) -> Vec<&str> {
    // In two parts, so that this file does not cite them itself.
    let names = [
        concat!("DIAL", "ECTS"),
        concat!("SP", "EC"),
        concat!("HO", "USE"),
    ];
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let words = line.split(|c: char| !is_part(c));
    words
        .map(|word| word.trim_matches('.'))
        .filter(|word| names.contains(word) || is_section(line, word) || is_missing_page(word))
        .collect()
}

/// `S` with a number in parts, or with a plain one alone in parentheses.
fn is_section(line: &str, word: &str) -> bool {
    let Some(number) = word.strip_prefix('S') else {
        return false;
    };
    let mut parts = number.split('.');
    let is_numbered =
        parts.all(|part| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit()));
    is_numbered && (number.contains('.') || line.contains(&format!("({word})")))
}

/// `NAME.md` stands for a file of any name.
fn is_missing_page(word: &str) -> bool {
    let Some(name) = word.strip_suffix(".md") else {
        return false;
    };
    let is_capital = name.len() > 1 && name.bytes().all(|it| it.is_ascii_uppercase() || it == b'-');
    is_capital && name != "NAME" && !root().join(word).exists()
}

#[test]
fn no_document_is_cited_that_is_not_here() {
    let mut faults = Vec::new();
    for (path, text) in CITING.into_iter().flat_map(|path| texts(root().join(path))) {
        let path = path.strip_prefix(root()).expect("below the root");
        for (number, line) in text.lines().enumerate() {
            for word in citations(line) {
                faults.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{} citations: {faults:#?}", faults.len());
}

#[test]
fn citations_are_known_from_other_words() {
    let section = format!("S{}.4", 5);
    let whole = format!("S{}", 7);
    let page = format!("{}.md", "WIRE");
    let name = concat!("DIAL", "ECTS");
    for (line, expected) in [
        (
            format!("/// As it is asked ({section}, {name} 23)."),
            vec![section.as_str(), name],
        ),
        (format!("decided ({whole})."), vec![whole.as_str()]),
        (format!("see {page}"), vec![page.as_str()]),
        (
            format!("an {whole} bucket, S.4, README.md, personas/NAME.md, SPECIAL, x{section}"),
            vec![],
        ),
    ] {
        assert_eq!(citations(&line), expected, "{line}");
    }
}

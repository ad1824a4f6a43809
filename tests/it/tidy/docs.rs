//! Checks the documentation: every path, link and cited document must exist in the repository, and
//! the architecture page must name the modules.

use super::root;
use std::fs;
use std::path::PathBuf;

/// A word in backticks with one of these prefixes is a path relative to the repository.
const ROOTS: [&str; 6] = ["src/", "tests/", "benches/", "docs/", "assets/", ".ci/"];

/// Top-level pages, in addition to all pages in `docs`.
const PAGES: [&str; 3] = ["README.md", "CONTRIBUTING.md", "SECURITY.md"];

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = fs::read_dir(root().join("docs"))
        .expect("docs is a folder")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    assert!(pages.len() > 3, "too few pages in docs");
    pages.extend(PAGES.map(|page| root().join(page)));
    pages
}

/// The page without fenced blocks, which contain commands and examples.
fn prose(page: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut prose = String::new();
    for line in page.lines() {
        let fence_mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| line.trim_start().starts_with(mark));
        match (fence, fence_mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => {
                prose.push_str(line);
                prose.push('\n');
            }
            _ => {}
        }
    }
    prose
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
    let mut problems = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{page:?}: {error}"));
        let prose = prose(&text);
        let folder = page.parent().expect("a page is in a folder");
        let paths = paths(&prose).into_iter().map(|path| (root(), path));
        let links = links(&prose).into_iter().map(|link| (folder, link));
        for (base, path) in paths.chain(links) {
            if !base.join(path).exists() {
                let page = page.strip_prefix(root()).expect("below the root");
                problems.push(format!("{}: `{path}` does not exist", page.display()));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn the_architecture_page_names_every_module_of_src_and_folder_of_the_engine() {
    let page = root().join("docs/architecture.md");
    let page = fs::read_to_string(page).expect("docs/architecture.md");
    let prose = prose(&page);
    let paths = paths(&prose);
    let mut missing = Vec::new();
    for folder in ["src", "src/engine"] {
        for entry in fs::read_dir(root().join(folder)).expect("a folder of sources") {
            let entry = entry.expect("a readable folder").path();
            let module = entry.file_stem().expect("a name").to_string_lossy();
            let module = format!("{folder}/{module}");
            let is_named =
                |path: &&str| path.trim_end_matches('/').trim_end_matches(".rs") == module;
            // In the engine, only folders must be named.
            let is_expected = (folder == "src" && module != "src/lib") || entry.is_dir();
            if is_expected && !paths.iter().any(is_named) {
                missing.push(module);
            }
        }
    }
    assert!(
        missing.is_empty(),
        "docs/architecture.md does not name {missing:?}"
    );
}

#[test]
fn paths_and_links_of_a_page_are_extracted() {
    let page = "See `src/a.rs`, `just x` and `run tests/b c`.\n```sh\n`src/no.rs` [no](no.md)\n```\n\
                [c](d.md#e) [f](#g) [h](https://i/j.md) ![k](assets/l.svg) src/bare.rs\n";
    let prose = prose(page);
    assert_eq!(paths(&prose), ["src/a.rs", "tests/b"]);
    assert_eq!(links(&prose), ["d.md", "assets/l.svg"]);
}

/// Folders and files whose text must not cite documents that the repository does not contain.
const CHECKED_FOR_CITATIONS: [&str; 11] = [
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

/// Output of builds and of the fuzzer.
const GENERATED: [&str; 5] = ["target", "corpus", "artifacts", "coverage", "Cargo.lock"];

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

/// Words that cite a document: a file name in capitals with `.md` that is not at the top level, a
/// numbered section, or one of the names below.
fn citations(line: &str) -> Vec<&str> {
    // Each name is split so that this file does not cite it.
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

/// Whether `word` is `S` with a number of several parts, or `S` with a plain number and enclosed
/// in parentheses.
fn is_section(line: &str, word: &str) -> bool {
    let Some(number) = word.strip_prefix('S') else {
        return false;
    };
    let mut parts = number.split('.');
    let is_numbered =
        parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    is_numbered && (number.contains('.') || line.contains(&format!("({word})")))
}

/// Whether `word` names a Markdown file in capitals that is not at the top level. `NAME` and `TOPIC`
/// are placeholders.
fn is_missing_page(word: &str) -> bool {
    let Some(name) = word.strip_suffix(".md") else {
        return false;
    };
    let is_capital = name.len() > 1
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    is_capital && !["NAME", "TOPIC"].contains(&name) && !root().join(word).exists()
}

#[test]
fn every_cited_document_is_in_the_repository() {
    let mut problems = Vec::new();
    for (path, text) in CHECKED_FOR_CITATIONS
        .into_iter()
        .flat_map(|path| texts(root().join(path)))
    {
        let path = path.strip_prefix(root()).expect("below the root");
        for (number, line) in text.lines().enumerate() {
            for word in citations(line) {
                problems.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    }
    assert!(
        problems.is_empty(),
        "{} citations: {problems:#?}",
        problems.len()
    );
}

#[test]
fn citations_of_other_documents_are_recognized() {
    let section = format!("S{}.4", 5);
    let plain_section = format!("S{}", 7);
    let page = format!("{}.md", "WIRE");
    let name = concat!("DIAL", "ECTS");
    for (line, expected) in [
        (
            format!("/// As it is asked ({section}, {name} 23)."),
            vec![section.as_str(), name],
        ),
        (
            format!("decided ({plain_section})."),
            vec![plain_section.as_str()],
        ),
        (format!("see {page}"), vec![page.as_str()]),
        (
            format!(
                "an {plain_section} bucket, S.4, README.md, personas/NAME.md, SPECIAL, x{section}"
            ),
            vec![],
        ),
    ] {
        assert_eq!(citations(&line), expected, "{line}");
    }
}

/// The commands of the section *Start* in the README, without their comments.
fn start_commands(readme: &str) -> Vec<&str> {
    let (_, section) = readme.split_once("## Start").expect("a section");
    let block = section.split("```").nth(1).expect("a block of commands");
    let lines = block.lines().skip(1);
    let commands = lines.map(|line| line.split('#').next().unwrap_or(line).trim());
    commands.filter(|command| !command.is_empty()).collect()
}

#[test]
fn ci_runs_the_tests_with_the_command_that_the_readme_names() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("a file");
    let (readme, ci) = (read("README.md"), read(".ci/run"));
    let commands = start_commands(&readme);
    let [demo, tests] = commands.as_slice() else {
        panic!("not two commands: {commands:?}");
    };
    assert!(demo.starts_with("cargo run --release "), "{demo}");
    // Only redirections and filters of its output may follow.
    let runs = |line: &str| {
        line.trim()
            .strip_prefix(tests)
            .is_some_and(|rest| rest.starts_with(" 2>&1 |"))
    };
    assert!(ci.lines().any(runs), "CI does not run `{tests}`");
    let version = env!("CARGO_PKG_RUST_VERSION");
    assert!(readme.contains(&format!("Rust {version} or newer and a C compiler")));
}

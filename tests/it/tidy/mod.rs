//! Checks that the compiler cannot make, such as module layers, lengths of files and functions, and
//! the structure of the changelog.

mod docs;
mod imports;
mod names;
mod source;
mod words;

use source::code;
use std::fs;
use std::path::{Path, PathBuf};

/// Each top-level module with the other modules that it may use.
const LAYERS: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("domain", &["text"]),
    ("dialect", &["domain", "text"]),
    ("protocol", &["domain", "text"]),
    ("questions", &["domain", "protocol", "text"]),
    ("front_end", &["domain", "protocol", "text"]),
    ("commands", &["domain", "front_end", "protocol", "text"]),
    ("ports", &["domain"]),
    ("sync", &[]),
    ("files", &["sync"]),
    ("http_util", &["domain"]),
    ("browser", &["text"]),
    ("search", &["files", "text"]),
    ("log", &["domain", "files", "protocol", "sync", "text"]),
    ("attachments", &["domain", "files", "text", "sync"]),
    ("config", &["domain", "files", "text", "sync"]),
    ("store", &["domain", "files", "search", "text", "sync"]),
    (
        "provider",
        &["domain", "ports", "text", "http_util", "sync"],
    ),
    (
        "mcp",
        &["domain", "files", "ports", "text", "http_util", "sync"],
    ),
    ("import", &["domain", "files"]),
    ("registry", &["domain", "http_util"]),
    (
        "notes",
        &["domain", "files", "ports", "search", "sync", "text"],
    ),
    ("serve", &["domain", "ports", "text", "http_util", "sync"]),
    (
        "engine",
        &[
            "attachments",
            "browser",
            "domain",
            "text",
            "dialect",
            "protocol",
            "questions",
            "ports",
            "log",
            "config",
            "store",
            "provider",
            "mcp",
            "import",
            "notes",
        ],
    ),
    ("headless", &["domain", "text", "protocol", "questions"]),
    (
        "tui",
        &[
            "browser",
            "commands",
            "domain",
            "text",
            "protocol",
            "questions",
            "front_end",
        ],
    ),
    (
        "linear",
        &[
            "browser",
            "commands",
            "domain",
            "front_end",
            "headless",
            "protocol",
            "text",
        ],
    ),
    ("cli", &["dialect", "domain", "text"]),
    ("demo", &["domain", "provider"]),
    (
        "app",
        &[
            "browser", "cli", "config", "demo", "domain", "engine", "headless", "import", "linear",
            "log", "mcp", "notes", "provider", "registry", "serve", "store", "text", "tui",
        ],
    ),
];

/// Text that must not appear in a module's code.
const FORBIDDEN_TEXTS: &[(&str, &[&str])] = &[
    (
        "domain",
        &[
            "tokio::",
            "std::fs",
            "ratatui",
            "crossterm",
            "std::net",
            "std::process",
        ],
    ),
    ("text", &["tokio::", "std::fs", "ratatui", "crossterm"]),
    ("dialect", &["tokio::", "std::fs", "ratatui", "crossterm"]),
    ("engine", &["ratatui", "crossterm"]),
    ("protocol", &["tokio::", "ratatui", "crossterm"]),
];

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;

/// Exempt files and functions, each with the reason.
const LONG_FILES: &[(&str, &str)] = &[];
const LONG_FUNCTIONS: &[(&str, &str)] = &[];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files below `folder`, with their paths from the crate root.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the crate") {
            let path: PathBuf = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).expect("below the root");
                let text = fs::read_to_string(&path).expect("UTF-8");
                files.push((name.to_string_lossy().replace('\\', "/"), text));
            }
        }
    }
    files.sort();
    assert!(files.len() > 3, "too few files in {folder}");
    files
}

fn all_sources() -> impl Iterator<Item = (String, String)> {
    ["src", "tests", "benches"].into_iter().flat_map(sources)
}

/// The top-level module of a file: `engine` for `src/engine/turn/mod.rs` and `src/engine.rs`.
fn module_of(path: &str) -> &str {
    let path = path.strip_prefix("src/").expect("a source file");
    let end = path.find(['/', '.']).expect("an extension");
    &path[..end]
}

fn named_crate_modules(code: &str) -> Vec<&str> {
    code.split("crate::")
        .skip(1)
        .map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn modules_use_only_the_modules_listed_for_them() {
    let mut problems = Vec::new();
    for (path, text) in sources("src") {
        let module = module_of(&path);
        if module == "main" || module == "lib" {
            continue;
        }
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == module) else {
            problems.push(format!("{path}: module `{module}` is missing in LAYERS"));
            continue;
        };
        let code = code(&text);
        for named in named_crate_modules(&code) {
            // These exist only in tests.
            let is_test_support = ["argument_reader", "fixtures"].contains(&named);
            if named != module && !is_test_support && !allowed.contains(&named) {
                problems.push(format!("{path}: `{module}` names `{named}`"));
            }
        }
        // The checks read names behind `crate::` and `std::`, so these must not open a brace.
        for grouped in ["crate::{", "std::{"] {
            if code.contains(grouped) {
                problems.push(format!("{path}: write `{grouped}…` as separate imports"));
            }
        }
        let forbidden = FORBIDDEN_TEXTS.iter().filter(|(name, _)| *name == module);
        for word in forbidden.flat_map(|(_, words)| words.iter()) {
            if code.contains(word) {
                problems.push(format!("{path}: `{module}` uses `{word}`"));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn source_files_stay_below_the_line_limit() {
    let mut problems = Vec::new();
    for (path, text) in all_sources() {
        let lines = text.lines().count();
        let is_exempt = LONG_FILES.iter().any(|(file, _)| *file == path);
        if lines > FILE_LINES_MAX && !is_exempt {
            problems.push(format!("{path}: {lines} lines"));
        }
        if is_exempt && lines <= FILE_LINES_MAX {
            problems.push(format!("{path}: no longer needs an exception"));
        }
    }
    assert!(
        problems.is_empty(),
        "over {FILE_LINES_MAX} lines: {problems:#?}"
    );
}

#[test]
fn functions_stay_below_the_line_limit() {
    let mut problems = Vec::new();
    for (path, text) in all_sources() {
        for (name, lines) in functions(&text) {
            let is_exempt = LONG_FUNCTIONS.iter().any(|(function, _)| *function == name);
            if lines > FUNCTION_LINES_MAX && !is_exempt {
                problems.push(format!("{path}: {name} has {lines} lines"));
            }
        }
    }
    assert!(
        problems.is_empty(),
        "over {FUNCTION_LINES_MAX} lines: {problems:#?}"
    );
}

/// Names and lengths of functions. A function ends at the `}` with the indentation of its `fn`.
fn functions(text: &str) -> Vec<(String, usize)> {
    let mut functions = Vec::new();
    // Name, indentation and first line of each function that is still open.
    let mut open: Vec<(String, usize, usize)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let code = line.trim_start();
        let declaration = match code.strip_prefix("pub(") {
            Some(rest) => rest.split_once(") ").map_or(rest, |(_, rest)| rest),
            None => code.strip_prefix("pub ").unwrap_or(code),
        };
        let head = declaration.split('(').next().unwrap_or_default();
        if let Some((qualifiers, name)) = head.rsplit_once("fn ") {
            let is_function = ["", "async", "const"].contains(&qualifiers.trim());
            if is_function && !code.ends_with(';') && !code.ends_with('}') {
                let name = name.split('<').next().unwrap_or(name).to_owned();
                open.push((name, indent, number));
            }
        }
        if code == "}"
            && open
                .last()
                .is_some_and(|(_, start_indent, _)| *start_indent == indent)
        {
            let (name, _, start) = open.pop().expect("just seen");
            functions.push((name, number - start + 1));
        }
    }
    functions
}

#[test]
fn function_lengths_are_measured_correctly() {
    let text = "impl A {\n    pub async fn a(\n        b: u8,\n    ) {\n        c();\n    }\n}\nfn d() {\n}\n";
    assert_eq!(functions(text), [("a".to_owned(), 5), ("d".to_owned(), 2)]);
}

#[test]
fn every_module_begins_with_a_doc_comment() {
    let undocumented: Vec<String> = sources("src")
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//!"))
        .map(|(path, _)| path)
        .collect();
    assert!(
        undocumented.is_empty(),
        "no `//!` at the top: {undocumented:#?}"
    );
}

/// A module with submodules is `x/mod.rs`, so that its folder holds all of it.
#[test]
fn no_module_stands_beside_its_folder() {
    let files = sources("src").into_iter().map(|(path, _)| path);
    let beside: Vec<String> = files
        .filter(|path| root().join(path.trim_end_matches(".rs")).is_dir())
        .collect();
    assert!(beside.is_empty(), "must become `mod.rs`: {beside:#?}");
}

/// The only modules that may mention commands and keys: front ends and composition code.
const FRONT_END_MODULES: [&str; 9] = [
    "front_end",
    "commands",
    "tui",
    "headless",
    "linear",
    "app",
    "cli",
    "demo",
    "lib",
];

/// Finds a command or key that only a front end may mention.
fn find_command_or_key(text: &str) -> Option<&str> {
    let commands = humble::commands::COMMANDS.iter();
    let commands: Vec<&str> = commands.flat_map(|row| row.names()).collect();
    let mut words = text.split(|c: char| c.is_whitespace() || "`(),;:!?\"'".contains(c));
    words.find(|word| {
        let word = word.trim_end_matches('.');
        let is_key = ["Alt+", "Ctrl+", "Shift+"]
            .iter()
            .any(|modifier| word.starts_with(modifier));
        let number = word
            .strip_prefix('F')
            .and_then(|number| number.parse().ok());
        commands.contains(&word)
            || is_key
            || matches!(word, "Esc" | "Enter")
            || number.is_some_and(|number: u8| (1..=12).contains(&number))
    })
}

#[test]
fn only_front_ends_name_commands_and_keys() {
    let mut problems = Vec::new();
    for (path, text) in sources("src") {
        let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
        if is_test || FRONT_END_MODULES.contains(&module_of(&path)) {
            continue;
        }
        for literal in source::split_literals(&code(&text)).1 {
            if let Some(word) = find_command_or_key(literal) {
                problems.push(format!("{path}: `{word}` in \"{literal}\""));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn commands_and_keys_in_a_text_are_recognized() {
    for text in [
        "Type /retry.",
        "see `/new`",
        "Alt+C continues",
        "(F12)",
        "Enter sends",
    ] {
        assert!(find_command_or_key(text).is_some(), "{text}");
    }
    for text in ["/params/taskId", "F1x", "ctrl", "https://h/new"] {
        assert_eq!(find_command_or_key(text), None, "{text}");
    }
}

#[test]
fn changelog_has_the_expected_structure() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).expect("a changelog");
    assert!(
        text.starts_with("# Changelog\n"),
        "the changelog does not start with its title"
    );
    let versions: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("## "))
        .collect();
    assert_eq!(
        versions.first(),
        Some(&"## Unreleased"),
        "`Unreleased` is not the first version"
    );
    let kinds = [
        "### Added",
        "### Changed",
        "### Fixed",
        "### Removed",
        "### Security",
    ];
    for line in text.lines().filter(|line| line.starts_with("### ")) {
        assert!(kinds.contains(&line), "unknown heading {line}");
    }
    for line in text.lines().filter(|line| line.starts_with("- ")) {
        assert!(
            line.ends_with('.') || line.ends_with(','),
            "not a full sentence: {line}"
        );
    }
}

#[test]
fn no_source_file_contains_a_path_of_the_build_machine() {
    let home = concat!("/ro", "ot/");
    let work = concat!("/wo", "rk/");
    for (path, text) in all_sources() {
        assert!(
            !text.contains(home) && !text.contains(work),
            "{path} contains a path of a build machine"
        );
    }
}

//! Checks that lists of words are files in `assets/words/`, that these are in order, and that each is
//! used.

use super::{code, root, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Longer runs of lines with nothing but a string belong in a file.
const WORD_LINES_MAX: usize = 5;

#[derive(Default)]
struct Section {
    words: Vec<String>,
    /// A comment says that the words are in order.
    is_in_order: bool,
}

/// The sections of each file, by the name of the file without extension and of the section.
fn sections() -> BTreeMap<(String, String), Section> {
    let mut sections: BTreeMap<(String, String), Section> = BTreeMap::new();
    for entry in fs::read_dir(root().join("assets/words")).expect("a folder of words") {
        let path = entry.expect("a readable folder").path();
        let file = path.file_name().expect("a file").to_string_lossy();
        let file = file.strip_suffix(".txt").expect("a text file").to_owned();
        let text = fs::read_to_string(&path).expect("UTF-8");
        assert!(text.starts_with("# "), "{file} does not say what it lists");
        assert!(text.ends_with('\n'), "{file} does not end with a line");
        let mut key = (file.clone(), String::new());
        for line in text.lines() {
            assert_eq!(line.trim(), line, "blanks around a word in {file}");
            let heading = line.strip_prefix('[').and_then(|l| l.strip_suffix(']'));
            if let Some(heading) = heading.filter(|heading| !heading.starts_with('/')) {
                key.1 = heading.to_owned();
                let previous = sections.insert(key.clone(), Section::default());
                assert!(previous.is_none(), "{line} is twice in {file}");
            } else if line.starts_with('#') && line.contains("In order: ") {
                sections.entry(key.clone()).or_default().is_in_order = true;
            } else if !line.is_empty() && !line.starts_with('#') {
                let section = sections.entry(key.clone()).or_default();
                section.words.push(line.to_owned());
            }
        }
    }
    sections
}

#[test]
fn files_of_words_are_sorted_without_doubles() {
    let mut problems = Vec::new();
    for ((file, name), section) in sections() {
        let mut seen = BTreeSet::new();
        let doubles = section.words.iter().filter(|word| !seen.insert(*word));
        problems.extend(doubles.map(|word| format!("{file} [{name}]: `{word}` is there twice")));
        let mut pairs = section.words.windows(2);
        if let Some(pair) = pairs.find(|pair| !section.is_in_order && pair[0] > pair[1]) {
            problems.push(format!("{file} [{name}]: `{}` is not sorted", pair[1]));
        }
        if section.words.is_empty() {
            problems.push(format!("{file} [{name}]: no words"));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// The arguments of each `word_list!`.
fn lists_in(code: &str) -> impl Iterator<Item = (String, String)> {
    code.split("word_list!(\"").skip(1).map(|rest| {
        let arguments = rest.split_once("\")").expect("literals").0;
        let (file, section) = arguments.split_once("\", \"").unwrap_or((arguments, ""));
        (file.to_owned(), section.to_owned())
    })
}

#[test]
fn every_list_of_words_exists_and_is_used() {
    let codes: Vec<String> = sources("src")
        .iter()
        .map(|(_, text)| code(text).split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let used: BTreeSet<(String, String)> = codes.iter().flat_map(|code| lists_in(code)).collect();
    let sections = sections();
    let missing: Vec<_> = used
        .iter()
        .filter(|list| !sections.contains_key(*list))
        .collect();
    assert!(missing.is_empty(), "not in a file: {missing:#?}");
    let is_read = |file: &str| {
        let path = format!("assets/words/{file}.txt\")");
        codes.iter().any(|code| code.contains(&path))
    };
    let lists = sections.keys();
    let unused: Vec<_> = lists
        .filter(|list| !used.contains(*list) && !is_read(&list.0))
        .collect();
    assert!(unused.is_empty(), "not used: {unused:#?}");
}

/// Whether a line of code has nothing but a string: an item of a list or an alternative.
fn is_word_line(line: &str) -> bool {
    let line = line.trim().trim_start_matches("| ").trim_end_matches(',');
    let line = line.strip_suffix(".to_owned()").unwrap_or(line);
    let line = line.trim_start_matches('(').trim_end_matches([')', ',']);
    let word = line
        .strip_prefix('"')
        .and_then(|line| line.strip_suffix('"'));
    word.is_some_and(|word| !word.replace("\\\"", "").contains('"'))
}

/// The length of the longest run of such lines.
fn longest_run(code: &str) -> usize {
    let mut longest = 0;
    let mut length = 0;
    for line in code.lines() {
        length = if is_word_line(line) { length + 1 } else { 0 };
        longest = longest.max(length);
    }
    longest
}

#[test]
fn lists_of_words_are_not_in_code() {
    let mut problems = Vec::new();
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("tests.rs");
    for (path, text) in sources("src") {
        let lines = longest_run(&code(&text));
        if lines > WORD_LINES_MAX && !is_test(&path) {
            problems.push(format!("{path}: {lines} lines"));
        }
    }
    assert!(
        problems.is_empty(),
        "words that belong in `assets/words/`: {problems:#?}"
    );
}

#[test]
fn lines_with_one_word_are_recognized() {
    let list =
        "const A: [&str; 3] = [\n    \"a b\",\n    (\"c\\\"\"),\n    \"d\".to_owned(),\n];\n";
    assert_eq!(longest_run(list), 3);
    assert_eq!(
        longest_run("matches!(a, \"b\"\n    | \"c\"\n    | \"d\")"),
        2
    );
    assert_eq!(longest_run("[\"a\", \"b\"],\n(\"c\", D),\n\"e \\\nf\""), 0);
}

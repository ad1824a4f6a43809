//! A type that other modules can see has a name of its own: a reader who meets
//! `Session` anywhere in the crate knows which one it is.

use super::source::{is_word, parted};
use super::{code, sources};
use std::collections::BTreeMap;

const KEYWORDS: &[&str] = &["struct", "enum", "trait", "type", "union"];

/// The types that a file defines outside its tests, and whether other modules can name them.
fn types(text: &str) -> Vec<(String, bool)> {
    let (code, _) = parted(&code(text));
    let mut found = Vec::new();
    for line in code.lines() {
        let mut words = line.split_whitespace().peekable();
        let is_public = words.next_if(|word| word.starts_with("pub")).is_some();
        // `pub(in crate::tui) struct` has a word more.
        words.next_if(|word| word.starts_with("crate::") && word.ends_with(')'));
        if words.next_if(|word| KEYWORDS.contains(word)).is_none() {
            continue;
        }
        let name: String = words
            .next()
            .unwrap_or_default()
            .chars()
            .take_while(|c| is_word(*c))
            .collect();
        // An associated type has the name that its trait gives it.
        let is_associated = line.starts_with(' ') && line.contains("type ");
        if !name.is_empty() && !is_associated {
            found.push((name, is_public));
        }
    }
    found
}

#[test]
fn a_public_type_name_is_defined_once() {
    let mut defined: BTreeMap<String, Vec<(String, bool)>> = BTreeMap::new();
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("/tests.rs");
    for (path, text) in sources("src")
        .into_iter()
        .filter(|(path, _)| !is_test(path))
    {
        for (name, is_public) in types(&text) {
            defined
                .entry(name)
                .or_default()
                .push((path.clone(), is_public));
        }
    }
    assert!(defined.len() > 100, "types were found: {}", defined.len());
    let repeated: Vec<_> = defined
        .iter()
        .filter(|(_, places)| places.len() > 1 && places.iter().any(|(_, is_public)| *is_public))
        .map(|(name, places)| {
            let files: Vec<&str> = places.iter().map(|(path, _)| path.as_str()).collect();
            format!("{name}: {}", files.join(", "))
        })
        .collect();
    assert!(repeated.is_empty(), "{repeated:#?}");
}

#[test]
fn types_are_recognized_with_their_visibility() {
    let text = "pub struct A;\nenum B { C }\npub(in crate::tui) trait D<T> {}\nimpl E for A {\n    \
                type Output = A;\n}\n// struct F;\n#[cfg(test)]\nmod tests {\n    struct G;\n}\n";
    let expected = [("A", true), ("B", false), ("D", true)];
    assert_eq!(
        types(text),
        expected.map(|(name, is_public)| (name.to_owned(), is_public))
    );
}

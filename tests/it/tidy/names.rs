//! Checks that names of public types are unique, so that a name such as `Session` means the same
//! type in every module.

use super::source::{is_word, split_literals};
use super::{code, sources};
use std::collections::BTreeMap;

const KEYWORDS: &[&str] = &["struct", "enum", "trait", "type", "union"];

/// The types that a file defines outside tests, and whether each is public.
fn types(text: &str) -> Vec<(String, bool)> {
    let (code, _) = split_literals(&code(text));
    let mut types = Vec::new();
    for line in code.lines() {
        let mut words = line.split_whitespace().peekable();
        let is_public = words.next_if(|word| word.starts_with("pub")).is_some();
        // `pub(in crate::tui) struct` has an additional word.
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
        // The trait determines the name of an associated type.
        let is_associated = line.starts_with(' ') && line.contains("type ");
        if !name.is_empty() && !is_associated {
            types.push((name, is_public));
        }
    }
    types
}

#[test]
fn a_public_type_name_is_defined_once() {
    let mut definitions: BTreeMap<String, Vec<(String, bool)>> = BTreeMap::new();
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("/tests.rs");
    for (path, text) in sources("src")
        .into_iter()
        .filter(|(path, _)| !is_test(path))
    {
        for (name, is_public) in types(&text) {
            definitions
                .entry(name)
                .or_default()
                .push((path.clone(), is_public));
        }
    }
    assert!(
        definitions.len() > 100,
        "only {} types were found",
        definitions.len()
    );
    let repeated: Vec<_> = definitions
        .iter()
        .filter(|(_, sites)| sites.len() > 1 && sites.iter().any(|(_, is_public)| *is_public))
        .map(|(name, sites)| {
            let files: Vec<&str> = sites.iter().map(|(path, _)| path.as_str()).collect();
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

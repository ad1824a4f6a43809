//! Guesses the language of a text among the arguments, for highlighting: from its key, its first
//! word, or the arguments around it, which may name a language or a file.

use super::Highlighter;
use serde_json::{Map, Value};

/// Keys that name the file a text belongs to, the most telling first.
const FILE_KEYS: &str = "path file_path filePath file filename fileName file_name target_file uri";
const LANGUAGE_KEYS: &str = "language lang syntax";
/// Keys whose name suggests the language of their text.
const KEY_LANGUAGES: [(&str, &str); 20] = [
    ("patch", "diff"),
    ("diff", "diff"),
    ("command", "sh"),
    ("cmd", "sh"),
    ("shell", "sh"),
    ("bash", "sh"),
    ("sql", "sql"),
    ("python", "python"),
    ("html", "html"),
    ("css", "css"),
    ("json", "json"),
    ("yaml", "yaml"),
    ("toml", "toml"),
    ("xml", "xml"),
    ("markdown", "markdown"),
    ("javascript", "javascript"),
    ("typescript", "typescript"),
    ("rust", "rust"),
    ("dockerfile", "dockerfile"),
    ("graphql", "graphql"),
];
const SQL_WORDS: [&str; 8] = [
    "select", "insert", "update", "delete", "with", "create", "alter", "drop",
];

/// The language of the texts in these arguments, if they name a file or a language.
pub fn language_of_siblings(arguments: &Map<String, Value>) -> Option<Highlighter> {
    let named = |keys: &str| {
        let value = keys.split(' ').find_map(|key| arguments.get(key));
        value.and_then(Value::as_str).and_then(Highlighter::new)
    };
    named(LANGUAGE_KEYS).or_else(|| named(FILE_KEYS))
}

/// The language of `text` under `key`. `siblings` is the language that the arguments around it
/// suggest.
pub fn language_of(key: &str, text: &str, siblings: Option<Highlighter>) -> Option<Highlighter> {
    let by_key = KEY_LANGUAGES
        .iter()
        .find(|(name, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, language)| *language);
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_sql = SQL_WORDS
        .iter()
        .any(|word| first.eq_ignore_ascii_case(word));
    let guessed = match by_key {
        Some(language) => Some(language),
        None if key.eq_ignore_ascii_case("query") && is_sql => Some("sql"),
        None if first.starts_with("#!") => text.lines().next()?.rsplit(['/', ' ']).next(),
        None => None,
    };
    guessed.and_then(Highlighter::new).or(siblings)
}

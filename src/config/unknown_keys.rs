//! Warns about unknown keys in `config.json` that are probably misspelled. humble-ai-cli and others
//! have keys of their own at the root and in models, so there only a key that resembles a known one
//! is reported.

use super::error::file_name;
use super::fields;
use super::home::Home;
use super::json_document::JsonDocument;
use super::json_edit::PathStep;
use crate::domain::{Banner, BannerCause, Notice};
use crate::text::suggest::nearest;
use crate::text::{WordList, word_list};
use serde_json::{Map, Value};

/// The checked sections and all their keys.
static SECTIONS: [(&str, WordList); 4] = [
    ("limits", word_list!("config_keys", "limits")),
    ("ui", word_list!("config_keys", "ui")),
    ("builtIn", word_list!("config_keys", "builtin")),
    ("notes", word_list!("config_keys", "notes")),
];

/// Maximum number of unused keys that the log names.
const UNUSED_MAX: usize = 20;
/// Maximum number of keys named in the banner.
const NAMED_MAX: usize = 3;

/// A key that is probably misspelled. In a checked section, every unknown key counts as such.
struct UnknownKey<'a> {
    steps: Vec<PathStep<'a>>,
    /// The key, after the section or the model that contains it, if any.
    name: String,
    suggestion: Option<String>,
}

/// One banner about all keys of `config.json` that are probably misspelled; `None` if there are none.
pub(super) fn unknown_keys_banner(document: &JsonDocument) -> Option<Banner> {
    let mut unknown = keys_of_sections(document);
    unknown.extend(keys_of_shared_objects(document));
    let first = unknown.first()?;
    let line = document.line_of(&first.steps);
    let names = unknown.iter().take(NAMED_MAX);
    let mut names: Vec<String> = names.map(|key| format!("`{}`", key.name)).collect();
    let hidden = unknown.len() - names.len();
    if hidden > 0 {
        names.push(format!("{hidden} more"));
    }
    let path = document.path();
    let word = match unknown.len() {
        1 => "unknown key",
        _ => "unknown keys",
    };
    let keys = names.join(", ");
    let message = format!("{}, line {line}: {word} {keys}.", path.display());
    let notice = Notice::warning(message);
    let notice = match &first.suggestion {
        Some(near) => notice.with_advice(format!("Did you mean `{near}`?")),
        None => notice,
    };
    let cause = BannerCause::UnknownKeys(file_name(path));
    Some(Banner::new(cause, notice))
}

/// The unknown keys of the sections that no other program uses.
fn keys_of_sections(document: &JsonDocument) -> Vec<UnknownKey<'_>> {
    let mut unknown = Vec::new();
    for (section, known) in &SECTIONS {
        let Some(Value::Object(entries)) = fields::get(document.root(), section) else {
            continue;
        };
        let keys = entries.keys().filter(|key| !known.contains(&key.as_str()));
        unknown.extend(keys.map(|key| {
            let near = nearest(key, known.iter().copied());
            UnknownKey {
                steps: vec![PathStep::Key(section), PathStep::Key(key)],
                name: format!("{section}.{key}"),
                suggestion: near.map(|near| format!("{section}.{near}")),
            }
        }));
    }
    unknown
}

/// The keys at the root and in entries of `models` that resemble a known key which is absent there.
/// Others may belong to another program.
fn keys_of_shared_objects(document: &JsonDocument) -> Vec<UnknownKey<'_>> {
    let root = document.root();
    let mut unknown: Vec<UnknownKey<'_>> = misspelled_keys(root, &ROOT_KEYS)
        .map(|(key, near)| UnknownKey {
            steps: vec![PathStep::Key(key)],
            name: key.to_owned(),
            suggestion: Some(near.to_owned()),
        })
        .collect();
    let models = fields::get(root, "models").and_then(Value::as_array);
    for (index, model) in models.into_iter().flatten().enumerate() {
        let keys = model.as_object().into_iter();
        let keys = keys.flat_map(|model| misspelled_keys(model, &MODEL_KEYS));
        unknown.extend(keys.map(|(key, near)| UnknownKey {
            steps: vec![
                PathStep::Key("models"),
                PathStep::Index(index),
                PathStep::Key(key),
            ],
            name: format!("models[{index}].{key}"),
            suggestion: Some(format!("models[{index}].{near}")),
        }));
    }
    unknown
}

/// The unknown keys that resemble a missing known key, each with that key.
fn misspelled_keys<'a>(
    object: &'a Map<String, Value>,
    known: &'static [&'static str],
) -> impl Iterator<Item = (&'a str, &'static str)> {
    let unknown = object.keys().filter(|key| !known.contains(&key.as_str()));
    unknown.filter_map(|key| {
        let near = nearest(key, known.iter().copied())?;
        (!object.contains_key(near)).then_some((key.as_str(), near))
    })
}

static ROOT_KEYS: WordList = word_list!("config_keys", "root");
static MODEL_KEYS: WordList = word_list!("config_keys", "models");

/// The keys at the root of `config.json` and in its models that this program does not read, up to a
/// limit. They may belong to another program, so a banner names only those that are probably
/// misspelled. Empty if the file cannot be read.
pub fn unused_keys(home: &Home) -> Vec<String> {
    let Ok(Some(document)) = JsonDocument::read(&home.config()) else {
        return Vec::new();
    };
    let root = document.root();
    let unread = |keys: &'static [&str]| move |key: &&String| !keys.contains(&key.as_str());
    let mut unused: Vec<String> = root.keys().filter(unread(&ROOT_KEYS)).cloned().collect();
    let models = fields::get(root, "models").and_then(Value::as_array);
    for (index, model) in models.into_iter().flatten().enumerate() {
        let keys = model.as_object().map(|model| model.keys());
        let keys = keys.into_iter().flatten().filter(unread(&MODEL_KEYS));
        unused.extend(keys.map(|key| format!("models[{index}].{key}")));
    }
    unused.truncate(UNUSED_MAX);
    unused
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::documented;
    use std::collections::BTreeSet;

    #[test]
    fn docs_list_the_keys_that_are_read() {
        let page = include_str!("../../docs/configuration.md");
        for (heading, keys) in [
            ("### At the root", &ROOT_KEYS[..]),
            ("### An entry of `models`", &MODEL_KEYS[..]),
        ] {
            let read: BTreeSet<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            let documented: BTreeSet<String> =
                documented(page, heading).into_iter().flatten().collect();
            assert_eq!(read, documented, "{heading}");
        }
    }
}

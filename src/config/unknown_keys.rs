//! Warns about unknown keys in `config.json`, which are probably misspelled. Only the sections that
//! no other program uses are checked; humble-ai-cli and others have keys of their own elsewhere.

use super::error::file_name;
use super::fields;
use super::home::Home;
use super::json_document::JsonDocument;
use super::json_edit::PathStep;
use crate::domain::{Banner, BannerCause, Notice};
use crate::text::suggest::nearest;
use serde_json::Value;

/// The checked sections and all their keys.
const SECTIONS: [(&str, &[&str]); 4] = [
    ("limits", &["toolRounds", "errorsPerTurn", "idleSeconds"]),
    ("ui", &["ascii", "keyboardProtocol", "sidebar"]),
    (
        "builtIn",
        &[
            "geocodingUrl",
            "forecastUrl",
            "catFactUrl",
            "ollamaUrl",
            "ollamaModel",
            "fetchHosts",
        ],
    ),
    ("notes", &["vault", "embedModel"]),
];

/// Maximum number of unused keys that the log names.
const UNUSED_MAX: usize = 20;
/// Maximum number of keys named in the banner.
const NAMED_MAX: usize = 3;

/// One banner about all unknown keys of `config.json`; `None` if there are none.
pub(super) fn unknown_keys_banner(document: &JsonDocument) -> Option<Banner> {
    let mut unknown = Vec::new();
    for (section, known) in SECTIONS {
        let Some(Value::Object(entries)) = fields::get(document.root(), section) else {
            continue;
        };
        let keys = entries.keys().filter(|key| !known.contains(&key.as_str()));
        unknown.extend(keys.map(|key| (section, key.as_str(), known)));
    }
    let (section, key, known) = *unknown.first()?;
    let line = document.line_of(&[PathStep::Key(section), PathStep::Key(key)]);
    let mut names: Vec<String> = unknown
        .iter()
        .map(|(section, key, _)| format!("`{section}.{key}`"))
        .collect();
    let hidden = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
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
    let notice = match nearest(key, known.iter().copied()) {
        Some(near) => notice.with_advice(format!("Did you mean `{section}.{near}`?")),
        None => notice,
    };
    let cause = BannerCause::UnknownKeys(file_name(path));
    Some(Banner::new(cause, notice))
}

/// All keys at the root of `config.json`.
const ROOT_KEYS: [&str; 11] = [
    "models",
    "logLevel",
    "toolCallMode",
    "limits",
    "toolDiet",
    "ui",
    "keys",
    "builtIn",
    "notes",
    "roots",
    "registryUrl",
];
/// All keys of an entry of `models`.
const MODEL_KEYS: [&str; 14] = [
    "name",
    "model",
    "provider",
    "baseUrl",
    "apiKey",
    "caFile",
    "active",
    "contextLength",
    "think",
    "toolCalls",
    "toolRole",
    "keepAlive",
    "options",
    "vision",
];

/// The keys at the root of `config.json` and in its models that this program does not read. They
/// may belong to another program, so no banner names them. Empty if the file cannot be read.
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

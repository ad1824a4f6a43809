//! Edits by other programs that the user rejected. `trust.json` records each of them by the hash of the
//! rejected value. While a file contains that value, no process uses it.

mod entries;
mod own_edits;

pub use entries::{FileEntries, RejectedEntry};
pub(super) use own_edits::keep_rejected;

use super::Home;
use super::json_document::{BYTES_MAX, JsonDocument};
use crate::domain::tool::canonical_hash;
use crate::domain::{Advice, Banner, BannerCause, Notice, Persona};
use crate::files;
use serde_json::{Map, Value, json};
use std::path::Path;

pub(super) const CONFIG: &str = "config.json";
pub(super) const SERVERS: &str = "mcp-servers.json";
pub(super) const PROMPT: &str = "system_prompt.txt";

/// The key of the records in `trust.json`.
pub(super) const REJECTED_EDITS: &str = "rejectedEdits";
/// Instead of more records, one for each whole file is kept.
const RECORDS_MAX: usize = 1_000;
/// The most entries that a banner names.
const LISTED_MAX: usize = 6;
const MODELS: &str = "models";

/// The record of one rejected edit. A part that is missing or unreadable matches everything, so that a
/// damaged record rejects more and never less.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RejectedEdit {
    file: Option<String>,
    entry: Option<String>,
    sha256: Option<String>,
    /// The value to use instead. Without one, the entry counts as missing.
    instead: Option<Value>,
}

impl RejectedEdit {
    fn from_json(record: &Value) -> Self {
        let text = |key: &str| record.get(key).and_then(Value::as_str).map(str::to_owned);
        Self {
            file: text("file"),
            entry: text("entry"),
            sha256: text("sha256"),
            instead: record.get("instead").cloned(),
        }
    }

    fn to_json(&self) -> Value {
        let mut record = Map::new();
        let parts = [
            ("file", &self.file),
            ("entry", &self.entry),
            ("sha256", &self.sha256),
        ];
        for (key, part) in parts {
            record.extend(part.as_ref().map(|text| (key.to_owned(), json!(text))));
        }
        record.extend(self.instead.clone().map(|value| ("instead".into(), value)));
        Value::Object(record)
    }

    /// Whether it is a record of this entry, possibly of another value.
    pub fn is_about(&self, entry: &RejectedEntry) -> bool {
        self.names(&entry.file, &entry.entry)
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.file, &self.entry, &self.sha256) == (&other.file, &other.entry, &other.sha256)
    }

    fn names(&self, file: &str, entry: &str) -> bool {
        let is_named = |part: &Option<String>, name| part.as_ref().is_none_or(|part| part == name);
        is_named(&self.file, file) && is_named(&self.entry, entry)
    }

    fn has_hash(&self, hash: &str) -> bool {
        self.sha256.as_ref().is_none_or(|sha256| sha256 == hash)
    }
}

/// Adds `rejected` to the records in `list`.
pub(super) fn add_records(list: &mut Vec<Value>, rejected: &[RejectedEdit]) {
    remove_records(list, rejected);
    list.extend(rejected.iter().map(RejectedEdit::to_json));
    if list.len() > RECORDS_MAX {
        let mut files: Vec<RejectedEdit> = Vec::new();
        for record in list.drain(..) {
            let file = RejectedEdit {
                file: RejectedEdit::from_json(&record).file,
                ..RejectedEdit::default()
            };
            if !files.contains(&file) {
                files.push(file);
            }
        }
        list.extend(files.iter().map(RejectedEdit::to_json));
    }
}

pub(super) fn remove_records(list: &mut Vec<Value>, removed: &[RejectedEdit]) {
    list.retain(|record| {
        let record = RejectedEdit::from_json(record);
        !removed.iter().any(|removed| removed.is_same(&record))
    });
}

/// All records.
#[derive(Debug, Default)]
pub(super) struct RejectedEdits(Vec<RejectedEdit>);

impl RejectedEdits {
    /// If `trust.json` contains records that cannot be read, everything counts as rejected.
    pub(super) fn read(home: &Home) -> Self {
        Self::read_file(&home.trust())
    }

    fn read_file(path: &Path) -> Self {
        let key = format!("\"{REJECTED_EDITS}\"");
        let bytes = match files::read(path, BYTES_MAX) {
            Ok(Some(bytes)) => bytes,
            // Whether there are records is unknown. The banner about the file reports it.
            Ok(None) | Err(_) => return Self::default(),
        };
        // The file can be large, and is parsed only if it has records.
        if !bytes.windows(key.len()).any(|part| part == key.as_bytes()) {
            return Self::default();
        }
        let everything = || Self(vec![RejectedEdit::default()]);
        let Ok(document) = JsonDocument::parse(path, bytes) else {
            return everything();
        };
        let repeated = document.repeated_keys();
        if repeated.iter().any(|key| key.section() == REJECTED_EDITS) {
            return everything();
        }
        match document.root().get(REJECTED_EDITS) {
            None | Some(Value::Null) => Self::default(),
            Some(Value::Array(records)) => {
                Self(records.iter().map(RejectedEdit::from_json).collect())
            }
            Some(_) => everything(),
        }
    }

    /// The record that rejects this value, which is `null` if it is missing.
    pub(super) fn find(&self, file: &str, entry: &str, value: &Value) -> Option<&RejectedEdit> {
        let mut named = self.0.iter().filter(|record| record.names(file, entry));
        let first = named.next()?;
        let hash = canonical_hash(value);
        std::iter::once(first)
            .chain(named)
            .find(|record| record.has_hash(&hash))
    }

    /// Replaces the rejected entries of `config.json`, except models. Returns their names.
    pub(super) fn withhold_from_config(&self, document: &mut JsonDocument) -> Vec<String> {
        let named = self
            .0
            .iter()
            .filter(|record| record.file.as_deref() == Some(CONFIG));
        let named = named.filter_map(|record| record.entry.clone());
        let mut keys: Vec<String> = document.root().keys().cloned().chain(named).collect();
        keys.retain(|key| !key.starts_with(MODELS));
        keys.sort();
        keys.dedup();
        let mut withheld = Vec::new();
        for key in keys {
            let value = document.root().get(&key).unwrap_or(&Value::Null);
            if let Some(record) = self.find(CONFIG, &key, value) {
                document.replace_for_reading(&key, record.instead.clone());
                withheld.push(format!("`{key}`"));
            }
        }
        withheld
    }

    /// The name of a model for a banner if it is rejected.
    pub(super) fn rejected_model(&self, model: &Value) -> Option<String> {
        let entry = model_entry(model_name(model));
        self.find(CONFIG, &entry, model)?;
        Some(format!("model `{}`", model_name(model)))
    }

    /// The prompt to use instead of a rejected one.
    pub(super) fn prompt_instead_of(&self, prompt: &str) -> Option<String> {
        let record = self.find(PROMPT, "", &json!(prompt))?;
        let instead = record.instead.as_ref().and_then(Value::as_str);
        Some(instead.unwrap_or_default().to_owned())
    }

    pub(super) fn rejects_persona(&self, persona: &Persona) -> bool {
        let value = json!(persona.as_reviewed());
        self.find(&persona_file(persona), "", &value).is_some()
    }
}

/// Reports entries of `file` that are not used. `None` if there are none.
pub(super) fn rejected_banner(file: &str, entries: &[String]) -> Option<Banner> {
    if entries.is_empty() {
        return None;
    }
    let mut listed = entries[..entries.len().min(LISTED_MAX)].join(", ");
    if entries.len() > LISTED_MAX {
        listed += &format!(" and {} more", entries.len() - LISTED_MAX);
    }
    let message = format!("{file} has changes that you rejected, so this is not used: {listed}.");
    let notice = Notice::warning(message).with_advice(Advice::Reload);
    Some(Banner::new(
        BannerCause::setting(file, "rejected changes"),
        notice,
    ))
}

fn model_name(model: &Value) -> &str {
    let mut names = ["name", "model"].into_iter();
    let name = names.find_map(|key| model.get(key)?.as_str());
    name.unwrap_or_default()
}

pub(super) fn model_entry(name: &str) -> String {
    format!("{MODELS}/{name}")
}

pub(super) fn persona_file(persona: &Persona) -> String {
    format!("personas/{}.md", persona.name)
}

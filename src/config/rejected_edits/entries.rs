//! The entries of the settings files with the hashes of their values, to compare with the records and to
//! make new ones.

use super::{
    CONFIG, MODELS, PROMPT, RejectedEdit, RejectedEdits, SERVERS, model_entry, model_name,
    persona_file,
};
use crate::config::json_document::JsonDocument;
use crate::config::server_entries::{self, ServerEntry};
use crate::config::snapshot::ConfigSnapshot;
use crate::config::{BUILT_IN_SERVER, ConfigError};
use crate::domain::Persona;
use crate::domain::tool::canonical_hash;
use serde_json::{Map, Value, json};

/// An entry of a settings file: a key of `config.json`, one of its models, a server, or a whole text
/// file, whose entry has no name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FileEntry {
    pub(super) file: String,
    pub(super) entry: String,
    pub(super) sha256: String,
}

/// The entries of all files that were read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FileEntries {
    pub(super) entries: Vec<FileEntry>,
    /// Files that could not be read, of which nothing is known.
    unread: Vec<&'static str>,
}

/// An entry that a record rejects.
#[derive(Debug, Clone, PartialEq)]
pub struct RejectedEntry {
    pub file: String,
    pub entry: String,
    pub record: RejectedEdit,
}

impl FileEntries {
    fn add(&mut self, file: &str, entry: &str, value: &Value) {
        self.entries.push(FileEntry {
            file: file.to_owned(),
            entry: entry.to_owned(),
            sha256: canonical_hash(value),
        });
    }

    pub(super) fn add_config_root(&mut self, root: &Map<String, Value>) {
        for (key, value) in root {
            match value {
                Value::Array(models) if key == MODELS => {
                    for model in models {
                        self.add(CONFIG, &model_entry(model_name(model)), model);
                    }
                }
                value => self.add(CONFIG, key, value),
            }
        }
    }

    pub(super) fn add_server_entries(&mut self, entries: &[ServerEntry<'_>]) {
        for entry in entries {
            self.add(SERVERS, &entry.id, entry.value);
        }
    }

    pub(in crate::config) fn add_config(
        &mut self,
        document: &Result<Option<JsonDocument>, ConfigError>,
    ) {
        match document {
            Ok(Some(document)) => self.add_config_root(document.root()),
            Ok(None) => {}
            Err(_) => self.unread.push(CONFIG),
        }
    }

    pub(in crate::config) fn add_servers(
        &mut self,
        document: &Result<Option<JsonDocument>, ConfigError>,
    ) {
        let entries = document.as_ref().ok().map(|document| {
            let document = document.as_ref();
            document.map_or(Ok(Vec::new()), server_entries::entries)
        });
        match entries {
            Some(Ok(entries)) => self.add_server_entries(&entries),
            _ => self.unread.push(SERVERS),
        }
    }

    pub(in crate::config) fn add_prompt(&mut self, prompt: &str) {
        self.add(PROMPT, "", &json!(prompt));
    }

    pub(in crate::config) fn add_persona(&mut self, persona: &Persona) {
        self.add(&persona_file(persona), "", &json!(persona.as_reviewed()));
    }

    /// The entries that `records` reject, including missing ones whose absence was rejected.
    pub(in crate::config) fn rejected_by(&self, records: &RejectedEdits) -> Vec<RejectedEntry> {
        let missing = canonical_hash(&Value::Null);
        let mut rejected = Vec::new();
        for record in &records.0 {
            let mut push = |file: &str, entry: &str| {
                rejected.push(RejectedEntry {
                    file: file.to_owned(),
                    entry: entry.to_owned(),
                    record: record.clone(),
                });
            };
            for entry in &self.entries {
                if record.names(&entry.file, &entry.entry) && record.has_hash(&entry.sha256) {
                    push(&entry.file, &entry.entry);
                }
            }
            if let (Some(file), Some(entry), Some(hash)) =
                (&record.file, &record.entry, &record.sha256)
                && *hash == missing
                && !self.unread.contains(&file.as_str())
                && !self
                    .entries
                    .iter()
                    .any(|known| record.names(&known.file, &known.entry))
            {
                push(file, entry);
            }
        }
        rejected
    }

    /// The records to store if the user rejects the current values of these entries. `active` is used
    /// instead of values that cannot simply be left out.
    pub fn to_reject<'a>(
        &self,
        entries: impl IntoIterator<Item = &'a (String, String)>,
        active: &ConfigSnapshot,
    ) -> Vec<RejectedEdit> {
        let mut records = Vec::new();
        for (file, entry) in entries {
            let values = self.entries.iter();
            let values = values.filter(|known| known.file == *file && known.entry == *entry);
            let mut hashes: Vec<String> = values.map(|known| known.sha256.clone()).collect();
            if hashes.is_empty() {
                hashes.push(canonical_hash(&Value::Null));
            }
            records.extend(hashes.into_iter().map(|hash| RejectedEdit {
                file: Some(file.clone()),
                entry: Some(entry.clone()),
                sha256: Some(hash),
                instead: value_instead(file, entry, active),
            }));
        }
        records
    }
}

/// The active value of an entry whose default may be what the user rejected.
fn value_instead(file: &str, entry: &str, active: &ConfigSnapshot) -> Option<Value> {
    let settings = &active.settings;
    match (file, entry) {
        (CONFIG, "limits") => Some(json!({
            "toolRounds": settings.limits.tool_rounds,
            "errorsPerTurn": settings.limits.errors_per_turn,
            "idleSeconds": settings.limits.idle_seconds,
        })),
        (CONFIG, "builtIn") => Some(settings.built_in.to_json()),
        (CONFIG, "keys") => {
            let entries = settings.keys.entries.iter();
            let entries = entries
                .filter_map(|entry| Some((entry.action.clone(), json!(entry.keys.as_ref().ok()?))));
            Some(Value::Object(entries.collect()))
        }
        (SERVERS, BUILT_IN_SERVER) => Some(json!({ "enabled": false })),
        (PROMPT, _) => Some(json!(active.system_prompt)),
        _ => None,
    }
}

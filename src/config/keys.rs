//! The `keys` section of `config.json`.

use super::fields::{self, FieldError};
use super::json_document::{JsonDocument, type_description};
use super::json_edit::PathStep;
use crate::domain::{KeyEntry, KeySettings};
use serde_json::Value;

/// Maximum number of entries, more than there are actions.
const ENTRIES_MAX: usize = 300;
const KEYS_MAX: usize = 8;

/// The screen checks the names of actions and keys.
pub(super) fn parse(document: &JsonDocument) -> Result<Option<KeySettings>, FieldError> {
    let Some(table) = fields::object(document.root(), "keys")? else {
        return Ok(None);
    };
    let entries = table.iter().take(ENTRIES_MAX).map(|(action, value)| {
        let steps = [PathStep::Key("keys"), PathStep::Key(action)];
        KeyEntry {
            action: action.clone(),
            keys: key_names(value),
            line: document.line_of(&steps),
        }
    });
    Ok(Some(KeySettings {
        file: document.path().display().to_string(),
        entries: entries.collect(),
        unread_entries: table.len().saturating_sub(ENTRIES_MAX),
    }))
}

fn key_names(value: &Value) -> Result<Vec<String>, FieldError> {
    let names = match value {
        Value::String(name) => return Ok(vec![name.clone()]),
        Value::Array(names) if names.len() > KEYS_MAX => {
            return Err(format!("has more than {KEYS_MAX} keys"));
        }
        Value::Array(names) => names.iter(),
        other => {
            let found = type_description(other);
            return Err(format!("is {found}, expected a key or a list of keys"));
        }
    };
    let names = names.map(|name| name.as_str().map(str::to_owned));
    let names: Option<_> = names.collect();
    names.ok_or_else(|| "lists something other than strings".to_owned())
}

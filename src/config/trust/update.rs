//! Writes decisions to `trust.json`: each edit changes its own entries and keeps all others.

use super::{GRANTS, INSTRUCTIONS, PINS, PinnedTool, TrustEdit, json};
use crate::config::json_document::{BYTES_MAX, JsonDocument, type_description};
use crate::config::json_edit::PathStep;
use crate::config::rejected_edits::{self, REJECTED_EDITS};
use crate::config::{ConfigError, Home};
use crate::domain::ServerId;
use crate::domain::trust::{AcceptedDefinition, EvictedPins, TrustRule};
use crate::files::{self, UpdateError};
use serde_json::{Map, Value};
use std::path::Path;

/// Longer definitions are stored only as a hash.
pub(super) const DEFINITION_BYTES_MAX: usize = 64 * 1024;
/// Once a file is larger, new definitions are stored in it only as hashes.
const FILE_BYTES_WITH_DEFINITIONS_MAX: usize = 8 * 1024 * 1024;

/// Applies `edits` while holding the file's lock. Keeps the entries of other programs.
///
/// # Errors
/// The file cannot be read, parsed or written. In that case, it is unchanged.
pub fn update_trust(home: &Home, edits: &[TrustEdit]) -> Result<(), ConfigError> {
    let path = home.trust();
    let result = files::update(&path, files::PRIVATE_MODE, BYTES_MAX, |current| {
        let is_full = current
            .as_ref()
            .is_some_and(|bytes| bytes.len() > FILE_BYTES_WITH_DEFINITIONS_MAX);
        let document = match &current {
            Some(bytes) => JsonDocument::parse(&path, bytes.clone())?,
            None => JsonDocument::empty(&path),
        };
        // A rewrite would keep only the last value, and so make a decision of it.
        if let Some(repeated) = document.repeated_keys().first() {
            return Err(ConfigError::WrongShape {
                path: path.clone(),
                line: document.line_of(&[PathStep::Key(repeated.section())]),
                problem: format!("`{repeated}` occurs twice"),
            });
        }
        let bytes = match edited_file(&path, &document, edits, is_full)? {
            // The new definitions exceed the size limit, so store only their hashes.
            Some(bytes) if bytes.len() > FILE_BYTES_WITH_DEFINITIONS_MAX && !is_full => {
                edited_file(&path, &document, edits, true)?
            }
            bytes => bytes,
        };
        match bytes {
            None => Ok(current.unwrap_or_else(|| document.into_bytes())),
            // A larger file could not be read again, so every decision would be lost.
            Some(bytes) if bytes.len() as u64 > BYTES_MAX => Err(ConfigError::TooLarge {
                path: path.clone(),
                megabytes: BYTES_MAX >> 20,
            }),
            Some(bytes) => Ok(bytes),
        }
    });
    result.map_err(|error| match error {
        UpdateError::Refused(error) => error,
        UpdateError::Read(error) => ConfigError::from_read_error(&path, &error),
        UpdateError::Write(error) => ConfigError::Unwritable {
            path: path.clone(),
            why: files::describe_io_error(&error),
        },
    })
}

/// `None` if `edits` change nothing.
fn edited_file(
    path: &Path,
    document: &JsonDocument,
    edits: &[TrustEdit],
    hashes_only: bool,
) -> Result<Option<Vec<u8>>, ConfigError> {
    let mut root = document.root().clone();
    for edit in edits {
        apply_edit(&mut root, edit, hashes_only).map_err(|error| ConfigError::WrongShape {
            path: path.to_owned(),
            line: document.line_of(&[PathStep::Key(error.key)]),
            problem: error.problem,
        })?;
    }
    if root == *document.root() {
        return Ok(None);
    }
    let mut bytes = serde_json::to_vec_pretty(&root).unwrap_or_default();
    bytes.push(b'\n');
    Ok(Some(bytes))
}

struct WrongShape {
    key: &'static str,
    problem: String,
}

fn apply_edit(
    root: &mut Map<String, Value>,
    edit: &TrustEdit,
    hashes_only: bool,
) -> Result<(), WrongShape> {
    match edit {
        TrustEdit::AddRule(rule) => {
            let grants = list_mut(root, GRANTS)?;
            let is_replaced = |old: &TrustRule| old.is_same(rule) || rule.overrides(old);
            grants.retain(|old| !json::rule_from_json(old).is_ok_and(|old| is_replaced(&old)));
            grants.push(json::rule_to_json(rule));
        }
        TrustEdit::RemoveRule(rule) => {
            let matches =
                |old: &Value| json::rule_from_json(old).is_ok_and(|old| old.is_same(rule));
            list_mut(root, GRANTS)?.retain(|old| !matches(old));
        }
        TrustEdit::AllowInstructions(consent) => {
            let matches =
                |old: &Value| json::consent_from_json(old).is_ok_and(|old| old.is_same(consent));
            let consents = list_mut(root, INSTRUCTIONS)?;
            if !consents.iter().any(matches) {
                consents.push(json::consent_to_json(consent));
            }
        }
        TrustEdit::RevokeInstructions(consent) => {
            let matches =
                |old: &Value| json::consent_from_json(old).is_ok_and(|old| old.is_same(consent));
            list_mut(root, INSTRUCTIONS)?.retain(|old| !matches(old));
        }
        TrustEdit::RecordFirstSeen(pinned) => {
            let tools = tools_mut(root, pinned)?;
            if !tools.contains_key(&pinned.tool) {
                tools.insert(
                    pinned.tool.clone(),
                    definition_to_json(&pinned.accepted, hashes_only),
                );
            }
        }
        TrustEdit::RejectEdits(rejected) => {
            rejected_edits::add_records(list_mut(root, REJECTED_EDITS)?, rejected);
        }
        TrustEdit::AcceptEdits(accepted) => {
            if root.contains_key(REJECTED_EDITS) {
                rejected_edits::remove_records(list_mut(root, REJECTED_EDITS)?, accepted);
            }
        }
        TrustEdit::EvictPins(server, evicted) => evict_pins(root, server, evicted),
        TrustEdit::AcceptDefinition(pinned) => {
            let value = definition_to_json(&pinned.accepted, hashes_only);
            tools_mut(root, pinned)?.insert(pinned.tool.clone(), value);
        }
        TrustEdit::DeclineDefinition { pinned, pin } => {
            let tools = tools_mut(root, pinned)?;
            if let Some(Value::Object(entry)) = tools.get_mut(&pinned.tool) {
                entry.insert("declined".to_owned(), json!(pin.as_str()));
            } else {
                tools.insert(
                    pinned.tool.clone(),
                    definition_to_json(&pinned.accepted, hashes_only),
                );
            }
        }
    }
    Ok(())
}

fn evict_pins(root: &mut Map<String, Value>, server: &ServerId, evicted: &EvictedPins) {
    let mut launches = root
        .get_mut(PINS)
        .and_then(|pins| pins.get_mut(server.as_str()));
    for (launch, evicted_tools) in evicted {
        let tools = launches
            .as_deref_mut()
            .and_then(|launches| launches.get_mut(launch.as_str()));
        if let Some(Value::Object(tools)) = tools {
            tools.retain(|tool, _| !evicted_tools.contains(tool));
        }
    }
}

fn definition_to_json(accepted: &AcceptedDefinition, hashes_only: bool) -> Value {
    let full_entry = json::accepted_to_json(accepted, true);
    if hashes_only || full_entry.to_string().len() > DEFINITION_BYTES_MAX {
        json::accepted_to_json(accepted, false)
    } else {
        full_entry
    }
}

fn list_mut<'a>(
    root: &'a mut Map<String, Value>,
    key: &'static str,
) -> Result<&'a mut Vec<Value>, WrongShape> {
    let value = root.entry(key).or_insert_with(|| json!([]));
    if value.is_null() {
        *value = json!([]);
    }
    match value {
        Value::Array(entries) => Ok(entries),
        other => Err(WrongShape {
            key,
            problem: format!("`{key}` is {}, expected a list", type_description(other)),
        }),
    }
}

fn tools_mut<'a>(
    root: &'a mut Map<String, Value>,
    pinned: &PinnedTool,
) -> Result<&'a mut Map<String, Value>, WrongShape> {
    let steps = [PINS, pinned.server.as_str(), pinned.launch.as_str()];
    let mut object = root;
    for step in steps {
        let next = object.entry(step).or_insert_with(|| json!({}));
        if next.is_null() {
            *next = json!({});
        }
        object = match next {
            Value::Object(next) => next,
            other => {
                return Err(WrongShape {
                    key: PINS,
                    problem: format!(
                        "`{step}` is {}, expected an object",
                        type_description(other)
                    ),
                });
            }
        };
    }
    Ok(object)
}

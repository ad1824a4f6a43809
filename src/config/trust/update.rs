//! Writes decisions to `trust.json`: each edit changes its own entries and keeps all others.

use super::{GRANTS, INSTRUCTIONS, PINS, PinnedTool, TrustEdit, json};
use crate::config::json_document::{BYTES_MAX, JsonDocument, type_description};
use crate::config::json_edit::PathStep;
use crate::config::{ConfigError, Home};
use crate::domain::ServerId;
use crate::domain::trust::{AcceptedDefinition, EvictedPins, TrustRule};
use crate::files::{self, UpdateError};
use serde_json::{Map, Value};
use std::path::Path;

/// A longer definition is stored only by its hash.
pub(super) const DEFINITION_BYTES_MAX: usize = 64 * 1024;
/// A larger file gets no more definitions, only their hashes.
const FILE_BYTES_WITH_DEFINITIONS_MAX: usize = 8 * 1024 * 1024;

/// Edits the file under its lock. Entries of other programs are kept.
///
/// # Errors
/// The file cannot be read, parsed or written. It is unchanged then.
pub fn update_trust(home: &Home, edits: &[TrustEdit]) -> Result<(), ConfigError> {
    let path = home.trust();
    let written = files::update(&path, files::PRIVATE_MODE, BYTES_MAX, |current| {
        let is_full = current
            .as_ref()
            .is_some_and(|bytes| bytes.len() > FILE_BYTES_WITH_DEFINITIONS_MAX);
        let document = match &current {
            Some(bytes) => JsonDocument::parse(&path, bytes.clone())?,
            None => JsonDocument::empty(&path),
        };
        let bytes = match edited_file(&path, &document, edits, is_full)? {
            // The new definitions exceed the size limit, so store only their hashes.
            Some(bytes) if bytes.len() > FILE_BYTES_WITH_DEFINITIONS_MAX && !is_full => {
                edited_file(&path, &document, edits, true)?
            }
            bytes => bytes,
        };
        match bytes {
            None => Ok(current.unwrap_or_else(|| document.into_bytes())),
            // A file that is too large to read again would lose every decision.
            Some(bytes) if bytes.len() as u64 > BYTES_MAX => Err(ConfigError::TooLarge {
                path: path.clone(),
                megabytes: BYTES_MAX >> 20,
            }),
            Some(bytes) => Ok(bytes),
        }
    });
    written.map_err(|fault| match fault {
        UpdateError::Refused(fault) => fault,
        UpdateError::Read(fault) => ConfigError::from_read_error(&path, &fault),
        UpdateError::Write(fault) => ConfigError::Unwritable {
            path: path.clone(),
            why: files::describe_io_error(&fault),
        },
    })
}

/// The file after `edits`. None if they change nothing.
fn edited_file(
    path: &Path,
    document: &JsonDocument,
    edits: &[TrustEdit],
    is_full: bool,
) -> Result<Option<Vec<u8>>, ConfigError> {
    let mut root = document.root().clone();
    for edit in edits {
        apply_edit(&mut root, edit, is_full).map_err(|fault| ConfigError::WrongShape {
            path: path.to_owned(),
            line: document.line_of(&[PathStep::Key(fault.key)]),
            fault: fault.what,
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
    what: String,
}

fn apply_edit(
    root: &mut Map<String, Value>,
    edit: &TrustEdit,
    is_full: bool,
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
        TrustEdit::AllowInstructions(agreed) => {
            let matches =
                |old: &Value| json::consent_from_json(old).is_ok_and(|old| old.is_same(agreed));
            let list = list_mut(root, INSTRUCTIONS)?;
            if !list.iter().any(matches) {
                list.push(json::consent_to_json(agreed));
            }
        }
        TrustEdit::RevokeInstructions(agreed) => {
            let matches =
                |old: &Value| json::consent_from_json(old).is_ok_and(|old| old.is_same(agreed));
            list_mut(root, INSTRUCTIONS)?.retain(|old| !matches(old));
        }
        TrustEdit::RecordFirstSeen(pinned) => {
            let tools = tools_mut(root, pinned)?;
            if !tools.contains_key(&pinned.tool) {
                tools.insert(
                    pinned.tool.clone(),
                    definition_to_json(&pinned.accepted, is_full),
                );
            }
        }
        TrustEdit::EvictPins(server, stale) => remove_pins(root, server, stale),
        TrustEdit::AcceptDefinition(pinned) => {
            let value = definition_to_json(&pinned.accepted, is_full);
            tools_mut(root, pinned)?.insert(pinned.tool.clone(), value);
        }
        TrustEdit::DeclineDefinition { pinned: of, pin } => {
            let tools = tools_mut(root, of)?;
            if let Some(Value::Object(entry)) = tools.get_mut(&of.tool) {
                entry.insert("declined".to_owned(), json!(pin.as_str()));
            } else {
                tools.insert(of.tool.clone(), definition_to_json(&of.accepted, is_full));
            }
        }
    }
    Ok(())
}

fn remove_pins(root: &mut Map<String, Value>, server: &ServerId, stale: &EvictedPins) {
    let mut launches = root
        .get_mut(PINS)
        .and_then(|pins| pins.get_mut(server.as_str()));
    for (launch, gone) in stale {
        let tools = launches
            .as_deref_mut()
            .and_then(|launches| launches.get_mut(launch.as_str()));
        if let Some(Value::Object(tools)) = tools {
            tools.retain(|tool, _| !gone.contains(tool));
        }
    }
}

fn definition_to_json(accepted: &AcceptedDefinition, is_full: bool) -> Value {
    let whole = json::accepted_to_json(accepted, true);
    let is_long = is_full || whole.to_string().len() > DEFINITION_BYTES_MAX;
    match is_long {
        true => json::accepted_to_json(accepted, false),
        false => whole,
    }
}

fn list_mut<'a>(
    root: &'a mut Map<String, Value>,
    key: &'static str,
) -> Result<&'a mut Vec<Value>, WrongShape> {
    let found = root.entry(key).or_insert_with(|| json!([]));
    if found.is_null() {
        *found = json!([]);
    }
    match found {
        Value::Array(entries) => Ok(entries),
        other => Err(WrongShape {
            key,
            what: format!("`{key}` is {}, expected a list", type_description(other)),
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
                    what: format!(
                        "`{step}` is {}, expected an object",
                        type_description(other)
                    ),
                });
            }
        };
    }
    Ok(object)
}

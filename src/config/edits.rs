//! Saves the settings that humble itself changes. Each is saved immediately, and nothing else in
//! the file changes.

use super::disabled_tools::{TOOLS_OFF, TOOLS_ON, changed_tools_on, disabled_tools};
use super::json_document::{BYTES_MAX, JsonDocument, type_description};
use super::json_edit::PathStep;
use super::rejected_edits::keep_rejected;
use super::server_entries::{self, EntryLocation, ServerEntry};
use super::servers::{self, BUILT_IN_SERVER, STORED_VARIABLES};
use super::{ConfigError, Home, NotesFolder, fields, models};
use crate::domain::model::Secret;
use crate::domain::theme::ThemeChoice;
use crate::domain::{Dialect, ModelRef, ServerConfig, ServerId, ToolMode};
use crate::files::{self, UpdateError};
use crate::text::suggest::nearest;
use serde_json::{Value, json};
use std::path::Path;

const ALWAYS_OFFERED: &str = "toolsPinned";

/// Marks `model` as active and all others as inactive.
///
/// # Errors
/// The model is not in the file, or the file cannot be read, parsed or written. The file is
/// unchanged in that case.
pub fn set_active_model(home: &Home, model: &ModelRef) -> Result<(), ConfigError> {
    edit_file(&home.config(), |document| {
        let entries = match document.root().get("models") {
            Some(Value::Array(entries)) => entries.clone(),
            _ => Vec::new(),
        };
        let chosen = model_position(document, &entries, model)?;
        for (index, entry) in entries.iter().enumerate() {
            let steps = [
                PathStep::Key("models"),
                PathStep::Index(index),
                PathStep::Key("active"),
            ];
            let is_active = entry.get("active") == Some(&Value::Bool(true));
            if is_active || index == chosen {
                document.set(&steps, &json!(index == chosen))?;
            }
        }
        Ok(())
    })
}

/// Stores the dialect of a model as its `toolCalls`.
///
/// # Errors
/// The model is not in the file, or the file cannot be read, parsed or written. The file is
/// unchanged in that case.
pub fn set_tool_calls(home: &Home, model: &ModelRef, dialect: Dialect) -> Result<(), ConfigError> {
    edit_file(&home.config(), |document| {
        let entries = match document.root().get("models") {
            Some(Value::Array(entries)) => entries.as_slice(),
            _ => &[],
        };
        let index = model_position(document, entries, model)?;
        let steps = [
            PathStep::Key("models"),
            PathStep::Index(index),
            PathStep::Key("toolCalls"),
        ];
        let entry = entries[index].as_object();
        let stored = entry.map(|entry| fields::one_of(entry, "toolCalls", &[dialect.name()]));
        if stored == Some(Ok(Some(dialect.name()))) {
            return Ok(());
        }
        document.set(&steps, &json!(dialect.name()))
    })
}

/// The index of a model's first entry.
fn model_position(
    document: &JsonDocument,
    entries: &[Value],
    model: &ModelRef,
) -> Result<usize, ConfigError> {
    let references: Vec<Option<ModelRef>> = entries
        .iter()
        .map(|entry| models::parse_reference(entry.as_object()?).ok())
        .collect();
    let position = references
        .iter()
        .position(|reference| reference.as_ref() == Some(model));
    position.ok_or_else(|| {
        let names = references
            .iter()
            .flatten()
            .map(|reference| reference.name.as_str());
        ConfigError::UnknownModel {
            path: document.path().to_owned(),
            name: model.name.clone(),
            near: nearest(&model.name, names).map(str::to_owned),
        }
    })
}

/// Stores `toolCallMode`.
///
/// # Errors
/// The file cannot be read, parsed or written. In that case, the file is unchanged.
pub fn set_tool_mode(home: &Home, mode: ToolMode) -> Result<(), ConfigError> {
    edit_file(&home.config(), |document| {
        let key = "toolCallMode";
        if fields::one_of(document.root(), key, &[mode.name()]) == Ok(Some(mode.name())) {
            // Keep the spelling in the file, such as `Auto`.
            return Ok(());
        }
        document.set(&[PathStep::Key(key)], &json!(mode.name()))
    })
}

/// Stores the theme.
///
/// # Errors
/// The file cannot be read, parsed or written. In that case, the file is unchanged.
pub fn set_theme(home: &Home, theme: &ThemeChoice) -> Result<(), ConfigError> {
    edit_file(&home.config(), |document| {
        let steps = [PathStep::Key("ui"), PathStep::Key("theme")];
        document.set(&steps, &json!(theme.name()))
    })
}

/// Stores the folder of notes.
///
/// # Errors
/// The file cannot be read, parsed or written. In that case, the file is unchanged.
pub fn set_notes_vault(home: &Home, folder: &NotesFolder) -> Result<(), ConfigError> {
    edit_file(&home.config(), |document| {
        let vault = json!(folder.path.to_string_lossy());
        document.set(&[PathStep::Key("notes"), PathStep::Key("vault")], &vault)
    })
}

/// Stores whether a server is enabled. The built-in server gets an entry if it has none.
///
/// # Errors
/// The server is neither built in nor in the file, or the file cannot be read, parsed or written. The file is
/// unchanged in that case.
pub fn set_server_enabled(home: &Home, id: &ServerId, is_enabled: bool) -> Result<(), ConfigError> {
    edit_file(&home.servers(), |document| {
        set_in_server(document, id.as_str(), "enabled", |_| Ok(json!(is_enabled)))
    })
}

/// Stores values of variables in the entry of a server, and returns the server as it is now.
///
/// # Errors
/// As for [`set_server_enabled`].
pub fn set_server_variables(
    home: &Home,
    id: &ServerId,
    values: &[(String, Secret)],
) -> Result<Option<ServerConfig>, ConfigError> {
    edit_file(&home.servers(), |document| {
        set_in_server(document, id.as_str(), STORED_VARIABLES, |entry| {
            let entry = entry.and_then(Value::as_object);
            let stored = entry.and_then(|entry| entry.get(STORED_VARIABLES)?.as_object());
            let mut stored = stored.cloned().unwrap_or_default();
            let values = values.iter();
            stored.extend(values.map(|(name, value)| (name.clone(), json!(value.expose()))));
            Ok(stored.into())
        })
    })?;
    let mut servers = servers::read_servers(home).value;
    let index = servers.iter().position(|server| server.id == *id);
    Ok(index.map(|index| servers.swap_remove(index)))
}

/// Stores whether a tool of a server is enabled.
///
/// # Errors
/// As for [`set_server_enabled`].
pub fn set_tool_enabled(
    home: &Home,
    id: &ServerId,
    tool: &str,
    is_enabled: bool,
) -> Result<(), ConfigError> {
    edit_file(&home.servers(), |document| {
        let mut tools_on = None;
        set_in_server(document, id.as_str(), TOOLS_OFF, |entry| {
            let empty = serde_json::Map::new();
            let entry = entry.and_then(Value::as_object).unwrap_or(&empty);
            tools_on = changed_tools_on(id.as_str(), entry, tool, is_enabled)?;
            let mut disabled = disabled_tools(id.as_str(), entry)?;
            disabled.retain(|name| name != tool);
            if !is_enabled {
                disabled.push(tool.to_owned());
            }
            Ok(json!(disabled))
        })?;
        match tools_on {
            Some(on) => set_in_server(document, id.as_str(), TOOLS_ON, |_| Ok(json!(on))),
            None => Ok(()),
        }
    })
}

/// Stores whether a tool of a server is always offered.
///
/// # Errors
/// As for [`set_server_enabled`].
pub fn set_always_offered(
    home: &Home,
    id: &ServerId,
    tool: &str,
    is_always_offered: bool,
) -> Result<(), ConfigError> {
    edit_file(&home.servers(), |document| {
        set_in_server(document, id.as_str(), ALWAYS_OFFERED, |entry| {
            let entry = entry.and_then(Value::as_object);
            let names = entry.map(|entry| fields::text_list(entry, ALWAYS_OFFERED));
            let mut names = names.transpose()?.flatten().unwrap_or_default();
            names.retain(|name| name != tool);
            if is_always_offered {
                names.push(tool.to_owned());
            }
            Ok(json!(names))
        })
    })
}

/// Sets `key` in the entry of a server to `new_value(entry)`.
fn set_in_server(
    document: &mut JsonDocument,
    id: &str,
    key: &str,
    new_value: impl FnOnce(Option<&Value>) -> Result<Value, String>,
) -> Result<(), ConfigError> {
    let entries = server_entries::entries(document)?;
    let entry = entries.iter().rfind(|entry| entry.id == id);
    if entry.is_none() && id != BUILT_IN_SERVER {
        return Err(unknown_server(document, &entries, id));
    }
    let location = entry.map_or_else(
        || server_entries::new_entry_location(document),
        |entry| entry.location.clone(),
    );
    let wrong_shape = |problem: String| ConfigError::WrongShape {
        path: document.path().to_owned(),
        line: document.line_of(&location.steps(id)),
        problem: format!("server `{id}`: {problem}"),
    };
    if let Some(other) = entry.filter(|entry| !entry.value.is_object()) {
        let actual_type = type_description(other.value);
        return Err(wrong_shape(format!(
            "it is {actual_type}, expected an object"
        )));
    }
    let value = new_value(entry.map(|entry| entry.value)).map_err(wrong_shape)?;
    let is_new = entry.is_none();
    let mut steps = location.steps(id);
    if is_new && matches!(location, EntryLocation::Element(..)) {
        return document.set(&steps, &json!({ "name": id, key: value }));
    }
    steps.push(PathStep::Key(key));
    document.set(&steps, &value)
}

fn unknown_server(document: &JsonDocument, entries: &[ServerEntry<'_>], id: &str) -> ConfigError {
    let names = entries.iter().map(|entry| entry.id.as_str());
    ConfigError::UnknownServer {
        path: document.path().to_owned(),
        id: id.to_owned(),
        near: nearest(id, names).map(str::to_owned),
    }
}

/// Edits the file at `path` under its lock. A missing file starts as an empty object.
pub(super) fn edit_file(
    path: &Path,
    edit: impl FnOnce(&mut JsonDocument) -> Result<(), ConfigError>,
) -> Result<(), ConfigError> {
    let result = files::update(path, files::PRIVATE_MODE, BYTES_MAX, |current| {
        let mut document = match current {
            Some(bytes) => JsonDocument::parse(path, bytes)?,
            None => JsonDocument::empty(path),
        };
        let before = document.clone();
        edit(&mut document)?;
        keep_rejected(path, &before, &document)?;
        Ok(document.into_bytes())
    });
    result.map_err(|error| match error {
        UpdateError::Refused(error) => error,
        UpdateError::Read(error) => ConfigError::from_read_error(path, &error),
        UpdateError::Write(error) => ConfigError::Unwritable {
            path: path.to_owned(),
            why: files::describe_io_error(&error),
        },
    })
}

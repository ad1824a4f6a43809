//! New MCP servers: checked as if they were in `mcp-servers.json`, and added to it without
//! changing any other byte.

use super::edits::edit_file;
use super::error::capitalize;
use super::json_document::JsonDocument;
use super::server_entries::{self, EntryLocation};
use super::servers::{self, BUILT_IN_SERVER, STORED_VARIABLES};
use super::variables::environment_variable;
use super::{ConfigError, Home, fields};
use crate::domain::secrets::is_secret_name;
use crate::domain::server::RemoteTransport;
use crate::domain::{LaunchConfig, NewServer, NewServerLaunch, ServerConfig};
use crate::files;
use serde_json::{Map, Value, json};
use std::cell::Cell;

/// A name must fit on one line of the screen.
const NAME_CHARS_MAX: usize = 64;

/// The configuration that a new server would have. If the only problem is an unset
/// variable, the result is a misconfigured server, not an error.
///
/// # Errors
/// The problem with the server, as a sentence.
pub fn preview_server(new: &NewServer) -> Result<ServerConfig, String> {
    check_name(&new.name)?;
    let entry = entry_to_json(new);
    let is_variable_unset = Cell::new(false);
    let lookup = |name: &str| {
        let value = environment_variable(name);
        is_variable_unset.set(is_variable_unset.get() || value.is_none());
        value
    };
    let config = servers::parse_server(&new.name, &Value::Object(entry.clone()), &lookup);
    let LaunchConfig::Misconfigured { why } = &config.launch else {
        return Ok(config);
    };
    if !is_variable_unset.get() {
        return Err(fields::with_period(&capitalize(why)));
    }
    // The variable cannot be checked yet, so check the rest with a placeholder.
    let with_placeholders = servers::parse_server(
        &new.name,
        &Value::Object(with_placeholder_url(entry)),
        &|_| Some("1".to_owned()),
    );
    match with_placeholders.launch {
        LaunchConfig::Misconfigured { why } => Err(fields::with_period(&capitalize(&why))),
        _ => Ok(config),
    }
}

/// Prepares an entry for a check in which every variable has the value `1`. That value is valid in
/// the host, port or path of a URL but not in its scheme, so a URL whose scheme may come from a
/// variable is replaced as a whole.
fn with_placeholder_url(mut entry: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::String(url)) = entry.get_mut("url")
        && let Some((before, _)) = url.split_once("${")
        && !before.contains("://")
    {
        *url = "http://localhost/".to_owned();
    }
    entry
}

fn check_name(name: &str) -> Result<(), String> {
    if name == BUILT_IN_SERVER {
        let message = "`humble` is the built-in server. Choose another name.";
        return Err(message.to_owned());
    }
    let has_invalid_characters = name.trim() != name || name.chars().any(char::is_control);
    if name.is_empty() || has_invalid_characters {
        return Err(
            "The name is empty, starts or ends with a space, or contains a control character."
                .into(),
        );
    }
    match name.chars().count() > NAME_CHARS_MAX {
        true => Err(format!(
            "The name is longer than {NAME_CHARS_MAX} characters."
        )),
        false => Ok(()),
    }
}

/// Adds servers at the end of `mcp-servers.json`, in one edit.
///
/// # Errors
/// The file cannot be read, parsed or written, or already lists one of the names. In that case, the
/// file is unchanged.
pub fn add_servers(home: &Home, servers: &[NewServer]) -> Result<(), ConfigError> {
    let path = home.servers();
    files::create_folder(home.root()).map_err(|error| ConfigError::Unwritable {
        path: path.clone(),
        why: files::describe_io_error(&error),
    })?;
    edit_file(&path, |document| {
        if document.root().is_empty() {
            // A new file or an empty object gets indented JSON instead of the one-line form that an edit inserts.
            let entries = servers.iter();
            let entries = entries.map(|new| (new.name.clone(), entry_to_json(new).into()));
            let file = json!({ "mcpServers": entries.collect::<Map<String, Value>>() });
            *document = JsonDocument::parse(&path, format!("{file:#}\n").into_bytes())?;
            return Ok(());
        }
        let mut servers = servers.iter();
        servers.try_for_each(|new| insert_server(document, new))
    })
}

fn insert_server(document: &mut JsonDocument, new: &NewServer) -> Result<(), ConfigError> {
    let entries = server_entries::entries(document)?;
    if entries.iter().any(|entry| entry.id == new.name) {
        return Err(ConfigError::DuplicateServer {
            path: document.path().to_owned(),
            name: new.name.clone(),
        });
    }
    let location = server_entries::new_entry_location(document);
    let mut new_entry = Map::new();
    if matches!(location, EntryLocation::Element(..)) {
        new_entry.insert("name".into(), json!(new.name));
    }
    new_entry.extend(entry_to_json(new));
    let new_entry = Value::Object(new_entry);
    document.set(&location.steps(&new.name), &new_entry)
}

/// The servers in `mcp-servers.json` with their launches as written, without expanding `${NAME}`.
/// The built-in server and misconfigured ones have no launch.
///
/// # Errors
/// The file cannot be read or parsed.
pub fn written_launches(
    home: &Home,
) -> Result<Vec<(String, Option<NewServerLaunch>)>, ConfigError> {
    let Some(document) = JsonDocument::read(&home.servers())? else {
        return Ok(Vec::new());
    };
    let entries = server_entries::entries(&document)?;
    let launches = entries.into_iter().map(|entry| {
        let launch = entry
            .value
            .as_object()
            .and_then(|fields| servers::written_launch(fields).ok().flatten());
        (entry.id, launch)
    });
    Ok(launches.collect())
}

/// Without default values.
fn entry_to_json(new: &NewServer) -> Map<String, Value> {
    let to_object = |pairs: &[(String, String)]| -> Value {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect::<Map<_, _>>()
            .into()
    };
    let mut entry = Map::new();
    let mut insert = |key: &str, value: Value| {
        entry.insert(key.to_owned(), value);
    };
    if let Some(description) = &new.description {
        insert("description", json!(description));
    }
    match &new.launch {
        NewServerLaunch::Command {
            command,
            args,
            env,
            cwd,
        } => {
            insert("command", json!(command));
            insert("args", json!(args));
            if !env.is_empty() {
                insert("env", to_object(env));
            }
            if let Some(cwd) = cwd {
                insert("cwd", json!(cwd));
            }
        }
        NewServerLaunch::Url {
            url,
            transport,
            headers,
        } => {
            insert("url", json!(url));
            match transport {
                RemoteTransport::Auto => {}
                RemoteTransport::Sse => insert("transport", json!("sse")),
                RemoteTransport::Http => insert("transport", json!("http")),
            }
            if !headers.is_empty() {
                insert("headers", to_object(headers));
            }
        }
    }
    if !new.values.is_empty() {
        let values = new.values.iter();
        let values = values.map(|(name, value)| (name.clone(), json!(value.expose())));
        insert(STORED_VARIABLES, values.collect::<Map<_, _>>().into());
    }
    if !new.enabled {
        insert("enabled", json!(false));
    }
    entry
}

/// The names of likely secrets that would be stored in plain text.
pub fn plaintext_secret_names(new: &NewServer) -> Vec<&str> {
    let pairs = new.launch.env_or_headers();
    let is_plaintext = |(name, value): &&(String, String)| {
        is_secret_name(name) && !value.is_empty() && !value.contains("${")
    };
    pairs
        .iter()
        .filter(is_plaintext)
        .map(|(name, _)| name.as_str())
        .collect()
}

//! New servers: understood as if they stood in `mcp-servers.json`, and added to it
//! with no other byte of it changed (S1.3).

use super::edits::edit_file;
use super::json_document::JsonDocument;
use super::json_edit::PathStep;
use super::server_entries::{self, EntryLocation};
use super::servers::{self, BUILT_IN_SERVER};
use super::variables::environment_variable;
use super::{ConfigError, Home, fields};
use crate::domain::secrets::is_secret_name;
use crate::domain::server::RemoteTransport;
use crate::domain::{LaunchConfig, ServerConfig};
use crate::files;
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::path::PathBuf;

/// A name has to fit on a line of a screen.
const NAME_CHARS_MAX: usize = 64;

/// A server that is to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct NewServer {
    pub name: String,
    pub description: Option<String>,
    pub enabled: bool,
    pub launch: NewServerLaunch,
}

/// How it is reached; `${NAME}` stays as it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum NewServerLaunch {
    Command {
        command: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
        cwd: Option<PathBuf>,
    },
    Url {
        url: String,
        transport: RemoteTransport,
        headers: Vec<(String, String)>,
    },
}

/// A new server as it would be started. One that only lacks a variable is understood,
/// and says so as misconfigured.
///
/// # Errors
/// What is wrong with it, as a sentence.
pub fn preview_server(new: &NewServer) -> Result<ServerConfig, String> {
    check_name(&new.name)?;
    let entry = entry_to_json(new);
    let is_missing = Cell::new(false);
    let known = |name: &str| {
        let value = environment_variable(name);
        is_missing.set(is_missing.get() || value.is_none());
        value
    };
    let understood = servers::parse_server(&new.name, &Value::Object(entry.clone()), &known);
    let LaunchConfig::Misconfigured { why } = &understood.launch else {
        return Ok(understood);
    };
    if !is_missing.get() {
        return Err(fields::with_full_stop(&capitalize(why)));
    }
    // It cannot be judged yet; everything else about it can.
    let filled = servers::parse_server(
        &new.name,
        &Value::Object(with_placeholder_url(entry)),
        &|_| Some("1".to_owned()),
    );
    match filled.launch {
        LaunchConfig::Misconfigured { why } => Err(fields::with_full_stop(&capitalize(&why))),
        _ => Ok(understood),
    }
}

/// An entry whose variables can be replaced by `1`. That may be the host, the port or a
/// part of the path of a URL, but not all of it or its scheme: such a URL is replaced.
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
        let message = "`humble` is the built-in server: give this one another name.";
        return Err(message.to_owned());
    }
    let is_odd = name.trim() != name || name.chars().any(char::is_control);
    if name.is_empty() || is_odd {
        return Err(
            "The name is empty, or has blanks around it or control characters in it.".into(),
        );
    }
    match name.chars().count() > NAME_CHARS_MAX {
        true => Err(format!(
            "The name is longer than {NAME_CHARS_MAX} characters."
        )),
        false => Ok(()),
    }
}

fn capitalize(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// Adds a server to `mcp-servers.json`, behind the others.
///
/// # Errors
/// The file cannot be read, understood or written, or lists the name already; it is
/// as it was then.
pub fn add_server(home: &Home, new: &NewServer) -> Result<(), ConfigError> {
    let path = home.servers();
    files::create_folder(home.root()).map_err(|fault| ConfigError::Unwritable {
        path: path.clone(),
        why: files::describe_io_error(&fault),
    })?;
    edit_file(&path, |document| {
        let entries = server_entries::entries(document)?;
        if entries.iter().any(|entry| entry.id == new.name) {
            return Err(ConfigError::DuplicateServer {
                path: document.path().to_owned(),
                name: new.name.clone(),
            });
        }
        if document.root().is_empty() {
            // The first one stands as a person would lay it out.
            let file = json!({ "mcpServers": { new.name.as_str(): entry_to_json(new) } });
            let text = format!("{file:#}\n");
            *document = JsonDocument::parse(&path, text.into_bytes())?;
            return Ok(());
        }
        let place = server_entries::new_entry_location(document);
        let mut fresh = Map::new();
        if matches!(place, EntryLocation::Element(..)) {
            fresh.insert("name".into(), json!(new.name));
        }
        fresh.extend(entry_to_json(new));
        let fresh = Value::Object(fresh);
        // A null in the place of the object is none to add to.
        if let EntryLocation::Member(Some(key)) = place
            && fields::get(document.root(), key).is_none()
        {
            return document.set(&[PathStep::Key(key)], &json!({ new.name.as_str(): fresh }));
        }
        document.set(&place.steps(&new.name), &fresh)
    })
}

/// The entry as it stands in the file: what goes without saying is left out.
fn entry_to_json(new: &NewServer) -> Map<String, Value> {
    let object = |pairs: &[(String, String)]| -> Value {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect::<Map<_, _>>()
            .into()
    };
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| {
        entry.insert(key.to_owned(), value);
    };
    if let Some(description) = &new.description {
        put("description", json!(description));
    }
    match &new.launch {
        NewServerLaunch::Command {
            command,
            args,
            env,
            cwd,
        } => {
            put("command", json!(command));
            put("args", json!(args));
            if !env.is_empty() {
                put("env", object(env));
            }
            if let Some(cwd) = cwd {
                put("cwd", json!(cwd));
            }
        }
        NewServerLaunch::Url {
            url,
            transport,
            headers,
        } => {
            put("url", json!(url));
            match transport {
                RemoteTransport::Auto => {}
                RemoteTransport::Sse => put("transport", json!("sse")),
                RemoteTransport::Http => put("transport", json!("http")),
            }
            if !headers.is_empty() {
                put("headers", object(headers));
            }
        }
    }
    if !new.enabled {
        put("enabled", json!(false));
    }
    entry
}

/// The names of what looks like a secret and would stand in the file as it was typed.
pub fn plaintext_secret_names(new: &NewServer) -> Vec<&str> {
    let pairs = match &new.launch {
        NewServerLaunch::Command { env, .. } => env,
        NewServerLaunch::Url { headers, .. } => headers,
    };
    let is_open = |(name, value): &&(String, String)| {
        is_secret_name(name) && !value.is_empty() && !value.contains("${")
    };
    let open = pairs.iter().filter(is_open);
    open.map(|(name, _)| name.as_str()).collect()
}

//! New MCP servers: checked as if they were in `mcp-servers.json`, and added to it without
//! changing any other byte.

use super::edits::change;
use super::json_document::Document;
use super::json_edit::Step;
use super::server_entries::{self, Place};
use super::servers::{self, BUILT_IN};
use super::variables::environment;
use super::{ConfigError, Home, fields};
use crate::domain::secrets::is_secret_name;
use crate::domain::server::RemoteTransport;
use crate::domain::{Launch, ServerConfig};
use crate::files;
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::path::PathBuf;

/// A name must fit on one line of the screen.
const NAME_CHARS_MAX: usize = 64;

/// A server to add.
#[derive(Debug, Clone, PartialEq)]
pub struct NewServer {
    pub name: String,
    pub description: Option<String>,
    pub enabled: bool,
    pub reach: Reach,
}

/// How the server is started or reached. `${NAME}` is not expanded.
#[derive(Debug, Clone, PartialEq)]
pub enum Reach {
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

/// The configuration that a new server would have. If only a variable is unset, the result
/// is a misconfigured server, not an error.
///
/// # Errors
/// What is wrong with it, as a sentence.
pub fn understand_server(new: &NewServer) -> Result<ServerConfig, String> {
    check_name(&new.name)?;
    let entry = entry(new);
    let is_missing = Cell::new(false);
    let lookup = |name: &str| {
        let value = environment(name);
        is_missing.set(is_missing.get() || value.is_none());
        value
    };
    let config = servers::server(&new.name, &Value::Object(entry.clone()), &lookup);
    let Launch::Misconfigured { why } = &config.launch else {
        return Ok(config);
    };
    if !is_missing.get() {
        return Err(fields::sentence(&capitalised(why)));
    }
    // The variable cannot be checked yet, so check the rest with a placeholder.
    let with_placeholders = servers::server(&new.name, &Value::Object(stood_in(entry)), &|_| {
        Some("1".to_owned())
    });
    match with_placeholders.launch {
        Launch::Misconfigured { why } => Err(fields::sentence(&capitalised(&why))),
        _ => Ok(config),
    }
}

/// Prepares an entry for replacing its variables by `1`. That works for the host, the port
/// or the path of a URL. A URL with a variable in its scheme is replaced as a whole.
fn stood_in(mut entry: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::String(url)) = entry.get_mut("url")
        && let Some((before, _)) = url.split_once("${")
        && !before.contains("://")
    {
        *url = "http://localhost/".to_owned();
    }
    entry
}

fn check_name(name: &str) -> Result<(), String> {
    if name == BUILT_IN {
        let said = "`humble` is the built-in server. Choose another name.";
        return Err(said.to_owned());
    }
    let is_odd = name.trim() != name || name.chars().any(char::is_control);
    if name.is_empty() || is_odd {
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

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// Adds a server at the end of `mcp-servers.json`.
///
/// # Errors
/// The file cannot be read, parsed or written, or already lists the name. The file is
/// unchanged then.
pub fn add_server(home: &Home, new: &NewServer) -> Result<(), ConfigError> {
    let path = home.servers();
    files::create_folder(home.root()).map_err(|fault| ConfigError::Unwritable {
        path: path.clone(),
        why: files::words(&fault),
    })?;
    change(&path, |document| {
        let entries = server_entries::entries(document)?;
        if entries.iter().any(|entry| entry.id == new.name) {
            return Err(ConfigError::KnownServer {
                path: document.path().to_owned(),
                name: new.name.clone(),
            });
        }
        if document.root().is_empty() {
            // The first server is laid out on several lines.
            let file = json!({ "mcpServers": { new.name.as_str(): entry(new) } });
            let text = format!("{file:#}\n");
            *document = Document::parse(&path, text.into_bytes())?;
            return Ok(());
        }
        let place = server_entries::new_place(document);
        let mut fresh = Map::new();
        if matches!(place, Place::Element(..)) {
            fresh.insert("name".into(), json!(new.name));
        }
        fresh.extend(entry(new));
        let fresh = Value::Object(fresh);
        // A null instead of the object is replaced by an object.
        if let Place::Member(Some(key)) = place
            && fields::get(document.root(), key).is_none()
        {
            return document.set(&[Step::Key(key)], &json!({ new.name.as_str(): fresh }));
        }
        document.set(&place.steps(&new.name), &fresh)
    })
}

/// The entry for the file, without default values.
fn entry(new: &NewServer) -> Map<String, Value> {
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
    match &new.reach {
        Reach::Command {
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
        Reach::Url {
            url,
            transport,
            headers,
        } => {
            put("url", json!(url));
            match transport {
                RemoteTransport::Guess => {}
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

/// The names of likely secrets that would be stored in plain text.
pub fn secrets_in_the_open(new: &NewServer) -> Vec<&str> {
    let pairs = match &new.reach {
        Reach::Command { env, .. } => env,
        Reach::Url { headers, .. } => headers,
    };
    let is_plaintext = |(name, value): &&(String, String)| {
        is_secret_name(name) && !value.is_empty() && !value.contains("${")
    };
    pairs
        .iter()
        .filter(is_plaintext)
        .map(|(name, _)| name.as_str())
        .collect()
}

//! Parses `mcp-servers.json`. An invalid server is listed as misconfigured with the reason,
//! and the others work.

use super::fields::{self, Entry, Fault};
use super::json_document::{Document, kind};
use super::server_entries::entries;
use super::variables::{Variables, environment, is_public, replaced, spellings};
use super::{Home, Reading};
use crate::domain::model::Secret;
use crate::domain::secrets::is_secret_name;
use crate::domain::server::{Inherit, Protocol, RemoteTransport};
use crate::domain::{Launch, ServerConfig, ServerId};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

/// The name of the built-in server, which no other server can have.
pub const BUILT_IN: &str = "humble";
/// Built-in tools that are off by default in the chat.
const BUILT_IN_TOOLS_OFF: [&str; 3] = ["ollama_chat", "say_hello", "get_cat_fact"];
const STARTUP_TIMEOUT: Duration = Duration::from_secs(30);
const TOOL_TIMEOUT: Duration = Duration::from_secs(300);

/// Reads `mcp-servers.json`. The built-in server comes first, even without a file, then the
/// others in file order.
pub fn read_servers(home: &Home) -> Reading<Vec<ServerConfig>> {
    read_servers_with(home, &environment)
}

/// Like [`read_servers`], with the given environment variables.
pub fn read_servers_with(home: &Home, variables: Variables<'_>) -> Reading<Vec<ServerConfig>> {
    let found = Document::read(&home.servers()).and_then(|document| {
        let Some(document) = document else {
            return Ok(Vec::new());
        };
        let entries = entries(&document)?;
        Ok(entries
            .iter()
            .map(|entry| server(&entry.id, entry.value, variables))
            .collect())
    });
    let (mut servers, banners, failed) = match found {
        Ok(servers) => (servers, Vec::new(), false),
        Err(fault) => (Vec::new(), vec![fault.banner()], true),
    };
    match servers
        .iter()
        .position(|server: &ServerConfig| server.id.as_str() == BUILT_IN)
    {
        Some(index) => servers[..=index].rotate_right(1),
        None => servers.insert(0, server(BUILT_IN, &Value::Object(Map::new()), variables)),
    }
    Reading {
        value: servers,
        banners,
        failed,
    }
}

/// The disabled tools of an entry.
///
/// # Errors
/// `toolsOff` has the wrong type.
pub(super) fn tools_off(id: &str, entry: &Entry) -> Result<Vec<String>, Fault> {
    let default = || match id {
        BUILT_IN => BUILT_IN_TOOLS_OFF.map(str::to_owned).to_vec(),
        _ => Vec::new(),
    };
    Ok(fields::texts(entry, "toolsOff")?.unwrap_or_else(default))
}

pub(super) fn server(id: &str, value: &Value, variables: Variables<'_>) -> ServerConfig {
    let misconfigured = |enabled: bool, why: Fault| ServerConfig {
        id: ServerId::new(id),
        description: None,
        enabled,
        launch: Launch::Misconfigured { why },
        tools_off: BTreeSet::new(),
        startup_timeout: STARTUP_TIMEOUT,
        tool_timeout: TOOL_TIMEOUT,
        protocol: Protocol::Auto,
        secrets: Vec::new(),
    };
    let Value::Object(entry) = value else {
        let why = format!("the entry is {}, expected an object", kind(value));
        return misconfigured(true, why);
    };
    understood(id, entry, variables).unwrap_or_else(|why| {
        let enabled = fields::flag(entry, "enabled").ok().flatten();
        misconfigured(enabled.unwrap_or(true), why)
    })
}

fn understood(id: &str, entry: &Entry, variables: Variables<'_>) -> Result<ServerConfig, Fault> {
    if id.trim().is_empty() {
        return Err("the name of the server is empty".to_owned());
    }
    let used = RefCell::new(BTreeSet::new());
    let noting = |name: &str| {
        let value = variables(name)?;
        if !is_public(name) {
            used.borrow_mut().extend(spellings(&value));
        }
        Some(value)
    };
    let launch = launch(id, entry, &noting)?;
    if let Launch::Stdio {
        inherit: Inherit::Also(names),
        ..
    } = &launch
    {
        // The server receives these too, and may print them.
        for name in names.iter().filter(|name| is_secret_name(name)) {
            noting(name);
        }
    }
    let mut secrets: Vec<Secret> = used.take().into_iter().map(Secret::new).collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
    Ok(ServerConfig {
        id: ServerId::new(id),
        description: fields::text(entry, "description")?.map(str::to_owned),
        enabled: fields::flag(entry, "enabled")?.unwrap_or(true),
        launch,
        tools_off: tools_off(id, entry)?.into_iter().collect(),
        startup_timeout: fields::seconds(entry, "startupTimeoutSeconds")?
            .unwrap_or(STARTUP_TIMEOUT),
        tool_timeout: fields::seconds(entry, "toolTimeoutSeconds")?.unwrap_or(TOOL_TIMEOUT),
        protocol: protocol(entry)?,
        secrets,
    })
}

fn protocol(entry: &Entry) -> Result<Protocol, Fault> {
    let word = fields::one_of(entry, "protocol", &["auto", "legacy", "modern"])?;
    Ok(match word {
        Some("legacy") => Protocol::Legacy,
        Some("modern") => Protocol::Modern,
        _ => Protocol::Auto,
    })
}

fn launch(id: &str, entry: &Entry, variables: Variables<'_>) -> Result<Launch, Fault> {
    let command = fields::name(entry, "command")?;
    let url = fields::name(entry, "url")?;
    let way = way(entry)?;
    if id == BUILT_IN {
        return match (command, url) {
            (None, None) => Ok(Launch::BuiltIn),
            _ => Err("`humble` is the built-in server; choose another name".to_owned()),
        };
    }
    match (command, url, way) {
        (Some(_), Some(_), _) => Err("it has both `command` and `url`; give one".to_owned()),
        (None, None, _) => Err("it has neither `command` nor `url`; give one".to_owned()),
        (Some(command), None, None | Some(Way::Stdio)) => stdio(command, entry, variables),
        (Some(_), None, Some(Way::Remote(_))) => {
            Err("it has a `command`, but its `type` or `transport` needs a `url`".to_owned())
        }
        (None, Some(_), Some(Way::Stdio)) => {
            Err("it has a `url`, but its `type` or `transport` needs a `command`".to_owned())
        }
        (None, Some(url), Some(Way::Remote(transport))) => remote(url, transport, entry, variables),
        (None, Some(url), None) => remote(url, RemoteTransport::Guess, entry, variables),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Stdio,
    Remote(RemoteTransport),
}

/// Reads `transport`, which other clients call `type`.
fn way(entry: &Entry) -> Result<Option<Way>, Fault> {
    let read = |key: &str| -> Result<Option<Way>, Fault> {
        let words = ["stdio", "command", "sse", "http", "streamable-http"];
        Ok(fields::one_of(entry, key, &words)?.map(|word| match word {
            "sse" => Way::Remote(RemoteTransport::Sse),
            "http" | "streamable-http" => Way::Remote(RemoteTransport::Http),
            _ => Way::Stdio,
        }))
    };
    match (read("transport")?, read("type")?) {
        (Some(one), Some(other)) if one != other => {
            Err("its `type` and its `transport` contradict each other".to_owned())
        }
        (one, other) => Ok(one.or(other)),
    }
}

fn stdio(command: &str, entry: &Entry, variables: Variables<'_>) -> Result<Launch, Fault> {
    let args = fields::texts(entry, "args")?.unwrap_or_default();
    let args = args
        .iter()
        .map(|argument| filled(argument, "args", variables))
        .collect::<Result<Vec<_>, _>>()?;
    let cwd = folder(fields::name(entry, "cwd")?, command, &args);
    let inherit = match fields::get(entry, "inheritEnv") {
        None | Some(Value::Bool(false)) => Inherit::AllowList,
        Some(Value::Bool(true)) => Inherit::Everything,
        Some(Value::Array(_)) => {
            Inherit::Also(fields::texts(entry, "inheritEnv")?.unwrap_or_default())
        }
        Some(other) => {
            let found = kind(other);
            return Err(format!(
                "`inheritEnv` is {found}, expected true or a list of names"
            ));
        }
    };
    Ok(Launch::Stdio {
        command: command.to_owned(),
        args,
        env: filled_pairs(entry, "env", variables)?,
        cwd,
        inherit,
    })
}

/// The working folder of a child process, if it is configured or the command or an argument
/// names an existing relative path. The same relative path is another file in another folder,
/// so the folder is then part of the launch identity that permissions refer to.
fn folder(configured: Option<&str>, command: &str, args: &[String]) -> Option<PathBuf> {
    let current = std::env::current_dir().ok();
    if let Some(configured) = configured.map(PathBuf::from) {
        return match current {
            Some(current) if configured.is_relative() => Some(current.join(configured)),
            _ => Some(configured),
        };
    }
    let current = current?;
    let exists = |path: &str| {
        !path.is_empty() && Path::new(path).is_relative() && current.join(path).exists()
    };
    let value_of = |argument: &str| argument.split_once('=').map(|(_, value)| value.to_owned());
    let mut args = args.iter();
    let is_relative = (command.contains('/') && exists(command))
        || args.any(|argument| {
            exists(argument) || value_of(argument).is_some_and(|value| exists(&value))
        });
    is_relative.then_some(current)
}

fn remote(
    url: &str,
    transport: RemoteTransport,
    entry: &Entry,
    variables: Variables<'_>,
) -> Result<Launch, Fault> {
    let url = filled(url, "url", variables)?;
    let parsed = Url::parse(&url).map_err(|fault| format!("`url` is not a URL: {fault}"))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err("`url` must begin with `http://` or `https://`".to_owned());
    }
    let mut headers = filled_pairs(entry, "env", variables)?;
    // `headers` takes precedence over `env`, which other clients use for headers.
    for (name, value) in filled_pairs(entry, "headers", variables)? {
        headers.retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
        headers.push((name, value));
    }
    for (name, value) in &headers {
        check_header(name, value)?;
    }
    Ok(Launch::Remote {
        url,
        transport,
        headers,
    })
}

fn check_header(name: &str, value: &str) -> Result<(), Fault> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(format!("`{name}` is not a valid header name"));
    }
    if value
        .chars()
        .any(|letter| letter.is_control() && letter != '\t')
    {
        return Err(format!("the header `{name}` contains a control character"));
    }
    Ok(())
}

fn filled(text: &str, key: &str, variables: Variables<'_>) -> Result<String, Fault> {
    replaced(text, variables)
        .map_err(|name| format!("`{key}` needs the variable {name}, which is not set"))
}

fn filled_pairs(
    entry: &Entry,
    key: &str,
    variables: Variables<'_>,
) -> Result<Vec<(String, String)>, Fault> {
    fields::pairs(entry, key)?
        .into_iter()
        .map(|(name, value)| Ok((name, filled(&value, key, variables)?)))
        .collect()
}

/// All secret values in the server settings, for log redaction.
pub fn server_secrets(servers: &[ServerConfig]) -> Vec<Secret> {
    servers
        .iter()
        .flat_map(ServerConfig::secret_values)
        .collect()
}

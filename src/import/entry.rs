//! Parses the entry of one server, from any client. No key has different meanings in different
//! clients, so one parser accepts all of them.

use super::placeholders::normalize;
use crate::domain::new_server::can_change_program;
use crate::domain::server::RemoteTransport;
use crate::domain::{NewServer, NewServerLaunch, ServerCandidate};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Entries with more text in total are refused.
const TEXT_BYTES_MAX: usize = 64 << 10;
const DESCRIPTION_CHARS_MAX: usize = 200;
/// Settings that are not imported although they change how a server is started or used.
const REPORTED_KEYS: &str = "envFile auth oauth autoApprove alwaysAllow trust sandbox \
                             sandboxEnabled headersHelper inheritEnv";

type Entry = Map<String, Value>;

/// The server of an entry, disabled and still with its secrets.
///
/// # Errors
/// The reason why it cannot be imported, without a final period.
pub(super) fn parse(name: &str, value: &Value) -> Result<ServerCandidate, String> {
    let entry = value.as_object().ok_or("it is not an object")?;
    // goose has used both forms.
    let entry = entry
        .get("config")
        .and_then(Value::as_object)
        .unwrap_or(entry);
    if let Some(kind @ ("builtin" | "platform" | "frontend" | "inline_python")) = kind(entry) {
        return Err(format!(
            "it is an extension of type `{kind}`, which is part of its client"
        ));
    }
    let mut remarks = Vec::new();
    let launch = match (command(entry)?, url(entry)?) {
        (Some(_), Some(_)) => return Err("it has both a command and a URL".to_owned()),
        (Some((command, args)), None) => parse_command(command, args, entry, &mut remarks)?,
        (None, Some((url, transport))) => NewServerLaunch::Url {
            url: normalize(url),
            transport,
            headers: headers(entry)?,
        },
        (None, None) if entry.contains_key("settings") || entry.contains_key("source") => {
            return Err("it comes from an extension of its client".to_owned());
        }
        (None, None) => return Err("it has neither a command nor a URL".to_owned()),
    };
    let ignored = REPORTED_KEYS
        .split(' ')
        .filter(|key| entry.contains_key(*key));
    let ignored: Vec<String> = ignored.map(|key| format!("`{key}`")).collect();
    if !ignored.is_empty() {
        remarks.push(format!("Not imported: {}.", ignored.join(", ")));
    }
    check_texts(&launch)?;
    if let NewServerLaunch::Command { env, .. } = &launch {
        let names = env.iter().map(|(name, _)| name);
        let names = names.filter(|name| can_change_program(name));
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        if !names.is_empty() {
            remarks.push(format!(
                "Warning: {} can change which program runs.",
                names.join(", ")
            ));
        }
    }
    let server = NewServer {
        name: name.trim().to_owned(),
        description: description(entry),
        enabled: false,
        launch,
        values: Vec::new(),
    };
    Ok(ServerCandidate {
        server,
        replaced_secrets: Vec::new(),
        remarks,
    })
}

fn kind(entry: &Entry) -> Option<&str> {
    let key = ["type", "transport"].into_iter();
    key.filter_map(|key| entry.get(key)?.as_str()).next()
}

/// The command and its arguments, which some clients put into one value.
fn command(entry: &Entry) -> Result<Option<(&str, Vec<String>)>, String> {
    let value = ["command", "cmd"]
        .iter()
        .find_map(|key| present(entry, key));
    let (command, args) = match value {
        None => return Ok(None),
        Some(Value::String(command)) => (command.as_str(), text_list(entry, "args")?),
        // opencode
        Some(Value::Array(parts)) => {
            let mut parts = parts.iter();
            let command = parts.next().and_then(Value::as_str);
            let args = parts.map(scalar_text).collect::<Option<Vec<_>>>();
            let args = args.ok_or("`command` must be an array of strings")?;
            (
                command.ok_or("`command` must be an array of strings")?,
                args,
            )
        }
        // Zed
        Some(Value::Object(parts)) => {
            let path = parts.get("path").and_then(Value::as_str);
            (
                path.ok_or("`command` has no `path`")?,
                text_list(parts, "args")?,
            )
        }
        Some(_) => return Err("`command` is neither a string nor an array".to_owned()),
    };
    match command.trim().is_empty() {
        true => Err("its command is empty".to_owned()),
        false => Ok(Some((command, args))),
    }
}

fn parse_command(
    command: &str,
    args: Vec<String>,
    entry: &Entry,
    remarks: &mut Vec<String>,
) -> Result<NewServerLaunch, String> {
    let refuse_variable = |place: &str, text: &str| match normalize(text).contains("${") {
        true => Err(format!(
            "its {place} contains a variable, which is not replaced there"
        )),
        false => Ok(()),
    };
    refuse_variable("command", command)?;
    let zed_command = entry.get("command").and_then(Value::as_object);
    let mut env = Vec::new();
    for key in ["env", "environment", "envs"] {
        env.extend(text_pairs(entry, key)?);
    }
    if let Some(parts) = zed_command {
        env.extend(text_pairs(parts, "env")?);
    }
    // Names of variables that the client keeps elsewhere (goose) or passes on (Codex).
    for key in ["env_keys", "env_vars"] {
        for name in names(entry, key)? {
            let reference = format!("${{{name}}}");
            env.push((name, reference));
        }
    }
    let cwd = match present(entry, "cwd").and_then(Value::as_str) {
        // The folder in which the client was started is the default here too.
        None | Some("" | "." | "${workspaceFolder}") => None,
        Some(cwd) => {
            refuse_variable("working folder", cwd)?;
            Some(PathBuf::from(cwd))
        }
    };
    if entry.contains_key("headers") {
        remarks.push(
            "Not imported: `headers`, because the server is started by a command.".to_owned(),
        );
    }
    Ok(NewServerLaunch::Command {
        command: command.to_owned(),
        args: args.iter().map(|argument| normalize(argument)).collect(),
        env: without_duplicates(env),
        cwd,
    })
}

fn url(entry: &Entry) -> Result<Option<(&str, RemoteTransport)>, String> {
    let keys = [
        ("url", None),
        ("uri", None),
        ("serverUrl", None),
        ("httpUrl", Some(RemoteTransport::Http)),
    ];
    for (key, transport) in keys {
        match present(entry, key) {
            None => {}
            Some(Value::String(url)) if url.trim().is_empty() => {
                return Err(format!("`{key}` is empty"));
            }
            Some(Value::String(url)) => {
                let transport = transport.unwrap_or_else(|| declared_transport(entry));
                return Ok(Some((url.trim(), transport)));
            }
            Some(_) => return Err(format!("`{key}` is not a string")),
        }
    }
    Ok(None)
}

fn declared_transport(entry: &Entry) -> RemoteTransport {
    let word = kind(entry).unwrap_or_default().to_ascii_lowercase();
    match word.replace(['-', '_'], "").as_str() {
        "sse" => RemoteTransport::Sse,
        "http" | "streamablehttp" => RemoteTransport::Http,
        _ => RemoteTransport::Auto,
    }
}

fn headers(entry: &Entry) -> Result<Vec<(String, String)>, String> {
    let mut headers = text_pairs(entry, "headers")?;
    headers.extend(text_pairs(entry, "http_headers")?);
    // The values are names of variables.
    for (name, variable) in text_pairs(entry, "env_http_headers")? {
        headers.push((name, format!("${{{variable}}}")));
    }
    let bearer = |token: &str| ("Authorization".to_owned(), format!("Bearer {token}"));
    if let Some(variable) = present(entry, "bearer_token_env_var").and_then(Value::as_str) {
        headers.push(bearer(&format!("${{{variable}}}")));
    }
    if let Some(token) = present(entry, "bearer_token").and_then(Value::as_str) {
        headers.push(bearer(token));
    }
    Ok(without_duplicates(headers))
}

/// `null` counts as absent.
fn present<'a>(entry: &'a Entry, key: &str) -> Option<&'a Value> {
    entry.get(key).filter(|value| !value.is_null())
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn text_list(entry: &Entry, key: &str) -> Result<Vec<String>, String> {
    let Some(value) = present(entry, key) else {
        return Ok(Vec::new());
    };
    let texts = value
        .as_array()
        .and_then(|items| items.iter().map(scalar_text).collect());
    texts.ok_or_else(|| format!("`{key}` is not an array of strings"))
}

/// Names of variables: strings, or objects with a `name`.
fn names(entry: &Entry, key: &str) -> Result<Vec<String>, String> {
    let Some(value) = present(entry, key) else {
        return Ok(Vec::new());
    };
    let name = |item: &Value| {
        let name = item.as_str().or_else(|| item.get("name")?.as_str());
        name.map(str::to_owned)
    };
    let names = value
        .as_array()
        .and_then(|items| items.iter().map(name).collect());
    names.ok_or_else(|| format!("`{key}` is not a list of names"))
}

/// The pairs of an object of strings, with their variables converted.
fn text_pairs(entry: &Entry, key: &str) -> Result<Vec<(String, String)>, String> {
    let members = match present(entry, key) {
        None => return Ok(Vec::new()),
        Some(Value::Object(members)) => members,
        Some(_) => return Err(format!("`{key}` is not an object whose values are strings")),
    };
    let members = members.iter().filter(|(_, value)| !value.is_null());
    members
        .map(|(name, value)| match scalar_text(value) {
            Some(text) => Ok((name.clone(), normalize(&text))),
            None => Err(format!("`{key}` is not an object whose values are strings")),
        })
        .collect()
}

/// Keeps the last value of each name, in the order of first use.
fn without_duplicates(pairs: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut kept: Vec<(String, String)> = Vec::new();
    for (name, value) in pairs {
        match kept.iter_mut().find(|(other, _)| *other == name) {
            Some(earlier) => earlier.1 = value,
            None => kept.push((name, value)),
        }
    }
    kept
}

fn description(entry: &Entry) -> Option<String> {
    let text = present(entry, "description")?.as_str()?.trim();
    let text: String = text.chars().take(DESCRIPTION_CHARS_MAX).collect();
    (!text.is_empty()).then_some(text)
}

/// Refuses entries that could not be started or reached, or that are too long for a user to read.
fn check_texts(launch: &NewServerLaunch) -> Result<(), String> {
    let pairs = launch.env_or_headers();
    let texts: Vec<&str> = match launch {
        NewServerLaunch::Command {
            command, args, cwd, ..
        } => {
            let cwd = cwd.iter().filter_map(|cwd| cwd.to_str());
            let args = args.iter().map(String::as_str);
            args.chain([command.as_str()]).chain(cwd).collect()
        }
        NewServerLaunch::Url { url, .. } => {
            // URL parsers drop control characters, so the URL on screen would differ from the one used.
            if url.chars().any(char::is_control) {
                return Err("its URL contains a control character".to_owned());
            }
            vec![url.as_str()]
        }
    };
    let is_bad_name = |name: &str| name.is_empty() || name.contains(['=', '\0']);
    if pairs.iter().any(|(name, _)| is_bad_name(name)) {
        return Err("the name of a variable or header is not valid".to_owned());
    }
    let values = pairs.iter().map(|(_, value)| value.as_str());
    // JSON can contain NUL, a command line cannot.
    if texts
        .iter()
        .copied()
        .chain(values)
        .any(|text| text.contains('\0'))
    {
        return Err("a value contains a NUL character".to_owned());
    }
    let pair_bytes: usize = pairs
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    // Empty arguments count too.
    let text_bytes: usize = texts.iter().map(|text| text.len() + 1).sum();
    match pair_bytes + text_bytes > TEXT_BYTES_MAX {
        true => Err(format!(
            "it contains more than {} KiB of text",
            TEXT_BYTES_MAX >> 10
        )),
        false => Ok(()),
    }
}

//! Parses `mcp-servers.json`. An invalid server is listed as misconfigured with the reason,
//! and the others work.

use super::disabled_tools::{disabled_tools, unknown_tool_banners};
use super::fields::{self, ConfigObject, FieldError};
use super::json_document::{JsonDocument, type_description};
use super::oauth_settings::parse_oauth;
use super::rejected_edits::{RejectedEdits, SERVERS, rejected_banner};
use super::repeated_keys::repeated_keys_banner;
use super::server_entries::entries;
use super::variables::{
    VariableLookup, environment_variable, expand_variables, is_public_variable, secret_spellings,
};
use super::{ConfigError, Home, Loaded};
use crate::domain::model::Secret;
use crate::domain::secrets::is_secret_name;
use crate::domain::server::{InheritedEnv, OAuthSettings, ProtocolMode, RemoteTransport};
use crate::domain::{LaunchConfig, NewServerLaunch, ServerConfig, ServerId};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

pub use crate::domain::server::BUILT_IN_SERVER;

/// The key of the variables whose values are in the entry itself.
pub(super) const STORED_VARIABLES: &str = "variables";
const STARTUP_TIMEOUT: Duration = Duration::from_secs(30);
const TOOL_TIMEOUT: Duration = Duration::from_secs(300);

/// Reads `mcp-servers.json`. The built-in server comes first, even without a file, then the
/// others in file order.
pub fn read_servers(home: &Home) -> Loaded<Vec<ServerConfig>> {
    read_servers_with(home, &environment_variable)
}

/// Like [`read_servers`], with the given environment variables.
pub fn read_servers_with(home: &Home, variables: VariableLookup<'_>) -> Loaded<Vec<ServerConfig>> {
    let document = JsonDocument::read(&home.servers());
    parse_servers(document, variables, &RejectedEdits::read(home))
}

/// Parses the contents of `mcp-servers.json` without the servers whose entries the user rejected.
pub(super) fn parse_servers(
    document: Result<Option<JsonDocument>, ConfigError>,
    variables: VariableLookup<'_>,
    rejected: &RejectedEdits,
) -> Loaded<Vec<ServerConfig>> {
    let mut withheld = Vec::new();
    let parsed = document.and_then(|document| {
        let Some(document) = document else {
            return Ok((Vec::new(), Vec::new()));
        };
        let mut entries = entries(&document)?;
        entries.retain(|entry| {
            let is_rejected = rejected.find(SERVERS, &entry.id, entry.value).is_some();
            if is_rejected {
                withheld.push(entry.id.clone());
            }
            !is_rejected
        });
        let servers: Vec<ServerConfig> = entries
            .iter()
            .map(|entry| parse_server(&entry.id, entry.value, variables))
            .collect();
        let mut banners = unknown_tool_banners(&document, &entries);
        banners.extend(repeated_keys_banner(&document));
        Ok((servers, banners))
    });
    let (mut servers, mut banners, is_unusable) = match parsed {
        Ok((servers, banners)) => (servers, banners, false),
        Err(error) => (Vec::new(), vec![error.banner()], true),
    };
    match servers
        .iter()
        .position(|server: &ServerConfig| server.id.as_str() == BUILT_IN_SERVER)
    {
        Some(index) => servers[..=index].rotate_right(1),
        None => {
            let is_rejected = withheld.iter().any(|id| id == BUILT_IN_SERVER)
                || rejected
                    .find(SERVERS, BUILT_IN_SERVER, &Value::Null)
                    .is_some();
            // Without an entry it would be on, although a tool may have switched it on.
            let entry = json!({ "enabled": !is_rejected });
            servers.insert(0, parse_server(BUILT_IN_SERVER, &entry, variables));
        }
    }
    let withheld: Vec<String> = withheld.iter().map(|id| format!("server `{id}`")).collect();
    banners.extend(rejected_banner(SERVERS, &withheld));
    Loaded {
        value: servers,
        banners,
        is_unusable,
    }
}

pub(super) fn parse_server(id: &str, value: &Value, variables: VariableLookup<'_>) -> ServerConfig {
    let misconfigured = |enabled: bool, why: FieldError| ServerConfig {
        id: ServerId::new(id),
        description: None,
        enabled,
        launch: LaunchConfig::Misconfigured { why },
        disabled_tools: BTreeSet::new(),
        always_offered: BTreeSet::new(),
        startup_timeout: STARTUP_TIMEOUT,
        tool_timeout: TOOL_TIMEOUT,
        protocol: ProtocolMode::Auto,
        oauth: OAuthSettings::default(),
        secrets: Vec::new(),
        missing_variables: Vec::new(),
    };
    let Value::Object(entry) = value else {
        let why = format!(
            "the entry is {}, expected an object",
            type_description(value)
        );
        return misconfigured(true, why);
    };
    parse_entry(id, entry, variables).unwrap_or_else(|why| {
        let enabled = fields::boolean(entry, "enabled").ok().flatten();
        ServerConfig {
            missing_variables: missing_variables(id, entry, variables),
            ..misconfigured(enabled.unwrap_or(true), why)
        }
    })
}

/// The variables that the entry needs and that are not set.
fn missing_variables(id: &str, entry: &ConfigObject, variables: VariableLookup<'_>) -> Vec<String> {
    let missing = RefCell::new(Vec::new());
    let lookup = |name: &str| {
        variables(name).or_else(|| {
            let mut missing = missing.borrow_mut();
            if !missing.iter().any(|known| known == name) {
                missing.push(name.to_owned());
            }
            Some("1".to_owned())
        })
    };
    let _ = parse_entry(id, entry, &lookup);
    missing.take()
}

fn parse_entry(
    id: &str,
    entry: &ConfigObject,
    variables: VariableLookup<'_>,
) -> Result<ServerConfig, FieldError> {
    if id.trim().is_empty() {
        return Err("the name of the server is empty".to_owned());
    }
    let used_secrets = RefCell::new(BTreeSet::new());
    let stored = fields::text_pairs(entry, "variables")?;
    let lookup_and_record = |name: &str| {
        let stored = stored.iter().find(|(stored, _)| stored == name);
        let value = stored.map_or_else(|| variables(name), |(_, value)| Some(value.clone()))?;
        if !is_public_variable(name) {
            used_secrets.borrow_mut().extend(secret_spellings(&value));
        }
        Some(value)
    };
    let launch = parse_launch(id, entry, &lookup_and_record)?;
    let oauth = parse_oauth(entry, &launch, &lookup_and_record)?;
    if let LaunchConfig::Stdio {
        inherit: InheritedEnv::AllowListAnd(names),
        ..
    } = &launch
    {
        // The server receives these too, and may print them.
        for name in names.iter().filter(|name| is_secret_name(name)) {
            let _ = lookup_and_record(name);
        }
    }
    let mut secrets: Vec<Secret> = used_secrets.take().into_iter().map(Secret::new).collect();
    secrets.extend(oauth.client_secret.clone());
    secrets.extend(oauth.private_key.clone());
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
    Ok(ServerConfig {
        id: ServerId::new(id),
        description: fields::text(entry, "description")?.map(str::to_owned),
        enabled: fields::boolean(entry, "enabled")?.unwrap_or(true),
        launch,
        disabled_tools: disabled_tools(id, entry)?.into_iter().collect(),
        always_offered: fields::text_list(entry, "toolsPinned")?
            .unwrap_or_default()
            .into_iter()
            .collect(),
        startup_timeout: fields::seconds(entry, "startupTimeoutSeconds")?
            .unwrap_or(STARTUP_TIMEOUT),
        tool_timeout: fields::seconds(entry, "toolTimeoutSeconds")?.unwrap_or(TOOL_TIMEOUT),
        protocol: parse_protocol(entry)?,
        oauth,
        secrets,
        missing_variables: Vec::new(),
    })
}

fn parse_protocol(entry: &ConfigObject) -> Result<ProtocolMode, FieldError> {
    let word = fields::one_of(entry, "protocol", &["auto", "legacy", "modern"])?;
    Ok(match word {
        Some("legacy") => ProtocolMode::Legacy,
        Some("modern") => ProtocolMode::Modern,
        _ => ProtocolMode::Auto,
    })
}

fn parse_launch(
    id: &str,
    entry: &ConfigObject,
    variables: VariableLookup<'_>,
) -> Result<LaunchConfig, FieldError> {
    let command = fields::non_empty_text(entry, "command")?;
    let url = fields::non_empty_text(entry, "url")?;
    let transport = declared_transport(entry)?;
    if id == BUILT_IN_SERVER {
        return match (command, url) {
            (None, None) => Ok(LaunchConfig::BuiltIn),
            _ => Err("`humble` is the built-in server; choose another name".to_owned()),
        };
    }
    match (command, url, transport) {
        (Some(_), Some(_), _) => Err("it has both `command` and `url`; give one".to_owned()),
        (None, None, _) => Err("it has neither `command` nor `url`; give one".to_owned()),
        (Some(command), None, None | Some(DeclaredTransport::Stdio)) => {
            parse_stdio(command, entry, variables)
        }
        (Some(_), None, Some(DeclaredTransport::Remote(_))) => {
            Err("it has a `command`, but its `type` or `transport` needs a `url`".to_owned())
        }
        (None, Some(_), Some(DeclaredTransport::Stdio)) => {
            Err("it has a `url`, but its `type` or `transport` needs a `command`".to_owned())
        }
        (None, Some(url), Some(DeclaredTransport::Remote(transport))) => {
            parse_remote(url, transport, entry, variables)
        }
        (None, Some(url), None) => parse_remote(url, RemoteTransport::Auto, entry, variables),
    }
}

/// The launch of an entry without expanding `${NAME}`, to compare entries as they are written.
/// `None` if the entry has neither `command` nor `url`, as for the built-in server, or both.
pub(super) fn written_launch(entry: &ConfigObject) -> Result<Option<NewServerLaunch>, FieldError> {
    let command = fields::non_empty_text(entry, "command")?;
    let url = fields::non_empty_text(entry, "url")?;
    let env = fields::text_pairs(entry, "env")?;
    Ok(match (command, url) {
        (Some(command), None) => Some(NewServerLaunch::Command {
            command: command.to_owned(),
            args: fields::text_list(entry, "args")?.unwrap_or_default(),
            env,
            cwd: fields::non_empty_text(entry, "cwd")?.map(PathBuf::from),
        }),
        (None, Some(url)) => {
            let mut headers = env;
            headers.extend(fields::text_pairs(entry, "headers")?);
            Some(NewServerLaunch::Url {
                url: url.to_owned(),
                transport: match declared_transport(entry)? {
                    Some(DeclaredTransport::Remote(transport)) => transport,
                    _ => RemoteTransport::Auto,
                },
                headers,
            })
        }
        _ => None,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeclaredTransport {
    Stdio,
    Remote(RemoteTransport),
}

/// Reads `transport`, which other clients call `type`.
fn declared_transport(entry: &ConfigObject) -> Result<Option<DeclaredTransport>, FieldError> {
    let read_key = |key: &str| -> Result<Option<DeclaredTransport>, FieldError> {
        let words = ["stdio", "command", "sse", "http", "streamable-http"];
        Ok(fields::one_of(entry, key, &words)?.map(|word| match word {
            "sse" => DeclaredTransport::Remote(RemoteTransport::Sse),
            "http" | "streamable-http" => DeclaredTransport::Remote(RemoteTransport::Http),
            _ => DeclaredTransport::Stdio,
        }))
    };
    match (read_key("transport")?, read_key("type")?) {
        (Some(first), Some(second)) if first != second => {
            Err("its `type` and its `transport` contradict each other".to_owned())
        }
        (first, second) => Ok(first.or(second)),
    }
}

fn parse_stdio(
    command: &str,
    entry: &ConfigObject,
    variables: VariableLookup<'_>,
) -> Result<LaunchConfig, FieldError> {
    let args = fields::text_list(entry, "args")?.unwrap_or_default();
    let args = args
        .iter()
        .map(|argument| expand(argument, "args", variables))
        .collect::<Result<Vec<_>, _>>()?;
    let cwd = working_folder(fields::non_empty_text(entry, "cwd")?, command, &args);
    let inherit = match fields::get(entry, "inheritEnv") {
        None | Some(Value::Bool(false)) => InheritedEnv::AllowList,
        Some(Value::Bool(true)) => InheritedEnv::All,
        Some(Value::Array(_)) => {
            InheritedEnv::AllowListAnd(fields::text_list(entry, "inheritEnv")?.unwrap_or_default())
        }
        Some(other) => {
            let actual_type = type_description(other);
            return Err(format!(
                "`inheritEnv` is {actual_type}, expected true or a list of names"
            ));
        }
    };
    Ok(LaunchConfig::Stdio {
        command: command.to_owned(),
        args,
        env: expand_pairs(entry, "env", variables)?,
        cwd,
        inherit,
    })
}

/// The working folder of a child process. `None` unless it is configured, or the same command line
/// could run another program in another folder: `python -m server`, or `sh` in a `PATH` with `.`.
/// The folder is then part of the launch identity, to which permissions are bound.
fn working_folder(configured: Option<&str>, command: &str, args: &[String]) -> Option<PathBuf> {
    let current_folder = std::env::current_dir().ok();
    if let Some(configured) = configured.map(PathBuf::from) {
        return match current_folder {
            Some(current_folder) if configured.is_relative() => {
                Some(current_folder.join(configured))
            }
            _ => Some(configured),
        };
    }
    let is_absolute = |text: &str| Path::new(text).is_absolute();
    // A longer word after one dash may contain a value, as in `-mserver`.
    let is_same_everywhere = |argument: &str| match argument.strip_prefix("--") {
        Some(option) => match option.split_once('=') {
            Some((_, value)) => is_absolute(value),
            None => true,
        },
        None => is_absolute(argument) || argument.starts_with('-') && argument.len() <= 2,
    };
    let depends_on_folder =
        !is_absolute(command) || !args.iter().all(|argument| is_same_everywhere(argument));
    current_folder.filter(|_| depends_on_folder)
}

fn parse_remote(
    url: &str,
    transport: RemoteTransport,
    entry: &ConfigObject,
    variables: VariableLookup<'_>,
) -> Result<LaunchConfig, FieldError> {
    let url = expand(url, "url", variables)?;
    let parsed = Url::parse(&url).map_err(|error| format!("`url` is not a URL: {error}"))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err("`url` must begin with `http://` or `https://`".to_owned());
    }
    let mut headers = expand_pairs(entry, "env", variables)?;
    // `headers` takes precedence over `env`, which other clients use for headers.
    for (name, value) in expand_pairs(entry, "headers", variables)? {
        headers.retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
        headers.push((name, value));
    }
    for (name, value) in &headers {
        check_header(name, value)?;
    }
    Ok(LaunchConfig::Remote {
        url,
        transport,
        headers,
    })
}

fn check_header(name: &str, value: &str) -> Result<(), FieldError> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(format!("`{name}` is not a valid header name"));
    }
    if value
        .chars()
        .any(|character| character.is_control() && character != '\t')
    {
        return Err(format!("the header `{name}` contains a control character"));
    }
    Ok(())
}

pub(super) fn expand(
    text: &str,
    key: &str,
    variables: VariableLookup<'_>,
) -> Result<String, FieldError> {
    expand_variables(text, variables)
        .map_err(|name| format!("`{key}` needs the variable {name}, which is not set"))
}

fn expand_pairs(
    entry: &ConfigObject,
    key: &str,
    variables: VariableLookup<'_>,
) -> Result<Vec<(String, String)>, FieldError> {
    fields::text_pairs(entry, key)?
        .into_iter()
        .map(|(name, value)| Ok((name, expand(&value, key, variables)?)))
        .collect()
}

//! Reviews the servers of `mcp-servers.json`. Changing how a server is launched means the power
//! to run anything.

use super::describe::{hidden, named, one_line, url};
use super::{Memory, SERVERS, Scale};
use crate::domain::model::Secret;
use crate::domain::secrets::is_secret_name;
use crate::domain::server::{Inherit, RemoteTransport};
use crate::domain::{Launch, ServerConfig};
use std::collections::BTreeSet;

pub(super) fn weigh(
    scale: &mut Scale,
    before: &[ServerConfig],
    after: &[ServerConfig],
    memory: &Memory,
) -> Vec<ServerConfig> {
    let mut now = Vec::new();
    for server in after {
        let old = before.iter().find(|old| old.id == server.id);
        let known = memory.launches.get(&server.id);
        match old {
            Some(old) => now.push(entry(scale, old, server, known)),
            None => now.extend(added(scale, server, known)),
        }
    }
    for server in before {
        if after.iter().all(|other| other.id != server.id) {
            scale.say(SERVERS, format!("server `{}` was removed", server.id));
        }
    }
    now
}

/// A new entry. It is harmless if it is off and its name had no other launch before.
fn added(scale: &mut Scale, server: &ServerConfig, known: Option<&Launch>) -> Option<ServerConfig> {
    let is_different = known.is_some_and(|known| *known != server.launch);
    let misconfigured = matches!(server.launch, Launch::Misconfigured { .. });
    if misconfigured || !server.enabled && !is_different {
        scale.say(SERVERS, format!("server `{}` was added", server.id));
        return Some(server.clone());
    }
    let state = if server.enabled { "on" } else { "off" };
    let what = format!("new server `{}`, {state}", server.id);
    let launch = Secret::without(&server.secrets, &whole(&server.launch));
    scale.ask(SERVERS, what, None, Some(launch));
    None
}

/// All fields of a launch, one per line.
fn whole(launch: &Launch) -> String {
    fields(launch)
        .iter()
        .filter(|field| !field.shown.is_empty())
        .flat_map(|field| {
            let lines = field.shown.split('\n');
            lines.map(move |line| format!("{}: {line}", field.name))
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn entry(
    scale: &mut Scale,
    before: &ServerConfig,
    after: &ServerConfig,
    known: Option<&Launch>,
) -> ServerConfig {
    let ServerConfig {
        id,
        description,
        enabled,
        launch,
        tools_off,
        startup_timeout,
        tool_timeout,
        protocol,
        secrets,
    } = after;
    let after_launch = launch;
    let mut secrets = secrets.clone();
    secrets.extend(before.secrets.iter().cloned());
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
    secrets.dedup();
    let launch = launched(scale, before, after_launch, known, &secrets);
    let enabled = match (before.enabled, *enabled) {
        (false, true) => {
            // Shows the whole launch: the entry may have been added while it was off, without
            // any question.
            let new = Secret::without(&secrets, &format!("true\n{}", whole(after_launch)));
            let what = format!("server `{id}`, `enabled`");
            scale.ask(SERVERS, what, Some("false".to_owned()), Some(new));
            false
        }
        (true, false) => {
            scale.say(SERVERS, format!("server `{id}` is off now"));
            false
        }
        (_, same) => same,
    };
    let tools_off = tools(scale, before, tools_off);
    let free = [
        ("description", before.description != *description),
        (
            "startupTimeoutSeconds",
            before.startup_timeout != *startup_timeout,
        ),
        ("toolTimeoutSeconds", before.tool_timeout != *tool_timeout),
        ("protocol", before.protocol != *protocol),
    ];
    for (field, _) in free.into_iter().filter(|(_, differs)| *differs) {
        scale.say(SERVERS, format!("server `{id}` has a different {field}"));
    }
    ServerConfig {
        id: id.clone(),
        description: description.clone(),
        enabled,
        launch,
        tools_off,
        startup_timeout: *startup_timeout,
        tool_timeout: *tool_timeout,
        protocol: *protocol,
        secrets,
    }
}

/// Reviews the launch of an existing server. A broken entry stops its server, which is
/// harmless; a repaired one is compared with the launch before it broke.
fn launched(
    scale: &mut Scale,
    before: &ServerConfig,
    after: &Launch,
    known: Option<&Launch>,
    secrets: &[Secret],
) -> Launch {
    if before.launch == *after {
        return after.clone();
    }
    let id = &before.id;
    if let Launch::Misconfigured { why } = after {
        scale.say(SERVERS, format!("server `{id}` is misconfigured: {why}"));
        return after.clone();
    }
    let was_broken = matches!(before.launch, Launch::Misconfigured { .. });
    let old = known.filter(|_| was_broken).unwrap_or(&before.launch);
    if old == after {
        scale.say(SERVERS, format!("server `{id}` is valid again"));
        return after.clone();
    }
    let (old, new) = (fields(old), fields(after));
    let names = old.iter().chain(&new).map(|field| field.name);
    let mut names: Vec<&str> = names.collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    for name in names {
        let find = |list: &[Field]| list.iter().find(|field| field.name == name).cloned();
        let (old, new) = (find(&old), find(&new));
        if old == new {
            continue;
        }
        let shown = |field: Field| Secret::without(secrets, &field.shown);
        let old = old.map(shown);
        let mut new = new.map(shown);
        if old == new {
            // Only a hidden part differs.
            new = new.map(|shown| format!("{shown}\n(with a different hidden value)"));
        }
        scale.ask(SERVERS, format!("server `{id}`, `{name}`"), old, new);
    }
    before.launch.clone()
}

fn tools(scale: &mut Scale, before: &ServerConfig, after: &BTreeSet<String>) -> BTreeSet<String> {
    let id = &before.id;
    let off: Vec<String> = after.difference(&before.tools_off).cloned().collect();
    if !off.is_empty() {
        scale.say(
            SERVERS,
            format!("server `{id}`, tools switched off: {}", named(off)),
        );
    }
    let on: Vec<String> = before.tools_off.difference(after).cloned().collect();
    if !on.is_empty() {
        let what = format!("server `{id}`, `toolsOff`: tools would be switched on");
        scale.ask(SERVERS, what, None, Some(named(on)));
    }
    before.tools_off.union(after).cloned().collect()
}

/// One field of a launch, as it is and as it is shown.
#[derive(Debug, Clone, PartialEq)]
struct Field {
    name: &'static str,
    raw: String,
    shown: String,
}

fn plain(name: &'static str, raw: String) -> Field {
    let shown = one_line(&raw);
    Field { name, raw, shown }
}

/// Pairs, one per line, with secret values hidden.
fn pairs(name: &'static str, pairs: &[(String, String)]) -> Field {
    let lines = |show: &dyn Fn(&str, &str) -> String| {
        let lines = pairs
            .iter()
            .map(|(name, value)| format!("{}={}", one_line(name), show(name, value)));
        lines.collect::<Vec<_>>().join("\n")
    };
    Field {
        name,
        raw: lines(&|_, value| value.to_owned()),
        shown: lines(&|name, value| match is_secret_name(name) {
            true => hidden(value),
            false => one_line(value),
        }),
    }
}

fn fields(launch: &Launch) -> Vec<Field> {
    match launch {
        Launch::BuiltIn => vec![plain("command", "(built in)".to_owned())],
        Launch::Misconfigured { why } => vec![plain("entry", format!("(misconfigured: {why})"))],
        Launch::Stdio {
            command,
            args,
            env,
            cwd,
            inherit,
        } => {
            let cwd = cwd.as_ref().map(|cwd| cwd.display().to_string());
            let inherit = match inherit {
                Inherit::AllowList => String::new(),
                Inherit::Also(names) => named(names.iter().cloned()),
                Inherit::Everything => "true: every variable".to_owned(),
            };
            vec![
                plain("command", command.clone()),
                // As JSON, so that an argument with a line end is not shown as two.
                plain("args", serde_json::json!(args).to_string()),
                pairs("env", env),
                plain("cwd", cwd.unwrap_or_default()),
                plain("inheritEnv", inherit),
            ]
        }
        Launch::Remote {
            url: address,
            transport,
            headers,
        } => {
            let transport = match transport {
                RemoteTransport::Guess => "",
                RemoteTransport::Sse => "sse",
                RemoteTransport::Http => "http",
            };
            let shown = url(address, is_secret_name);
            let address = Field {
                name: "url",
                raw: address.clone(),
                shown,
            };
            vec![
                address,
                plain("transport", transport.to_owned()),
                pairs("headers", headers),
            ]
        }
    }
}

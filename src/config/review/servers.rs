//! Reviews the servers of `mcp-servers.json`. Changing how a server is launched means the power
//! to run anything.

use super::describe::{comma_list, escape_newlines, hidden_secret, redact_url};
use super::{ChangeReviewer, EarlierEntries, SERVERS};
use crate::domain::model::Secret;
use crate::domain::secrets::is_secret_name;
use crate::domain::server::{InheritedEnv, RemoteTransport};
use crate::domain::{LaunchConfig, ServerConfig};
use std::collections::BTreeSet;

pub(super) fn review_servers(
    scale: &mut ChangeReviewer,
    before: &[ServerConfig],
    after: &[ServerConfig],
    memory: &EarlierEntries,
) -> Vec<ServerConfig> {
    let mut now = Vec::new();
    for server in after {
        let old = before.iter().find(|old| old.id == server.id);
        let known = memory.launches.get(&server.id);
        match old {
            Some(old) => now.push(review_server(scale, old, server, known)),
            None => now.extend(review_new_server(scale, server, known)),
        }
    }
    for server in before {
        if after.iter().all(|other| other.id != server.id) {
            scale.add_harmless(SERVERS, format!("server `{}` was removed", server.id));
        }
    }
    now
}

/// A new entry. It is harmless if it is off and its name had no other launch before.
fn review_new_server(
    scale: &mut ChangeReviewer,
    server: &ServerConfig,
    known: Option<&LaunchConfig>,
) -> Option<ServerConfig> {
    let is_different = known.is_some_and(|known| *known != server.launch);
    let misconfigured = matches!(server.launch, LaunchConfig::Misconfigured { .. });
    if misconfigured || !server.enabled && !is_different {
        scale.add_harmless(SERVERS, format!("server `{}` was added", server.id));
        return Some(server.clone());
    }
    let state = if server.enabled { "on" } else { "off" };
    let what = format!("new server `{}`, {state}", server.id);
    let launch = Secret::mask_all(&server.secrets, &launch_text(&server.launch));
    scale.add_needing_consent(SERVERS, what, None, Some(launch));
    None
}

/// All fields of a launch, one per line.
fn launch_text(launch: &LaunchConfig) -> String {
    launch_fields(launch)
        .iter()
        .filter(|field| !field.shown.is_empty())
        .flat_map(|field| {
            let lines = field.shown.split('\n');
            lines.map(move |line| format!("{}: {line}", field.name))
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn review_server(
    scale: &mut ChangeReviewer,
    before: &ServerConfig,
    after: &ServerConfig,
    known: Option<&LaunchConfig>,
) -> ServerConfig {
    let ServerConfig {
        id,
        description,
        enabled,
        launch,
        disabled_tools: tools_off,
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
    let launch = review_launch(scale, before, after_launch, known, &secrets);
    let enabled = match (before.enabled, *enabled) {
        (false, true) => {
            // Shows the whole launch: the entry may have been added while it was off, without
            // any question.
            let new = Secret::mask_all(&secrets, &format!("true\n{}", launch_text(after_launch)));
            let what = format!("server `{id}`, `enabled`");
            scale.add_needing_consent(SERVERS, what, Some("false".to_owned()), Some(new));
            false
        }
        (true, false) => {
            scale.add_harmless(SERVERS, format!("server `{id}` is off now"));
            false
        }
        (_, same) => same,
    };
    let tools_off = review_disabled_tools(scale, before, tools_off);
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
        scale.add_harmless(SERVERS, format!("server `{id}` has a different {field}"));
    }
    ServerConfig {
        id: id.clone(),
        description: description.clone(),
        enabled,
        launch,
        disabled_tools: tools_off,
        startup_timeout: *startup_timeout,
        tool_timeout: *tool_timeout,
        protocol: *protocol,
        secrets,
    }
}

/// Reviews the launch of an existing server. A broken entry stops its server, which is
/// harmless; a repaired one is compared with the launch before it broke.
fn review_launch(
    scale: &mut ChangeReviewer,
    before: &ServerConfig,
    after: &LaunchConfig,
    known: Option<&LaunchConfig>,
    secrets: &[Secret],
) -> LaunchConfig {
    if before.launch == *after {
        return after.clone();
    }
    let id = &before.id;
    if let LaunchConfig::Misconfigured { why } = after {
        scale.add_harmless(SERVERS, format!("server `{id}` is misconfigured: {why}"));
        return after.clone();
    }
    let was_broken = matches!(before.launch, LaunchConfig::Misconfigured { .. });
    let old = known.filter(|_| was_broken).unwrap_or(&before.launch);
    if old == after {
        scale.add_harmless(SERVERS, format!("server `{id}` is valid again"));
        return after.clone();
    }
    let (old, new) = (launch_fields(old), launch_fields(after));
    let names = old.iter().chain(&new).map(|field| field.name);
    let mut names: Vec<&str> = names.collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    for name in names {
        let find = |list: &[LaunchField]| list.iter().find(|field| field.name == name).cloned();
        let (old, new) = (find(&old), find(&new));
        if old == new {
            continue;
        }
        let shown = |field: LaunchField| Secret::mask_all(secrets, &field.shown);
        let old = old.map(shown);
        let mut new = new.map(shown);
        if old == new {
            // Only a hidden part differs.
            new = new.map(|shown| format!("{shown}\n(with a different hidden value)"));
        }
        scale.add_needing_consent(SERVERS, format!("server `{id}`, `{name}`"), old, new);
    }
    before.launch.clone()
}

fn review_disabled_tools(
    scale: &mut ChangeReviewer,
    before: &ServerConfig,
    after: &BTreeSet<String>,
) -> BTreeSet<String> {
    let id = &before.id;
    let off: Vec<String> = after.difference(&before.disabled_tools).cloned().collect();
    if !off.is_empty() {
        scale.add_harmless(
            SERVERS,
            format!("server `{id}`, tools switched off: {}", comma_list(off)),
        );
    }
    let on: Vec<String> = before.disabled_tools.difference(after).cloned().collect();
    if !on.is_empty() {
        let what = format!("server `{id}`, `toolsOff`: tools would be switched on");
        scale.add_needing_consent(SERVERS, what, None, Some(comma_list(on)));
    }
    before.disabled_tools.union(after).cloned().collect()
}

/// One field of a launch, as it is and as it is shown.
#[derive(Debug, Clone, PartialEq)]
struct LaunchField {
    name: &'static str,
    raw: String,
    shown: String,
}

fn plain_field(name: &'static str, raw: String) -> LaunchField {
    let shown = escape_newlines(&raw);
    LaunchField { name, raw, shown }
}

/// Pairs, one per line, with secret values hidden.
fn pairs_field(name: &'static str, pairs: &[(String, String)]) -> LaunchField {
    let lines = |show: &dyn Fn(&str, &str) -> String| {
        let lines = pairs
            .iter()
            .map(|(name, value)| format!("{}={}", escape_newlines(name), show(name, value)));
        lines.collect::<Vec<_>>().join("\n")
    };
    LaunchField {
        name,
        raw: lines(&|_, value| value.to_owned()),
        shown: lines(&|name, value| match is_secret_name(name) {
            true => hidden_secret(value),
            false => escape_newlines(value),
        }),
    }
}

fn launch_fields(launch: &LaunchConfig) -> Vec<LaunchField> {
    match launch {
        LaunchConfig::BuiltIn => vec![plain_field("command", "(built in)".to_owned())],
        LaunchConfig::Misconfigured { why } => {
            vec![plain_field("entry", format!("(misconfigured: {why})"))]
        }
        LaunchConfig::Stdio {
            command,
            args,
            env,
            cwd,
            inherit,
        } => {
            let cwd = cwd.as_ref().map(|cwd| cwd.display().to_string());
            let inherit = match inherit {
                InheritedEnv::AllowList => String::new(),
                InheritedEnv::AllowListAnd(names) => comma_list(names.iter().cloned()),
                InheritedEnv::All => "true: every variable".to_owned(),
            };
            vec![
                plain_field("command", command.clone()),
                // As JSON, so that an argument with a line end is not shown as two.
                plain_field("args", serde_json::json!(args).to_string()),
                pairs_field("env", env),
                plain_field("cwd", cwd.unwrap_or_default()),
                plain_field("inheritEnv", inherit),
            ]
        }
        LaunchConfig::Remote {
            url: address,
            transport,
            headers,
        } => {
            let transport = match transport {
                RemoteTransport::Auto => "",
                RemoteTransport::Sse => "sse",
                RemoteTransport::Http => "http",
            };
            let shown = redact_url(address, is_secret_name);
            let address = LaunchField {
                name: "url",
                raw: address.clone(),
                shown,
            };
            vec![
                address,
                plain_field("transport", transport.to_owned()),
                pairs_field("headers", headers),
            ]
        }
    }
}

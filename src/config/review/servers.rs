//! Reviews the servers of `mcp-servers.json`. Whoever controls how a server is launched can run
//! any program.

use super::describe::{comma_list, escape_newlines, hidden_secret, redact_url};
use super::{ChangeReviewer, EarlierEntries, SERVERS};
use crate::domain::model::Secret;
use crate::domain::secrets::is_secret_name;
use crate::domain::server::{InheritedEnv, OAuthSettings, RemoteTransport};
use crate::domain::{LaunchConfig, ServerConfig};
use std::collections::BTreeSet;

pub(super) fn review_servers(
    reviewer: &mut ChangeReviewer,
    before: &[ServerConfig],
    after: &[ServerConfig],
    earlier: &EarlierEntries,
) -> Vec<ServerConfig> {
    let mut reviewed = Vec::new();
    for server in after {
        let old = before.iter().find(|old| old.id == server.id);
        let earlier_launch = earlier.launches.get(&server.id);
        match old {
            Some(old) => reviewed.push(review_server(reviewer, old, server, earlier_launch)),
            None => {
                let is_rejected = earlier.is_rejected(SERVERS, server.id.as_str());
                let new = review_new_server(reviewer, server, earlier_launch, is_rejected);
                reviewed.extend(new);
            }
        }
    }
    for server in before {
        if after.iter().all(|other| other.id != server.id) {
            reviewer.add_harmless(SERVERS, format!("server `{}` was removed", server.id));
        }
    }
    reviewed
}

/// Reviews a new entry. Unless the user rejected it before, it is harmless if it is misconfigured, or
/// if it is off and no earlier server of the same name had a different launch.
fn review_new_server(
    reviewer: &mut ChangeReviewer,
    server: &ServerConfig,
    earlier_launch: Option<&LaunchConfig>,
    is_rejected: bool,
) -> Option<ServerConfig> {
    let had_other_launch = earlier_launch.is_some_and(|earlier| *earlier != server.launch);
    let is_misconfigured = matches!(server.launch, LaunchConfig::Misconfigured { .. });
    if !is_rejected && (is_misconfigured || !server.enabled && !had_other_launch) {
        reviewer.add_harmless(SERVERS, format!("server `{}` was added", server.id));
        return Some(server.clone());
    }
    let state = if server.enabled { "on" } else { "off" };
    let what = format!("new server `{}`, {state}", server.id);
    let launch = Secret::mask_all(&server.secrets, &launch_text(&server.launch));
    reviewer.add_needing_consent((SERVERS, server.id.as_str()), what, None, Some(launch));
    None
}

fn launch_text(launch: &LaunchConfig) -> String {
    launch_fields(launch)
        .iter()
        .filter(|field| !field.display_text.is_empty())
        .flat_map(|field| {
            let lines = field.display_text.split('\n');
            lines.map(move |line| format!("{}: {line}", field.name))
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn review_server(
    reviewer: &mut ChangeReviewer,
    before: &ServerConfig,
    after: &ServerConfig,
    earlier_launch: Option<&LaunchConfig>,
) -> ServerConfig {
    let ServerConfig {
        id,
        description,
        enabled,
        launch,
        disabled_tools,
        always_offered,
        startup_timeout,
        tool_timeout,
        protocol,
        oauth,
        secrets,
        missing_variables,
    } = after;
    let after_launch = launch;
    let mut secrets = secrets.clone();
    secrets.extend(before.secrets.iter().cloned());
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
    secrets.dedup();
    let launch = review_launch(reviewer, before, after_launch, earlier_launch, &secrets);
    let enabled = match (before.enabled, *enabled) {
        (false, true) => {
            reviewer.add_switched_on(after, &secrets);
            false
        }
        (true, false) => {
            reviewer.add_harmless(SERVERS, format!("server `{id}` is now off"));
            false
        }
        (_, same) => same,
    };
    let oauth = review_sign_in(reviewer, before, oauth, &secrets);
    let disabled_tools = review_disabled_tools(reviewer, before, disabled_tools);
    let harmless_fields = [
        ("description", before.description != *description),
        (
            "startupTimeoutSeconds",
            before.startup_timeout != *startup_timeout,
        ),
        ("toolTimeoutSeconds", before.tool_timeout != *tool_timeout),
        ("protocol", before.protocol != *protocol),
        ("toolsPinned", before.always_offered != *always_offered),
    ];
    for (field, _) in harmless_fields.into_iter().filter(|(_, differs)| *differs) {
        reviewer.add_harmless(SERVERS, format!("server `{id}` has a different {field}"));
    }
    ServerConfig {
        id: id.clone(),
        description: description.clone(),
        enabled,
        launch,
        disabled_tools,
        always_offered: always_offered.clone(),
        startup_timeout: *startup_timeout,
        tool_timeout: *tool_timeout,
        protocol: *protocol,
        oauth,
        secrets,
        missing_variables: missing_variables.clone(),
    }
}

impl ChangeReviewer {
    /// Shows the whole launch: an entry that was off may have been added without consent.
    fn add_switched_on(&mut self, server: &ServerConfig, secrets: &[Secret]) {
        let id = server.id.as_str();
        let launch = format!("true\n{}", launch_text(&server.launch));
        let new = Secret::mask_all(secrets, &launch);
        let what = format!("server `{id}`, `enabled`");
        self.add_needing_consent((SERVERS, id), what, Some("false".to_owned()), Some(new));
    }
}

/// Appended to a new text that looks like the old one, because only a hidden part differs.
const HIDDEN_DIFFERENCE: &str = "\n(with a different hidden value)";

/// Changed sign-in settings need consent: a secret could be sent to a server that the user did not
/// choose for it.
fn review_sign_in(
    reviewer: &mut ChangeReviewer,
    before: &ServerConfig,
    after: &OAuthSettings,
    secrets: &[Secret],
) -> OAuthSettings {
    if before.oauth != *after {
        let text = |oauth| Secret::mask_all(secrets, &sign_in_text(oauth));
        let (old, mut new) = (text(&before.oauth), text(after));
        if old == new {
            new.push_str(HIDDEN_DIFFERENCE);
        }
        let what = format!("server `{}`, sign-in settings", before.id);
        reviewer.add_needing_consent((SERVERS, before.id.as_str()), what, Some(old), Some(new));
    }
    before.oauth.clone()
}

/// The sign-in settings of a server, one per line. A secret appears only as `…`.
fn sign_in_text(oauth: &OAuthSettings) -> String {
    let present = |secret: &Option<Secret>| secret.as_ref().map(|_| "…".to_owned());
    let grant = oauth
        .uses_client_credentials
        .then(|| "client_credentials".to_owned());
    let scopes = (!oauth.scopes.is_empty()).then(|| oauth.scopes.join(" "));
    let fields = [
        ("clientId", oauth.client_id.clone()),
        ("clientSecret", present(&oauth.client_secret)),
        ("privateKey", present(&oauth.private_key)),
        ("clientMetadataUrl", oauth.client_metadata_url.clone()),
        ("issuer", oauth.issuer.clone()),
        (
            "callbackPort",
            oauth.callback_port.map(|port| port.to_string()),
        ),
        ("scopes", scopes),
        ("grantType", grant),
    ];
    let lines = fields
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}: {}", value?)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Reviews the launch of an existing server. A broken entry stops its server, which is
/// harmless; a repaired one is compared with the launch before it broke.
fn review_launch(
    reviewer: &mut ChangeReviewer,
    before: &ServerConfig,
    after: &LaunchConfig,
    earlier_launch: Option<&LaunchConfig>,
    secrets: &[Secret],
) -> LaunchConfig {
    if before.launch == *after {
        return after.clone();
    }
    let id = &before.id;
    if let LaunchConfig::Misconfigured { why } = after {
        reviewer.add_harmless(SERVERS, format!("server `{id}` is misconfigured: {why}"));
        return after.clone();
    }
    let was_broken = matches!(before.launch, LaunchConfig::Misconfigured { .. });
    let old = earlier_launch
        .filter(|_| was_broken)
        .unwrap_or(&before.launch);
    if old == after {
        reviewer.add_harmless(SERVERS, format!("server `{id}` is valid again"));
        return after.clone();
    }
    let (old, new) = (launch_fields(old), launch_fields(after));
    let names = old.iter().chain(&new).map(|field| field.name);
    let mut names: Vec<&str> = names.collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    for name in names {
        let find = |fields: &[LaunchField]| fields.iter().find(|field| field.name == name).cloned();
        let (old, new) = (find(&old), find(&new));
        if old == new {
            continue;
        }
        let redacted = |field: LaunchField| Secret::mask_all(secrets, &field.display_text);
        let old = old.map(redacted);
        let mut new = new.map(redacted);
        if old == new {
            // Only a hidden part differs.
            new = new.map(|text| format!("{text}{HIDDEN_DIFFERENCE}"));
        }
        let what = format!("server `{id}`, `{name}`");
        reviewer.add_needing_consent((SERVERS, id.as_str()), what, old, new);
    }
    before.launch.clone()
}

fn review_disabled_tools(
    reviewer: &mut ChangeReviewer,
    before: &ServerConfig,
    after: &BTreeSet<String>,
) -> BTreeSet<String> {
    let id = &before.id;
    let off: Vec<String> = after.difference(&before.disabled_tools).cloned().collect();
    if !off.is_empty() {
        reviewer.add_harmless(
            SERVERS,
            format!("server `{id}`, tools switched off: {}", comma_list(off)),
        );
    }
    let on: Vec<String> = before.disabled_tools.difference(after).cloned().collect();
    if !on.is_empty() {
        let what = format!("server `{id}`, `toolsOff`: tools would be switched on");
        reviewer.add_needing_consent((SERVERS, id.as_str()), what, None, Some(comma_list(on)));
    }
    before.disabled_tools.union(after).cloned().collect()
}

/// One field of a launch. The display text hides secrets and escapes newlines.
#[derive(Debug, Clone, PartialEq)]
struct LaunchField {
    name: &'static str,
    raw: String,
    display_text: String,
}

fn plain_field(name: &'static str, raw: String) -> LaunchField {
    let display_text = escape_newlines(&raw);
    LaunchField {
        name,
        raw,
        display_text,
    }
}

fn pairs_field(name: &'static str, pairs: &[(String, String)]) -> LaunchField {
    let format_pairs = |show: &dyn Fn(&str, &str) -> String| {
        let lines = pairs
            .iter()
            .map(|(name, value)| format!("{}={}", escape_newlines(name), show(name, value)));
        lines.collect::<Vec<_>>().join("\n")
    };
    LaunchField {
        name,
        raw: format_pairs(&|_, value| value.to_owned()),
        display_text: format_pairs(&|name, value| match is_secret_name(name) {
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
                // As JSON, so that an argument with a newline does not look like two.
                plain_field("args", serde_json::json!(args).to_string()),
                pairs_field("env", env),
                plain_field("cwd", cwd.unwrap_or_default()),
                plain_field("inheritEnv", inherit),
            ]
        }
        LaunchConfig::Remote {
            url,
            transport,
            headers,
        } => {
            let transport = match transport {
                RemoteTransport::Auto => "",
                RemoteTransport::Sse => "sse",
                RemoteTransport::Http => "http",
            };
            vec![
                LaunchField {
                    name: "url",
                    raw: url.clone(),
                    display_text: redact_url(url, is_secret_name),
                },
                plain_field("transport", transport.to_owned()),
                pairs_field("headers", headers),
            ]
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::review::tests::{described_changes, read};
    use serde_json::json;

    #[test]
    fn a_different_client_secret_is_mentioned_without_being_shown() {
        let with_secret = |secret: &str| {
            let url = "https://h.example/mcp";
            let entry = json!({ "url": url, "clientId": "me", "clientSecret": secret });
            read(&json!({}), &json!({ "mcpServers": { "r": entry } }))
        };
        let changes = described_changes(&with_secret("one-secret"), &with_secret("another-one"));
        let text = "clientId: me\nclientSecret: …";
        let hidden = "(with a different hidden value)";
        let expected = format!("? server `r`, sign-in settings: {text} -> {text}\n{hidden}");
        assert_eq!(changes, [expected]);
    }
}

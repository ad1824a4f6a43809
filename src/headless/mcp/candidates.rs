//! The output of `humble mcp import`, and of `search` and `add` with a registry. All text comes from
//! outside. Except in JSON, it is escaped, so that a value can neither start a new line nor pass for
//! a different value.

use super::wrap_lines;
use crate::domain::new_server::transport_name;
use crate::domain::registry::{RegistryListing, namespace_owner};
use crate::domain::{
    ImportPlan, NewServer, NewServerLaunch, ServerCandidate, SkippedServer, variables_of,
};
use crate::text::Clean;
use crate::text::labeled::labeled_value;
use serde_json::{Value, json};

/// Longer names are truncated in messages.
const NAME_CHARS_MAX: usize = 64;

/// The servers that would be added and those that are skipped.
pub fn render_plan(plan: &ImportPlan, columns: Option<u16>) -> String {
    let mut out = String::new();
    for candidate in &plan.candidates {
        out += &render_candidate(candidate, columns);
    }
    for skipped in &plan.skipped {
        out += &wrap_lines(&skipped_line(skipped), 0, columns);
    }
    out
}

pub fn skipped_line(skipped: &SkippedServer) -> String {
    let name = short_name(&skipped.name);
    format!(
        "Skipped {name}: {}.",
        Clean::unambiguous_line(&skipped.reason)
    )
}

/// A name on one line, truncated if it is long.
pub fn short_name(name: &str) -> Clean {
    match name.char_indices().nth(NAME_CHARS_MAX) {
        None => Clean::name(name),
        Some((end, _)) => Clean::name(&format!("{}…", &name[..end])),
    }
}

/// A server with all values that determine the command to run or the destination of data.
pub fn render_candidate(candidate: &ServerCandidate, columns: Option<u16>) -> String {
    let name = Clean::name(&candidate.server.name);
    let mut out = wrap_lines(name.as_str(), 0, columns);
    for (label, value) in candidate.fields() {
        out += &labeled_value(label, &value, columns);
    }
    out
}

fn quoted(text: &str) -> String {
    Clean::quoted_if_needed(text).into()
}

fn variables_where(servers: &[ServerCandidate], check: impl Fn(&str) -> bool) -> Vec<String> {
    let mut names = variables_of(servers);
    names.retain(|name| check(name));
    names
}

/// Asks the user to set the variables that the servers need. `None` if all of them are set. Never
/// shows a value.
pub fn variables_message(
    servers: &[ServerCandidate],
    is_set: impl Fn(&str) -> bool,
) -> Option<String> {
    let names = variables_where(servers, |name| !is_set(name));
    let names = match names.as_slice() {
        [] => return None,
        [name] => format!("this variable: {name}"),
        names => format!("these variables: {}", names.join(", ")),
    };
    let servers = match servers.len() {
        1 => "server",
        _ => "servers",
    };
    Some(format!("Before you switch the {servers} on, set {names}."))
}

/// A warning about variables that are already set here, since the servers would receive them.
pub fn already_set_message(
    servers: &[ServerCandidate],
    is_set: impl Fn(&str) -> bool,
) -> Option<String> {
    let names = variables_where(servers, is_set);
    let values = match names.len() {
        0 => return None,
        1 => "this value",
        _ => "these values",
    };
    let servers = match servers.len() {
        1 => "server",
        _ => "servers",
    };
    let names = names.join(", ");
    Some(format!(
        "Already set here: {names}. The {servers} will receive {values}."
    ))
}

/// The plan as JSON, not sanitized.
pub fn plan_json(plan: &ImportPlan, is_added: bool) -> Value {
    let servers: Vec<Value> = plan.candidates.iter().map(candidate_json).collect();
    let skipped = plan.skipped.iter().map(|skipped| {
        let name: String = skipped.name.chars().take(NAME_CHARS_MAX).collect();
        json!({ "name": name, "reason": skipped.reason })
    });
    json!({ "servers": servers, "skipped": skipped.collect::<Vec<_>>(), "added": is_added })
}

pub fn candidate_json(candidate: &ServerCandidate) -> Value {
    let NewServer {
        name,
        description,
        enabled,
        launch,
        values,
    } = &candidate.server;
    let mut value = json!({ "name": name, "description": description, "enabled": enabled });
    let object = |pairs: &[(String, String)]| -> Value {
        let members = pairs
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)));
        Value::Object(members.collect())
    };
    match launch {
        NewServerLaunch::Command {
            command,
            args,
            env,
            cwd,
        } => {
            value["command"] = json!(command);
            value["args"] = json!(args);
            value["env"] = object(env);
            value["cwd"] = json!(cwd);
        }
        NewServerLaunch::Url {
            url,
            transport,
            headers,
        } => {
            value["url"] = json!(url);
            value["transport"] = json!(transport_name(*transport));
            value["headers"] = object(headers);
        }
    }
    value["variables"] = json!(candidate.server.variables());
    let replaced = candidate.replaced_secrets.iter();
    let replaced: Vec<&String> = replaced.map(|secret| &secret.variable).collect();
    value["replaced_secrets"] = json!(replaced);
    let stored: Vec<&String> = values.iter().map(|(name, _)| name).collect();
    value["stored_secrets"] = json!(stored);
    value["notes"] = json!(candidate.remarks);
    value
}

/// Search results, each with its owner and transports.
pub fn render_listings(listings: &[RegistryListing], columns: Option<u16>) -> String {
    let mut out = String::new();
    for listing in listings {
        let deprecated = if listing.is_deprecated {
            " (deprecated)"
        } else {
            ""
        };
        let (name, version) = (Clean::name(&listing.name), quoted(&listing.version));
        out += &wrap_lines(&format!("{name}  {version}{deprecated}"), 0, columns);
        let mut add = |label: &str, value: &str| out += &labeled_value(label, value, columns);
        if let Some(owner) = namespace_owner(&listing.name) {
            add("owner", Clean::unambiguous_line(&owner).as_str());
        }
        if !listing.description.is_empty() {
            add(
                "about",
                Clean::unambiguous_line(&listing.description).as_str(),
            );
        }
        let transports: Vec<String> = listing.transports.iter().map(|kind| quoted(kind)).collect();
        if !transports.is_empty() {
            add("via", &transports.join(", "));
        }
    }
    out
}

pub fn listings_json(listings: &[RegistryListing]) -> Value {
    let servers = listings.iter().map(|listing| {
        json!({
            "name": listing.name,
            "version": listing.version,
            "owner": namespace_owner(&listing.name),
            "description": listing.description,
            "transports": listing.transports,
            "deprecated": listing.is_deprecated,
        })
    });
    json!({ "servers": servers.collect::<Vec<_>>() })
}

//! The tools named by `--allow`. They are checked before the prompt is sent, because a typo would
//! otherwise surface as a denial in the middle of a turn.

use super::lines::clean_line;
use crate::domain::{Server, ServerId, ServerStatus};
use crate::text::Clean;
use crate::text::suggest::nearest;
use std::collections::BTreeMap;

/// Splits `SERVER/TOOL`. Both names may contain slashes.
///
/// # Errors
/// No server matches, or there is no tool name; the message is a clean line.
pub fn parse_tool_name(name: &str, servers: &[ServerId]) -> Result<(ServerId, String), String> {
    let tool_of = |id: &ServerId| {
        Some(
            name.strip_prefix(id.as_str())?
                .strip_prefix('/')?
                .to_owned(),
        )
    };
    let matches = servers
        .iter()
        .filter_map(|id| Some((id.clone(), tool_of(id)?)));
    // Prefer server `a/b` over server `a`.
    let longest = matches.max_by_key(|(id, _)| id.as_str().len());
    if let Some(server_and_tool) = longest.filter(|(_, tool)| !tool.is_empty()) {
        return Ok(server_and_tool);
    }
    let (server, _) = name.split_once('/').unwrap_or((name, ""));
    let ids = || servers.iter().map(ServerId::as_str);
    let why = if ids().any(|id| id == server) || !name.contains('/') {
        "write SERVER/TOOL.".to_owned()
    } else {
        match nearest(server, ids()) {
            Some(near) => format!("there is no MCP server `{server}`; did you mean `{near}`?"),
            None => format!("there is no MCP server `{server}`."),
        }
    };
    Err(clean_line(&format!("--allow {name}: {why}")))
}

/// Checks that each tool is available. Tools of a server that failed to start or needs a sign-in are
/// accepted: this was already reported, and the model can answer without them.
pub(super) fn check_available(
    allowed: &[(ServerId, String)],
    servers: &BTreeMap<String, Server>,
) -> Result<(), String> {
    for (id, tool) in allowed {
        let server = servers.get(id.as_str());
        let why = match server {
            None => Some(format!("there is no MCP server `{id}`.")),
            Some(server) => unavailable_reason(server, tool),
        };
        if let Some(why) = why {
            return Err(clean_line(&format!("--allow {id}/{tool}: {why}")));
        }
    }
    Ok(())
}

/// Warnings about allowed tools that are withheld because they changed. `--allow` does not accept
/// the new definition.
pub(super) fn withheld_warnings(
    allowed: &[(ServerId, String)],
    servers: &BTreeMap<String, Server>,
) -> Vec<String> {
    let is_withheld = |(id, tool): &&(ServerId, String)| {
        let server = servers.get(id.as_str());
        server.is_some_and(|server| server.withheld_tools.contains(tool))
    };
    let warning = |(id, tool): &(ServerId, String)| {
        clean_line(&format!(
            "--allow {id}/{tool}: `{tool}` changed since it was first seen or accepted. It is withheld and will not run. Start `humble` to see what changed."
        ))
    };
    allowed.iter().filter(is_withheld).map(warning).collect()
}

fn unavailable_reason(server: &Server, tool: &str) -> Option<String> {
    let id = Clean::name(server.id.as_str());
    match &server.status {
        ServerStatus::Misconfigured(why) => return Some(format!("server `{id}`: {why}.")),
        ServerStatus::Off => return Some(format!("server `{id}` is switched off.")),
        _ if !server.enabled => return Some(format!("server `{id}` is switched off.")),
        ServerStatus::Failed(_) | ServerStatus::NeedsSignIn(_) => return None,
        ServerStatus::Starting | ServerStatus::Connected => {}
    }
    if server.tools.iter().any(|listed| listed.name == tool) {
        let is_off = server.disabled_tools.contains(tool);
        return is_off.then(|| format!("`{tool}` is switched off."));
    }
    let tool_name = Clean::name(tool);
    let names = || server.tools.iter().map(|tool| tool.name.as_str());
    Some(match nearest(tool, names()) {
        Some(near) => format!(
            "server `{id}` has no tool `{tool_name}`; did you mean `{}`?",
            Clean::name(near)
        ),
        None if tool == "*" => "name each tool, or allow all with --yes.".to_owned(),
        None => {
            format!(
                "server `{id}` has no tool `{tool_name}`; `humble mcp tools {id}` lists its tools."
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_slashes_resolve_to_the_longest_server_id() {
        let ids = ["files", "a", "a/b"].map(ServerId::new);
        for (name, expected) in [
            ("files/read", Some(("files", "read"))),
            ("files/read/all", Some(("files", "read/all"))),
            ("a/b/c", Some(("a/b", "c"))),
            ("a/c", Some(("a", "c"))),
            ("files/", None),
            ("files", None),
            ("flies/read", None),
            ("/read", None),
        ] {
            let expected = expected.map(|(id, tool)| (ServerId::new(id), tool.to_owned()));
            assert_eq!(parse_tool_name(name, &ids).ok(), expected, "{name}");
        }
        let why = parse_tool_name("flies/read", &ids).expect_err("a typo");
        assert!(why.ends_with("did you mean `files`?"), "{why}");
        assert_eq!(
            parse_tool_name("files", &ids).expect_err("no tool name"),
            "--allow files: write SERVER/TOOL."
        );
    }
}

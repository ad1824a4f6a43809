//! The current state of one server, its snapshot for the servers pane, and the lookup of a session
//! for a call. Pure except for the clock.

use crate::domain::server::PeerInfo;
use crate::domain::{Notice, Pin, Server, ServerConfig, ServerContent, ServerStatus, Tool};
use crate::mcp::session::McpSession;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::time::Instant;

/// Maximum number of tool names in a notice about a changed list.
const NAMES_SHOWN_MAX: usize = 4;
const NAME_CHARS_MAX: usize = 40;

pub struct ServerState {
    pub config: ServerConfig,
    pub phase: ServerPhase,
    pub start_count: u64,
    /// Whether the server was ever connected. If so, its tools stay listed after a failure, and the
    /// next call opens a new session.
    pub was_connected: bool,
    /// Summary of the last session's stdout lines that were not messages.
    pub skipped_summary: Option<String>,
    pub tools: Arc<Vec<Tool>>,
    /// Lines about the tools that were omitted from the list.
    pub omitted_tools: Vec<String>,
    pub content: Arc<ServerContent>,
    pub instructions: Option<String>,
    pub peer: Option<PeerInfo>,
}

pub enum ServerPhase {
    Starting,
    Connected(McpSession),
    Failed {
        notice: Notice,
        retry_at: Instant,
        requires_sign_in: bool,
    },
    Misconfigured(String),
}

pub enum SessionLookup {
    Found(McpSession),
    /// No session will open, for this reason.
    Unavailable(String),
    /// Look again after the next state change.
    Wait,
    /// Request a start, then wait.
    NeedsStart,
}

impl ServerState {
    pub fn is_connected(&self) -> bool {
        matches!(self.phase, ServerPhase::Connected(_))
    }

    /// Whether a call may restart the server now.
    pub fn may_retry(&self) -> bool {
        matches!(&self.phase, ServerPhase::Failed { retry_at, .. } if *retry_at <= Instant::now())
    }

    pub fn snapshot(&self, stderr: Vec<String>) -> Server {
        let mut omissions = self.omitted_tools.clone();
        let status = match &self.phase {
            ServerPhase::Starting => ServerStatus::Starting,
            ServerPhase::Connected(session) => {
                omissions.extend(session.shared.handshake_omissions());
                omissions.extend(session.shared.flood.skipped_summary());
                ServerStatus::Connected
            }
            ServerPhase::Failed {
                notice,
                requires_sign_in: true,
                ..
            } => ServerStatus::NeedsSignIn(notice.clone()),
            ServerPhase::Failed { notice, .. } => ServerStatus::Failed(notice.clone()),
            ServerPhase::Misconfigured(why) => ServerStatus::Misconfigured(why.clone()),
        };
        omissions.extend(self.content.omitted.iter().cloned());
        Server {
            status,
            tools: self.tools.clone(),
            content: self.content.clone(),
            omissions,
            stderr,
            instructions: self.instructions.clone(),
            peer: self.peer.clone().filter(|_| self.is_connected()),
            ..disabled_server(&self.config)
        }
    }

    /// Looks for a session for a call. If the call has already requested a start,
    /// `start_count_at_request` is the start count at that time.
    pub fn look_up_session(&self, start_count_at_request: Option<u64>) -> SessionLookup {
        match &self.phase {
            ServerPhase::Misconfigured(why) => SessionLookup::Unavailable(why.clone()),
            ServerPhase::Connected(session) if !session.shared.outcome.has_ended() => {
                SessionLookup::Found(session.clone())
            }
            // An ended session is about to become a failure.
            ServerPhase::Starting | ServerPhase::Connected(_) => SessionLookup::Wait,
            ServerPhase::Failed {
                notice, retry_at, ..
            } => match start_count_at_request {
                // The requested start has failed.
                Some(count) if self.start_count > count => {
                    SessionLookup::Unavailable(notice.summary())
                }
                Some(_) => SessionLookup::Wait,
                None if self.may_retry() => SessionLookup::NeedsStart,
                None => {
                    let wait = retry_at.saturating_duration_since(Instant::now());
                    SessionLookup::Unavailable(format!(
                        "{} The next attempt is possible in {} s.",
                        notice.summary(),
                        wait.as_secs_f64().ceil()
                    ))
                }
            },
        }
    }
}

/// The snapshot of a server that is not running.
pub fn disabled_server(config: &ServerConfig) -> Server {
    Server {
        id: config.id.clone(),
        description: config.description.clone(),
        enabled: config.enabled,
        status: ServerStatus::Off,
        launch: config.launch.identity(),
        tools: Arc::default(),
        content: Arc::default(),
        disabled_tools: config.disabled_tools.clone(),
        always_offered: config.always_offered.clone(),
        held_back_tools: BTreeSet::new(),
        missing_variables: config.missing_variables.clone(),
        roots: Arc::default(),
        omissions: Vec::new(),
        stderr: Vec::new(),
        instructions: None,
        peer: None,
        withheld_tools: BTreeSet::new(),
    }
}

/// Describes added, removed and changed tools in one short text.
pub fn describe_tool_changes(before: &[Tool], after: &[Tool]) -> Option<String> {
    let pins = |tools: &[Tool]| -> BTreeMap<String, Pin> {
        let pin = |tool: &Tool| (tool.name.clone(), tool.pin.clone());
        tools.iter().map(pin).collect()
    };
    let (old, new) = (pins(before), pins(after));
    let added = new.keys().filter(|name| !old.contains_key(*name));
    let removed = old.keys().filter(|name| !new.contains_key(*name));
    let has_changed = |(name, pin): &(&String, &Pin)| old.get(*name).is_some_and(|old| old != *pin);
    let changed = new.iter().filter(has_changed).map(|(name, _)| name);
    let changes: Vec<String> = [
        ("added", quote_names(added)),
        ("removed", quote_names(removed)),
        ("changed", quote_names(changed)),
    ]
    .into_iter()
    .filter_map(|(verb, names)| Some(format!("{verb} {}", names?)))
    .collect();
    (!changes.is_empty()).then(|| changes.join("; "))
}

/// Describes added and removed names in one short text.
pub fn describe_name_changes(before: &[String], after: &[String]) -> Option<String> {
    let old: BTreeSet<&String> = before.iter().collect();
    let new: BTreeSet<&String> = after.iter().collect();
    let changes: Vec<String> = [
        ("added", quote_names(new.difference(&old).copied())),
        ("removed", quote_names(old.difference(&new).copied())),
    ]
    .into_iter()
    .filter_map(|(verb, names)| Some(format!("{verb} {}", names?)))
    .collect();
    (!changes.is_empty()).then(|| changes.join("; "))
}

/// Quotes the first few names and counts the rest.
fn quote_names<'a>(names: impl Iterator<Item = &'a String>) -> Option<String> {
    let names: Vec<&String> = names.collect();
    let quote = |name: &&String| {
        format!(
            "`{}`",
            name.chars().take(NAME_CHARS_MAX).collect::<String>()
        )
    };
    let quoted: Vec<String> = names.iter().take(NAMES_SHOWN_MAX).map(quote).collect();
    match names.len().saturating_sub(NAMES_SHOWN_MAX) {
        _ if quoted.is_empty() => None,
        0 => Some(quoted.join(", ")),
        more => Some(format!("{} and {more} more", quoted.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::described_tool as tool;

    #[test]
    fn added_removed_and_changed_tools_are_named() {
        let before = [tool("a", ""), tool("b", ""), tool("c", "")];
        let after = [tool("b", "other"), tool("c", ""), tool("d", "")];
        let expected = "added `d`; removed `a`; changed `b`";
        assert_eq!(
            describe_tool_changes(&before, &after).as_deref(),
            Some(expected)
        );
        assert_eq!(describe_tool_changes(&after, &after), None);
    }

    #[test]
    fn five_thousand_changes_make_one_short_notice() {
        let many = |description| -> Vec<Tool> {
            let name = |n| format!("{n:04}{}", "x".repeat(300));
            (0..5_000).map(|n| tool(&name(n), description)).collect()
        };
        let text = describe_tool_changes(&many(""), &many("other")).expect("every tool changed");
        assert!(text.starts_with("changed `0000xxx"), "{text}");
        assert!(
            text.ends_with(" and 4996 more") && text.len() < 250,
            "{text}"
        );
    }
}

//! What is known of one server at a moment, and what follows from it for the
//! sidebar and for a call that wants a session. Pure but for the clock.

use super::session::Session;
use crate::domain::server::ServerPeer;
use crate::domain::{Notice, Pin, Redactor, Server, ServerConfig, ServerStatus, Tool};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::time::Instant;

/// Names that a notice about a changed list tells, and characters of each.
const NAMES_TOLD: usize = 4;
const NAME_TOLD: usize = 40;

pub struct ServerState {
    pub config: ServerConfig,
    pub redactors: Redactors,
    pub phase: Phase,
    /// How often it was started.
    pub starts: u64,
    pub starting_since: Instant,
    /// It was connected once, and what it had then stays on offer: the next call opens
    /// another session.
    pub was_connected: bool,
    /// What the last session printed that was no message.
    pub skipped: Option<String>,
    pub tools: Arc<Vec<Tool>>,
    pub left_out: Vec<String>,
    pub instructions: Option<String>,
    pub peer: Option<ServerPeer>,
}

/// Both are built from the settings of one server.
#[derive(Debug, Clone)]
pub struct Redactors {
    /// For whatever is logged or shown.
    pub all: Arc<Redactor>,
    /// For tool results, whose words matter: hides only what is clearly a credential.
    pub credentials: Arc<Redactor>,
}

impl Redactors {
    pub fn of(config: &ServerConfig) -> Self {
        Self {
            all: Arc::new(Redactor::new(config.secret_values())),
            credentials: Arc::new(Redactor::new(config.credentials())),
        }
    }
}

pub enum Phase {
    Starting,
    Connected(Session),
    Failed {
        notice: Notice,
        retry_at: Instant,
        wants_sign_in: bool,
    },
    Misconfigured(String),
}

/// What a call finds that looks for a session.
pub enum SessionLookup {
    Found(Session),
    /// There will be none, for this reason.
    Never(String),
    /// Look again after the next change.
    Wait,
    /// Ask for a start, then wait.
    Ask,
}

impl ServerState {
    pub fn is_connected(&self) -> bool {
        matches!(self.phase, Phase::Connected(_))
    }

    /// May a call start the server again now?
    pub fn may_retry(&self) -> bool {
        matches!(&self.phase, Phase::Failed { retry_at, .. } if *retry_at <= Instant::now())
    }

    /// The state as the sidebar shows it.
    pub fn snapshot(&self, stderr: Vec<String>) -> Server {
        let mut left_out = self.left_out.clone();
        let status = match &self.phase {
            Phase::Starting => ServerStatus::Starting,
            Phase::Connected(session) => {
                left_out.extend(session.shared.flood.skipped());
                ServerStatus::Connected
            }
            Phase::Failed {
                notice,
                wants_sign_in: true,
                ..
            } => ServerStatus::NeedsSignIn(notice.clone()),
            Phase::Failed { notice, .. } => ServerStatus::Failed(notice.clone()),
            Phase::Misconfigured(why) => ServerStatus::Misconfigured(why.clone()),
        };
        for line in &mut left_out {
            *line = self.redactors.all.redacted(line);
        }
        Server {
            status,
            tools: self.tools.clone(),
            left_out,
            stderr,
            instructions: self.instructions.clone(),
            peer: self.peer.clone().filter(|_| self.is_connected()),
            ..switched_off(&self.config)
        }
    }

    /// Looks for a session on behalf of a call, which may have asked for one
    /// when the server had been started `asked_after` times.
    pub fn look(&self, asked_after: Option<u64>) -> SessionLookup {
        match &self.phase {
            Phase::Misconfigured(why) => SessionLookup::Never(why.clone()),
            Phase::Connected(session) if !session.shared.outcome.has_ended() => {
                SessionLookup::Found(session.clone())
            }
            // An ended session is about to become a failure.
            Phase::Starting | Phase::Connected(_) => SessionLookup::Wait,
            Phase::Failed {
                notice, retry_at, ..
            } => match asked_after {
                Some(starts) if self.starts > starts => SessionLookup::Never(notice.summary()),
                Some(_) => SessionLookup::Wait,
                None if self.may_retry() => SessionLookup::Ask,
                None => {
                    let wait = retry_at.saturating_duration_since(Instant::now());
                    SessionLookup::Never(format!(
                        "{} It may be tried again in {} s.",
                        notice.summary(),
                        wait.as_secs_f64().ceil()
                    ))
                }
            },
        }
    }
}

/// A server that is not running.
pub fn switched_off(config: &ServerConfig) -> Server {
    Server {
        id: config.id.clone(),
        description: config.description.clone(),
        enabled: config.enabled,
        status: ServerStatus::Off,
        launch: config.launch.identity(),
        tools: Arc::default(),
        tools_off: config.tools_off.clone(),
        left_out: Vec::new(),
        stderr: Vec::new(),
        instructions: None,
        peer: None,
        withheld: BTreeSet::new(),
    }
}

/// What came and went, and what has another definition now. However much that is, it
/// is one notice.
pub fn change(before: &[Tool], after: &[Tool]) -> Option<String> {
    let pins = |tools: &[Tool]| -> BTreeMap<String, Pin> {
        let pin = |tool: &Tool| (tool.name.clone(), tool.pin.clone());
        tools.iter().map(pin).collect()
    };
    let (old, new) = (pins(before), pins(after));
    let added = new.keys().filter(|name| !old.contains_key(*name));
    let removed = old.keys().filter(|name| !new.contains_key(*name));
    let is_other = |(name, pin): &(&String, &Pin)| old.get(*name).is_some_and(|old| old != *pin);
    let changed = new.iter().filter(is_other).map(|(name, _)| name);
    let told: Vec<String> = [
        ("added", named(added)),
        ("removed", named(removed)),
        ("changed", named(changed)),
    ]
    .into_iter()
    .filter_map(|(verb, names)| Some(format!("{verb} {}", names?)))
    .collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// The first few names, and how many more there are.
fn named<'a>(names: impl Iterator<Item = &'a String>) -> Option<String> {
    let names: Vec<&String> = names.collect();
    let short = |name: &&String| format!("`{}`", name.chars().take(NAME_TOLD).collect::<String>());
    let told: Vec<String> = names.iter().take(NAMES_TOLD).map(short).collect();
    match names.len().saturating_sub(NAMES_TOLD) {
        _ if told.is_empty() => None,
        0 => Some(told.join(", ")),
        more => Some(format!("{} and {more} more", told.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::described_tool as tool;

    #[test]
    fn what_came_went_and_changed_is_told_by_name() {
        let before = [tool("a", ""), tool("b", ""), tool("c", "")];
        let after = [tool("b", "other"), tool("c", ""), tool("d", "")];
        let told = "added `d`; removed `a`; changed `b`";
        assert_eq!(change(&before, &after).as_deref(), Some(told));
        assert_eq!(change(&after, &after), None);
    }

    #[test]
    fn five_thousand_changes_are_one_notice() {
        let many = |description| -> Vec<Tool> {
            let name = |n| format!("{n:04}{}", "x".repeat(300));
            (0..5_000).map(|n| tool(&name(n), description)).collect()
        };
        let told = change(&many(""), &many("other")).expect("all of them");
        assert!(told.starts_with("changed `0000xxx"), "{told}");
        assert!(
            told.ends_with(" and 4996 more") && told.len() < 250,
            "{told}"
        );
    }
}

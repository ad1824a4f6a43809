//! What is known of one server at a moment, and what follows from it for the
//! sidebar and for a call that wants a session. Pure but for the clock.

use super::session::Session;
use crate::domain::server::ServerPeer;
use crate::domain::{Notice, Server, ServerConfig, ServerStatus, Tool};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::time::Instant;

pub struct State {
    pub config: ServerConfig,
    pub phase: Phase,
    /// How often it was started.
    pub starts: u64,
    pub tools: Arc<Vec<Tool>>,
    pub left_out: Vec<String>,
    pub instructions: Option<String>,
    pub peer: Option<ServerPeer>,
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
pub enum Look {
    Found(Session),
    /// There will be none, for this reason.
    Never(String),
    /// Look again after the next change.
    Wait,
    /// Ask for a start, then wait.
    Ask,
}

impl State {
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
                left_out.extend(session.link.skipped());
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
    pub fn look(&self, asked_after: Option<u64>) -> Look {
        match &self.phase {
            Phase::Misconfigured(why) => Look::Never(why.clone()),
            Phase::Connected(session) if !session.link.has_ended() => Look::Found(session.clone()),
            // An ended session is about to become a failure.
            Phase::Starting | Phase::Connected(_) => Look::Wait,
            Phase::Failed {
                notice, retry_at, ..
            } => match asked_after {
                Some(starts) if self.starts > starts => Look::Never(notice.sentence()),
                Some(_) => Look::Wait,
                None if self.may_retry() => Look::Ask,
                None => {
                    let wait = retry_at.saturating_duration_since(Instant::now());
                    Look::Never(format!(
                        "{} It may be tried again in {} s.",
                        notice.sentence(),
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

/// What came and went, and what has another definition now.
pub fn change(before: &[Tool], after: &[Tool]) -> Option<String> {
    let names = |tools: &[Tool]| -> BTreeSet<String> {
        tools
            .iter()
            .map(|tool| format!("`{}`", tool.name))
            .collect()
    };
    let (old, new) = (names(before), names(after));
    let other = |tool: &&Tool| {
        before
            .iter()
            .any(|old| old.name == tool.name && old.pin != tool.pin)
    };
    let changed: Vec<Tool> = after.iter().filter(other).cloned().collect();
    let told: Vec<String> = [
        ("added", new.difference(&old).cloned().collect::<Vec<_>>()),
        ("removed", old.difference(&new).cloned().collect()),
        ("changed", names(&changed).into_iter().collect()),
    ]
    .into_iter()
    .filter(|(_, names)| !names.is_empty())
    .map(|(verb, names)| format!("{verb} {}", names.join(", ")))
    .collect();
    (!told.is_empty()).then(|| told.join("; "))
}

//! Answers that the model is generating for servers.

use crate::domain::ServerId;
use crate::text::Clean;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct SamplingProgress {
    /// Never empty.
    servers: Vec<ServerId>,
    pub started_at: Duration,
}

impl SamplingProgress {
    /// The state after the engine has reported the servers that wait for an answer.
    pub fn update(before: Option<Self>, servers: Vec<ServerId>, now: Duration) -> Option<Self> {
        let started_at = before.map_or(now, |progress| progress.started_at);
        (!servers.is_empty()).then_some(Self {
            servers,
            started_at,
        })
    }

    pub fn label(&self) -> String {
        let first = self.servers.first().map_or("", |server| server.as_str());
        let first = Clean::name(first);
        match self.servers.len() {
            0 | 1 => format!("answering {first}"),
            count => format!("answering {first} and {} more", count - 1),
        }
    }
}

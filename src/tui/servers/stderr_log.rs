//! What a server writes to stderr, as it lies over the panes: it is asked for only
//! while somebody looks, and then follows.

use crate::domain::{ServerId, ServerLine, ServerLog};
use std::sync::Arc;
use std::time::Duration;

/// How often the engine is asked for what came since.
const ASK_EVERY: Duration = Duration::from_millis(400);

#[derive(Debug, Clone)]
pub struct ServerLogPane {
    pub server: ServerId,
    /// Lines below what is in view: it is read from its end.
    pub back: usize,
    /// None until the engine has answered.
    pub log: Option<Arc<ServerLog>>,
    asked: Duration,
}

impl ServerLogPane {
    pub fn new(server: ServerId, now: Duration) -> Self {
        Self {
            server,
            back: 0,
            log: None,
            asked: now,
        }
    }

    /// Up is into the past.
    pub fn scroll(&mut self, rows: isize) {
        self.back = self.back.saturating_add_signed(rows.saturating_neg());
    }

    /// When the engine is to be asked again.
    pub fn due(&self) -> Duration {
        self.asked + ASK_EVERY
    }

    /// It is asked now; how many lines were seen.
    pub fn ask(&mut self, now: Duration) -> Option<u64> {
        self.asked = now;
        self.log.as_ref().map(|log| log.written)
    }

    /// Takes in what came. Who reads further up keeps the place.
    pub fn take(&mut self, log: Arc<ServerLog>) {
        if log.server != self.server {
            return;
        }
        if let Some(known) = &self.log
            && self.back > 0
            && known.since == log.since
        {
            let new = log.written.saturating_sub(known.written);
            self.back += usize::try_from(new).unwrap_or(usize::MAX - self.back);
        }
        self.log = Some(log);
    }

    /// All of it, raw.
    pub fn text(&self) -> String {
        let lines = self.log.iter().flat_map(|log| &log.lines);
        let lines: Vec<&str> = lines
            .map(|line| match line {
                ServerLine::Stderr(line) | ServerLine::Own(line) => line.as_str(),
            })
            .collect();
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(lines: u64) -> Arc<ServerLog> {
        let line = |n: u64| ServerLine::Stderr(n.to_string());
        Arc::new(ServerLog {
            server: ServerId::new("s"),
            since: None,
            lines: (0..lines).map(line).collect(),
            written: lines,
        })
    }

    #[test]
    fn who_reads_further_up_keeps_the_place_and_who_is_at_the_end_follows() {
        let mut pane = ServerLogPane::new(ServerId::new("s"), Duration::ZERO);
        pane.take(log(10));
        pane.take(log(15));
        assert_eq!(pane.back, 0);
        pane.scroll(-3);
        pane.take(log(20));
        assert_eq!(pane.back, 8);
    }

    #[test]
    fn what_another_server_wrote_is_not_taken() {
        let mut pane = ServerLogPane::new(ServerId::new("other"), Duration::ZERO);
        pane.take(log(1));
        assert_eq!(pane.log, None);
    }
}

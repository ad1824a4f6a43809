//! Viewer for a server's stderr. Polls the engine for new lines only while it is open.

use crate::domain::server::ServerTransport;
use crate::domain::{Server, ServerId, ServerLog, ServerLogLine};
use crate::protocol::{Command, Event};
use crate::text::Clean;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::servers::state::failure_reason;
use crate::tui::widgets::log_tail::draw_from_end;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_viewer::page_hints;
use crate::tui::widgets::window::draw_window;
use crossterm::event::KeyEvent;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use ratatui::layout::{Position, Rect};
use std::sync::Arc;
use std::time::Duration;

/// How often the engine is asked for new lines.
const POLL_INTERVAL: Duration = Duration::from_millis(400);

#[derive(Debug)]
pub struct StderrLog {
    server: ServerId,
    /// Number of lines below the view; 0 follows the end.
    lines_from_end: usize,
    /// `None` until the engine has answered.
    log: Option<Arc<ServerLog>>,
    requested_at: Duration,
}

/// Opens the viewer for a server's stderr.
pub fn open(server: &ServerId, cx: &mut UiContext) {
    let layer = StderrLog::new(server.clone(), cx.shared.now);
    layer.request_log(cx);
    cx.open(layer);
}

impl StderrLog {
    fn new(server: ServerId, now: Duration) -> Self {
        Self {
            server,
            lines_from_end: 0,
            log: None,
            requested_at: now,
        }
    }

    /// Scrolls; negative is up, toward older lines.
    fn move_by(&mut self, rows: isize) {
        self.lines_from_end = self
            .lines_from_end
            .saturating_add_signed(rows.saturating_neg());
    }

    fn next_poll(&self) -> Duration {
        self.requested_at + POLL_INTERVAL
    }

    fn request_log(&self, cx: &mut UiContext) {
        cx.send(Command::ReadServerLog {
            server: self.server.clone(),
            lines_seen: self.log.as_ref().map(|log| log.lines_written),
        });
    }

    /// A view that is scrolled up keeps its position.
    fn update(&mut self, log: Arc<ServerLog>) {
        if log.server != self.server {
            return;
        }
        if let Some(previous) = &self.log
            && self.lines_from_end > 0
            && previous.run_started_at == log.run_started_at
        {
            let new_lines = log.lines_written.saturating_sub(previous.lines_written);
            self.lines_from_end +=
                usize::try_from(new_lines).unwrap_or(usize::MAX - self.lines_from_end);
        }
        self.log = Some(log);
    }

    /// All lines of the log as raw text, without those of `humble_lines`.
    fn full_text(&self) -> String {
        let lines = self.log.iter().flat_map(|log| &log.lines);
        let lines: Vec<&str> = lines
            .map(|line| match line {
                ServerLogLine::Stderr(line) | ServerLogLine::Program(line) => line.as_str(),
            })
            .collect();
        lines.join("\n")
    }
}

impl Layer for StderrLog {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        match cx.shared.keymap.layer_key(key, &[KeyContext::PagedText]) {
            Some(LayerKey::Start) => self.lines_from_end = usize::MAX,
            Some(LayerKey::End) => self.lines_from_end = 0,
            Some(LayerKey::Copy) => cx.copy("the stderr output", self.full_text()),
            _ => return Handled::PassedOn,
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        self.move_by(rows);
    }

    fn handle_event(&mut self, event: &Event, _: &mut UiContext) -> Handled {
        if let Event::ServerLogRead(log) = event {
            self.update(Arc::clone(log));
        }
        Handled::PassedOn
    }

    fn wake_at(&self) -> Option<Duration> {
        Some(self.next_poll())
    }

    fn tick(&mut self, cx: &mut UiContext) {
        if cx.shared.now >= self.next_poll() {
            self.requested_at = cx.shared.now;
            self.request_log(cx);
        }
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let name = Clean::name(self.server.as_str());
        let started_at = self.log.as_ref().and_then(|log| log.run_started_at);
        let right = started_at.map_or_else(
            || "stderr".to_owned(),
            |time| format!("stderr since {}", format_time(time)),
        );
        let body = area.body;
        let area = draw_window(body, name.as_str(), &right, pen);
        let area = match area == body {
            true => title_row(name.as_str(), area, pen),
            false => area,
        };
        let log = self.log.clone()?;
        let server = shared
            .servers
            .iter()
            .find(|server| server.id == self.server);
        let (plain, attention) = (pen.theme.plain, pen.theme.attention);
        let mut lines: Vec<_> = log
            .lines
            .iter()
            .map(|line| match line {
                ServerLogLine::Stderr(line) => (line.clone(), plain),
                ServerLogLine::Program(line) => (format!("humble: {line}"), attention),
            })
            .collect();
        let added_lines = server
            .into_iter()
            .flat_map(|server| humble_lines(server, &log.lines));
        lines.extend(added_lines.map(|line| (format!("humble: {line}"), attention)));
        lines.reverse();
        let count = lines.len();
        draw_from_end(
            lines.into_iter(),
            count,
            area,
            &mut self.lines_from_end,
            placeholder(server),
            pen,
        );
        None
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        page_hints(shared.keymap)
    }
}

/// Explains an empty log.
fn placeholder(server: Option<&Server>) -> &'static str {
    let peer = server.and_then(|server| server.peer.as_ref());
    match (server, peer.map(|peer| peer.transport)) {
        (Some(server), _) if !server.enabled => {
            "The server is off. Output of its last run is not kept."
        }
        (_, Some(ServerTransport::Http | ServerTransport::Sse)) => {
            "This server is reached over HTTP, so its stderr cannot be read."
        }
        _ => "Nothing was written to stderr.",
    }
}

/// Draws the title in the first row, for a window that is too small to draw its own. Returns the
/// area below.
fn title_row(name: &str, area: Rect, pen: &mut Painter) -> Rect {
    let accent = pen.theme.accent;
    let start = pen.put_right(area.right(), area.y, "stderr", accent);
    let columns = start.saturating_sub(area.x + 1);
    pen.put_truncated(area.x, area.y, name, accent, columns);
    Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(1),
        ..area
    }
}

/// Lines that humble adds: skipped tools, and the failure unless the log already ends with it.
fn humble_lines(server: &Server, lines: &[ServerLogLine]) -> Vec<String> {
    let omissions = server.omissions.iter();
    let mut added_lines: Vec<String> = omissions.map(|line| format!("skipped: {line}")).collect();
    if let Some((_, why)) = failure_reason(server)
        && lines.last() != Some(&ServerLogLine::Program(why.clone()))
    {
        added_lines.push(why);
    }
    added_lines
}

/// `12:03:04` within the last day, otherwise `18 Nov 12:03`.
fn format_time(time: Timestamp) -> String {
    let local = time.to_zoned(TimeZone::system());
    let is_recent = Timestamp::now() < time.saturating_add(24.hours()).unwrap_or(time);
    let format = if is_recent { "%H:%M:%S" } else { "%d %b %H:%M" };
    local.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::server::PeerInfo;
    use crate::fixtures;

    fn log(lines: u64) -> Arc<ServerLog> {
        let line = |n: u64| ServerLogLine::Stderr(n.to_string());
        Arc::new(ServerLog {
            server: ServerId::new("s"),
            run_started_at: None,
            lines: (0..lines).map(line).collect(),
            lines_written: lines,
        })
    }

    #[test]
    fn scrolled_view_stays_in_place_and_view_at_the_end_follows() {
        let mut viewer = StderrLog::new(ServerId::new("s"), Duration::ZERO);
        viewer.update(log(10));
        viewer.update(log(15));
        assert_eq!(viewer.lines_from_end, 0);
        viewer.move_by(-3);
        viewer.update(log(20));
        assert_eq!(viewer.lines_from_end, 8);
    }

    #[test]
    fn log_of_another_server_is_ignored() {
        let mut viewer = StderrLog::new(ServerId::new("other"), Duration::ZERO);
        viewer.update(log(1));
        assert_eq!(viewer.log, None);
    }

    #[test]
    fn empty_log_of_a_remote_server_says_that_there_is_no_stderr_to_read() {
        let server = |transport, enabled| Server {
            peer: Some(PeerInfo {
                name: "peer".to_owned(),
                version: "1".to_owned(),
                protocol: "2025-11-25".to_owned(),
                transport,
            }),
            enabled,
            ..fixtures::server("s", Vec::new())
        };
        let remote = "This server is reached over HTTP, so its stderr cannot be read.";
        for transport in [ServerTransport::Http, ServerTransport::Sse] {
            assert_eq!(placeholder(Some(&server(transport, true))), remote);
        }
        let local = placeholder(Some(&server(ServerTransport::Stdio, true)));
        assert_eq!(local, "Nothing was written to stderr.");
        let off = placeholder(Some(&server(ServerTransport::Http, false)));
        assert!(off.starts_with("The server is off."), "{off}");
        assert_eq!(placeholder(None), local, "a server that was removed");
    }
}

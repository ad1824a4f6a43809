//! Viewer for a server's stderr. Polls the engine for new lines only while it is open.

use crate::domain::{Server, ServerId, ServerLine, ServerLog};
use crate::protocol::{Command, Event};
use crate::text::Clean;
use crate::tui::keymap::layers;
use crate::tui::keymap::layers::{LayerKey, Place};
use crate::tui::layer::{Cx, Handled, Layer, LayerArea, Shared};
use crate::tui::servers::state::why_failed;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::tail::from_end;
use crate::tui::widgets::text_viewer::page_hints;
use crate::tui::widgets::window::window;
use crossterm::event::KeyEvent;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use ratatui::layout::{Position, Rect};
use std::sync::Arc;
use std::time::Duration;

/// How often the engine is asked for new lines.
const ASK_EVERY: Duration = Duration::from_millis(400);

#[derive(Debug)]
pub struct StderrLog {
    server: ServerId,
    /// Number of lines below the view; 0 follows the end.
    back: usize,
    /// None until the engine has answered.
    log: Option<Arc<ServerLog>>,
    asked: Duration,
}

/// Opens the viewer for a server's stderr.
pub fn open(server: &ServerId, cx: &mut Cx) {
    let layer = StderrLog::new(server.clone(), cx.shared.now);
    layer.ask(cx);
    cx.open(layer);
}

impl StderrLog {
    fn new(server: ServerId, now: Duration) -> Self {
        Self {
            server,
            back: 0,
            log: None,
            asked: now,
        }
    }

    /// Scrolls; negative is up, towards older lines.
    fn move_by(&mut self, rows: isize) {
        self.back = self.back.saturating_add_signed(rows.saturating_neg());
    }

    /// When to ask the engine again.
    fn due(&self) -> Duration {
        self.asked + ASK_EVERY
    }

    /// Asks for lines written since the last answer.
    fn ask(&self, cx: &mut Cx) {
        cx.send(Command::ReadServerLog {
            server: self.server.clone(),
            seen: self.log.as_ref().map(|log| log.written),
        });
    }

    /// Stores new lines. A view that is scrolled up keeps its position.
    fn take(&mut self, log: Arc<ServerLog>) {
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

    /// All lines, raw.
    fn text(&self) -> String {
        let lines = self.log.iter().flat_map(|log| &log.lines);
        let lines: Vec<&str> = lines
            .map(|line| match line {
                ServerLine::Stderr(line) | ServerLine::Own(line) => line.as_str(),
            })
            .collect();
        lines.join("\n")
    }
}

impl Layer for StderrLog {
    fn key(&mut self, key: KeyEvent, cx: &mut Cx) -> Handled {
        match layers::find(key, &[Place::Pages]) {
            Some(LayerKey::Start) => self.back = usize::MAX,
            Some(LayerKey::End) => self.back = 0,
            Some(LayerKey::Copy) => cx.copy(self.text()),
            _ => return Handled::PassedOn,
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: Shared) {
        self.move_by(rows);
    }

    fn event(&mut self, event: &Event, _: &mut Cx) -> Handled {
        if let Event::ServerLogged(log) = event {
            self.take(Arc::clone(log));
        }
        Handled::PassedOn
    }

    fn wake(&self) -> Option<Duration> {
        Some(self.due())
    }

    /// Polls for new lines.
    fn tick(&mut self, cx: &mut Cx) {
        if cx.shared.now >= self.due() {
            self.asked = cx.shared.now;
            self.ask(cx);
        }
    }

    fn draw(&mut self, area: LayerArea, shared: Shared, pen: &mut Painter) -> Option<Position> {
        let name = Clean::name(self.server.as_str());
        let since = self.log.as_ref().and_then(|log| log.since);
        let right = since.map_or_else(
            || "stderr".to_owned(),
            |since| format!("stderr since {}", time(since)),
        );
        let over = area.body;
        let size = (over.width, over.height);
        let area = window(over, name.as_str(), &right, size, pen);
        let area = match area == over {
            true => title_row(name.as_str(), area, pen),
            false => area,
        };
        let log = self.log.clone()?;
        let server = shared
            .servers
            .iter()
            .find(|server| server.id == self.server);
        let (plain, own) = (pen.theme.plain, pen.theme.attention);
        let mut lines: Vec<_> = log
            .lines
            .iter()
            .map(|line| match line {
                ServerLine::Stderr(line) => (line.clone(), plain),
                ServerLine::Own(line) => (format!("humble: {line}"), own),
            })
            .collect();
        let said = server
            .into_iter()
            .flat_map(|server| said(server, &log.lines));
        lines.extend(said.map(|line| (format!("humble: {line}"), own)));
        lines.reverse();
        let count = lines.len();
        let nothing = match server {
            Some(server) if !server.enabled => {
                "The server is off. Output of its last run is not kept."
            }
            _ => "No output.",
        };
        from_end(lines.into_iter(), count, area, &mut self.back, nothing, pen);
        None
    }

    fn hints(&self, _: Shared) -> Vec<String> {
        page_hints()
    }
}

/// Without a frame, draws the title in the first row. Returns the area below.
fn title_row(name: &str, area: Rect, pen: &mut Painter) -> Rect {
    let accent = pen.theme.accent;
    let start = pen.put_right(area.right(), area.y, "stderr", accent);
    let columns = start.saturating_sub(area.x + 1);
    pen.put_cut(area.x, area.y, name, accent, columns);
    Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(1),
        ..area
    }
}

/// Lines that humble adds: skipped tools, and the failure unless the log ends with it.
fn said(server: &Server, lines: &[ServerLine]) -> Vec<String> {
    let left_out = server.left_out.iter();
    let mut added: Vec<String> = left_out.map(|line| format!("skipped: {line}")).collect();
    if let Some((_, why)) = why_failed(server)
        && lines.last() != Some(&ServerLine::Own(why.clone()))
    {
        added.push(why);
    }
    added
}

/// `12:03:04` within the last day, otherwise `18 Nov 12:03`.
fn time(at: Timestamp) -> String {
    let local = at.to_zoned(TimeZone::system());
    let is_recent = Timestamp::now() < at.saturating_add(24.hours()).unwrap_or(at);
    let format = if is_recent { "%H:%M:%S" } else { "%d %b %H:%M" };
    local.strftime(format).to_string()
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
        let mut pane = StderrLog::new(ServerId::new("s"), Duration::ZERO);
        pane.take(log(10));
        pane.take(log(15));
        assert_eq!(pane.back, 0);
        pane.move_by(-3);
        pane.take(log(20));
        assert_eq!(pane.back, 8);
    }

    #[test]
    fn what_another_server_wrote_is_not_taken() {
        let mut pane = StderrLog::new(ServerId::new("other"), Duration::ZERO);
        pane.take(log(1));
        assert_eq!(pane.log, None);
    }
}

//! What a server writes to stderr, as it lies over the panes: it is asked for only
//! while somebody looks, and then follows.

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

/// How often the engine is asked for what came since.
const ASK_EVERY: Duration = Duration::from_millis(400);

#[derive(Debug)]
pub struct StderrLog {
    server: ServerId,
    /// Lines below what is in view: it is read from its end.
    back: usize,
    /// None until the engine has answered.
    log: Option<Arc<ServerLog>>,
    asked: Duration,
}

/// Shows what a server writes to stderr.
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

    /// Up is into the past.
    fn move_by(&mut self, rows: isize) {
        self.back = self.back.saturating_add_signed(rows.saturating_neg());
    }

    /// When the engine is to be asked again.
    fn due(&self) -> Duration {
        self.asked + ASK_EVERY
    }

    /// Asks for what came since.
    fn ask(&self, cx: &mut Cx) {
        cx.send(Command::ReadServerLog {
            server: self.server.clone(),
            seen: self.log.as_ref().map(|log| log.written),
        });
    }

    /// Takes in what came. Who reads further up keeps the place.
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

    /// All of it, raw.
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

    /// Whoever looks at what a server writes sees it go on.
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
            Some(server) if !server.enabled => "It is off: nothing is known of its last run.",
            _ => "It wrote nothing.",
        };
        from_end(lines.into_iter(), count, area, &mut self.back, nothing, pen);
        None
    }

    fn hints(&self, _: Shared) -> Vec<String> {
        page_hints()
    }
}

/// Without a frame the first row says whose it is; returns the area below.
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

/// What was left out, and why it failed where the log does not tell.
fn said(server: &Server, lines: &[ServerLine]) -> Vec<String> {
    let left_out = server.left_out.iter();
    let mut said: Vec<String> = left_out.map(|line| format!("left out: {line}")).collect();
    if let Some((_, why)) = why_failed(server)
        && lines.last() != Some(&ServerLine::Own(why.clone()))
    {
        said.push(why);
    }
    said
}

/// `12:03:04` within the last day, else with its date.
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

//! A text that is read whole, and what a server wrote to stderr.

use crate::domain::{Server, ServerLine};
use crate::text::Clean;
use crate::text::grapheme::truncate;
use crate::tui::log::view::from_end;
use crate::tui::model::Model;
use crate::tui::servers::state::why_failed;
use crate::tui::servers::stderr_log::ServerLogPane;
use crate::tui::widgets::list::dialog;
use crate::tui::widgets::painter::Pen;
use crate::tui::widgets::text_viewer::Reading;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use ratatui::layout::Rect;

/// Columns of a frame's title that the share and the corners take.
const RIGHT_COLUMNS: usize = 16;

pub fn draw(reading: &mut Reading, over: Rect, pen: &mut Pen) {
    // However long the title is, the share that was read stands beside it.
    let title = Clean::line(&reading.title);
    let room = usize::from(over.width).saturating_sub(RIGHT_COLUMNS);
    let title = truncate(title.as_str(), room);
    let right = reading
        .percent()
        .map_or_else(String::new, |percent| format!("{percent} %"));
    let area = dialog(over, title, &right, (over.width, over.height), pen);
    let plain = pen.theme.plain;
    let rows = reading.view(area.width, area.height.into());
    for (y, row) in rows.iter().enumerate() {
        pen.put(area.x, area.y + y as u16, row, plain, area.width);
    }
}

pub fn draw_log(model: &Model, pane: &mut ServerLogPane, over: Rect, pen: &mut Pen) {
    let name = Clean::name(pane.server.as_str());
    let since = pane.log.as_ref().and_then(|log| log.since);
    let right = since.map_or_else(
        || "stderr".to_owned(),
        |since| format!("stderr since {}", time(since)),
    );
    let size = (over.width, over.height);
    let area = dialog(over, name.as_str(), &right, size, pen);
    let area = match area == over {
        true => title_row(name.as_str(), area, pen),
        false => area,
    };
    let Some(log) = pane.log.clone() else {
        return;
    };
    let server = model.sidebar.find(&pane.server);
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
    from_end(lines.into_iter(), count, area, &mut pane.back, nothing, pen);
}

/// Without a frame the first row says whose it is; returns the area below.
fn title_row(name: &str, area: Rect, pen: &mut Pen) -> Rect {
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

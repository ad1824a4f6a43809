//! Draws the servers pane: status, tools, and their estimated cost in tokens. Draws only the
//! visible rows.

use crate::domain::{Server, ServerStatus, Tool};
use crate::front_end::server_text::status_label;
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::text::numbers::format_thousands;
use crate::tui::panes::Pane;
use crate::tui::servers::state::{
    BYTES_PER_TOKEN, SERVER_INDENT, ServersPane, ServersPaneRow, TOOL_INDENT, TextTone,
};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::ops::Range;

/// Columns of a server's tool count and token count.
const TOOLS_COLUMNS: usize = 4;
const TOKENS_COLUMNS: usize = 6;
/// Columns of the name of a failed server in the heading.
const FAILED_COLUMNS: usize = 10;

pub fn draw(servers_pane: &mut ServersPane, is_focused: bool, pane: Pane, pen: &mut Painter) {
    let area = pane.inner;
    let selected = servers_pane.selected;
    let (first, rows) = servers_pane.rows_in_view(area.height.into());
    let rows = rows.to_vec();
    let rows_below = servers_pane.rows().len() - first - rows.len();
    let title = match rows_below {
        0 => "Servers".to_owned(),
        count => format!("Servers {} {count} more", pen.glyphs.down),
    };
    let column_titles = format!("{:>TOOLS_COLUMNS$} {:>TOKENS_COLUMNS$}", "tools", "tokens");
    let view = first..first + rows.len();
    let hidden_failure = failed_outside(servers_pane, view, pen.glyphs.failed);
    // Names a failed server that is scrolled out of view. Without a sidebar, the header does this.
    let right = hidden_failure.as_deref().unwrap_or(&column_titles);
    pen.heading(pane.outer, &title, right, is_focused);
    if hidden_failure.is_some() {
        let start = pane.outer.right().saturating_sub(width(right) as u16);
        let failure = pen.theme.failure;
        pen.put(start, pane.outer.y, right, failure, pane.outer.width);
    }
    if rows.is_empty() {
        let dim = pen.theme.dim;
        pen.paragraph(area, &Clean::from_static("none configured"), dim);
        return;
    }
    for (index, row) in rows.iter().enumerate() {
        let line = Rect::new(area.x, area.y + index as u16, area.width, 1);
        draw_row(servers_pane, row, line, pen);
        if is_focused && first + index == selected {
            let (cursor, accent) = (pen.glyphs.cursor, pen.theme.accent);
            pen.put(line.x.saturating_sub(1), line.y, cursor, accent, 1);
        }
    }
}

/// `✗ docs +1`: the failed servers without a row in `view`.
fn failed_outside(pane: &ServersPane, view: Range<usize>, mark: &str) -> Option<String> {
    let mut hidden = pane.servers.iter().enumerate().filter(|(index, server)| {
        let is_in_view =
            |row: &ServersPaneRow| matches!(row, ServersPaneRow::Server(shown) if shown == index);
        server.has_failed() && !pane.rows()[view.clone()].iter().any(is_in_view)
    });
    let (_, first) = hidden.next()?;
    let name = Clean::name(first.id.as_str());
    let name = truncate_to_width(name.as_str(), FAILED_COLUMNS);
    Some(match hidden.count() {
        0 => format!("{mark} {name}"),
        others => format!("{mark} {name} +{others}"),
    })
}

fn draw_row(servers_pane: &ServersPane, row: &ServersPaneRow, line: Rect, pen: &mut Painter) {
    let Some(server) = servers_pane.servers.get(row.server()) else {
        return;
    };
    match row {
        ServersPaneRow::Server(index) => draw_server(servers_pane, *index, server, line, pen),
        ServersPaneRow::Tool(_, tool) => {
            if let Some(tool) = server.tools.get(*tool) {
                let is_unfolded = servers_pane.is_tool_unfolded(&server.id, &tool.name);
                draw_tool(server, tool, is_unfolded, line, pen);
            }
        }
        ServersPaneRow::Text {
            tool, tone, text, ..
        } => {
            put_indented(*tool, text, tone_style(*tone, pen), line, pen);
        }
        ServersPaneRow::More { tool, .. } => {
            let hint = format!("{} more text", pen.glyphs.more);
            let accent = pen.theme.accent;
            put_indented(*tool, &hint, accent, line, pen);
        }
    }
}

pub fn tone_style(tone: TextTone, pen: &Painter) -> Style {
    match tone {
        TextTone::Plain => pen.theme.plain,
        TextTone::Dim => pen.theme.dim,
        TextTone::Failure => pen.theme.failure,
        TextTone::Attention => pen.theme.attention,
    }
}

fn put_indented(tool: Option<usize>, text: &str, style: Style, line: Rect, pen: &mut Painter) {
    let indent = match tool {
        Some(_) => TOOL_INDENT,
        None => SERVER_INDENT,
    };
    let columns = line.width.saturating_sub(indent);
    pen.put_truncated(line.x + indent, line.y, text, style, columns);
}

fn draw_server(
    servers_pane: &ServersPane,
    index: usize,
    server: &Server,
    line: Rect,
    pen: &mut Painter,
) {
    let (mark, style, label) = status_glyph(server, pen);
    pen.put(line.x, line.y, mark, style, 1);
    let right = match label {
        Some(label) => label.to_owned(),
        None => {
            let cost = servers_pane.cost(index);
            let tokens = format_thousands(cost.tokens as u64);
            let tools = match cost.held_back {
                0 => cost.tools.to_string(),
                held_back => format!("{}/{}", cost.tools.saturating_sub(held_back), cost.tools),
            };
            format!("{tools:>TOOLS_COLUMNS$} {tokens:>TOKENS_COLUMNS$}")
        }
    };
    let start = pen.put_right(line.right(), line.y, &right, pen.theme.dim);
    let columns = start.saturating_sub(line.x + 3);
    let name = Clean::name(server.id.as_str());
    pen.put_truncated(line.x + 2, line.y, name.as_str(), pen.theme.plain, columns);
}

/// Glyph, style and label of a server's status. Connected servers show numbers instead of
/// a label.
pub fn status_glyph(server: &Server, pen: &Painter) -> (&'static str, Style, Option<&'static str>) {
    let (glyphs, theme) = (pen.glyphs, pen.theme);
    let label = Some(status_label(server));
    if !server.enabled {
        return (glyphs.off, theme.dim, label);
    }
    match &server.status {
        ServerStatus::Connected => (glyphs.connected, theme.success, None),
        ServerStatus::Starting => (glyphs.off, theme.accent, label),
        ServerStatus::Off => (glyphs.off, theme.dim, label),
        ServerStatus::NeedsSignIn(_) => (glyphs.refused, theme.attention, label),
        ServerStatus::Failed(_) | ServerStatus::Misconfigured(_) => {
            (glyphs.failed, theme.failure, label)
        }
    }
}

fn draw_tool(server: &Server, tool: &Tool, is_unfolded: bool, line: Rect, pen: &mut Painter) {
    let (glyphs, theme) = (pen.glyphs, pen.theme);
    let is_off = server.disabled_tools.contains(&tool.name);
    let is_withheld = server.withheld_tools.contains(&tool.name);
    let is_always_offered = server.always_offered.contains(&tool.name);
    let (label, style) = match (is_off, is_withheld) {
        (true, _) => ("off".to_owned(), theme.dim),
        (false, true) => ("withheld".to_owned(), theme.attention),
        (false, false) => {
            let tokens = format_thousands((tool.bytes / BYTES_PER_TOKEN) as u64);
            match is_always_offered {
                true => (format!("pinned {tokens}"), theme.plain),
                false if server.held_back_tools.contains(&tool.name) => {
                    ("held back".to_owned(), theme.dim)
                }
                false => (tokens, theme.plain),
            }
        }
    };
    let mark = match (is_off, is_withheld, is_unfolded) {
        (_, _, true) => glyphs.unfolded,
        (true, ..) => glyphs.off,
        (false, true, _) => "!",
        _ => glyphs.folded,
    };
    pen.put(line.x + 2, line.y, mark, theme.dim, 1);
    let label_style = if is_withheld && !is_off {
        theme.attention
    } else {
        theme.dim
    };
    let start = pen.put_right(line.right(), line.y, &label, label_style);
    let columns = start.saturating_sub(line.x + 5);
    let name = Clean::name(&tool.name);
    pen.put_truncated(line.x + 4, line.y, name.as_str(), style, columns);
}

//! Draws the visible rows of `/mcp` and `/tools`.

use crate::commands::servers::ADD_SERVER;
use crate::domain::{Server, ServerStatus, Tool};
use crate::text::Clean;
use crate::tui::layer::SharedUiState;
use crate::tui::servers::view::{status_glyph, tone_style};
use crate::tui::servers::viewer::ServersViewer;
use crate::tui::servers::viewer::items::{
    ViewerItem, ViewerRow, ViewerScope, item_rows, status_line, tool_note,
};
use crate::tui::widgets::list::{draw_empty, nothing_matches, rows_area};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::{Position, Rect};

/// Minimum columns of a name, however long the note beside it is.
const NAME_COLUMNS_MIN: u16 = 12;
/// Columns to the left of a server's and of a tool's name, for the selection mark and the status.
const SERVER_NAME_AT: u16 = 4;
const TOOL_NAME_AT: u16 = 4;

/// Returns the cursor position if the filter has the focus.
pub fn draw(
    viewer: &mut ServersViewer,
    body: Rect,
    shared: SharedUiState,
    pen: &mut Painter,
) -> Option<Position> {
    let servers = shared.servers;
    // The note beside the title counts the hidden items, so the size must be set before.
    let rows = rows_area(body);
    viewer.set_size(rows.width, rows.height.into(), servers);
    let note = viewer.count(servers).note(&pen.glyphs);
    let cursor = viewer
        .list
        .draw_head(body, &title(servers, viewer.scope), &note, pen);
    if viewer.items.is_empty() {
        let text = match servers {
            [] => format!("No MCP servers are configured. {ADD_SERVER}"),
            _ if viewer.list.filter().is_empty() => "No running server has tools.".to_owned(),
            _ => nothing_matches(&viewer.list.filter()),
        };
        draw_empty(rows, &text, pen);
    }
    draw_rows(viewer, servers, rows, pen);
    cursor
}

fn title(servers: &[Server], scope: ViewerScope) -> String {
    if scope == ViewerScope::Tools {
        let offered: usize = servers
            .iter()
            .map(|server| server.available_tools().count())
            .sum();
        let held_back: usize = servers
            .iter()
            .map(|server| server.held_back_tools.len())
            .sum();
        return match held_back {
            0 => format!("Tools: {offered} offered"),
            _ => format!(
                "Tools: {} offered, {held_back} held back",
                offered - held_back
            ),
        };
    }
    let connected = servers
        .iter()
        .filter(|server| server.enabled && server.status == ServerStatus::Connected);
    format!(
        "MCP servers: {} of {} connected",
        connected.count(),
        servers.len()
    )
}

fn draw_rows(viewer: &ServersViewer, servers: &[Server], area: Rect, pen: &mut Painter) {
    let format = (viewer.columns, pen.glyphs.dot);
    let mut y = area.top();
    let mut skipped = viewer.scroll.top.row;
    for (index, item) in viewer.items.iter().enumerate().skip(viewer.scroll.top.item) {
        let is_selected = index == viewer.scroll.selected;
        let rows = item_rows(servers, *item, viewer.scope, format);
        // The mark of an item that begins above the view is drawn in the first visible row.
        let heading = rows.iter().position(|row| *row == ViewerRow::Heading);
        let marked = heading.unwrap_or(0).max(skipped);
        for (at, row) in rows.iter().enumerate().skip(skipped) {
            if y >= area.bottom() {
                return;
            }
            let line = Rect {
                y,
                height: 1,
                ..area
            };
            draw_row(
                servers,
                (*item, viewer.scope),
                row,
                (is_selected, line),
                pen,
            );
            if is_selected && at == marked {
                let (cursor, accent) = (pen.glyphs.cursor, pen.theme.accent);
                pen.put(line.x, line.y, cursor, accent, 1);
            }
            y += 1;
        }
        skipped = 0;
    }
}

fn draw_row(
    servers: &[Server],
    (item, scope): (ViewerItem, ViewerScope),
    row: &ViewerRow,
    (is_selected, line): (bool, Rect),
    pen: &mut Painter,
) {
    match row {
        ViewerRow::Blank => {}
        ViewerRow::Heading => {
            let Some(server) = servers.get(item.server) else {
                return;
            };
            draw_heading(server, (item, scope), is_selected, line, pen);
        }
        ViewerRow::Text { indent, tone, text } => {
            let style = tone_style(*tone, pen);
            let columns = line.width.saturating_sub(*indent);
            pen.put(line.x + indent, line.y, text, style, columns);
        }
    }
}

/// The note beside a tool's name. The list of tools also shows the annotations from its server.
fn note_of_tool(server: &Server, tool: &Tool, scope: ViewerScope, dot: &str) -> String {
    let note = tool_note(server, tool);
    if scope == ViewerScope::Servers {
        return note.to_owned();
    }
    let mut parts = vec![if note.is_empty() { "offered" } else { note }];
    parts.extend(tool.annotations.labels());
    parts.join(&format!(" {dot} "))
}

fn draw_heading(
    server: &Server,
    (item, scope): (ViewerItem, ViewerScope),
    is_selected: bool,
    line: Rect,
    pen: &mut Painter,
) {
    let tool = item.tool(server);
    let (name, note, x, style) = match tool {
        Some(tool) => (
            Clean::name(&tool.name),
            note_of_tool(server, tool, scope, pen.glyphs.dot),
            TOOL_NAME_AT,
            pen.theme.plain,
        ),
        None => {
            let (mark, style, _) = status_glyph(server, pen);
            pen.put(line.x + 2, line.y, mark, style, 1);
            let name = Clean::name(server.id.as_str());
            (name, status_line(server), SERVER_NAME_AT, pen.theme.bold)
        }
    };
    let style = match is_selected {
        true => pen.theme.accent,
        false => style,
    };
    let room = line.width.saturating_sub(x);
    let note_columns = crate::text::grapheme::width(&note) as u16 + 2;
    let name_columns = room.saturating_sub(note_columns).max(NAME_COLUMNS_MIN);
    let used = pen.put_truncated(
        line.x + x,
        line.y,
        name.as_str(),
        style,
        name_columns.min(room),
    );
    let left = room.saturating_sub(used + 2);
    let note_style = match (tool, server.withheld_tools.is_empty()) {
        (Some(tool), false) if server.withheld_tools.contains(&tool.name) => pen.theme.attention,
        _ => pen.theme.dim,
    };
    if left > 0 {
        pen.put_truncated(line.x + x + used + 2, line.y, &note, note_style, left);
    }
}

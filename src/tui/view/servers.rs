//! The servers pane: state, tools, and about how many tokens they cost.

use super::super::model::{Focus, Model, SideRow};
use super::header::thousands;
use super::panes::Pane;
use super::pen::Pen;
use crate::domain::{Server, ServerStatus, Tool};
use crate::text::Clean;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Bytes of a definition that make about one token.
const BYTES_PER_TOKEN: usize = 4;

pub fn wanted_rows(model: &Model) -> usize {
    model.sidebar.rows().len().max(1)
}

pub fn draw(model: &Model, pane: Pane, framed: bool, pen: &mut Pen) {
    let focused = model.focus == Focus::Servers;
    if framed {
        let style = if focused {
            pen.theme.accent
        } else {
            pen.theme.dim
        };
        pen.frame(pane.outer, "Servers", "", style);
    }
    let area = pane.inner;
    let rows = model.sidebar.rows();
    if rows.is_empty() {
        let dim = pen.theme.dim;
        pen.paragraph(area, &Clean::own("none configured"), dim);
        return;
    }
    let height = usize::from(area.height);
    let first = (model.sidebar.chosen + 1).saturating_sub(height);
    for (index, row) in rows.iter().enumerate().skip(first).take(height) {
        let line = Rect::new(area.x, area.y + (index - first) as u16, area.width, 1);
        match row {
            SideRow::Server(server) => draw_server(&model.sidebar.servers[*server], line, pen),
            SideRow::Tool(server, tool) => {
                let server = &model.sidebar.servers[*server];
                draw_tool(server, &server.tools[*tool], line, pen);
            }
        }
        if focused && index == model.sidebar.chosen {
            let selection = pen.theme.selection;
            pen.style(line, selection);
        }
    }
}

fn draw_server(server: &Server, line: Rect, pen: &mut Pen) {
    let (mark, style, words) = state(server, pen);
    pen.put(line.x, line.y, mark, style, 1);
    let start = pen.put_right(line.right(), line.y, &words, pen.theme.dim);
    let columns = start.saturating_sub(line.x + 3);
    let name = Clean::line(server.id.as_str());
    pen.put_cut(line.x + 2, line.y, name.as_str(), pen.theme.plain, columns);
}

fn state(server: &Server, pen: &Pen) -> (&'static str, Style, String) {
    let (glyphs, theme) = (pen.glyphs, pen.theme);
    if !server.enabled {
        return (glyphs.off, theme.dim, "disabled".to_owned());
    }
    match &server.status {
        ServerStatus::Connected => {
            let tokens: usize = server.offered().map(tokens).sum();
            let words = format!(
                "{:>4} {:>6}",
                server.offered().count(),
                thousands(tokens as u64)
            );
            (glyphs.connected, theme.success, words)
        }
        ServerStatus::Starting => (glyphs.off, theme.accent, "starting".to_owned()),
        ServerStatus::Off => (glyphs.off, theme.dim, "off".to_owned()),
        ServerStatus::Failed(_) => (glyphs.failed, theme.failure, "failed".to_owned()),
        ServerStatus::NeedsSignIn(_) => (glyphs.off, theme.attention, "needs sign-in".to_owned()),
        ServerStatus::Misconfigured(_) => {
            (glyphs.failed, theme.failure, "misconfigured".to_owned())
        }
    }
}

/// About what the tool's definition costs in the context.
fn tokens(tool: &Tool) -> usize {
    tool.bytes / BYTES_PER_TOKEN
}

fn draw_tool(server: &Server, tool: &Tool, line: Rect, pen: &mut Pen) {
    let off = server.tools_off.contains(&tool.name);
    let mark = if off { pen.glyphs.off } else { pen.glyphs.dot };
    pen.put(line.x + 2, line.y, mark, pen.theme.dim, 1);
    let words = if off {
        "off".to_owned()
    } else {
        thousands(tokens(tool) as u64)
    };
    let start = pen.put_right(line.right(), line.y, &words, pen.theme.dim);
    let style = if off { pen.theme.dim } else { pen.theme.plain };
    let columns = start.saturating_sub(line.x + 5);
    pen.put_cut(
        line.x + 4,
        line.y,
        Clean::line(&tool.name).as_str(),
        style,
        columns,
    );
}

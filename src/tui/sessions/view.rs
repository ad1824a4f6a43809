//! Draws the browser for saved conversations: search line, list, preview.

use crate::domain::SessionSummary;
use crate::text::Clean;
use crate::tui::sessions::layer::SessionsLayer;
use crate::tui::widgets::list::{ListRow, below_filter, rows_in_view};
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::window::draw_window;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::{Position, Rect};

/// Minimum width to show the preview.
const PREVIEW_FROM: u16 = 76;
/// Minimum list width to show the model. Narrower lists leave the columns to the title; the
/// preview names the model, too.
const MODEL_FROM: u16 = 84;
/// Bytes of a message used for the preview.
const PREVIEW_BYTES_MAX: usize = 2_000;

/// Returns the cursor position if the search line has the focus.
pub fn draw(layer: &mut SessionsLayer, over: Rect, pen: &mut Painter) -> Option<Position> {
    let with_preview = over.width >= PREVIEW_FROM;
    let list_columns = if with_preview {
        over.width * 6 / 10
    } else {
        over.width
    };
    let all = layer.sessions.as_ref().map_or(0, |all| all.len());
    let count = layer.matches().len();
    let right = match &layer.sessions {
        Some(_) if count == all => all.to_string(),
        Some(_) => format!("{count} of {all}"),
        None => String::new(),
    };
    let window = draw_window(over, "Sessions", &right, pen);
    let area = Rect {
        width: window.width.min(list_columns),
        ..window
    };
    if with_preview {
        draw_divided_preview(layer, window, list_columns, pen);
    }
    let cursor = layer.list.draw_filter(pen.glyphs.prompt, area, pen);
    draw_rows(layer, below_filter(area), pen);
    (!layer.list.has_row_focus() && layer.delete_confirmation.is_none()).then_some(cursor)
}

/// Draws the preview at the right, behind a vertical rule.
fn draw_divided_preview(layer: &SessionsLayer, window: Rect, list_columns: u16, pen: &mut Painter) {
    let x = window.x + list_columns;
    let (dim, down) = (pen.theme.dim, pen.glyphs.frame[5]);
    for y in window.top()..window.bottom() {
        pen.put(x, y, down, dim, 1);
    }
    let inner = Rect {
        x: x + 2,
        width: window.right().saturating_sub(x + 2),
        ..window
    };
    draw_preview(layer, inner, pen);
}

fn draw_rows(layer: &SessionsLayer, mut area: Rect, pen: &mut Painter) {
    if let Some(id) = &layer.delete_confirmation {
        area.height = area.height.saturating_sub(1);
        let hit = layer
            .sessions
            .iter()
            .flat_map(|all| all.iter())
            .find(|hit| hit.id == *id);
        let title = hit.map_or_else(|| Clean::single_line(id.as_str()), shown_title);
        let style = pen.theme.attention;
        let mut x = area.x + pen.put(area.x, area.bottom(), "Delete \"", style, area.width);
        let left = area.right().saturating_sub(x + 2);
        x += pen.put_truncated(x, area.bottom(), title.as_str(), style, left);
        pen.put(
            x,
            area.bottom(),
            "\"?",
            style,
            area.right().saturating_sub(x),
        );
    }
    let hits = layer.matches();
    if hits.is_empty() {
        let words = match &layer.sessions {
            None => "Loading …",
            Some(all) if all.is_empty() => "No saved conversations yet.",
            Some(_) => "No title matches.",
        };
        pen.put_truncated(
            area.x + 2,
            area.y,
            words,
            pen.theme.dim,
            area.width.saturating_sub(2),
        );
        return;
    }
    let selected = Some(layer.list.selected(hits.len()));
    let focused = layer.list.has_row_focus();
    for at in rows_in_view(hits.len(), selected, area, pen) {
        draw_row(hits[at.index], &at, pen);
        if at.is_selected && focused {
            at.highlight(pen);
        }
    }
}

fn draw_row(hit: &SessionSummary, at: &ListRow, pen: &mut Painter) {
    at.put_mark(pen);
    let line = at.line;
    let mut end = line.right();
    if let Some(why) = &hit.open_error {
        let words = Clean::single_line(&format!("{} broken: {why}", pen.glyphs.failed));
        let columns = end.saturating_sub(line.x + 2) / 2;
        pen.put_truncated(
            end - columns,
            line.y,
            words.as_str(),
            pen.theme.failure,
            columns,
        );
        end -= columns + 1;
    } else {
        if line.width >= 36 {
            pen.put_right(end, line.y, &hit.message_count.to_string(), pen.theme.dim);
            end -= 5;
        }
        if line.width >= MODEL_FROM {
            let columns = 14.min(line.width / 4);
            let model = Clean::single_line(&hit.model);
            pen.put_truncated(
                end - columns,
                line.y,
                model.as_str(),
                pen.theme.dim,
                columns,
            );
            end -= columns + 2;
        }
        if line.width >= 30 {
            pen.put_right(end, line.y, &format_date(hit.changed_at), pen.theme.dim);
            end -= 14;
        }
    }
    let title = shown_title(hit);
    let columns = end.saturating_sub(line.x + 3);
    pen.put_truncated(line.x + 2, line.y, title.as_str(), at.style, columns);
}

/// The title, or the session's file name if it has none.
fn shown_title(hit: &SessionSummary) -> Clean {
    let title = Clean::single_line(&hit.title);
    if title.as_str().trim().is_empty() {
        Clean::single_line(hit.id.as_str())
    } else {
        title
    }
}

/// `18 Nov 16:20`, local time.
fn format_date(at: Timestamp) -> String {
    at.to_zoned(TimeZone::system())
        .strftime("%d %b %H:%M")
        .to_string()
}

fn draw_preview(layer: &SessionsLayer, area: Rect, pen: &mut Painter) {
    let Some(session) = &layer.preview else {
        return;
    };
    let mut y = area.y;
    for message in &session.messages {
        if y + 1 >= area.bottom() {
            break;
        }
        let who = match message.role.name() {
            "user" => "You",
            "assistant" => session.model.as_str(),
            other => other,
        };
        pen.put_truncated(
            area.x,
            y,
            Clean::single_line(who).as_str(),
            pen.theme.bold,
            area.width,
        );
        y += 1;
        let mut end = message.content.len().min(PREVIEW_BYTES_MAX);
        while !message.content.is_char_boundary(end) {
            end -= 1;
        }
        let text = Clean::new(message.content[..end].trim());
        let rows = wrapped_rows(&text, area.width);
        for row in rows.iter().take(usize::from(area.bottom() - y).min(8)) {
            pen.put(area.x, y, row, pen.theme.plain, area.width);
            y += 1;
        }
        y += 1;
    }
}

//! Draws the browser for saved conversations: the list, with the preview beside or below it.

use crate::domain::SessionSummary;
use crate::text::Clean;
use crate::text::markdown::MarkdownGlyphs;
use crate::tui::sessions::layer::{SessionsLayer, matching_sessions};
use crate::tui::widgets::list::{ListRow, ListTitle};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::below_title;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use ratatui::layout::{Position, Rect};

/// From this width on, the preview is beside the list.
const BESIDE_FROM: u16 = 96;
/// On narrower screens it is below the list, from this height on.
const BELOW_FROM: u16 = 16;

// Widths of the columns at the right of a row, each preceded by two blanks. A column appears from
// the row width `*_FROM`, which leaves 30 columns for the title.
const DATE: u16 = 11;
const DATE_FROM: u16 = 43;
const COUNT: u16 = 4;
const COUNT_FROM: u16 = 49;
const MODEL: u16 = 12;
const MODEL_FROM: u16 = 63;

/// Returns the cursor position if the filter has the focus.
pub fn draw(
    layer: &mut SessionsLayer,
    area: Rect,
    glyphs: MarkdownGlyphs,
    pen: &mut Painter,
) -> Option<Position> {
    let (list_area, preview_area) = split(area);
    let found = matching_sessions(layer.sessions.as_deref(), &layer.list.filter());
    let title = ListTitle {
        title: "Sessions",
        total: layer.sessions.as_ref().map_or(0, |all| all.len()),
        empty: match &layer.sessions {
            None => "Loading …",
            Some(_) => "No saved conversations yet.",
        },
        is_loading: layer.sessions.is_none(),
    };
    let deleting = layer.delete_confirmation.as_ref();
    let listed_at = layer.listed_at;
    let draw_hit =
        |hit: &&SessionSummary, row: &ListRow, pen: &mut Painter| match deleting == Some(&hit.id) {
            true => draw_delete_question(hit, row, pen),
            false => draw_row(hit, listed_at, row, pen),
        };
    let list = &mut layer.list;
    let cursor = list.draw(list_area, &title, &found, pen, draw_hit);
    if let Some(preview_area) = preview_area {
        let selected = found.get(list.selected(found.len())).copied();
        let inner = draw_divider(area, list_area, preview_area, pen);
        if let Some(reason) = selected.and_then(|hit| hit.open_error.as_deref()) {
            let reason = Clean::new(&format!("{} broken: {reason}", pen.glyphs.failed));
            let failure = pen.theme.failure;
            pen.paragraph(inner, &reason, failure);
        } else if let (Some(hit), Some(preview)) = (selected, &mut layer.preview)
            && preview.id() == Some(&hit.id)
        {
            preview.draw(inner, glyphs, pen);
        }
    }
    cursor.filter(|_| layer.delete_confirmation.is_none())
}

/// The areas of the list including its title, and of the preview including the divider.
fn split(area: Rect) -> (Rect, Option<Rect>) {
    if area.width >= BESIDE_FROM {
        let columns = area.width * 6 / 10;
        let list = Rect {
            width: columns,
            ..area
        };
        let preview = Rect {
            x: area.x + columns,
            y: area.y + 1,
            width: area.width - columns,
            height: area.height.saturating_sub(1),
        };
        return (list, Some(preview));
    }
    if area.height < BELOW_FROM {
        return (area, None);
    }
    let rows = area.height / 2;
    let list = Rect {
        height: area.height - rows,
        ..area
    };
    let preview = Rect {
        y: list.bottom(),
        height: rows,
        ..area
    };
    (list, Some(preview))
}

/// Draws the divider between list and preview. Returns the area of the preview's text.
fn draw_divider(area: Rect, list: Rect, preview: Rect, pen: &mut Painter) -> Rect {
    pen.clear(preview);
    let dim = pen.theme.dim;
    if list.width == area.width {
        let line = Rect {
            height: 1,
            ..preview
        };
        pen.rule(line, "", "", dim);
        return below_title(preview);
    }
    // Extends the title's rule above the preview.
    let (across, down) = (pen.glyphs.frame[4], pen.glyphs.frame[5]);
    for x in list.right()..area.right() {
        pen.put(x, area.y, across, dim, 1);
    }
    for y in preview.top()..preview.bottom() {
        pen.put(preview.x, y, down, dim, 1);
    }
    Rect {
        x: preview.x + 2,
        width: preview.width.saturating_sub(3),
        ..preview
    }
}

fn draw_row(hit: &SessionSummary, listed_at: Timestamp, row: &ListRow, pen: &mut Painter) {
    let (line, dim) = (row.text_area(), pen.theme.dim);
    let mut end = line.right();
    let mut take_columns = |columns: u16| {
        end -= columns;
        let start = end;
        end -= 2;
        start
    };
    if let Some(reason) = &hit.open_error {
        // The preview shows the reason in full.
        let text = Clean::single_line(&format!("{} broken: {reason}", pen.glyphs.failed));
        let columns = line.width / 2;
        let x = take_columns(columns.saturating_sub(2));
        let failure = pen.theme.failure;
        pen.put_words(x, line.y, text.as_str(), failure, line.right() - x);
    } else if line.width >= DATE_FROM {
        if line.width >= COUNT_FROM {
            let x = take_columns(COUNT);
            let count = hit.message_count.to_string();
            pen.put_right(x + COUNT, line.y, &count, dim);
        }
        if line.width >= MODEL_FROM {
            let model = Clean::single_line(&hit.model);
            pen.put_truncated(take_columns(MODEL), line.y, model.as_str(), dim, MODEL);
        }
        let date = format_date(hit.changed_at, listed_at);
        pen.put(take_columns(DATE), line.y, &date, dim, DATE);
    }
    let columns = end.saturating_sub(line.x);
    let title = shown_title(hit);
    pen.put_words(line.x, line.y, title.as_str(), row.style, columns);
}

/// Asks in the session's own row whether to delete it.
fn draw_delete_question(hit: &SessionSummary, row: &ListRow, pen: &mut Painter) {
    let (line, style) = (row.text_area(), pen.theme.attention);
    pen.put(row.line.x, line.y, pen.glyphs.cursor, style, 1);
    let prefix = "Delete \"";
    let suffix = "\"? (y/n)";
    let used = pen.put(line.x, line.y, prefix, style, line.width);
    let room = line.width.saturating_sub(used + suffix.len() as u16);
    let title = shown_title(hit);
    let used = used + pen.put_words(line.x + used, line.y, title.as_str(), style, room);
    pen.put(line.x + used, line.y, suffix, style, line.width - used);
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

/// Local time in at most [`DATE`] columns: `today 16:20`, `Fri 09:12` within a week, `18 Nov`
/// within the year, `18 Nov 2024`.
fn format_date(at: Timestamp, now: Timestamp) -> String {
    let zone = TimeZone::system();
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone));
    let week_ago = now.date().checked_sub(6.days()).unwrap_or(now.date());
    let format = match at.date() {
        date if date == now.date() => "today %H:%M",
        date if (week_ago..now.date()).contains(&date) => "%a %H:%M",
        date if date.year() == now.year() => "%-d %b",
        _ => "%-d %b %Y",
    };
    at.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn dates_become_coarser_with_age() {
        let local = |year, month, day| {
            let time = date(year, month, day).at(9, 12, 0, 0);
            let zoned = time.to_zoned(TimeZone::system()).expect("a time");
            zoned.timestamp()
        };
        let now = local(2026, 11, 20);
        let shown = [
            local(2026, 11, 20),
            local(2026, 11, 14),
            local(2026, 11, 13),
            local(2026, 1, 2),
            local(2025, 11, 20),
            // The clock was set back.
            local(2026, 11, 21),
        ];
        let shown = shown.map(|at| format_date(at, now));
        let expected = [
            "today 09:12",
            "Sat 09:12",
            "13 Nov",
            "2 Jan",
            "20 Nov 2025",
            "21 Nov",
        ];
        assert_eq!(shown, expected);
        assert!(shown.iter().all(|date| date.len() <= DATE.into()));
    }
}

//! Draws the browser for saved conversations: the list, with the preview beside or below it.

use crate::domain::date::{DATE_COLUMNS_MAX, format_date};
use crate::domain::{IndexProgress, SessionSummary};
use crate::text::Clean;
use crate::text::grapheme::{truncate_to_width, width};
use crate::text::numbers::group_digits;
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::SharedUiState;
use crate::tui::sessions::layer::SessionsLayer;
use crate::tui::sessions::marks::mark_matches;
use crate::tui::sessions::row_action::shown_title;
use crate::tui::widgets::list::{ListRow, ListTitle, MARK_COLUMNS};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::below_title;
use jiff::Timestamp;
use ratatui::layout::{Position, Rect};

/// Minimum width of the browser for a preview beside the list.
const PREVIEW_BESIDE_COLUMNS_MIN: u16 = 96;
/// Minimum height of a narrower browser for a preview below the list.
const PREVIEW_BELOW_ROWS_MIN: u16 = 16;

// Widths of the fields at the right of a row, each preceded by two blanks. A field appears in rows
// that are at least `*_ROW_COLUMNS_MIN` wide, which leaves 30 columns for the title.
const DATE_COLUMNS: u16 = DATE_COLUMNS_MAX as u16;
const DATE_ROW_COLUMNS_MIN: u16 = 43;
const COUNT_COLUMNS: u16 = 4;
const COUNT_ROW_COLUMNS_MIN: u16 = 49;
const MODEL_COLUMNS: u16 = 12;
const MODEL_ROW_COLUMNS_MIN: u16 = 63;
/// Minimum width of the list beside a preview, with a blank at each end, so that its rows show the
/// model.
const LIST_COLUMNS_MIN: u16 = MODEL_ROW_COLUMNS_MIN + MARK_COLUMNS + 2;
/// Columns of the counter at the right of the title, such as `1,204 of 10,000, ↓ 1,190`, including
/// the blanks around title and counter.
const COUNTER_COLUMNS: u16 = 33;

/// Returns the cursor position if a text field has the focus.
pub fn draw(
    layer: &mut SessionsLayer,
    area: Rect,
    shared: SharedUiState,
    pen: &mut Painter,
) -> Option<Position> {
    let (list_area, preview_area) = split(area);
    let mut cursor = draw_list(layer, list_area, pen);
    if let Some(action) = &mut layer.row_action {
        let position = layer.listing.row_of(action.session());
        let row = position.and_then(|row| layer.list.drawn_row(row, pen));
        // The action of a row outside the view is not drawn.
        cursor = row.and_then(|row| action.draw(&row, shared.keymap, pen));
    }
    if let Some(preview_area) = preview_area {
        let inner = draw_divider(area, list_area, preview_area, pen);
        let selected = layer.listing.get(layer.list.selected(layer.listing.len()));
        if let Some(reason) = selected.and_then(|hit| hit.open_error.as_deref()) {
            let reason = Clean::new(&format!("{} broken: {reason}", pen.glyphs.failed));
            let failure = pen.theme.failure;
            pen.paragraph(inner, &reason, failure);
        } else if let (Some(hit), Some(preview)) = (selected, &mut layer.preview)
            && preview.session() == &hit.id
        {
            preview.draw(inner, shared.markdown_glyphs, pen);
        }
    }
    cursor
}

fn draw_list(layer: &mut SessionsLayer, area: Rect, pen: &mut Painter) -> Option<Position> {
    let title = title(&layer.progress, pen);
    // The counter beside the title must stay visible.
    let title_columns = usize::from(area.width.saturating_sub(COUNTER_COLUMNS));
    let title = match width(&title) > title_columns {
        true => format!(
            "{}{}",
            truncate_to_width(&title, title_columns),
            pen.glyphs.more
        ),
        false => title,
    };
    let invalid_filter = layer.listing.invalid_filter().map(ToString::to_string);
    let title = ListTitle {
        title: &title,
        total: layer.listing.total(),
        empty: match &invalid_filter {
            Some(why) => why,
            None if layer.listing.is_loading() => "Loading …",
            None => "No saved conversations yet.",
        },
        shows_empty_when_filtered: layer.listing.is_loading() || invalid_filter.is_some(),
    };
    let (listed_at, terms) = (layer.listing.listed_at, layer.listing.terms());
    let draw_hit = |hit: &&SessionSummary, row: &ListRow, pen: &mut Painter| {
        draw_row(hit, listed_at, terms, row, pen);
    };
    let rows = layer.listing.rows();
    layer.list.draw(area, &title, &rows, pen, draw_hit)
}

/// `Sessions`, followed by the reason while some sessions cannot be searched.
fn title(progress: &IndexProgress, pen: &Painter) -> String {
    let dot = pen.glyphs.dot;
    let (indexed, total) = (group_digits(progress.indexed), group_digits(progress.total));
    match &progress.error {
        Some(why) => {
            let why = Clean::single_line(why);
            format!("Sessions {dot} not indexed: {}", why.as_str())
        }
        None if progress.is_complete() => "Sessions".to_owned(),
        None => format!("Sessions {dot} indexing {indexed} of {total}"),
    }
}

pub fn hints(layer: &SessionsLayer, can_undo: bool, keymap: &Keymap) -> Vec<String> {
    let hint = |key, word| keymap.layer_hint(KeyContext::Sessions, key, word);
    let is_broken = layer.selected().is_some_and(|hit| hit.open_error.is_some());
    let delete = hint(LayerKey::Delete, "delete");
    let mut row_hints = match is_broken {
        true => hint_list([delete]),
        false => hint_list([
            hint(LayerKey::Rename, "rename"),
            hint(LayerKey::Fork, "fork"),
            hint(LayerKey::Export, "export"),
            delete,
        ]),
    };
    if can_undo {
        row_hints.extend(hint(LayerKey::UndoDelete, "undo"));
    }
    let enter = if is_broken { "reason" } else { "resume" };
    let count = layer.listing.len();
    layer.list.hints(count, enter, row_hints, keymap)
}

/// The areas of the list including its title, and of the preview including the divider.
fn split(area: Rect) -> (Rect, Option<Rect>) {
    if area.width >= PREVIEW_BESIDE_COLUMNS_MIN {
        let columns = (area.width * 6 / 10).max(LIST_COLUMNS_MIN);
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
    if area.height < PREVIEW_BELOW_ROWS_MIN {
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

/// Returns the area of the preview's text.
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
    let (across, down) = (pen.glyphs.horizontal_line, pen.glyphs.vertical_line);
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

fn draw_row(
    hit: &SessionSummary,
    listed_at: Timestamp,
    terms: &[String],
    row: &ListRow,
    pen: &mut Painter,
) {
    let (line, dim) = (row.text_area(), pen.theme.dim);
    let mut end = line.right();
    let mut take_columns = |columns: u16| {
        end = end.saturating_sub(columns);
        let start = end;
        end = end.saturating_sub(2);
        start
    };
    if let Some(reason) = &hit.open_error {
        // The preview shows the reason in full.
        let text = Clean::single_line(&format!("{} broken: {reason}", pen.glyphs.failed));
        let columns = line.width / 2;
        let x = take_columns(columns.saturating_sub(2));
        let failure = pen.theme.failure;
        pen.put_words(x, line.y, text.as_str(), failure, line.right() - x);
    } else if line.width >= DATE_ROW_COLUMNS_MIN {
        if line.width >= COUNT_ROW_COLUMNS_MIN {
            let x = take_columns(COUNT_COLUMNS);
            // The file has not been read yet, so only its name is known.
            let is_unread = hit.message_count == 0 && hit.model.is_empty();
            let count = hit.message_count.to_string();
            let count = if is_unread { "" } else { &count };
            pen.put_right(x + COUNT_COLUMNS, line.y, count, dim);
        }
        if line.width >= MODEL_ROW_COLUMNS_MIN {
            let model = Clean::single_line(&hit.model);
            pen.put_truncated(
                take_columns(MODEL_COLUMNS),
                line.y,
                model.as_str(),
                dim,
                MODEL_COLUMNS,
            );
        }
        let date = format_date(hit.changed_at, listed_at);
        pen.put(take_columns(DATE_COLUMNS), line.y, &date, dim, DATE_COLUMNS);
    }
    let columns = end.saturating_sub(line.x);
    let title = shown_title(hit);
    let used = pen.put_words(line.x, line.y, title.as_str(), row.style, columns);
    let drawn = Rect {
        width: used,
        ..line
    };
    mark_matches(drawn, "", title.as_str(), terms, pen);
}

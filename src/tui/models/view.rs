//! Draws the `/models` dialog: a search line, servers with their models, pull progress.

use crate::domain::model_catalog::format_size;
use crate::domain::{ListedModel, Pull, ServerCatalog};
use crate::text::Clean;
use crate::tui::layer::SharedUiState;
use crate::tui::models::layer::ModelsLayer;
use crate::tui::models::rows::{ModelRow, Row, count_words, rows};
use crate::tui::widgets::list::{ListRow, rows_in_view};
use crate::tui::widgets::numbers::format_thousands;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::text_field;
use crate::tui::widgets::window::draw_window;
use ratatui::layout::{Position, Rect};

// Minimum widths that show the column of the given name.
const ABILITIES_FROM: u16 = 84;
const FAMILY_FROM: u16 = 62;
const STATE_FROM: u16 = 44;
const SIZE_FROM: u16 = 28;
const BAR_COLUMNS: usize = 20;
/// Rows of an error about a server.
const FAULT_ROWS_MAX: usize = 4;

/// Returns the cursor position if a text field has the focus.
pub fn draw(
    open: &mut ModelsLayer,
    over: Rect,
    shared: SharedUiState,
    pen: &mut Painter,
) -> Option<Position> {
    let engine = shared.engine;
    let all = rows(&engine.catalog, &open.list.filter());
    let count = all
        .iter()
        .filter(|row| matches!(row, Row::Model(_)))
        .count();
    let mut rest = draw_window(over, "Models", &count_words(count), pen);
    let cursor = match &mut open.pulling {
        Some(name) => Some(text_field::draw_line(name, "Pull:", rest, pen)),
        None => {
            let at = open.list.draw_filter("/", rest, pen);
            Some(at).filter(|_| !open.list.has_row_focus())
        }
    };
    let gap = 1 + u16::from(rest.height > 6);
    rest.y += gap.min(rest.height);
    rest.height = rest.height.saturating_sub(gap);
    if let Some(pull) = &engine.pull
        && rest.height > 1
    {
        rest.height -= 1;
        let line = Rect {
            y: rest.bottom(),
            height: 1,
            ..rest
        };
        pull_line(pull, line, pen);
        // A blank row above it, if there is room.
        rest.height -= u16::from(rest.height > 6);
    }
    if all.is_empty() {
        let text = if open.list.is_unfiltered() {
            "No model server is known. Press a to add one."
        } else {
            "nothing matches"
        };
        pen.put_truncated(rest.x + 2, rest.y, text, pen.theme.dim, rest.width);
    }
    list(open, &all, rest, shared, pen);
    cursor
}

/// One drawn line.
enum Line<'a> {
    Server(&'a ServerCatalog),
    Model(&'a ModelRow<'a>),
    /// A remark's line, and whether an error mark precedes it.
    Words(String, bool),
}

fn lines<'a>(all: &'a [Row<'a>], columns: u16) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for row in all {
        match row {
            Row::Server(server) => lines.push(Line::Server(server)),
            Row::Model(row) => lines.push(Line::Model(row)),
            Row::Words(words, is_fault) => {
                let rows = wrapped_rows(&Clean::single_line(words), columns.saturating_sub(2));
                let rows = rows.into_iter().take(FAULT_ROWS_MAX).enumerate();
                lines.extend(rows.map(|(at, row)| Line::Words(row, *is_fault && at == 0)));
            }
        }
    }
    lines
}

fn list(open: &ModelsLayer, all: &[Row<'_>], area: Rect, shared: SharedUiState, pen: &mut Painter) {
    let lines = lines(all, area.width);
    // Only models can be selected.
    let models: Vec<usize> = (0..lines.len())
        .filter(|index| matches!(lines[*index], Line::Model(_)))
        .collect();
    let at = models.get(open.list.selected(models.len())).copied();
    for mut row in rows_in_view(lines.len(), at, area, pen) {
        if row.is_selected && open.is_lost {
            row = row.unselected(pen);
        }
        let line = row.line;
        match &lines[row.index] {
            Line::Server(server) => server_line(server, line, pen),
            Line::Words(words, is_fault) => {
                let mark = if *is_fault { pen.glyphs.failed } else { " " };
                pen.put(line.x, line.y, mark, pen.theme.failure, 1);
                let columns = line.width.saturating_sub(2);
                pen.put(line.x + 2, line.y, words, pen.theme.dim, columns);
            }
            Line::Model(model) => {
                let in_use = shared.engine.selected.as_ref();
                model_row(
                    model,
                    model.configured.is_some() && model.configured == in_use,
                    &row,
                    pen,
                );
                if row.is_selected && open.list.has_row_focus() {
                    row.highlight(pen);
                }
            }
        }
    }
}

fn server_line(catalog: &ServerCatalog, line: Rect, pen: &mut Painter) {
    let (server, dot) = (&catalog.server, pen.glyphs.dot);
    let words = Clean::single_line(&format!("{} {dot} {}", server.url, server.provider));
    let listed = catalog.listed();
    let right = listed.map_or_else(String::new, |listed| count_words(listed.models.len()));
    let end = pen.put_right(line.right(), line.y, &right, pen.theme.dim);
    let columns = end.saturating_sub(line.x + 1);
    pen.put_truncated(line.x, line.y, words.as_str(), pen.theme.bold, columns);
}

fn model_row(row: &ModelRow<'_>, in_use: bool, at: &ListRow, pen: &mut Painter) {
    at.put_mark(pen);
    let line = at.line;
    let mut end = line.right();
    if line.width >= STATE_FROM {
        let (word, style) = match (in_use, row.configured.is_some()) {
            (true, _) => ("in use", pen.theme.success),
            (_, true) if row.is_missing => ("not listed", pen.theme.attention),
            (_, true) => ("configured", pen.theme.dim),
            (_, false) => ("", pen.theme.dim),
        };
        pen.put(end - 10, line.y, word, style, 10);
        end -= 12;
    }
    let end = fact_columns(row, line.width, end, line.y, pen);
    let name = if row.name() == row.model() {
        row.name().to_owned()
    } else {
        format!("{}  {}", row.name(), row.model())
    };
    let columns = end.saturating_sub(line.x + 2);
    pen.put_truncated(
        line.x + 2,
        line.y,
        Clean::single_line(&name).as_str(),
        at.style,
        columns,
    );
}

/// Draws the server's facts about a model, from right to left. Returns the leftmost column.
fn fact_columns(row: &ModelRow<'_>, width: u16, mut end: u16, y: u16, pen: &mut Painter) -> u16 {
    let facts = row.listed.map(|listed| &listed.info);
    if width >= ABILITIES_FROM {
        let loaded = row.listed.filter(|listed| listed.is_loaded == Some(true));
        let loaded = loaded.map(|_| "in memory").into_iter();
        let abilities = row
            .listed
            .into_iter()
            .flat_map(ListedModel::extra_capabilities);
        let words: Vec<&str> = loaded.chain(abilities).collect();
        let words = Clean::single_line(&words.join(", "));
        pen.put_truncated(end - 26, y, words.as_str(), pen.theme.dim, 26);
        end -= 28;
    }
    if width >= FAMILY_FROM {
        let length = facts.and_then(|facts| facts.context_length);
        let length = length.map_or_else(String::new, |tokens| format_thousands(tokens.into()));
        pen.put_right(end, y, &length, pen.theme.dim);
        end -= 7;
        let family = facts.and_then(|facts| facts.family.as_deref());
        let family = Clean::single_line(family.unwrap_or_default());
        pen.put_truncated(end - 10, y, family.as_str(), pen.theme.dim, 10);
        end -= 12;
    }
    if width >= SIZE_FROM {
        let bytes = row.listed.and_then(|listed| listed.bytes);
        let size = bytes.map(format_size).unwrap_or_default();
        pen.put_right(end, y, &size, pen.theme.dim);
        end -= 9;
    }
    end
}

/// `Pulling qwen3:4b  ▕████   ▏ 42 %  1.1 GB of 2.6 GB`
fn pull_line(pull: &Pull, line: Rect, pen: &mut Painter) {
    let words = Clean::single_line(&pull_words(pull, pen, line.width >= 60));
    pen.put_truncated(line.x, line.y, words.as_str(), pen.theme.accent, line.width);
}

/// Progress of a pull; without bar and sizes unless `wide`.
pub fn pull_words(pull: &Pull, pen: &Painter, wide: bool) -> String {
    let name = &pull.name;
    let Some(fraction) = pull.fraction() else {
        return format!("Pulling {name}: {}", pull.status);
    };
    let percent = (fraction * 100.0).floor();
    if !wide {
        return format!("Pulling {name} {percent:.0} %");
    }
    let full = (fraction * BAR_COLUMNS as f64).round() as usize;
    let [left, right] = pen.glyphs.bar_ends;
    let bar = pen.glyphs.bar_full.repeat(full) + &" ".repeat(BAR_COLUMNS - full);
    let sizes = format!("{} of {}", format_size(pull.done), format_size(pull.total));
    let status = match pull.status.as_str() {
        "pulling" => String::new(),
        other => format!("  {other}"),
    };
    format!("Pulling {name}  {left}{bar}{right} {percent:3.0} %  {sizes}{status}")
}

//! Draws the model picker: servers with their models, actions, pull progress.

use crate::domain::model_catalog::format_size;
use crate::domain::{ListedModel, Pull, ServerCatalog};
use crate::text::Clean;
use crate::text::grapheme;
use crate::text::numbers::format_thousands;
use crate::tui::layer::SharedUiState;
use crate::tui::layout::{SIDEBAR_WIDTH, fits_sidebar};
use crate::tui::models::layer::ModelsLayer;
use crate::tui::models::rows::{
    ADD_SERVER_LABEL, DEMO_LABEL, KnownModels, ModelListChoice, ModelListRow, ModelRow,
    PickerAction, model_count, rows,
};
use crate::tui::widgets::list::{ListCount, ListRow, rows_area, rows_in_view};
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::text_field;
use crate::tui::widgets::window::content_area;
use ratatui::layout::{Position, Rect};

// Minimum list widths at which the columns are shown.
const CAPABILITIES_LIST_COLUMNS_MIN: u16 = 84;
const FAMILY_LIST_COLUMNS_MIN: u16 = 62;
const STATE_LIST_COLUMNS_MIN: u16 = 44;
const SIZE_LIST_COLUMNS_MIN: u16 = 28;
/// Blank columns after a left-aligned column.
const GAP_COLUMNS: u16 = 2;
const CAPABILITIES_COLUMNS: u16 = 26;
const FAMILY_COLUMNS: u16 = 10;
// Right-aligned columns, including the blanks before them.
const CONTEXT_LENGTH_COLUMNS: u16 = 7;
const SIZE_COLUMNS: u16 = 9;
const BAR_COLUMNS: usize = 20;
/// Maximum rows of a message about a server, such as an error.
const MESSAGE_ROWS_MAX: usize = 4;

/// Returns the cursor position if a text field has the focus.
pub fn draw(
    layer: &mut ModelsLayer,
    area: Rect,
    shared: SharedUiState,
    pen: &mut Painter,
) -> Option<Position> {
    let known = KnownModels::new(shared.engine);
    let all = rows(known, &layer.list.filter());
    let mut list_area = rows_area(area);
    let pull_line = reserve_pull_line(shared.engine.pull.as_ref(), &mut list_area);
    let lines = lines(&all, list_area.width);
    let choices = choice_lines(&lines);
    let selected = layer.list.selected(choices.len());
    let selected_line = choices.get(selected).copied();
    if selected == 0 {
        // Also show the server's line above the first choice.
        layer.list.scroll_to(0, lines.len(), list_area.height);
    }
    let first = layer
        .list
        .scroll_to(selected_line.unwrap_or(0), lines.len(), list_area.height);
    let end = first + usize::from(list_area.height);
    let count = ListCount {
        listed: count_models(&all),
        total: count_models(&rows(known, "")),
        above: choices.iter().filter(|line| **line < first).count(),
        below: choices.iter().filter(|line| **line >= end).count(),
    };
    let note = count.note(&pen.glyphs);
    let mut cursor = layer.list.draw_head(area, "Models", &note, pen);
    if let Some(name) = &mut layer.pulling {
        let line = content_area(area);
        pen.clear(Rect {
            height: line.height.min(1),
            ..line
        });
        let prompt = format!("Pull {}", pen.glyphs.prompt);
        let accent = pen.theme.accent;
        cursor = Some(text_field::draw_line(name, (&prompt, accent), line, pen));
    }
    for row in rows_in_view(lines.len(), selected_line, first, list_area, pen) {
        if let Ok(choice) = choices.binary_search(&row.index) {
            layer.list.record_drawn(row.line, choice);
        }
        draw_line(&lines[row.index], row, layer, known, pen);
    }
    if let (Some(pull), Some(line)) = (&shared.engine.pull, pull_line) {
        draw_pull(pull, line, pen);
    }
    cursor
}

/// Reserves the last row for the progress of a pull, with a blank row above it if there is room.
fn reserve_pull_line(pull: Option<&Pull>, area: &mut Rect) -> Option<Rect> {
    if pull.is_none() || area.height < 2 {
        return None;
    }
    area.height -= 1;
    let line = Rect {
        y: area.bottom(),
        height: 1,
        ..*area
    };
    area.height -= u16::from(area.height > 6);
    Some(line)
}

fn count_models(rows: &[ModelListRow]) -> usize {
    let is_model =
        |row: &&ModelListRow| matches!(row, ModelListRow::Choice(ModelListChoice::Model(_)));
    rows.iter().filter(is_model).count()
}

fn choice_lines(lines: &[Line]) -> Vec<usize> {
    let is_choice = |index: &usize| matches!(lines[*index], Line::Choice(_));
    (0..lines.len()).filter(is_choice).collect()
}

/// The number of rows that the picker needs below its title. Ignores the filter, so the picker
/// keeps its height while the user types.
pub fn required_rows(shared: SharedUiState) -> u16 {
    // Assume that the sidebar is visible if it fits.
    let sidebar = if fits_sidebar(shared.size) {
        SIDEBAR_WIDTH
    } else {
        0
    };
    let columns = shared.size.0.saturating_sub(2 + sidebar);
    let all = rows(KnownModels::new(shared.engine), "");
    let pull = if shared.engine.pull.is_some() { 2 } else { 0 };
    // The filter takes one row.
    u16::try_from(lines(&all, columns).len() + 1 + pull).unwrap_or(u16::MAX)
}

enum Line<'a> {
    Server(&'a ServerCatalog),
    Choice(ModelListChoice<'a>),
    /// One line of a message about a server, and whether an error mark precedes it.
    ServerStatus(String, bool),
    Gap,
}

fn lines<'a>(all: &[ModelListRow<'a>], columns: u16) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    let mut has_actions = false;
    for row in all {
        match row {
            ModelListRow::Server(server) => lines.push(Line::Server(server)),
            ModelListRow::Choice(choice) => {
                let is_action = matches!(choice, ModelListChoice::Action(_));
                if is_action && !has_actions && !lines.is_empty() {
                    lines.push(Line::Gap);
                }
                has_actions |= is_action;
                lines.push(Line::Choice(*choice));
            }
            ModelListRow::ServerStatus(words, is_error) => {
                let rows = wrapped_rows(&Clean::single_line(words), columns.saturating_sub(2));
                let rows = rows.into_iter().take(MESSAGE_ROWS_MAX).enumerate();
                lines.extend(rows.map(|(at, row)| Line::ServerStatus(row, *is_error && at == 0)));
            }
        }
    }
    lines
}

fn draw_line(
    line: &Line,
    mut row: ListRow,
    layer: &ModelsLayer,
    known: KnownModels,
    pen: &mut Painter,
) {
    if row.is_selected && layer.is_selection_gone {
        row = row.unselected(pen);
    }
    match line {
        Line::Server(server) => draw_server(server, row.line, pen),
        Line::ServerStatus(words, is_error) => {
            let mark = if *is_error { pen.glyphs.failed } else { " " };
            pen.put(row.line.x, row.line.y, mark, pen.theme.failure, 1);
            let area = row.text_area();
            pen.put(area.x, area.y, words, pen.theme.dim, area.width);
        }
        Line::Choice(choice) => {
            row.put_mark(pen);
            match choice {
                ModelListChoice::Model(model) => draw_model(model, known, &row, pen),
                ModelListChoice::Action(action) => draw_action(*action, layer, known, &row, pen),
            }
        }
        Line::Gap => {}
    }
}

/// Returns the column after the numbers.
fn put_number(number: Option<usize>, known: KnownModels, row: &ListRow, pen: &mut Painter) -> u16 {
    let x = row.line.x + 2;
    if row.line.width < SIZE_LIST_COLUMNS_MIN {
        return x;
    }
    let columns = known.configured.len().to_string().len() as u16;
    let number = number.map_or_else(String::new, |number| number.to_string());
    let dim = pen.theme.dim;
    pen.put_right(x + columns, row.line.y, &number, dim);
    x + columns + 2
}

fn draw_action(
    action: PickerAction,
    layer: &ModelsLayer,
    known: KnownModels,
    row: &ListRow,
    pen: &mut Painter,
) {
    let filter = layer.list.filter();
    let (number, label) = match action {
        PickerAction::KeepCurrent if known.selected.is_none() => {
            (Some(0), "Change nothing".to_owned())
        }
        PickerAction::KeepCurrent => (Some(0), "Keep the current model".to_owned()),
        PickerAction::Pull if filter.trim().is_empty() => {
            (None, "Pull a model from the Ollama library …".to_owned())
        }
        PickerAction::Pull => (
            None,
            format!("Pull {} from the Ollama library …", filter.trim()),
        ),
        PickerAction::AddServer => (None, ADD_SERVER_LABEL.to_owned()),
        PickerAction::Demo => (None, DEMO_LABEL.to_owned()),
    };
    let x = put_number(number, known, row, pen);
    let columns = row.line.right().saturating_sub(x);
    let label = Clean::single_line(&pen.glyphs.label(label));
    pen.put_words(x, row.line.y, label.as_str(), row.style, columns);
}

fn draw_server(catalog: &ServerCatalog, line: Rect, pen: &mut Painter) {
    let (server, dot) = (&catalog.server, pen.glyphs.dot);
    let words = Clean::single_line(&format!("{} {dot} {}", server.url, server.provider));
    let listed = catalog.listed();
    let right = listed.map_or_else(String::new, |listed| model_count(listed.models.len()));
    let end = pen.put_right(line.right(), line.y, &right, pen.theme.dim);
    let columns = end.saturating_sub(line.x + 1);
    pen.put_truncated(line.x, line.y, words.as_str(), pen.theme.bold, columns);
}

fn draw_model(row: &ModelRow<'_>, known: KnownModels, list_row: &ListRow, pen: &mut Painter) {
    let number = row.configured.and_then(|entry| known.number(entry));
    let x = put_number(number, known, list_row, pen);
    let in_use = known.is_in_use(row);
    let line = list_row.line;
    let mut end = line.right();
    if line.width >= STATE_LIST_COLUMNS_MIN {
        let (word, style) = match (in_use, row.configured.is_some()) {
            (true, _) => ("in use", pen.theme.success),
            (_, true) if row.is_missing => ("not listed", pen.theme.attention),
            (_, true) => ("configured", pen.theme.dim),
            (_, false) => ("", pen.theme.dim),
        };
        pen.put(end - 10, line.y, word, style, 10);
        end -= 12;
    }
    let name = if row.name() == row.model() {
        row.name().to_owned()
    } else {
        format!("{}  {}", row.name(), row.model())
    };
    let name = Clean::single_line(&name);
    let (y, details) = (line.y, details_width(line.width));
    // The selected row hides its details rather than truncating its name.
    let room = usize::from(end.saturating_sub(x + details));
    if !list_row.is_selected || grapheme::width(name.as_str()) <= room {
        end = draw_details(row, line.width, end, y, pen);
    }
    let columns = end.saturating_sub(x);
    pen.put_truncated(x, y, name.as_str(), list_row.style, columns);
}

fn details_width(list_width: u16) -> u16 {
    let columns = [
        (
            CAPABILITIES_LIST_COLUMNS_MIN,
            CAPABILITIES_COLUMNS + GAP_COLUMNS,
        ),
        (
            FAMILY_LIST_COLUMNS_MIN,
            CONTEXT_LENGTH_COLUMNS + FAMILY_COLUMNS + GAP_COLUMNS,
        ),
        (SIZE_LIST_COLUMNS_MIN, SIZE_COLUMNS),
    ];
    let shown = columns.iter().filter(|(from, _)| list_width >= *from);
    shown.map(|(_, columns)| columns).sum()
}

/// Draws a model's details from right to left. Returns the leftmost column.
fn draw_details(row: &ModelRow<'_>, width: u16, mut end: u16, y: u16, pen: &mut Painter) -> u16 {
    let info = row.listed.map(|listed| &listed.info);
    if width >= CAPABILITIES_LIST_COLUMNS_MIN {
        let loaded = row.listed.filter(|listed| listed.is_loaded == Some(true));
        let loaded = loaded.map(|_| "in memory").into_iter();
        let capabilities = row
            .listed
            .into_iter()
            .flat_map(ListedModel::extra_capabilities);
        let words: Vec<&str> = loaded.chain(capabilities).collect();
        let words = Clean::single_line(&words.join(", "));
        pen.put_words(
            end - CAPABILITIES_COLUMNS,
            y,
            words.as_str(),
            pen.theme.dim,
            CAPABILITIES_COLUMNS,
        );
        end -= CAPABILITIES_COLUMNS + GAP_COLUMNS;
    }
    if width >= FAMILY_LIST_COLUMNS_MIN {
        let length = info.and_then(|info| info.context_length);
        let length = length.map_or_else(String::new, |tokens| format_thousands(tokens.into()));
        pen.put_right(end, y, &length, pen.theme.dim);
        end -= CONTEXT_LENGTH_COLUMNS;
        let family = info.and_then(|info| info.family.as_deref());
        let family = Clean::single_line(family.unwrap_or_default());
        pen.put_truncated(
            end - FAMILY_COLUMNS,
            y,
            family.as_str(),
            pen.theme.dim,
            FAMILY_COLUMNS,
        );
        end -= FAMILY_COLUMNS + GAP_COLUMNS;
    }
    if width >= SIZE_LIST_COLUMNS_MIN {
        let bytes = row.listed.and_then(|listed| listed.bytes);
        let size = bytes.map(format_size).unwrap_or_default();
        pen.put_right(end, y, &size, pen.theme.dim);
        end -= SIZE_COLUMNS;
    }
    end
}

/// `Pulling qwen3:4b  ▕████   ▏ 42 %  1.1 GB of 2.6 GB`
fn draw_pull(pull: &Pull, line: Rect, pen: &mut Painter) {
    let words = Clean::single_line(&pull_progress(pull, pen, line.width >= 60));
    pen.put_truncated(line.x, line.y, words.as_str(), pen.theme.accent, line.width);
}

/// Progress of a pull; without bar and sizes unless `is_wide`.
pub fn pull_progress(pull: &Pull, pen: &Painter, is_wide: bool) -> String {
    let name = &pull.name;
    let Some(fraction) = pull.fraction() else {
        return format!("Pulling {name}: {}", pull.status);
    };
    let percent = (fraction * 100.0).floor();
    if !is_wide {
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

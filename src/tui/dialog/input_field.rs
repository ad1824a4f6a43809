//! Text fields of a dialog, such as the denial reason, a confirmation or edited arguments.

use crate::text::Clean;
use crate::tui::dialog::compact::saturate_u16;
use crate::tui::dialog::state::{DialogMode, EditTarget};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::text_field;
use ratatui::layout::{Position, Rect};

/// Draws the editor of the arguments, of one value or of a pattern, below the name of the tool.
pub fn draw_arguments(
    head: &Clean,
    mode: &mut DialogMode,
    area: Rect,
    pen: &mut Painter,
) -> Option<Position> {
    let DialogMode::EditArguments {
        editor,
        error,
        target,
        ..
    } = mode
    else {
        return None;
    };
    let mut rest = area;
    if area.height > 3 {
        pen.put_truncated(area.x, area.y, head.as_str(), pen.theme.bold, area.width);
        rest.y += 1;
        rest.height -= 1;
    }
    let label = match target {
        EditTarget::Pattern => {
            "Allow calls matching this pattern (* and ? stay inside one word):".to_owned()
        }
        EditTarget::Arguments => "Edit the arguments:".to_owned(),
        EditTarget::Value { label, .. } => format!("Edit {label}:"),
    };
    Some(draw_field(&label, editor, error.as_deref(), rest, pen))
}

/// A text field with its label above and an error below.
pub fn draw_field(
    label: &str,
    editor: &mut Editor,
    error: Option<&str>,
    area: Rect,
    pen: &mut Painter,
) -> Position {
    if area.height > 1 {
        pen.put_truncated(area.x, area.y, label, pen.theme.bold, area.width);
    }
    let errors = error_rows(error, area);
    let field = field_area(area, errors.len());
    let view = editor.view(field.width, field.height);
    let style = pen.theme.plain;
    text_field::draw_view(&view, style, field, pen);
    let error_row_count = saturate_u16(errors.len());
    for (y, row) in (area.bottom() - error_row_count..area.bottom()).zip(&errors) {
        pen.put(area.x, y, row, pen.theme.failure, area.width);
    }
    let (x, y) = view.cursor;
    Position::new(field.x + x, field.y + y)
}

/// In at most three rows.
fn error_rows(error: Option<&str>, area: Rect) -> Vec<String> {
    let rows = error.map(|error| wrapped_rows(&Clean::single_line(error), area.width));
    let mut rows = rows.unwrap_or_default();
    rows.truncate(usize::from(area.height.div_ceil(3).min(3)));
    rows
}

/// The area of the text, between label and error.
fn field_area(area: Rect, error_row_count: usize) -> Rect {
    let label_rows = u16::from(area.height > 1);
    let gap = u16::from(area.height > 6);
    let taken = label_rows + gap + saturate_u16(error_row_count);
    Rect {
        x: area.x + 2.min(area.width),
        y: area.y + label_rows + gap,
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(taken),
    }
}

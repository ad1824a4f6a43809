//! A text field: keys, pasting and drawing around an [`Editor`].

use crate::text::grapheme::width;
use crate::tui::input::decode::typed_char;
use crate::tui::keymap::{Action, Keymap};
use crate::tui::widgets::editor::{Edit, Editor, EditorView, Motion, SpanKind};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

/// Handles a key in a text field: an editing key or a character. Returns false if it had no effect.
pub fn handle_key(editor: &mut Editor, key: KeyEvent, keymap: &Keymap) -> bool {
    let action = keymap.text_field_action(key);
    match (action, typed_char(key)) {
        (Some(Action::Edit(edit)), _) => editor.edit(edit),
        (None, Some(c)) => {
            editor.insert(c.encode_utf8(&mut [0; 4]));
            true
        }
        _ => false,
    }
}

/// Handles a key in a single-line field, where a line break becomes a space.
pub fn handle_line_key(editor: &mut Editor, key: KeyEvent, keymap: &Keymap) -> bool {
    let action = keymap.text_field_action(key);
    match action {
        Some(Action::Edit(Edit::Newline)) => {
            editor.insert(" ");
            true
        }
        Some(Action::Edit(Edit::Move(Motion::Up | Motion::Down))) => false,
        _ => handle_key(editor, key, keymap),
    }
}

/// Pastes into a single-line field.
pub fn paste_line(editor: &mut Editor, text: &str) {
    let text = text.replace("\r\n", " ");
    editor.insert(&text.replace(['\n', '\r'], " "));
}

/// Draws a prompt and the field after it in the first row of `area`; returns the cursor
/// position.
pub fn draw_line(
    editor: &mut Editor,
    (prompt, style): (&str, Style),
    area: Rect,
    pen: &mut Painter,
) -> Position {
    let lead = width(prompt) as u16 + 1;
    if area.height > 0 {
        pen.put(area.x, area.y, prompt, style, area.width);
    }
    let rest = Rect {
        x: area.x + lead.min(area.width),
        width: area.width.saturating_sub(lead),
        ..area
    };
    draw_text(editor, rest, pen)
}

/// Draws the text without a prompt, in one row that scrolls sideways with the cursor.
pub fn draw_text(editor: &mut Editor, area: Rect, pen: &mut Painter) -> Position {
    let view = editor.line_view(area.width);
    let style = pen.theme.plain;
    draw_view(&view, style, area, pen);
    Position::new(area.x + view.cursor.0, area.y)
}

/// Draws the rows of a text in `style`, with its selection and its chips.
pub fn draw_view(view: &EditorView, style: Style, area: Rect, pen: &mut Painter) {
    for (y, row) in (area.top()..area.bottom()).zip(&view.rows) {
        pen.put(area.x, y, row, style, area.width);
    }
    for span in &view.spans {
        let style = match span.kind {
            SpanKind::Chip => pen.theme.accent,
            SpanKind::Selected => pen.theme.selection,
        };
        let columns = area.width.saturating_sub(span.column);
        if span.row < area.height && columns > 0 {
            let (x, y) = (area.x + span.column, area.y + span.row);
            pen.put(x, y, &span.text, style, columns);
        }
    }
}

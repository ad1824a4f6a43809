//! A text field: keys, pasting and drawing around an [`Editor`].

use crate::text::grapheme::width;
use crate::tui::input::decode::typed_char;
use crate::tui::keymap::{Action, Keymap};
use crate::tui::widgets::editor::{Edit, Editor};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

/// Handles a key in a text field: an editing key or a character. Returns false if nothing
/// changed.
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
        Some(Action::Edit(Edit::Up | Edit::Down)) => false,
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
    let (text, cursor) = editor.line_view(area.width);
    if area.height > 0 {
        pen.put(area.x, area.y, &text, pen.theme.plain, area.width);
    }
    Position::new(area.x + cursor, area.y)
}

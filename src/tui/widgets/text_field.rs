//! A text field: keys, pasting and drawing around an [`Editor`].

use crate::text::grapheme::width;
use crate::tui::input::decode::typed_char;
use crate::tui::keymap;
use crate::tui::keymap::{Action, BindingScope};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

/// Handles a key in a text field: an editing key or a character. Returns false if nothing
/// changed.
pub fn handle_key(editor: &mut Editor, key: KeyEvent) -> bool {
    let action = keymap::find_action(key, |when| when == BindingScope::Message);
    match (action, typed_char(key)) {
        (Some(Action::Edit(edit)), _) => editor.edit(edit),
        (None, Some(c)) => {
            editor.insert(c.encode_utf8(&mut [0; 4]));
            true
        }
        _ => false,
    }
}

/// Pastes into a single-line field.
pub fn paste_line(editor: &mut Editor, text: &str) {
    editor.insert(&text.replace(['\n', '\r'], " "));
}

/// Draws a prompt and the field after it in the first row of `area`; returns the cursor
/// position.
pub fn draw_line(editor: &mut Editor, prompt: &str, area: Rect, pen: &mut Painter) -> Position {
    pen.put(area.x, area.y, prompt, pen.theme.accent, area.width);
    let lead = width(prompt) as u16 + 1;
    let rest = Rect {
        x: area.x + lead,
        width: area.width.saturating_sub(lead),
        ..area
    };
    draw_text(editor, rest, pen)
}

/// Draws the text without a prompt, in one row.
pub fn draw_text(editor: &mut Editor, area: Rect, pen: &mut Painter) -> Position {
    let view = editor.view(area.width, 1);
    for row in &view.rows {
        pen.put(area.x, area.y, row, pen.theme.plain, area.width);
    }
    Position::new(area.x + view.cursor.0, area.y)
}

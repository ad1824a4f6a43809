//! The help layer: all keys and commands, generated from the keymap table.

use crate::tui::keymap::{Action, Binding, BindingScope, Chord, TABLE};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::draw_window;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

/// Columns of the keys, and of the commands at the right.
const KEYS_COLUMNS: u16 = 24;
const COMMAND_COLUMNS: u16 = 16;

enum HelpRow {
    Heading(&'static str),
    Binding(&'static Binding),
    Blank,
}

#[derive(Debug, Default)]
pub struct HelpLayer {
    /// First visible row.
    top: usize,
}

impl Layer for HelpLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::Help)
    }

    fn handle_key(&mut self, _: KeyEvent, _: &mut UiContext) -> Handled {
        Handled::PassedOn
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        self.top = self.top.saturating_add_signed(rows);
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        let (over, rows) = (area.body, help_rows());
        let area = draw_window(over, "Help", "", pen);
        let height = usize::from(area.height);
        self.top = self.top.min(rows.len().saturating_sub(height));
        for (y, row) in rows.iter().skip(self.top).take(height).enumerate() {
            let y = area.y + y as u16;
            match row {
                HelpRow::Blank => {}
                HelpRow::Heading(words) => {
                    pen.put(area.x, y, words, pen.theme.bold, area.width);
                }
                HelpRow::Binding(binding) => draw_binding(binding, area, y, pen),
            }
        }
        let below = rows.len().saturating_sub(self.top + height);
        if below > 0 && height > 0 {
            let mark = format!(" {} {below} more", pen.glyphs.down);
            pen.put_right(area.right(), area.bottom() - 1, &mark, pen.theme.accent);
        }
        None
    }

    fn hints(&self, _: SharedUiState) -> Vec<String> {
        vec!["PgUp/PgDn scroll".to_owned(), "Esc close".to_owned()]
    }
}

fn draw_binding(binding: &Binding, area: Rect, y: u16, pen: &mut Painter) {
    let keys: Vec<_> = binding.keys.iter().map(Chord::to_string).collect();
    let command = format!("{} {}", binding.command.unwrap_or_default(), binding.usage);
    let narrow = area.width < 72;
    let name = if !keys.is_empty() && narrow {
        keys[0].clone()
    } else if keys.is_empty() {
        command.trim_end().to_owned()
    } else {
        keys.join(", ")
    };
    let columns = if narrow {
        KEYS_COLUMNS / 2
    } else {
        KEYS_COLUMNS + 4
    };
    pen.put_truncated(area.x, y, &name, pen.theme.accent, columns.min(area.width));
    let x = area.x + columns + 1;
    let room = area.right().saturating_sub(x);
    let used = pen.put_truncated(x, y, binding.description, pen.theme.plain, room);
    if !keys.is_empty() && used + COMMAND_COLUMNS < room {
        pen.put_right(area.right(), y, command.trim_end(), pen.theme.dim);
    }
}

fn help_rows() -> Vec<HelpRow> {
    let groups = [
        ("Everywhere", BindingScope::Always, true),
        ("In the message", BindingScope::Message, true),
        ("In a pane", BindingScope::Pane, true),
        ("In the Servers pane", BindingScope::Servers, true),
        ("On a call in the chat", BindingScope::CallLine, true),
        ("Commands", BindingScope::Always, false),
    ];
    let mut rows = Vec::new();
    for (heading, when, keyed) in groups {
        if !rows.is_empty() {
            rows.push(HelpRow::Blank);
        }
        rows.push(HelpRow::Heading(heading));
        let listed = TABLE
            .iter()
            .filter(|binding| binding.scope == when && binding.keys.is_empty() != keyed);
        rows.extend(listed.map(HelpRow::Binding));
    }
    rows
}

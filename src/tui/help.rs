//! All keys and commands, read from the table of actions.

use crate::tui::keymap::{Binding, Chord, TABLE, When};
use crate::tui::widgets::list::dialog;
use crate::tui::widgets::painter::Pen;
use ratatui::layout::Rect;

/// Columns of the keys, and of the commands behind them.
const KEYS_COLUMNS: u16 = 24;
const COMMAND_COLUMNS: u16 = 16;

enum Row {
    Heading(&'static str),
    Binding(&'static Binding),
    Blank,
}

pub fn draw(over: Rect, scroll: &mut usize, pen: &mut Pen) {
    let rows = rows();
    let area = dialog(over, "Help", "", (over.width, rows.len() as u16), pen);
    let height = usize::from(area.height);
    *scroll = (*scroll).min(rows.len().saturating_sub(height));
    for (y, row) in rows.iter().skip(*scroll).take(height).enumerate() {
        let y = area.y + y as u16;
        match row {
            Row::Blank => {}
            Row::Heading(words) => {
                pen.put(area.x, y, words, pen.theme.bold, area.width);
            }
            Row::Binding(binding) => draw_binding(binding, area, y, pen),
        }
    }
    let below = rows.len().saturating_sub(*scroll + height);
    if below > 0 && height > 0 {
        let mark = format!(" {} {below} more", pen.glyphs.down);
        pen.put_right(area.right(), area.bottom() - 1, &mark, pen.theme.accent);
    }
}

fn draw_binding(binding: &Binding, area: Rect, y: u16, pen: &mut Pen) {
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
    pen.put_cut(area.x, y, &name, pen.theme.accent, columns.min(area.width));
    let x = area.x + columns + 1;
    let room = area.right().saturating_sub(x);
    let used = pen.put_cut(x, y, binding.description, pen.theme.plain, room);
    if !keys.is_empty() && used + COMMAND_COLUMNS < room {
        pen.put_right(area.right(), y, command.trim_end(), pen.theme.dim);
    }
}

fn rows() -> Vec<Row> {
    let groups = [
        ("Everywhere", When::Always, true),
        ("In the message", When::Message, true),
        ("In a pane", When::Pane, true),
        ("In the servers", When::Servers, true),
        ("On a call in the chat", When::Call, true),
        ("Commands", When::Always, false),
    ];
    let mut rows = Vec::new();
    for (heading, when, keyed) in groups {
        if !rows.is_empty() {
            rows.push(Row::Blank);
        }
        rows.push(Row::Heading(heading));
        let listed = TABLE
            .iter()
            .filter(|binding| binding.when == when && binding.keys.is_empty() != keyed);
        rows.extend(listed.map(Row::Binding));
    }
    rows
}

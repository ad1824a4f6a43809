//! Choices on a screen too small for their labels: the keys in one row, and `?` to list
//! the labels.

use crate::text::grapheme::width;
use crate::tui::dialog::body::Words;
use crate::tui::dialog::state::{OpenAsk, Row};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Draws the question and, below it, the keys. `columns` is the width for the keys; the
/// question gets less because it shares its row with the scroll marks.
pub fn draw_keys(words: &Words, ask: &OpenAsk, area: Rect, columns: u16, pen: &mut Painter) {
    if area.height > 0 {
        pen.put_cut(area.x, area.y, words.question, pen.theme.bold, area.width);
    }
    if area.height < 2 {
        return;
    }
    let y = area.y + 1;
    let keys = keys_of(&words.rows, ask.chosen, columns);
    let shown: Vec<&str> = keys.iter().map(|(_, key)| key.as_str()).collect();
    pen.put_cut(area.x, y, &shown.join(" "), choice_style(ask, pen), columns);
    let chosen = keys
        .iter()
        .position(|(row, _)| row.is_some() && *row == ask.chosen);
    if let Some((at, key)) = chosen.and_then(|at| Some((at, shown.get(at)?))) {
        let before: usize = shown.iter().take(at).map(|key| width(key) + 1).sum();
        let x = area.x.saturating_add(saturated(before));
        let cell = Rect::new(x, y, saturated(width(key)), 1);
        let row = Rect::new(area.x, y, columns, 1);
        let selection = pen.theme.selection;
        pen.style(cell.intersection(row), selection);
    }
}

/// Each key with the index of its choice, then `?`. If they do not fit, choices that have
/// only a digit are dropped, except the selected one.
fn keys_of(rows: &[Row], chosen: Option<usize>, columns: u16) -> Vec<(Option<usize>, String)> {
    let all = rows.iter().enumerate();
    let mut keys: Vec<(Option<usize>, String)> = all
        .filter_map(|(at, row)| Some((Some(at), key_of(row)?)))
        .collect();
    let wide: usize = keys.iter().map(|(_, key)| width(key) + 1).sum();
    if wide + 1 > usize::from(columns) {
        keys.retain(|(at, _)| {
            let row = at.and_then(|at| rows.get(at));
            *at == chosen || row.is_some_and(|row| row.key.is_some())
        });
        keys.push((None, "…".to_owned()));
    }
    keys.push((None, "?".to_owned()));
    keys
}

pub fn key_of(row: &Row) -> Option<String> {
    row.key.or(row.digit).map(String::from)
}

pub fn choice_style(ask: &OpenAsk, pen: &Painter) -> Style {
    if ask.armed {
        pen.theme.plain
    } else {
        pen.theme.dim
    }
}

pub fn saturated(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

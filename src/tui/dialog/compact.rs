//! Choices on a screen too small for their labels: the keys in one row, and `?` to list
//! the labels.

use crate::text::grapheme::width;
use crate::tui::dialog::dialog_text::DialogText;
use crate::tui::dialog::state::{Dialog, DialogChoice};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Draws the question and, below it, the keys. `columns` is the width for the keys; the
/// question gets less because it shares its row with the scroll marks.
pub fn draw_keys(words: &DialogText, ask: &Dialog, area: Rect, columns: u16, pen: &mut Painter) {
    if area.height > 0 {
        pen.put_truncated(area.x, area.y, words.question, pen.theme.bold, area.width);
    }
    if area.height < 2 {
        return;
    }
    let y = area.y + 1;
    let keys = choice_keys(&words.rows, ask.selected_choice, columns);
    let shown: Vec<&str> = keys.iter().map(|(_, key)| key.as_str()).collect();
    pen.put_truncated(area.x, y, &shown.join(" "), choice_style(ask, pen), columns);
    let chosen = keys
        .iter()
        .position(|(row, _)| row.is_some() && *row == ask.selected_choice);
    if let Some((at, key)) = chosen.and_then(|at| Some((at, shown.get(at)?))) {
        let before: usize = shown.iter().take(at).map(|key| width(key) + 1).sum();
        let x = area.x.saturating_add(saturate_u16(before));
        let cell = Rect::new(x, y, saturate_u16(width(key)), 1);
        let row = Rect::new(area.x, y, columns, 1);
        let selection = pen.theme.selection;
        pen.set_style(cell.intersection(row), selection);
    }
}

/// Each key with the index of its choice, then `?`. If they do not fit, choices that have
/// only a digit are dropped, except the selected one.
fn choice_keys(
    rows: &[DialogChoice],
    chosen: Option<usize>,
    columns: u16,
) -> Vec<(Option<usize>, String)> {
    let all = rows.iter().enumerate();
    let mut keys: Vec<(Option<usize>, String)> = all
        .filter_map(|(at, row)| Some((Some(at), choice_key(row)?)))
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

pub fn choice_key(row: &DialogChoice) -> Option<String> {
    row.key.or(row.digit).map(String::from)
}

pub fn choice_style(ask: &Dialog, pen: &Painter) -> Style {
    if ask.accepts_keys {
        pen.theme.plain
    } else {
        pen.theme.dim
    }
}

pub fn saturate_u16(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

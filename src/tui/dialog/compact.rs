//! The choices of a dialog where the screen is too small for their labels: their keys
//! in one row, and `?`, which lists them.

use crate::text::grapheme::width;
use crate::tui::dialog::body::DialogText;
use crate::tui::dialog::state::{Dialog, DialogChoice};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// The question and the keys, where the screen is very small. The keys have more
/// columns than the question, beside which the marks stand.
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

/// The keys with the rows that they stand for, and `?`, which lists all of them. Where
/// there is no room, those that are digits alone are left to it, but for the chosen one.
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

//! Choices on a screen too small for their labels: the keys in one row, and `?` to list
//! the labels.

use crate::text::grapheme::width;
use crate::tui::dialog::choice_row;
use crate::tui::dialog::dialog_text::DialogText;
use crate::tui::dialog::state::{Dialog, DialogAction, DialogChoice, DialogPage};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Draws the question and, below it, the keys. `columns` is the width for the keys; the
/// question gets less because it shares its row with the scroll marks.
pub fn draw_keys(text: &DialogText, dialog: &Dialog, area: Rect, columns: u16, pen: &mut Painter) {
    if area.height > 0 {
        pen.put_truncated(area.x, area.y, &text.question, pen.theme.bold, area.width);
    }
    if area.height < 2 {
        return;
    }
    let y = area.y + 1;
    let highlighted = dialog.highlighted_choice();
    let keys = compact_keys(text, highlighted, columns.into());
    let shown: Vec<&str> = keys.iter().map(|(_, key)| key.as_str()).collect();
    pen.put_truncated(
        area.x,
        y,
        &shown.join(" "),
        choice_style(dialog, pen),
        columns,
    );
    let chosen = keys
        .iter()
        .position(|(choice, _)| choice.is_some() && *choice == highlighted);
    if let Some((at, key)) = chosen.and_then(|at| Some((at, shown.get(at)?))) {
        let before: usize = shown.iter().take(at).map(|key| width(key) + 1).sum();
        let x = area.x.saturating_add(saturate_u16(before));
        let cell = Rect::new(x, y, saturate_u16(width(key)), 1);
        let row = Rect::new(area.x, y, columns, 1);
        let selection = pen.theme.selection;
        pen.set_style(cell.intersection(row), selection);
    }
}

/// Each key with the index of its choice. If the keys do not fit, the rarer ones become `…`, except
/// the selected one.
fn compact_keys(
    text: &DialogText,
    chosen: Option<usize>,
    columns: usize,
) -> Vec<(Option<usize>, String)> {
    let items = choice_row::items(text);
    let total_width = |keys: &[(Option<usize>, String)]| {
        let columns: usize = keys.iter().map(|(_, key)| width(key) + 1).sum();
        columns.saturating_sub(1)
    };
    if text.page == DialogPage::Values {
        // These keys mean nothing without their labels.
        let mut keys: Vec<_> = items
            .into_iter()
            .map(|item| (None, format!("{} {}", item.key, item.label)))
            .collect();
        while keys.len() > 1 && total_width(&keys) > columns {
            keys.pop();
        }
        return keys;
    }
    let keys = items.into_iter().map(|item| (item.choice, item.key));
    let mut keys: Vec<(Option<usize>, String)> = keys.collect();
    if total_width(&keys) > columns {
        keys.retain(|(at, _)| {
            let choice = at.and_then(|at| text.choices.get(at));
            *at == chosen && at.is_some() || !choice.is_some_and(is_rare)
        });
        let before_help = keys.len().saturating_sub(1);
        keys.insert(before_help, (None, text.more.to_owned()));
    }
    keys
}

/// Whether this choice is left to the list opened with `?` if the keys do not all fit.
fn is_rare(choice: &DialogChoice) -> bool {
    let has_letter = choice.answer.is_some() || choice.action == DialogAction::RunAll;
    !has_letter
        || matches!(
            choice.action,
            DialogAction::UseFirstResult | DialogAction::TreatAsText
        )
}

pub fn choice_style(dialog: &Dialog, pen: &Painter) -> Style {
    if dialog.accepts_keys {
        pen.theme.plain
    } else {
        pen.theme.dim
    }
}

pub fn saturate_u16(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

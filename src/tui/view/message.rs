//! Draws the message, the notice area above it, and the completion list.

use crate::text::grapheme::width;
use crate::tui::demo_tour::progress;
use crate::tui::layout::ScreenLayout;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::view::notice_area;
use crate::tui::widgets::list::rows_in_view;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::draw_window;
use ratatui::layout::Position;

/// Columns in which the usages of most commands fit.
const USAGE_COLUMNS: u16 = 20;

/// Returns the cursor position.
pub fn draw(model: &mut UiModel, panes: &ScreenLayout, pen: &mut Painter) -> Option<Position> {
    pen.clear(panes.notice_area);
    notice_area::draw(model, panes.notice_area, pen);
    draw_tour_line(model, panes, pen);
    let focused = model.panes.focus == Focus::Message;
    let area = panes.message_inner;
    let dialog_has_keys = model.dialogs.accepts_keys();
    // Without the keys, the message must not look like the place that has them.
    let is_inactive = model.layer.is_some() || dialog_has_keys;
    let style = match focused && !is_inactive {
        true => pen.theme.accent,
        false => pen.theme.dim,
    };
    let text_style = match is_inactive {
        true => pen.theme.dim,
        false => pen.theme.plain,
    };
    pen.clear(panes.message);
    let sign_x = area.x.saturating_sub(2).max(panes.message.x);
    pen.put(sign_x, panes.message.y, pen.glyphs.prompt, style, 1);
    let view = model.composer.editor.view(area.width, area.height);
    for (y, row) in view.rows.iter().enumerate() {
        pen.put(area.x, area.y + y as u16, row, text_style, area.width);
    }
    if focused && model.layer.is_none() && !model.dialogs.accepts_keys() {
        draw_completions(model, panes, pen);
    }
    focused.then(|| Position::new(area.x + view.cursor.0, area.y + view.cursor.1))
}

/// Draws the tour's line directly above the message.
fn draw_tour_line(model: &UiModel, panes: &ScreenLayout, pen: &mut Painter) {
    let Some(area) = panes.tour_line else { return };
    pen.clear(area);
    let columns = area.width.saturating_sub(4);
    let Some(line) = progress::line(model, columns) else {
        return;
    };
    let accent = pen.theme.accent;
    pen.put(area.x + 1, area.y, pen.glyphs.folded, accent, 1);
    pen.put_truncated(area.x + 3, area.y, &line, accent, columns);
}

fn draw_completions(model: &UiModel, panes: &ScreenLayout, pen: &mut Painter) {
    let found = model.composer.completions();
    let Some(area) = panes.popup.filter(|_| !found.is_empty()) else {
        return;
    };
    let chosen = model.composer.selected_completion(found.len());
    let hidden = found
        .len()
        .saturating_sub(area.height.saturating_sub(1).into());
    let count = match hidden {
        0 => String::new(),
        hidden => format!("{} {hidden} more", pen.glyphs.down),
    };
    let area = draw_window(area, "Commands", &count, pen);
    for row in rows_in_view(found.len(), Some(chosen), area, pen) {
        row.put_mark(pen);
        let (line, (command, binding)) = (row.line, found[row.index]);
        let usage = format!("{command} {}", binding.usage);
        let columns = line.width.saturating_sub(2);
        let used = pen.put_truncated(line.x + 2, line.y, usage.trim_end(), row.style, columns);
        let x = line.x + 2 + used.max(USAGE_COLUMNS) + 2;
        let left = line.right().saturating_sub(x);
        // Half a description says nothing; only the selected row has to say what it does.
        if row.is_selected || width(binding.description) <= usize::from(left) {
            pen.put_truncated(x, line.y, binding.description, pen.theme.dim, left);
        }
    }
}

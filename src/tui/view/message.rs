//! Draws the message, the notice area and the tour's line above it, and the completion list.

use crate::tui::composer::completion_view;
use crate::tui::demo_tour::progress;
use crate::tui::layout::ScreenLayout;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::view::notice_area;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use ratatui::layout::{Position, Rect};

/// Draws the message, the notices, the line of the tour and the completion list. Returns the
/// cursor position if the message has the focus.
pub fn draw(model: &mut UiModel, layout: &ScreenLayout, pen: &mut Painter) -> Option<Position> {
    pen.clear(layout.notice_area);
    notice_area::draw(model, layout.notice_area, pen);
    draw_tour_line(model, layout, pen);
    if layout.message.height == 0 {
        return None;
    }
    let has_focus = model.panes.focus == Focus::Message;
    let area = layout.message_inner;
    let dialog_has_keys = model.dialog_has_keys();
    // While keys go to a dialog or a layer, the message must look inactive.
    let is_inactive = model.layer.is_some() || dialog_has_keys;
    let style = match has_focus && !is_inactive {
        true => pen.theme.accent,
        false => pen.theme.dim,
    };
    let text_style = match is_inactive {
        true => pen.theme.dim,
        false => pen.theme.plain,
    };
    pen.clear(layout.message);
    let prompt_x = area.x.saturating_sub(2).max(layout.message.x);
    pen.put(prompt_x, layout.message.y, pen.glyphs.prompt, style, 1);
    let view = model.composer.editor.view(area.width, area.height);
    text_field::draw_view(&view, text_style, area, pen);
    if let Some(area) = layout.popup
        && let Some(completions) = model.completions()
    {
        completion_view::draw(&completions, area, pen);
    }
    has_focus.then(|| Position::new(area.x + view.cursor.0, area.y + view.cursor.1))
}

/// Draws the find bar with the number of matches. Returns the cursor position while the
/// field has the focus.
pub fn draw_find(
    model: &mut UiModel,
    layout: &ScreenLayout,
    pen: &mut Painter,
) -> Option<Position> {
    let area = layout.find?;
    let find = model.chat.find.as_mut()?;
    pen.clear(area);
    let style = match find.is_typing {
        true => pen.theme.accent,
        false => pen.theme.dim,
    };
    let label = find.label(&model.chat.transcript);
    let right = area.right().saturating_sub(1);
    let label_start = pen.put_right(right, area.y, &label, pen.theme.dim);
    let field = Rect {
        x: area.x + 1.min(area.width),
        width: label_start.saturating_sub(area.x + 3),
        ..area
    };
    let cursor = text_field::draw_line(&mut find.field, ("Find", style), field, pen);
    find.is_typing.then_some(cursor)
}

fn draw_tour_line(model: &UiModel, layout: &ScreenLayout, pen: &mut Painter) {
    let Some(area) = layout.tour_line else { return };
    pen.clear(area);
    let columns = area.width.saturating_sub(4);
    let Some(line) = progress::line(model, columns) else {
        return;
    };
    let accent = pen.theme.accent;
    pen.put(area.x + 1, area.y, pen.glyphs.folded, accent, 1);
    pen.put_truncated(area.x + 3, area.y, &line, accent, columns);
}

//! Draws the message, the notice area and the tour's line above it, and the completion list.

use crate::text::grapheme::width;
use crate::tui::composer::completion_view;
use crate::tui::demo_tour::progress;
use crate::tui::keymap::Action;
use crate::tui::layout::ScreenLayout;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::view::elapsed::activity_text;
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

/// The line of the message with the cursor and the number of lines, if the message has the focus but
/// does not fit into its box.
pub fn position(model: &mut UiModel, layout: &ScreenLayout) -> Option<(usize, usize)> {
    let area = layout.message_inner;
    let rows = usize::from(area.height) + 1;
    let editor = &mut model.composer.editor;
    let is_cut = area.height > 0 && editor.height(area.width, rows) == rows;
    (is_cut && model.panes.focus == Focus::Message).then(|| editor.line_number())
}

/// `message line 120 of 300`, with the key that opens the editor and with `other`, as far as they fit
/// into `room` columns. A running timer is shown in any case; the speed of the last turn is not.
pub fn position_label(
    model: &UiModel,
    (line, count): (usize, usize),
    other: &str,
    room: usize,
    pen: &Painter,
) -> String {
    let dot = pen.glyphs.dot;
    let label = format!("message line {line} of {count}");
    let timer = Some(other).filter(|_| activity_text(model).is_some());
    let key = model.keymap.hint(Action::EditExternally, "editor");
    let join = |parts: &[Option<&str>]| {
        let parts: Vec<&str> = parts.iter().copied().flatten().collect();
        parts.join(&format!(" {dot} "))
    };
    let forms = [
        join(&[Some(&label), key.as_deref(), timer]),
        join(&[Some(&label), timer]),
    ];
    let fitting = forms.into_iter().find(|form| width(form) <= room);
    fitting.unwrap_or_else(|| timer.map_or(label, str::to_owned))
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

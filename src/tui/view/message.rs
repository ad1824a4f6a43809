//! Draws the message, the notice area above it, and the completion list.

use crate::tui::demo_tour::progress;
use crate::tui::layout::ScreenLayout;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::view::notice_area;
use crate::tui::widgets::list::rows_in_view;
use crate::tui::widgets::painter::Painter;
use ratatui::layout::{Position, Rect};

/// Maximum number of visible completions.
const LIST_ROWS_MAX: u16 = 8;

/// Returns the cursor position.
pub fn draw(model: &mut UiModel, panes: &ScreenLayout, pen: &mut Painter) -> Option<Position> {
    notice_area::draw(model, panes.notice_area, pen);
    draw_tour_line(model, panes, pen);
    let focused = model.panes.focus == Focus::Message;
    let area = panes.message_inner;
    if panes.has_frames {
        let style = if focused {
            pen.theme.accent
        } else {
            pen.theme.dim
        };
        pen.frame(panes.message, "Message", "", style);
    } else {
        pen.clear(panes.message);
        let style = if focused {
            pen.theme.accent
        } else {
            pen.theme.dim
        };
        pen.put(panes.message.x, panes.message.y, ">", style, 1);
    }
    let view = model.composer.editor.view(area.width, area.height);
    for (y, row) in view.rows.iter().enumerate() {
        pen.put(area.x, area.y + y as u16, row, pen.theme.plain, area.width);
    }
    if focused && model.layer.is_none() && !model.dialogs.accepts_keys() {
        draw_completions(model, panes, pen);
    }
    focused.then(|| Position::new(area.x + view.cursor.0, area.y + view.cursor.1))
}

/// Draws the tour's line directly above the message.
fn draw_tour_line(model: &UiModel, panes: &ScreenLayout, pen: &mut Painter) {
    let Some(area) = panes.tour_line else { return };
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
    let above = panes.message.y;
    let frame = if panes.has_frames { 2 } else { 0 };
    if found.is_empty() || above <= frame {
        return;
    }
    let shown = (found.len() as u16).min(LIST_ROWS_MAX).min(above - frame);
    let chosen = model.composer.selected_completion(found.len());
    let outer = Rect {
        x: panes.message.x,
        y: above - shown - frame,
        width: panes.message.width.min(64),
        height: shown + frame,
    };
    let area = if panes.has_frames {
        pen.frame(outer, "Commands", "", pen.theme.dim)
    } else {
        pen.clear(outer);
        outer
    };
    for row in rows_in_view(found.len(), Some(chosen), area, pen) {
        row.put_mark(pen);
        let (line, (command, binding)) = (row.line, found[row.index]);
        let usage = format!("{command} {}", binding.usage);
        let name_columns = 30.min(line.width.saturating_sub(2));
        pen.put_truncated(
            line.x + 2,
            line.y,
            usage.trim_end(),
            row.style,
            name_columns,
        );
        let left = line.width.saturating_sub(33);
        pen.put_truncated(
            line.x + 33,
            line.y,
            binding.description,
            pen.theme.dim,
            left,
        );
    }
}

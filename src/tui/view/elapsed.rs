//! Elapsed times: activity of the running turn, duration of the last one.

use crate::tui::ui_model::UiModel;
use crate::tui::widgets::numbers::{format_seconds, format_whole_seconds};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// The spinner with the elapsed time, and a text for a silent stream.
pub fn activity_text(model: &UiModel) -> Option<(String, String)> {
    if let Some(probe) = model.active_probe() {
        let took = format_whole_seconds(model.now.saturating_sub(probe.step_started_at));
        let spinner = model.screen.glyphs.spinner(model.now.as_millis());
        let words = format!(" {} {}", model.screen.glyphs.dot, probe.label());
        return Some((format!("{spinner} {took}"), words));
    }
    if !model.is_answering() {
        return None;
    }
    let took = model.now.saturating_sub(model.chat.timing.turn_started);
    let spinner = model.screen.glyphs.spinner(model.now.as_millis());
    let silent = model.silence().map_or_else(String::new, |silent| {
        format!(
            " {} no data for {}",
            model.screen.glyphs.dot,
            format_whole_seconds(silent)
        )
    });
    Some((format!("{spinner} {}", format_whole_seconds(took)), silent))
}

/// Draws the time of the running turn, or speed and duration of the last one, at the lower
/// edge.
pub fn draw(model: &UiModel, chat: Rect, pen: &mut Painter) {
    if let Some((time, silent)) = activity_text(model) {
        if chat.width > 40 && chat.height > 2 {
            let words = format!(" {time}{silent} ");
            pen.put_right(chat.right() - 2, chat.bottom() - 1, &words, pen.theme.dim);
        }
        return;
    }
    let Some((speed, took)) = model
        .chat
        .timing
        .speed
        .filter(|_| model.running_turn().is_none())
    else {
        return;
    };
    if chat.width > 40 && chat.height > 2 {
        let words = format!(
            " {speed:.1} tokens/s {} {} ",
            pen.glyphs.dot,
            format_seconds(took)
        );
        pen.put_right(chat.right() - 2, chat.bottom() - 1, &words, pen.theme.dim);
    }
}

//! Draws the elapsed time of the running turn or probe, or the speed and duration of the last turn.

use crate::tui::ui_model::UiModel;
use crate::tui::widgets::numbers::{format_seconds, format_whole_seconds};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// The spinner with the elapsed time, and a suffix: the step of a running probe, or how long the
/// stream has been silent. `None` if nothing is running.
pub fn activity_text(model: &UiModel) -> Option<(String, String)> {
    if let Some(probe) = model.active_probe() {
        let elapsed = format_whole_seconds(model.now.saturating_sub(probe.step_started_at));
        let spinner = model.screen.glyphs.spinner(model.now.as_millis());
        let suffix = format!(" {} {}", model.screen.glyphs.dot, probe.label());
        return Some((format!("{spinner} {elapsed}"), suffix));
    }
    if !model.is_answering() {
        return None;
    }
    let elapsed = model.now.saturating_sub(model.chat.timing.turn_started);
    let spinner = model.screen.glyphs.spinner(model.now.as_millis());
    let suffix = model.silence().map_or_else(String::new, |silence| {
        format!(
            " {} no data for {}",
            model.screen.glyphs.dot,
            format_whole_seconds(silence)
        )
    });
    Some((
        format!("{spinner} {}", format_whole_seconds(elapsed)),
        suffix,
    ))
}

/// Draws the activity, or the speed and duration of the last turn, on the bottom border of the
/// chat.
pub fn draw(model: &UiModel, chat: Rect, pen: &mut Painter) {
    if let Some((time, suffix)) = activity_text(model) {
        if chat.width > 40 && chat.height > 2 {
            let text = format!(" {time}{suffix} ");
            pen.put_right(chat.right() - 2, chat.bottom() - 1, &text, pen.theme.dim);
        }
        return;
    }
    let Some((speed, duration)) = model
        .chat
        .timing
        .speed
        .filter(|_| model.running_turn().is_none())
    else {
        return;
    };
    if chat.width > 40 && chat.height > 2 {
        let text = format!(
            " {speed:.1} tokens/s {} {} ",
            pen.glyphs.dot,
            format_seconds(duration)
        );
        pen.put_right(chat.right() - 2, chat.bottom() - 1, &text, pen.theme.dim);
    }
}

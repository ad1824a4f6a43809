//! Times in words: that a turn is under way and for how long, and what one took.

use crate::tui::ui_model::UiModel;
use crate::tui::widgets::numbers::{format_seconds, format_whole_seconds};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// A spinner and how long the turn under way takes, and the words for a stream
/// that brings nothing.
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
            " {} nothing for {}",
            model.screen.glyphs.dot,
            format_whole_seconds(silent)
        )
    });
    Some((format!("{spinner} {}", format_whole_seconds(took)), silent))
}

/// At the lower edge: how long the turn under way takes, or tokens a second and
/// seconds of the last one.
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

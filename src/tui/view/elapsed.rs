//! Draws the elapsed time of the running turn, probe or answer for a server, or the speed and
//! duration of the last turn.

use crate::text::grapheme::width;
use crate::text::numbers::{format_seconds, format_thousands, format_whole_seconds};
use crate::tui::keymap::Action;
use crate::tui::layout::ScreenLayout;
use crate::tui::ui_model::UiModel;
use crate::tui::view::{hints, message};
use crate::tui::widgets::painter::Painter;

/// The spinner with the elapsed time (of a probe, that of its step), and a suffix: the step of a
/// running probe, the server that the model answers, or how long the stream has been silent. `None`
/// if nothing is running.
pub fn activity_text(model: &UiModel) -> Option<(String, String)> {
    if let Some(probe) = model.active_probe() {
        let elapsed = format_whole_seconds(model.now.saturating_sub(probe.step_started_at));
        let spinner = model.screen.glyphs.spinner(model.now.as_millis());
        let suffix = format!(" {} {}", model.screen.glyphs.dot, probe.label());
        return Some((format!("{spinner} {elapsed}"), suffix));
    }
    if let Some(sampling) = &model.sampling {
        let elapsed = format_whole_seconds(model.now.saturating_sub(sampling.started_at));
        let spinner = model.screen.glyphs.spinner(model.now.as_millis());
        let suffix = format!(" {} {}", model.screen.glyphs.dot, sampling.label());
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

/// Draws the rule above the message, with the activity, or the speed and duration of the last
/// turn. `rows_below` is the label with the number of chat rows below the view. Below an open
/// list or text, the rule names its keys.
pub fn draw_rule(model: &mut UiModel, layout: &ScreenLayout, rows_below: &str, pen: &mut Painter) {
    let Some(line) = layout.rule else { return };
    let position = message::position(model, layout);
    let columns = usize::from(line.width).saturating_sub(6);
    let right = match activity_text(model) {
        Some((time, suffix)) => match width(&time) + width(&suffix) <= columns {
            true => time + &suffix,
            false => time,
        },
        None => last_turn_text(model, columns, pen).unwrap_or_default(),
    };
    let room = columns.saturating_sub(width(rows_below) + 4);
    let mut right = match position {
        Some(position) => message::position_label(model, position, &right, room, pen),
        None => right,
    };
    let mut rows_below = rows_below.to_owned();
    if !rows_below.is_empty() {
        if width(&right) + width(&rows_below) + 4 > columns {
            right.clear();
        }
        if let Some(key) = model.keymap.key_name(Action::ScrollToEnd) {
            let with_key = format!("{rows_below} {} {key}", pen.glyphs.dot);
            if width(&right) + width(&with_key) + 4 <= columns {
                rows_below = with_key;
            }
        }
    }
    let accent = pen.theme.accent;
    if let Some(keys) = hints::layer_keys(model, columns + 2, pen) {
        if width(&right) + width(&keys) + 4 > columns {
            right.clear();
        }
        let dim = pen.theme.dim;
        return pen.rule(line, &right, &keys, dim);
    }
    pen.rule(line, &rows_below, &right, accent);
}

/// `34 tokens/s · 2.1 s · read 120, cached 1.4k`. The numbers of tokens that the server processed and
/// took from its cache are omitted if the server does not report them, or if there is no space.
fn last_turn_text(model: &UiModel, columns: usize, pen: &Painter) -> Option<String> {
    let timing = &model.chat.timing;
    if model.running_turn().is_some() {
        return None;
    }
    let dot = pen.glyphs.dot;
    let speed = timing.speed.map(|(speed, duration)| {
        let decimals = usize::from(speed < 100.0);
        let duration = format_seconds(duration);
        format!("{speed:.decimals$} tokens/s {dot} {duration}")
    });
    let prefix = timing.prefix.map(|prefix| {
        format!(
            "read {}, cached {}",
            format_thousands(prefix.read),
            format_thousands(prefix.reused)
        )
    });
    match (speed, prefix) {
        (Some(speed), Some(prefix)) => {
            let both = format!("{speed} {dot} {prefix}");
            Some(if width(&both) <= columns { both } else { speed })
        }
        (speed, prefix) => speed.or(prefix),
    }
}

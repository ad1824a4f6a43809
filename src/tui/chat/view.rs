//! The chat and the thinking pane: the rows in view of the flow of entries.

use crate::domain::{Body, CallId, Entry, Severity, Wait};
use crate::text::Clean;
use crate::tui::chat::call_row;
use crate::tui::chat::elapsed;
use crate::tui::chat::elapsed::seconds;
use crate::tui::chat::entry_rows::INDENT;
use crate::tui::chat::layout_input::Source;
use crate::tui::chat::timing::TurnTiming;
use crate::tui::chat::viewport::{BELOW_MAX, Flow, Part, Place};
use crate::tui::keymap::{Action, key_of};
use crate::tui::layout::Panes;
use crate::tui::model::Model;
use crate::tui::models::first_run_view;
use crate::tui::panes::{Focus, Pane};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::collections::HashMap;
use std::time::Duration;

/// The lines around thinking.
const THINKING: &str = "<<< Thinking >>>";
const END_THINKING: &str = "<<< End Thinking >>>";
/// Under this width the count of lines below stands by itself.
const SHORT_BELOW: u16 = 40;
/// Columns from which the words about another attempt have room beside the time.
const RETRY_WORDS_FROM: u16 = 46;

/// What rows need to know beside their entry.
pub struct Scene<'a> {
    pub now: Duration,
    pub timing: &'a TurnTiming,
    /// Calls that were run unread, with the rows that were not drawn.
    pub unread: &'a HashMap<CallId, usize>,
    /// The line that keys act on, where the pane has the focus.
    selected: Option<usize>,
}

pub fn draw(model: &mut Model, panes: &Panes, pen: &mut Painter) {
    let mut flow = std::mem::take(&mut model.chat.viewport);
    let area = panes.chat_inner;
    let source = model
        .chat
        .source(area.width, panes.thinking.is_some(), model.screen.marks());
    let height = usize::from(area.height);
    let top = flow.top(&source, height);
    let below = below_words(&mut flow, &source, top, height, pen.glyphs.down);
    let places = flow.visible(&source, top, height);
    let focused = model.panes.focus == Focus::Chat;
    if panes.framed {
        let style = if focused {
            pen.theme.accent
        } else {
            pen.theme.dim
        };
        pen.frame(panes.chat, "Chat", &below, style);
        elapsed::draw(model, panes.chat, pen);
    } else {
        pen.clear(panes.chat);
    }
    let scene = Scene {
        now: model.now,
        timing: &model.chat.timing,
        unread: model.chat.unread(),
        selected: flow.selected.filter(|_| focused),
    };
    for (y, place) in places.iter().enumerate() {
        let row = Rect::new(area.x, area.y + y as u16, area.width, 1);
        if place.index == source.count() {
            draw_wait(model, place.row, row, pen);
        } else if let Some(entry) = source.entry(place.index) {
            draw_row(&scene, &flow, &source, *place, entry, row, pen);
        }
    }
    if !panes.framed && !below.is_empty() && area.height > 0 {
        let count: String = below.chars().filter(|c| !c.is_alphabetic()).collect();
        let short = area.width < SHORT_BELOW;
        let words = format!("  {}", if short { count.trim() } else { &below });
        pen.put_right(area.right(), area.bottom() - 1, &words, pen.theme.accent);
    }
    if source.count() == 0 && source.tail == 0 {
        first_run_view::draw(model, area, pen);
    }
    model.chat.viewport = flow;
}

/// `↓ 12 lines` are below; those that came since the person scrolled up are new.
fn below_words(flow: &mut Flow, source: &Source, top: Place, height: usize, arrow: &str) -> String {
    if flow.follow {
        return String::new();
    }
    let below = flow.below(source, top, height);
    let new = flow.new_below(source).min(below);
    let (count, word) = if new > 0 {
        (new, "new line")
    } else {
        (below, "line")
    };
    match count {
        0 => String::new(),
        1 => format!("{arrow} 1 {word}"),
        BELOW_MAX.. => format!("{arrow} {BELOW_MAX}+ {word}s"),
        _ => format!("{arrow} {count} {word}s"),
    }
}

pub fn draw_thinking(model: &mut Model, panes: &Panes, pane: Pane, pen: &mut Painter) {
    let mut flow = std::mem::take(&mut model.chat.thinking);
    let source = model
        .chat
        .thinking_source(pane.inner.width, model.screen.marks());
    let height = usize::from(pane.inner.height);
    let top = flow.top(&source, height);
    let places = flow.visible(&source, top, height);
    if panes.framed {
        let focused = model.panes.focus == Focus::Thinking;
        let style = if focused {
            pen.theme.accent
        } else {
            pen.theme.dim
        };
        let times = model.chat.timing.open_thinking();
        let since = times.map(|(first, _)| seconds(model.now.saturating_sub(*first)));
        pen.frame(pane.outer, "Thinking", &since.unwrap_or_default(), style);
    }
    let scene = Scene {
        now: model.now,
        timing: &model.chat.timing,
        unread: model.chat.unread(),
        selected: None,
    };
    let area = pane.inner;
    if source.count() == 0 && panes.over.is_some() {
        pen.put(
            area.x,
            area.y,
            "No thinking yet.",
            pen.theme.dim,
            area.width,
        );
    }
    for (y, place) in places.iter().enumerate() {
        let row = Rect::new(area.x, area.y + y as u16, area.width, 1);
        if let Some(entry) = source.entry(place.index) {
            draw_row(&scene, &flow, &source, *place, entry, row, pen);
        }
    }
    model.chat.thinking = flow;
}

fn draw_row(
    scene: &Scene,
    flow: &Flow,
    source: &Source,
    place: Place,
    entry: &Entry,
    row: Rect,
    pen: &mut Painter,
) {
    let selected = scene.selected == Some(place.index);
    match flow.part(place) {
        Part::Blank => {}
        Part::Head(line) => {
            let unfolded = flow.is_unfolded(place.index);
            draw_head(scene, source, entry, line, unfolded, row, pen);
            if selected {
                let selection = pen.theme.selection;
                pen.style(row, selection);
            }
        }
        Part::Text(text) => {
            let (indent, style) = text_look(entry, source, pen);
            if let (Body::Note(notice), true) = (&entry.body, flow.is_first(place)) {
                let (mark, style) = match notice.severity {
                    Severity::Failure => (pen.glyphs.failed, pen.theme.failure),
                    Severity::Warning => ("!", pen.theme.attention),
                    Severity::Info => (pen.glyphs.dot, pen.theme.dim),
                };
                pen.put(row.x, row.y, mark, style, row.width);
            }
            let columns = row.width.saturating_sub(indent);
            pen.put_line(row.x + indent, row.y, text, style, columns);
        }
        Part::Foot => {
            let (word, indent) = match &entry.body {
                Body::Thinking { .. } => (END_THINKING, text_look(entry, source, pen).0),
                _ => ("(cancelled)", 0),
            };
            let columns = row.width.saturating_sub(indent);
            pen.put(row.x + indent, row.y, word, pen.theme.dim, columns);
        }
    }
}

fn text_look(entry: &Entry, source: &Source, pen: &Painter) -> (u16, Style) {
    match &entry.body {
        Body::Prompt { .. } | Body::Text { .. } => (0, pen.theme.plain),
        Body::Thinking { .. } if source.is_pane() || source.lingers(entry) => (0, pen.theme.dim),
        Body::Thinking { .. } | Body::Tool(_) => (INDENT, pen.theme.dim),
        Body::Note(notice) if notice.severity == Severity::Info => (2, pen.theme.dim),
        Body::Note(_) => (2, pen.theme.plain),
    }
}

fn draw_head(
    scene: &Scene,
    source: &Source,
    entry: &Entry,
    line: usize,
    unfolded: bool,
    row: Rect,
    pen: &mut Painter,
) {
    match &entry.body {
        Body::Prompt { .. } => {
            pen.put(row.x, row.y, "You", pen.theme.bold, row.width);
        }
        Body::Text { model, .. } => {
            let name = Clean::line(model);
            let name = if name.as_str().trim().is_empty() {
                "Answer"
            } else {
                name.as_str()
            };
            pen.put_cut(row.x, row.y, name, pen.theme.bold, row.width);
        }
        Body::Thinking { .. } if source.is_pane() || source.lingers(entry) => {
            pen.put(row.x, row.y, THINKING, pen.theme.dim, row.width);
        }
        Body::Thinking { .. } if line > 0 => {
            let columns = row.width.saturating_sub(INDENT);
            pen.put(row.x + INDENT, row.y, THINKING, pen.theme.dim, columns);
        }
        Body::Thinking { piece, .. } => {
            let fold = if unfolded {
                pen.glyphs.open
            } else {
                pen.glyphs.folded
            };
            let times = scene.timing.thoughts.get(piece);
            let words = times.map_or_else(
                || format!("{fold} thought"),
                |(first, last)| {
                    format!(
                        "{fold} thought for {} s",
                        (*last - *first).as_secs_f64().round()
                    )
                },
            );
            pen.put(row.x, row.y, &words, pen.theme.dim, row.width);
        }
        Body::Tool(call) if line == 0 => call_row::draw(scene, call, unfolded, row, pen),
        Body::Tool(call) => call_row::draw_progress(call, row, pen),
        Body::Note(_) => {}
    }
}

/// `Waiting for response...` below a blank row, with a spinner and the seconds.
fn draw_wait(model: &Model, line: usize, row: Rect, pen: &mut Painter) {
    if line == 0 {
        return;
    }
    let words = match model.chat.transcript.wait() {
        Some(Wait::ModelLoading) => "Loading model…".to_owned(),
        Some(Wait::Retrying) => retry_words(model, row.width),
        _ => "Waiting for response...".to_owned(),
    };
    let since = model.now.saturating_sub(model.chat.timing.round_started);
    let start = pen.put_right(row.right(), row.y, &seconds(since), pen.theme.dim);
    let spinner = pen.glyphs.spinner(model.now.as_millis());
    pen.put(row.x, row.y, spinner, pen.theme.accent, 1);
    let columns = start.saturating_sub(row.x + 3);
    pen.put_cut(row.x + 2, row.y, &words, pen.theme.dim, columns);
}

/// `Trying again in 4 s (2 of 5)`: whole seconds, counted down to one.
fn retry_words(model: &Model, columns: u16) -> String {
    let retry = model.chat.timing.retry;
    let left = retry.at.saturating_sub(model.now);
    let seconds = left.as_millis().div_ceil(1_000).max(1);
    let (attempt, max) = (retry.attempt, retry.attempts_max);
    if columns < RETRY_WORDS_FROM {
        return format!("again: {seconds} s");
    }
    let key = key_of(Action::Retry);
    format!(
        "Trying again in {seconds} s ({attempt} of {max}) {} {key} now",
        model.screen.glyphs.dot
    )
}

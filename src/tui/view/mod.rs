//! Draws the model, one file per area of the screen. Makes no decisions and visits only the rows
//! in view. Untrusted text is drawn only as `Clean`.

pub mod elapsed;
pub mod header;
pub mod hints;
pub mod message;
pub mod notice_area;
mod pane_hints;

use crate::domain::WaitReason;
use crate::domain::starting_servers::starting_text;
use crate::tui::chat::view::ChatPane;
use crate::tui::keymap::Action;
use crate::tui::layer::{Layer, LayerArea};
use crate::tui::layout::ScreenLayout;
use crate::tui::models::first_run_view;
use crate::tui::panes::{Focus, Pane};
use crate::tui::ui_model::UiModel;
use crate::tui::widgets::painter::Painter;
use crate::tui::{chat, layout, servers};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Draws the whole screen on a ratatui frame (for tests).
pub fn draw(model: &mut UiModel, frame: &mut Frame) {
    if let Some(cursor) = paint(model, frame.buffer_mut()) {
        frame.set_cursor_position(cursor);
    }
}

/// Paints the whole screen into a blank buffer and returns the cursor position. Changes nothing in
/// the model except the screen size, scroll positions, caches, and the record of what was drawn.
pub fn paint(model: &mut UiModel, buffer: &mut Buffer) -> Option<Position> {
    let area = buffer.area;
    model.screen.size = (area.width, area.height);
    if area.width == 0 || area.height == 0 {
        return None;
    }
    let screen_layout = ScreenLayout::compute(model);
    let mut pen = Painter::new(buffer, model.screen.theme, model.screen.glyphs);
    header::draw(model, &screen_layout, &mut pen);
    let rows_below = draw_chat(model, &screen_layout, &mut pen);
    draw_sidebar(model, &screen_layout, &mut pen);
    elapsed::draw_rule(model, &screen_layout, &rows_below, &mut pen);
    hints::draw(model, &screen_layout, &mut pen);
    let mut cursor = message::draw(model, &screen_layout, &mut pen);
    if let Some(find_cursor) = message::draw_find(model, &screen_layout, &mut pen) {
        cursor = Some(find_cursor);
    }
    if model.layer.is_some() {
        cursor = draw_layer(model, &screen_layout, area, &mut pen);
    }
    if let Some(dialog) = screen_layout.dialog {
        let dialog_cursor = draw_dialog(model, dialog, &mut pen);
        if model.dialog_has_keys() {
            cursor = dialog_cursor;
        }
        // Draw the hints again: drawing the dialog has determined how many rows are unread.
        if let Some(hints) = screen_layout
            .hints
            .filter(|hints| !hints.intersects(dialog))
        {
            pen.clear(hints);
            hints::draw(model, &screen_layout, &mut pen);
        }
        // A full-screen dialog also covers the message.
        cursor = cursor
            .filter(|position| dialog_cursor == Some(*position) || !dialog.contains(*position));
    }
    cursor.filter(|cursor| area.contains(*cursor))
}

/// Returns the label with the number of rows below the view.
fn draw_chat(model: &mut UiModel, screen_layout: &ScreenLayout, pen: &mut Painter) -> String {
    let pane = Pane {
        outer: screen_layout.chat,
        inner: screen_layout.chat_inner,
    };
    let chat_pane = chat_pane(model, pane, Focus::Chat);
    let has_thinking_pane = screen_layout.has_thinking_aside(model);
    let has_rule = screen_layout.rule.is_some();
    let rows_below = chat::view::draw(
        &mut model.chat,
        &chat_pane,
        has_thinking_pane,
        has_rule,
        pen,
    );
    let transcript = &model.chat.transcript;
    if transcript.entries().is_empty() && transcript.wait_reason().is_none() {
        let first_run = model.offers_first_run().then_some(&model.first_run);
        let is_prompt_waiting = model.composer.queue.prompts().len() > 0;
        let config_file = is_prompt_waiting.then(|| model.config_file());
        let area = screen_layout.chat_inner;
        first_run_view::draw(&model.engine, first_run, config_file.as_deref(), area, pen);
    }
    rows_below
}

fn draw_sidebar(model: &mut UiModel, screen_layout: &ScreenLayout, pen: &mut Painter) {
    let Some(area) = screen_layout.sidebar else {
        return;
    };
    pen.clear(area);
    let (dim, vertical_line) = (pen.theme.dim, pen.glyphs.vertical_line);
    for y in area.top()..area.bottom() {
        pen.put(area.x, y, vertical_line, dim, 1);
    }
    if let Some(pane) = screen_layout.servers {
        let has_focus = model.panes.focus == Focus::Servers;
        servers::view::draw(&mut model.servers_pane, has_focus, pane, pen);
    }
    if let Some(pane) = screen_layout.thinking {
        let thinking_pane = chat_pane(model, pane, Focus::Thinking);
        chat::view::draw_thinking(&mut model.chat, &thinking_pane, pen);
    }
}

/// Names the servers that the turn waits for, and the key that sends its request now.
fn starting_label(model: &UiModel) -> Option<String> {
    if model.chat.transcript.wait_reason() != Some(WaitReason::StartingServers) {
        return None;
    }
    let starting = starting_text(&model.servers_pane.servers);
    let now = model.keymap.hint(Action::Send, "sends now");
    let parts: Vec<String> = starting.into_iter().chain(now).collect();
    Some(parts.join(&format!(" {} ", model.screen.glyphs.dot)))
}

fn chat_pane(model: &UiModel, pane: Pane, focus: Focus) -> ChatPane {
    ChatPane {
        pane,
        has_focus: model.panes.focus == focus,
        now: model.now,
        markdown_glyphs: model.screen.markdown_glyphs(),
        retry_key: match model.chat.transcript.wait_reason() {
            Some(WaitReason::Retrying) => model.keymap.key_name(Action::RETRY),
            _ => None,
        },
        ask_again_key: model.keymap.key_name(Action::RETRY),
        continue_key: model.keymap.key_name(Action::CONTINUE),
        drop_key: model.keymap.key_name(Action::DropStopped),
        starting_label: starting_label(model),
        asked_call: model
            .dialogs
            .current()
            .and_then(|dialog| dialog.call())
            .map(|call| call.call),
        decided_calls: match model.dialogs.current() {
            Some(dialog) => dialog.decided_calls(),
            None => Vec::new(),
        },
    }
}

fn draw_layer(
    model: &mut UiModel,
    screen_layout: &ScreenLayout,
    area: Rect,
    pen: &mut Painter,
) -> Option<Position> {
    let is_small = area.height < layout::SMALL_HEIGHT;
    let body = if is_small { area } else { screen_layout.body };
    let popup = screen_layout.popup.filter(|_| !is_small).unwrap_or(body);
    let mut layer = model.layer.take()?;
    let cursor = layer.draw(LayerArea { body, popup }, model.shared(), pen);
    model.layer = Some(layer);
    cursor
}

fn draw_dialog(model: &mut UiModel, area: Rect, pen: &mut Painter) -> Option<Position> {
    let area = LayerArea {
        body: area,
        popup: area,
    };
    let mut dialogs = std::mem::take(&mut model.dialogs);
    let cursor = dialogs.draw(area, model.shared(), pen);
    model.dialogs = dialogs;
    cursor
}

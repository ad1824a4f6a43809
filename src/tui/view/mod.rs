//! Draws the model, one file per pane. Makes no decisions and walks only what is in view.
//! Untrusted text is drawn only as `Clean`.

pub mod elapsed;
pub mod header;
pub mod hints;
pub mod message;
pub mod notice_area;

use crate::tui::chat::view::ChatPane;
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

/// Paints the whole screen into a blank buffer and returns the cursor position. Changes
/// only row caches in the model.
pub fn paint(model: &mut UiModel, buffer: &mut Buffer) -> Option<Position> {
    let area = buffer.area;
    model.screen.size = (area.width, area.height);
    if area.width == 0 || area.height == 0 {
        return None;
    }
    let panes = ScreenLayout::compute(model);
    let mut pen = Painter::new(buffer, model.screen.theme, model.screen.glyphs);
    header::draw(model, &panes, &mut pen);
    let below = draw_chat(model, &panes, &mut pen);
    draw_sidebar(model, &panes, &mut pen);
    elapsed::draw_rule(model, &panes, &below, &mut pen);
    hints::draw(model, &panes, &mut pen);
    let mut cursor = message::draw(model, &panes, &mut pen);
    if model.layer.is_some() {
        cursor = draw_layer(model, &panes, area, &mut pen);
    }
    if let Some(dialog) = panes.dialog {
        let field = draw_dialog(model, dialog, &mut pen);
        if model.dialog_has_keys() {
            cursor = field;
        }
        // Draw the hints again: only now is it known how many rows are unread.
        if let Some(hints) = panes.hints.filter(|hints| !hints.intersects(dialog)) {
            pen.clear(hints);
            hints::draw(model, &panes, &mut pen);
        }
        // A full-screen dialog also covers the message.
        cursor = cursor.filter(|at| field == Some(*at) || !dialog.contains(*at));
    }
    cursor.filter(|cursor| area.contains(*cursor))
}

/// Draws the chat. Returns how many rows are below the view, in words.
fn draw_chat(model: &mut UiModel, panes: &ScreenLayout, pen: &mut Painter) -> String {
    let pane = Pane {
        outer: panes.chat,
        inner: panes.chat_inner,
    };
    let at = chat_pane(model, pane, Focus::Chat);
    let aside = panes.has_thinking_aside(model);
    let marks_rows = panes.rule.is_some();
    let below = chat::view::draw(&mut model.chat, &at, aside, marks_rows, pen);
    let transcript = &model.chat.transcript;
    if transcript.entries().is_empty() && transcript.wait().is_none() {
        let offer = model.offers_first_run().then_some(&model.first_run);
        first_run_view::draw(&model.engine, offer, panes.chat_inner, pen);
    }
    below
}

fn draw_sidebar(model: &mut UiModel, panes: &ScreenLayout, pen: &mut Painter) {
    let Some(area) = panes.sidebar else { return };
    pen.clear(area);
    let (dim, down) = (pen.theme.dim, pen.glyphs.frame[5]);
    for y in area.top()..area.bottom() {
        pen.put(area.x, y, down, dim, 1);
    }
    if let Some(pane) = panes.servers {
        let has_focus = model.panes.focus == Focus::Servers;
        servers::view::draw(&mut model.servers_pane, has_focus, pane, pen);
    }
    if let Some(pane) = panes.thinking {
        let at = chat_pane(model, pane, Focus::Thinking);
        chat::view::draw_thinking(&mut model.chat, &at, pen);
    }
}

fn chat_pane(model: &UiModel, pane: Pane, focus: Focus) -> ChatPane {
    ChatPane {
        pane,
        has_focus: model.panes.focus == focus,
        now: model.now,
        markdown_glyphs: model.screen.markdown_glyphs(),
        asked_call: model
            .dialogs
            .current()
            .and_then(|dialog| dialog.call())
            .map(|call| call.call),
    }
}

fn draw_layer(
    model: &mut UiModel,
    panes: &ScreenLayout,
    area: Rect,
    pen: &mut Painter,
) -> Option<Position> {
    let small = area.height < layout::SMALL_HEIGHT;
    let body = if small { area } else { panes.body };
    let popup = panes.popup.filter(|_| !small).unwrap_or(body);
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

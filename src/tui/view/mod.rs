//! Draws the model, one file per pane. Makes no decisions and walks only what is in view.
//! Untrusted text is drawn only as `Clean`.

pub mod elapsed;
pub mod header;
pub mod hints;
pub mod message;
pub mod notice_area;

use crate::tui::chat::view::ChatPane;
use crate::tui::layer::{Layer, LayerArea};
use crate::tui::layout::Panes;
use crate::tui::model::Model;
use crate::tui::models::first_run_view;
use crate::tui::panes::{Focus, Pane};
use crate::tui::widgets::painter::Painter;
use crate::tui::{chat, layout, servers};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Draws the whole screen on a ratatui frame (for tests).
pub fn draw(model: &mut Model, frame: &mut Frame) {
    if let Some(cursor) = paint(model, frame.buffer_mut()) {
        frame.set_cursor_position(cursor);
    }
}

/// Paints the whole screen into a blank buffer and returns the cursor position. Changes
/// only row caches in the model.
pub fn paint(model: &mut Model, buffer: &mut Buffer) -> Option<Position> {
    let area = buffer.area;
    model.screen.size = (area.width, area.height);
    if area.width == 0 || area.height == 0 {
        return None;
    }
    let panes = Panes::of(model);
    let mut pen = Painter::new(buffer, model.screen.theme, model.screen.glyphs);
    header::draw(model, &panes, &mut pen);
    chat(model, &panes, &mut pen);
    if let Some(pane) = panes.servers {
        servers(model, pane, panes.framed, &mut pen);
    }
    if let Some(pane) = panes.thinking {
        thinking(model, pane, &panes, &mut pen);
    }
    if let Some((focus, pane)) = panes.over {
        pen.clear(pane.outer);
        if !panes.framed {
            let title = if focus == Focus::Servers {
                "Servers"
            } else {
                "Thinking"
            };
            let bold = pen.theme.bold;
            pen.put(pane.outer.x, pane.outer.y, title, bold, pane.outer.width);
        }
        match focus {
            Focus::Servers => servers(model, pane, panes.framed, &mut pen),
            _ => thinking(model, pane, &panes, &mut pen),
        }
    }
    hints::draw(model, &panes, &mut pen);
    let mut cursor = message::draw(model, &panes, &mut pen);
    if model.layer.is_some() {
        cursor = layer(model, &panes, area, &mut pen);
    }
    if let Some(dialog) = panes.dialog {
        let field = draw_dialog(model, dialog, &mut pen);
        if model.dialogs.is_armed() {
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

fn chat(model: &mut Model, panes: &Panes, pen: &mut Painter) {
    let pane = Pane {
        outer: panes.chat,
        inner: panes.chat_inner,
    };
    let at = chat_pane(model, pane, Focus::Chat, panes.framed);
    chat::view::draw(&mut model.chat, &at, panes.thinking.is_some(), pen);
    if panes.framed {
        elapsed::draw(model, panes.chat, pen);
    }
    let transcript = &model.chat.transcript;
    if transcript.entries().is_empty() && transcript.wait().is_none() {
        let offer = model.offers().then_some(&model.first_run);
        first_run_view::draw(&model.engine, offer, panes.chat_inner, pen);
    }
}

fn thinking(model: &mut Model, pane: Pane, panes: &Panes, pen: &mut Painter) {
    let at = chat_pane(model, pane, Focus::Thinking, panes.framed);
    chat::view::draw_thinking(&mut model.chat, &at, panes.over.is_some(), pen);
}

fn chat_pane(model: &Model, pane: Pane, focus: Focus, is_framed: bool) -> ChatPane {
    ChatPane {
        pane,
        is_framed,
        has_focus: model.panes.focus == focus,
        now: model.now,
        marks: model.screen.marks(),
    }
}

fn servers(model: &mut Model, pane: Pane, framed: bool, pen: &mut Painter) {
    let has_focus = model.panes.focus == Focus::Servers;
    servers::view::draw(&mut model.sidebar, has_focus, pane, framed, pen);
}

fn layer(model: &mut Model, panes: &Panes, area: Rect, pen: &mut Painter) -> Option<Position> {
    let small = area.height < layout::SMALL_HEIGHT;
    let body = if small { area } else { panes.body };
    let chat = Rect {
        width: body.width.min(panes.chat.width.max(1)),
        ..body
    };
    let mut layer = model.layer.take()?;
    let cursor = layer.draw(LayerArea { body, chat }, model.shared(), pen);
    model.layer = Some(layer);
    cursor
}

fn draw_dialog(model: &mut Model, area: Rect, pen: &mut Painter) -> Option<Position> {
    let area = LayerArea {
        body: area,
        chat: area,
    };
    let mut dialogs = std::mem::take(&mut model.dialogs);
    let cursor = dialogs.draw(area, model.shared(), pen);
    model.dialogs = dialogs;
    cursor
}

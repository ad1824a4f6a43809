//! The preview of a saved conversation: its beginning, rendered as in the chat.

use crate::domain::session::MessageRole;
use crate::domain::{Session, SessionId};
use crate::text::markdown::MarkdownGlyphs;
use crate::tui::chat::rendered_text::RenderedText;
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Bytes of a message used for the preview.
const MESSAGE_BYTES_MAX: usize = 8_000;
/// Rows of a prompt. A longer one would hide its answer.
const PROMPT_ROWS_MAX: usize = 4;
/// Columns of the bar before a prompt.
const PROMPT_INDENT: u16 = 2;

#[derive(Debug)]
pub struct SessionPreview {
    session: Arc<Session>,
    /// The messages that fit the last frame, wrapped to its width.
    rendered: Vec<RenderedMessage>,
    size: (u16, u16),
}

#[derive(Debug)]
struct RenderedMessage {
    is_prompt: bool,
    text: RenderedText,
}

impl SessionPreview {
    pub fn new(session: Arc<Session>) -> Self {
        Self {
            session,
            rendered: Vec::new(),
            size: (0, 0),
        }
    }

    pub fn id(&self) -> Option<&SessionId> {
        self.session.id.as_ref()
    }

    /// Renders as many messages as fit the area. Does nothing if its size has not changed.
    fn render(&mut self, area: Rect, glyphs: MarkdownGlyphs) {
        let size = (area.width, area.height);
        if self.size == size {
            return;
        }
        (self.size, self.rendered) = (size, Vec::new());
        let mut rows = 0;
        for message in &self.session.messages {
            if rows >= usize::from(area.height) {
                break;
            }
            let end = message.content.floor_char_boundary(MESSAGE_BYTES_MAX);
            let text = message.content[..end].trim();
            let is_prompt = message.role == MessageRole::User;
            let text = match is_prompt {
                true => RenderedText::plain(text, area.width.saturating_sub(PROMPT_INDENT).max(1)),
                false => RenderedText::markdown(text, area.width.max(1), glyphs, false),
            };
            rows += text.len() + 1;
            self.rendered.push(RenderedMessage { is_prompt, text });
        }
    }

    pub fn draw(&mut self, area: Rect, glyphs: MarkdownGlyphs, pen: &mut Painter) {
        self.render(area, glyphs);
        let (plain, dim) = (pen.theme.plain, pen.theme.dim);
        let mut y = area.y;
        for message in &self.rendered {
            let (indent, rows_max) = match message.is_prompt {
                true => (PROMPT_INDENT, PROMPT_ROWS_MAX),
                false => (0, usize::MAX),
            };
            let count = message.text.len().min(rows_max);
            for index in 0..count {
                if y >= area.bottom() {
                    return;
                }
                if message.is_prompt {
                    // Dim, because the accent marks the selected row.
                    pen.put(area.x, y, pen.glyphs.cursor, dim, area.width);
                }
                let columns = area.width.saturating_sub(indent);
                let row = message.text.row(index);
                pen.put_line(area.x + indent, y, row, plain, columns);
                y += 1;
            }
            if count < message.text.len() && y < area.bottom() {
                let more = pen.glyphs.more;
                pen.put(area.x + indent, y, more, dim, area.width.min(1));
                y += 1;
            }
            y += 1;
        }
    }
}

//! The preview of a saved conversation, rendered as in the chat: its beginning, or the first match
//! of the search, marked and scrolled into view.

use crate::domain::session::MessageRole;
use crate::domain::{SessionId, SessionPreview};
use crate::text::markdown::MarkdownGlyphs;
use crate::text::term_matches::contains_any;
use crate::tui::chat::rendered_text::RenderedText;
use crate::tui::sessions::marks::mark_matches;
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Maximum number of rows of a prompt, so that a long one does not hide its answer.
const PROMPT_ROWS_MAX: usize = 4;
/// Columns of the bar before a prompt.
const PROMPT_INDENT: u16 = 2;
const ROWS_BEFORE_MATCH: usize = 2;
/// Maximum number of rows rendered to find the first match.
const ROWS_MAX: usize = 4_000;

#[derive(Debug)]
pub struct PreviewPane {
    preview: Arc<SessionPreview>,
    /// Folded words to mark.
    terms: Vec<String>,
    /// The messages up to the last visible row, wrapped to the width of the last frame.
    messages: Vec<RenderedMessage>,
    rows: Vec<PreviewRow>,
    /// First visible row.
    top: usize,
    size: (u16, u16),
}

#[derive(Debug)]
struct RenderedMessage {
    is_prompt: bool,
    text: RenderedText,
}

#[derive(Debug, Clone, Copy)]
enum PreviewRow {
    /// The index of a message, and of a row in it.
    Text(usize, usize),
    /// Stands for omitted rows of a long prompt.
    More,
    Blank,
}

impl PreviewPane {
    pub fn new(preview: Arc<SessionPreview>, terms: Vec<String>) -> Self {
        Self {
            preview,
            terms,
            messages: Vec::new(),
            rows: Vec::new(),
            top: 0,
            size: (0, 0),
        }
    }

    pub fn session(&self) -> &SessionId {
        &self.preview.session
    }

    /// Renders messages until the area below the first match is full. Does nothing if the size of
    /// `area` has not changed.
    fn render(&mut self, area: Rect, glyphs: MarkdownGlyphs) {
        let size = (area.width, area.height);
        if self.size == size {
            return;
        }
        (self.size, self.top) = (size, 0);
        (self.messages, self.rows) = (Vec::new(), Vec::new());
        let height = usize::from(area.height);
        let mut first_match = None;
        for message in &Arc::clone(&self.preview).messages {
            let rows_wanted = match first_match {
                None if self.terms.is_empty() => height,
                None => ROWS_MAX,
                Some(row) => row + height,
            };
            if self.rows.len() >= rows_wanted {
                break;
            }
            let is_prompt = message.role == MessageRole::User;
            let text = message.content.trim();
            let text = match is_prompt {
                true => RenderedText::plain(text, area.width.saturating_sub(PROMPT_INDENT).max(1)),
                false => RenderedText::markdown(text, area.width.max(1), glyphs, false),
            };
            let found = self.add_message(RenderedMessage { is_prompt, text });
            first_match = first_match.or(found);
        }
        let wanted = first_match.map_or(0, |row| row.saturating_sub(ROWS_BEFORE_MATCH));
        self.top = wanted.min(self.rows.len().saturating_sub(height));
    }

    /// Returns the row of the message's first match, among all rows.
    fn add_message(&mut self, message: RenderedMessage) -> Option<usize> {
        let index = self.messages.len();
        let has_match_in = |row: &usize| contains_any(message.text.row(*row).text, &self.terms);
        let match_row = (0..message.text.len()).find(has_match_in);
        let (first, count) = match message.is_prompt {
            true => {
                let last_page = message.text.len().saturating_sub(PROMPT_ROWS_MAX);
                let wanted = match_row.unwrap_or(0).saturating_sub(1);
                (
                    wanted.min(last_page),
                    message.text.len().min(PROMPT_ROWS_MAX),
                )
            }
            false => (0, message.text.len()),
        };
        if first > 0 {
            self.rows.push(PreviewRow::More);
        }
        let start = self.rows.len();
        let rows = first..first + count;
        self.rows
            .extend(rows.map(|row| PreviewRow::Text(index, row)));
        if first + count < message.text.len() {
            self.rows.push(PreviewRow::More);
        }
        self.rows.push(PreviewRow::Blank);
        self.messages.push(message);
        match_row.map(|row| start + row - first)
    }

    pub fn draw(&mut self, area: Rect, glyphs: MarkdownGlyphs, pen: &mut Painter) {
        self.render(area, glyphs);
        let (plain, dim) = (pen.theme.plain, pen.theme.dim);
        let rows = self.rows[self.top..].iter();
        for (y, row) in (area.top()..area.bottom()).zip(rows) {
            match *row {
                PreviewRow::Blank => {}
                PreviewRow::More => {
                    let more = pen.glyphs.more;
                    pen.put(area.x + PROMPT_INDENT.min(area.width), y, more, dim, 1);
                }
                PreviewRow::Text(message, row) => {
                    let message = &self.messages[message];
                    let indent = if message.is_prompt { PROMPT_INDENT } else { 0 };
                    if message.is_prompt {
                        // Dim, because the accent marks the selected row.
                        pen.put(area.x, y, pen.glyphs.cursor, dim, area.width);
                    }
                    let columns = area.width.saturating_sub(indent);
                    let row = message.text.row(row);
                    pen.put_line(area.x + indent, y, row, plain, columns);
                    let line = Rect::new(area.x + indent, y, columns, 1);
                    mark_matches(line, row.prefix, row.text, &self.terms, pen);
                }
            }
        }
    }
}

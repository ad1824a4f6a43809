//! Draws single rows off-screen, to find out which text the screen shows.

use crate::text::grapheme::cluster_width;
use crate::tui::chat::draw_row::draw_row;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::row_context::RowContext;
use crate::tui::chat::viewport::{RowPosition, Viewport};
use crate::tui::theme::{Glyphs, Theme};
use crate::tui::widgets::painter::Painter;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;

pub struct RowPainter<'a> {
    pub context: RowContext<'a>,
    pub theme: Theme,
    pub glyphs: Glyphs,
}

impl RowPainter<'_> {
    /// Draws a row into the only row of a buffer.
    fn draw(&self, viewport: &Viewport, input: &LayoutInput, position: RowPosition) -> Buffer {
        let row = Rect::new(0, 0, input.width, 1);
        let mut buffer = Buffer::empty(row);
        let mut pen = Painter::new(&mut buffer, self.theme, self.glyphs);
        if let Some(entry) = input.entry(position.index) {
            draw_row(
                &self.context,
                viewport,
                input,
                position,
                entry,
                row,
                &mut pen,
            );
        }
        buffer
    }

    /// The text that a row shows in these columns, without trailing blanks.
    pub fn shown_text(
        &self,
        viewport: &Viewport,
        input: &LayoutInput,
        position: RowPosition,
        columns: Range<u16>,
    ) -> String {
        let buffer = self.draw(viewport, input, position);
        let mut text = String::new();
        let mut column = columns.start;
        while column < columns.end.min(input.width) {
            let symbol = buffer[(column, 0)].symbol();
            text.push_str(symbol);
            column += cluster_width(symbol).max(1) as u16;
        }
        text.truncate(text.trim_end().len());
        text
    }

    /// The columns of the cluster at a column, and of the word around it.
    pub fn cluster_and_word(
        &self,
        viewport: &Viewport,
        input: &LayoutInput,
        position: RowPosition,
        column: u16,
    ) -> (Range<usize>, Range<usize>) {
        let buffer = self.draw(viewport, input, position);
        let mut clusters: Vec<(usize, &str)> = Vec::new();
        let mut at = 0;
        while at < input.width {
            let symbol = buffer[(at, 0)].symbol();
            clusters.push((at.into(), symbol));
            at += cluster_width(symbol).max(1) as u16;
        }
        let column = usize::from(column.min(input.width.saturating_sub(1)));
        let next = clusters.partition_point(|(start, _)| *start <= column);
        let here = next.saturating_sub(1);
        let start_of = |cluster: usize| {
            let start = clusters.get(cluster).map(|(start, _)| *start);
            start.unwrap_or(input.width.into())
        };
        let symbols: Vec<&str> = clusters.iter().map(|(_, symbol)| *symbol).collect();
        let word = super::geometry::word_around(&symbols, here);
        (
            start_of(here)..start_of(here + 1),
            start_of(word.start)..start_of(word.end),
        )
    }
}

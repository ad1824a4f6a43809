//! The text of a selection or a stop: as source, or as shown.

use super::geometry::{PaneView, selected_columns};
use super::{LaidOutPlace, SelectionUnit};
use crate::domain::EntryBody;
use crate::front_end::call_text::full_call_text;
use crate::text::markdown::{RowOffset, RowPlace};
use crate::tui::chat::entry_layout::EntryLayout;
use crate::tui::chat::entry_rows::{body_text, folded_prompt, prompt_text, unfolded_text};
use crate::tui::chat::rendered_text::RenderedText;
use crate::tui::chat::stops::Stop;
use crate::tui::chat::viewport::RowPosition;
use std::ops::RangeInclusive;

impl PaneView<'_> {
    /// The selected text as source: whole lines as Markdown, parts of lines as shown, wrapped lines
    /// joined. A word is copied as shown.
    pub fn selected_source(&mut self) -> Option<String> {
        let (start, end) = self.viewport.selected_range(self.input)?;
        let is_word = self
            .viewport
            .selection
            .is_some_and(|selection| selection.unit == SelectionUnit::Word);
        let mut text = String::new();
        for index in start.position.index..=end.position.index {
            if self.viewport.height_of(self.input, index) == 0 {
                continue;
            }
            self.viewport.restore_evicted(self.input, index);
            let part = self.entry_source(index, (start, end), is_word);
            let gap = self.viewport.layout_at(index);
            let gap = gap.map_or(0, |layout| layout.key.gap_rows);
            if index > start.position.index {
                text.push_str(&"\n".repeat(gap + 1));
            }
            text.push_str(&part);
        }
        Some(without_blank_ends(&text).to_owned())
    }

    fn entry_source(
        &self,
        index: usize,
        (start, end): (LaidOutPlace, LaidOutPlace),
        is_word: bool,
    ) -> String {
        let Some(layout) = self.viewport.layout_at(index) else {
            return String::new();
        };
        let text_row = layout.key.gap_rows + layout.head_rows;
        let text_rows = layout.text.as_ref().map_or(0, |text| text.len());
        let first = match start.position.index == index {
            true => start.position.row,
            false => layout.key.gap_rows,
        };
        let last = match end.position.index == index {
            true => end.position.row,
            false => layout.height - 1,
        };
        let mut parts: Vec<String> = Vec::new();
        let shown = |row: usize| self.shown_row(RowPosition { index, row }, (start, end));
        parts.extend((first..text_row.min(last + 1)).map(shown));
        let (from, to) = (first.max(text_row), (last + 1).min(text_row + text_rows));
        if let Some(text) = layout.text.as_ref().filter(|_| from < to) {
            let place = |place: LaidOutPlace, row: usize, otherwise: RowOffset| RowPlace {
                row: row - text_row,
                offset: match place.position == (RowPosition { index, row }) {
                    true => place.offset,
                    false => otherwise,
                },
            };
            let row_end = RowOffset::Text(text.row(to - 1 - text_row).text.len());
            let from = place(start, from, RowOffset::BeforeMarker);
            let to = place(end, to - 1, row_end);
            let entry = self.input.entry(index);
            let raw = entry
                .and_then(|entry| body_text(entry, self.input, &layout.key))
                .map(|body| body.raw);
            let is_in_one_line = text.line_rows(from.row).contains(&to.row);
            parts.push(match is_word && is_in_one_line {
                true => text.shown_part(from, to),
                false => self
                    .with_hidden_part(index, layout, text, (from, to))
                    .unwrap_or_else(|| text.excerpt(&raw.unwrap_or_default(), from, to)),
            });
        }
        let first_foot_row = (text_row + text_rows).max(first);
        parts.extend((first_foot_row..last + 1).map(shown));
        parts.join("\n")
    }

    /// The source of a selection that includes the label of a folded prompt: it stands for the hidden
    /// part. `None` for any other selection.
    fn with_hidden_part(
        &self,
        index: usize,
        layout: &EntryLayout,
        text: &RenderedText,
        (from, to): (RowPlace, RowPlace),
    ) -> Option<String> {
        let label_row = layout.fold_row()?;
        if !(from.row..=to.row).contains(&label_row) {
            return None;
        }
        let prompt = folded_prompt(self.input.entry(index)?, &layout.key)?;
        let row_end = |row: usize| RowPlace {
            row,
            offset: RowOffset::Text(text.row(row).text.len()),
        };
        let mut source = String::new();
        if from.row < label_row {
            source.push_str(&text.excerpt("", from, row_end(label_row - 1)));
        }
        source.push_str(&prompt.hidden);
        if to.row > label_row {
            source.push_str(&text.excerpt("", row_end(label_row), to));
        }
        Some(source)
    }

    fn shown_row(&self, position: RowPosition, range: (LaidOutPlace, LaidOutPlace)) -> String {
        let columns = selected_columns(self.viewport, self.input, position, range);
        self.painter
            .shown_text(self.viewport, self.input, position, columns)
    }

    /// The selected text as the screen shows it, row by row, without margins and bars.
    pub fn selected_as_shown(&mut self) -> Option<String> {
        let range = self.viewport.selected_range(self.input)?;
        let rows = self.rows_as_shown(range);
        Some(without_blank_ends(&rows).to_owned())
    }

    fn rows_as_shown(&mut self, (start, end): (LaidOutPlace, LaidOutPlace)) -> String {
        let mut rows = Vec::new();
        for index in start.position.index..=end.position.index {
            let height = self.viewport.height_of(self.input, index);
            self.viewport.restore_evicted(self.input, index);
            let all = (0..height).map(|row| RowPosition { index, row });
            let selected = all.filter(|row| (start.position..=end.position).contains(row));
            rows.extend(selected.map(|row| self.shown_row(row, (start, end))));
        }
        rows.join("\n")
    }

    /// The source of a stop: the Markdown of a message or table, the code of a code block, the
    /// arguments and the result of a call.
    pub fn stop_source(&mut self, stop: Stop) -> Option<String> {
        self.viewport.stop_rows(self.input, stop)?;
        let layout = self.viewport.layout_at(stop.index)?;
        let entry = self.input.entry(stop.index)?;
        if let Some(block) = stop.block {
            let body = body_text(entry, self.input, &layout.key)?;
            return layout.text.as_ref()?.block_source(&body.raw, block);
        }
        Some(match &entry.body {
            EntryBody::Text { text, .. } | EntryBody::Thinking { text, .. } => {
                text.trim_matches('\n').to_owned()
            }
            EntryBody::Tool(call) => full_call_text(call).0,
            EntryBody::Prompt { .. } => prompt_text(entry).unwrap_or_default().to_owned(),
            _ => unfolded_text(entry).into_owned(),
        })
    }

    /// A stop as the screen shows it. The label of a code block is not part of the code.
    pub fn stop_as_shown(&mut self, stop: Stop) -> Option<String> {
        let first = self.viewport.first_text_row(self.input, stop)?;
        let rows = self.viewport.stop_rows(self.input, stop)?;
        Some(self.rows_as_shown(self.whole_rows(stop.index, first..=*rows.end())))
    }

    /// The places at the start and the end of these rows of an entry.
    fn whole_rows(
        &self,
        index: usize,
        rows: RangeInclusive<usize>,
    ) -> (LaidOutPlace, LaidOutPlace) {
        let place = |row: usize, offset| LaidOutPlace {
            position: RowPosition { index, row },
            offset,
        };
        (
            place(*rows.start(), RowOffset::BeforeMarker),
            place(*rows.end(), RowOffset::Text(usize::MAX)),
        )
    }
}

/// The text without leading blank lines and trailing whitespace: a selection often reaches into
/// the blank rows around the text.
fn without_blank_ends(text: &str) -> &str {
    let text = text.trim_end();
    let first_line = text.len() - text.trim_start().len();
    let start = text[..first_line].rfind('\n').map_or(0, |at| at + 1);
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_around_a_selection_are_dropped_but_indentation_is_kept() {
        for (text, expected) in [
            ("\n\n  a\n\n b  \n \n", "  a\n\n b"),
            ("a", "a"),
            ("  a", "  a"),
            (" \n\n", ""),
        ] {
            assert_eq!(without_blank_ends(text), expected, "{text:?}");
        }
    }
}

//! Maps cells of the screen to places in the text, and back.

use super::row_painter::RowPainter;
use super::{LaidOutPlace, PlaceRange, SelectionUnit};
use crate::text::grapheme::{cluster_width, clusters_forward, width};
use crate::text::markdown::RowOffset;
use crate::tui::chat::entry_rows::indent;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::row_content::RowContent;
use crate::tui::chat::viewport::{RowPosition, Viewport};
use ratatui::layout::{Position, Rect};
use std::ops::Range;

/// The chat or the thinking pane as it is on the screen.
pub struct PaneView<'a> {
    pub viewport: &'a mut Viewport,
    pub input: &'a LayoutInput<'a>,
    pub painter: RowPainter<'a>,
    pub area: Rect,
}

impl PaneView<'_> {
    pub fn height(&self) -> usize {
        self.area.height.into()
    }

    /// The row drawn at `y`, or the nearest one; `None` without any rows.
    fn row_at(&mut self, y: u16) -> Option<RowPosition> {
        let (height, input) = (self.height(), self.input);
        let top = self.viewport.top_position(input, height);
        let mut rows = self.viewport.visible_rows(input, top, height);
        rows.retain(|row| row.index < input.count());
        let y = usize::from(y.saturating_sub(self.area.y));
        rows.get(y).or(rows.last()).copied()
    }

    /// The row drawn at a position; `None` outside the pane and below the last row.
    pub fn drawn_row_at(&mut self, at: Position) -> Option<RowPosition> {
        let (height, input) = (self.height(), self.input);
        let top = self.viewport.top_position(input, height);
        let rows = self.viewport.visible_rows(input, top, height);
        let row = rows.get(usize::from(at.y.checked_sub(self.area.y)?))?;
        (row.index < input.count()).then_some(*row)
    }

    /// The unit of text at a position. Outside the pane, the nearest one.
    pub fn unit_at(&mut self, at: Position, unit: SelectionUnit) -> Option<PlaceRange> {
        let y =
            at.y.clamp(self.area.y, self.area.bottom().saturating_sub(1));
        let position = self.row_at(y)?;
        let column = at.x.saturating_sub(self.area.x);
        Some(self.unit_in_row(position, column, unit))
    }

    /// The unit of text at a column of a row.
    pub fn unit_in_row(
        &mut self,
        position: RowPosition,
        column: u16,
        unit: SelectionUnit,
    ) -> PlaceRange {
        let (start, end) = match self.viewport.row_content(position) {
            RowContent::Blank => {
                let layout = self.viewport.layout_at(position.index);
                let row = layout.map_or(0, |layout| layout.key.gap_rows);
                let place = LaidOutPlace {
                    position: RowPosition { row, ..position },
                    offset: RowOffset::BeforeMarker,
                };
                (place, place)
            }
            RowContent::Text(_) => self.unit_in_text(position, column, unit),
            RowContent::Head(_) | RowContent::Foot => {
                let (cluster, word) =
                    self.painter
                        .cluster_and_word(self.viewport, self.input, position, column);
                let columns = match unit {
                    SelectionUnit::Cluster => cluster,
                    SelectionUnit::Word => word,
                    SelectionUnit::Line => 0..self.input.width.into(),
                };
                let at_column = |column: usize| LaidOutPlace {
                    position,
                    offset: RowOffset::Text(column),
                };
                (at_column(columns.start), at_column(columns.end))
            }
        };
        PlaceRange {
            start: self.viewport.anchor_place(start),
            end: self.viewport.anchor_place(end),
        }
    }

    fn unit_in_text(
        &self,
        position: RowPosition,
        column: u16,
        unit: SelectionUnit,
    ) -> (LaidOutPlace, LaidOutPlace) {
        let offsets = self.cluster_in_text(position, column);
        let place = |offset| LaidOutPlace { position, offset };
        let cluster = (place(offsets.start), place(offsets.end));
        let layout = self.viewport.layout_at(position.index);
        let Some((layout, text)) = layout.and_then(|layout| Some((layout, layout.text.as_ref()?)))
        else {
            return cluster;
        };
        let first_text_row = layout.key.gap_rows + layout.head_rows;
        let row = position.row - first_text_row;
        let rows = text.line_rows(row);
        let place_in_row = |row: usize, offset| LaidOutPlace {
            position: RowPosition {
                index: position.index,
                row: first_text_row + row,
            },
            offset,
        };
        match unit {
            SelectionUnit::Cluster => cluster,
            SelectionUnit::Line => {
                let last = *rows.end();
                let end = RowOffset::Text(text.row(last).text.len());
                let start = place_in_row(*rows.start(), RowOffset::BeforeMarker);
                (start, place_in_row(last, end))
            }
            SelectionUnit::Word => {
                // Each cluster with its row and its bytes within that row.
                let mut clusters: Vec<(usize, Range<usize>)> = Vec::new();
                for row in rows {
                    let mut byte = 0;
                    for cluster in clusters_forward(text.row(row).text) {
                        clusters.push((row, byte..byte + cluster.len()));
                        byte += cluster.len();
                    }
                }
                let wanted = (row, offsets.start.text_byte());
                let here = clusters.partition_point(|(row, bytes)| (*row, bytes.start) < wanted);
                let symbols: Vec<&str> = clusters
                    .iter()
                    .map(|(row, bytes)| &text.row(*row).text[bytes.clone()])
                    .collect();
                if offsets.start == offsets.end || here >= symbols.len() {
                    return cluster;
                }
                let word = word_around(&symbols, here);
                let (first_row, first) = &clusters[word.start];
                let (last_row, last) = &clusters[word.end - 1];
                (
                    place_in_row(*first_row, RowOffset::Text(first.start)),
                    place_in_row(*last_row, RowOffset::Text(last.end)),
                )
            }
        }
    }

    /// The cluster of a text row that covers a column; empty at the ends of the row.
    fn cluster_in_text(&self, position: RowPosition, column: u16) -> Range<RowOffset> {
        let RowContent::Text(row) = self.viewport.row_content(position) else {
            return RowOffset::BeforeMarker..RowOffset::BeforeMarker;
        };
        let column = usize::from(column);
        let text_column = usize::from(self.indent(position)) + width(row.prefix);
        if column < text_column {
            let is_on_marker = column + width(row.marker()) >= text_column;
            return match is_on_marker && !row.marker().is_empty() {
                true => RowOffset::BeforeMarker..RowOffset::Text(0),
                false => RowOffset::BeforeMarker..RowOffset::BeforeMarker,
            };
        }
        let (mut at, mut byte) = (text_column, 0);
        for cluster in clusters_forward(row.text) {
            let end = at + cluster_width(cluster);
            if column < end {
                return RowOffset::Text(byte)..RowOffset::Text(byte + cluster.len());
            }
            (at, byte) = (end, byte + cluster.len());
        }
        RowOffset::Text(byte)..RowOffset::Text(byte)
    }

    fn indent(&self, position: RowPosition) -> u16 {
        let entry = self.input.entry(position.index);
        entry.map_or(0, |entry| indent(entry, self.input))
    }
}

/// The columns of a row between two places, counted from the left edge of the pane's text.
pub fn selected_columns(
    viewport: &Viewport,
    input: &LayoutInput,
    position: RowPosition,
    (start, end): (LaidOutPlace, LaidOutPlace),
) -> Range<u16> {
    if position < start.position || position > end.position {
        return 0..0;
    }
    let from = Some(start).filter(|start| start.position == position);
    let to = Some(end).filter(|end| end.position == position);
    match viewport.row_content(position) {
        RowContent::Blank => 0..0,
        RowContent::Head(_) | RowContent::Foot => {
            let column = |place: LaidOutPlace| to_column(place.offset.text_byte(), input.width);
            from.map_or(0, column)..to.map_or(input.width, column)
        }
        RowContent::Text(row) => {
            let entry = input.entry(position.index);
            let indent = usize::from(entry.map_or(0, |entry| indent(entry, input)));
            let text_column = indent + width(row.prefix);
            let column = |offset: RowOffset| match offset {
                RowOffset::BeforeMarker => text_column - width(row.marker()),
                RowOffset::Text(byte) => {
                    let byte = row.text.floor_char_boundary(byte.min(row.text.len()));
                    text_column + width(&row.text[..byte])
                }
            };
            let from = from.map_or(RowOffset::BeforeMarker, |from| from.offset);
            let to = to.map_or(RowOffset::Text(row.text.len()), |to| to.offset);
            to_column(column(from), input.width)..to_column(column(to), input.width)
        }
    }
}

fn to_column(column: usize, width: u16) -> u16 {
    u16::try_from(column).unwrap_or(u16::MAX).min(width)
}

/// Whether a cluster is a letter, a digit, or a character that joins them in names, paths and
/// addresses.
fn is_word_cluster(cluster: &str) -> bool {
    let is_joiner = |c: char| "_-./:~@%+#?&=".contains(c);
    let first = cluster.chars().next();
    first.is_some_and(|c| c.is_alphanumeric() || is_joiner(c))
}

/// The word around the cluster at index `here`, as a range of clusters. Punctuation on either side
/// of a word does not belong to it, except a period before it, and punctuation at `here`.
pub fn word_around(clusters: &[&str], here: usize) -> Range<usize> {
    let is_word = |index: usize| clusters.get(index).is_some_and(|c| is_word_cluster(c));
    if !is_word(here) {
        return here..here + 1;
    }
    let (mut start, mut end) = (here, here + 1);
    while start > 0 && is_word(start - 1) {
        start -= 1;
    }
    while is_word(end) {
        end += 1;
    }
    let is_punctuation = |index: usize| matches!(clusters[index], "." | ":" | "?" | "-");
    while end - 1 > here && is_punctuation(end - 1) {
        end -= 1;
    }
    while start < here && is_punctuation(start) && clusters[start] != "." {
        start += 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_words_include_hangul_paths_and_addresses() {
        let cases = [
            ("in 서울에서 now", 4, "서울에서"),
            ("see https://a.b/c?d=1.", 10, "https://a.b/c?d=1"),
            ("(src/main.rs:12)", 3, "src/main.rs:12"),
            ("fn main_loop(x)", 5, "main_loop"),
            ("a  b", 1, " "),
            ("end.", 3, "end."),
            ("漢字「かな」", 3, "かな"),
            ("e\u{301}te\u{301} x", 1, "e\u{301}te\u{301}"),
        ];
        for (text, here, word) in cases {
            let clusters: Vec<&str> = clusters_forward(text).collect();
            assert_eq!(
                clusters[word_around(&clusters, here)].concat(),
                word,
                "{text}"
            );
        }
    }
}

//! Rows of an argument document at one width. The left margin marks rows that continue a line;
//! short values share a row.

use super::document::{ArgumentDocument, DocumentLine, LineKind};
use crate::text::grapheme::{cluster_end, width};
use crate::text::highlight::Token;
use crate::text::line_diff::LineChange;
use crate::text::lossless_wrap::{MARGIN_COLUMNS, RowJoin, lossless_line_rows};
use crate::text::markdown::{StyleRole, TextStyle};
use crate::text::styled_line::StyledLine;
use std::num::NonZeroU16;
use std::ops::Range;

/// Minimum width of a column of short values.
const PAIR_COLUMNS_MIN: usize = 38;
/// Keys up to this wide are padded to align the values after them.
const ALIGNED_KEY_COLUMNS_MAX: usize = 16;
/// Of the lines below a heading.
const INDENT: usize = 2;
/// Between two pairs in a row.
const PAIR_GAP_COLUMNS: usize = 2;

#[derive(Debug, Clone, Default)]
pub struct ArgumentRows {
    pub rows: Vec<StyledLine>,
    /// The position in the document at which each row starts.
    pub starts: Vec<usize>,
}

impl ArgumentDocument {
    /// Wraps the document without loss. `markers` are shown in the margin of a row whose
    /// predecessor ended after a space, in its last column, or one column short of it. O(n).
    pub fn rows(&self, columns: u16, markers: [&str; 3]) -> ArgumentRows {
        let mut layout = RowLayout {
            columns: usize::from(columns.saturating_sub(MARGIN_COLUMNS)).max(1),
            number_columns: self.number_columns,
            markers,
            out: ArgumentRows::default(),
        };
        let mut lines = self.lines.as_slice();
        while let Some(line) = lines.first() {
            let pairs = lines.iter().take_while(|line| line.key_end().is_some());
            let pairs = pairs.count();
            if pairs == 0 {
                layout.wrap(line);
            } else {
                layout.lay_out_pairs(&lines[..pairs]);
            }
            lines = &lines[pairs.max(1)..];
        }
        layout.out
    }
}

impl DocumentLine {
    fn key_end(&self) -> Option<usize> {
        match self.kind {
            LineKind::Pair { key_end } => Some(key_end),
            _ => None,
        }
    }
}

struct RowLayout<'a> {
    /// Width without the margin.
    columns: usize,
    number_columns: usize,
    markers: [&'a str; 3],
    out: ArgumentRows,
}

impl RowLayout<'_> {
    fn add(&mut self, row: StyledLine, start: usize) {
        self.out.rows.push(row);
        self.out.starts.push(start);
    }

    /// In columns of equal width, in reading order.
    fn lay_out_pairs(&mut self, pairs: &[DocumentLine]) {
        let per_row = (self.columns / PAIR_COLUMNS_MIN).max(1);
        let cell = self.columns / per_row;
        let keys = pairs
            .iter()
            .filter_map(|pair| Some(width(&pair.text[..pair.key_end()?])));
        let aligned = keys
            .filter(|key| *key <= ALIGNED_KEY_COLUMNS_MAX)
            .max()
            .unwrap_or(0);
        let mut row = StyledLine::default();
        let (mut cells, mut start) = (0, 0);
        for pair in pairs {
            let key_end = pair.key_end().unwrap_or_default();
            let key_columns = width(&pair.text[..key_end]).max(aligned);
            let columns = key_columns + width(&pair.text[key_end..]);
            let needed = if columns + PAIR_GAP_COLUMNS <= cell {
                1
            } else {
                per_row
            };
            if cells > 0 && cells + needed > per_row {
                self.add(std::mem::take(&mut row), start);
                cells = 0;
            }
            if columns > self.columns {
                self.wrap(pair);
                continue;
            }
            if cells == 0 {
                start = pair.start;
            }
            row.pad_to(usize::from(MARGIN_COLUMNS) + cells * cell);
            let left = row.width();
            push_styled(&mut row, pair, 0..key_end);
            row.pad_to(left + key_columns);
            push_styled(&mut row, pair, key_end..pair.text.len());
            cells += needed;
        }
        if cells > 0 {
            self.add(row, start);
        }
    }

    fn wrap(&mut self, line: &DocumentLine) {
        let lead = self.lead(line);
        let columns = self.columns.saturating_sub(width(&lead)).max(1);
        let columns = NonZeroU16::new(columns as u16).unwrap_or(NonZeroU16::MIN);
        for (join, part) in lossless_line_rows(&line.text, columns) {
            let mut row = StyledLine::default();
            let [space, full, short] = self.markers;
            let marker = match join {
                RowJoin::LineStart => " ",
                RowJoin::AfterSpace => space,
                RowJoin::AfterFullRow => full,
                RowJoin::AfterShortRow => short,
            };
            row.push_dim(format!("{marker} "));
            match join {
                RowJoin::LineStart => row.push(lead.clone(), lead_style(line.kind)),
                _ => row.push_plain(" ".repeat(width(&lead))),
            }
            let start = line.start + part.start;
            push_styled(&mut row, line, part);
            self.add(row, start);
        }
    }

    /// The text before a line: indentation, number and diff sign.
    fn lead(&self, line: &DocumentLine) -> String {
        let numbers = self.number_columns;
        match line.kind {
            LineKind::Pair { .. } | LineKind::Heading { .. } | LineKind::Json => String::new(),
            LineKind::Indented => " ".repeat(INDENT),
            LineKind::Numbered(number) => format!("{:INDENT$}{number:>numbers$}  ", ""),
            LineKind::Change(change, number) => {
                let sign = match change {
                    LineChange::Same => ' ',
                    LineChange::Removed => '-',
                    LineChange::Added => '+',
                };
                format!("{:INDENT$}{number:>numbers$} {sign} ", "")
            }
        }
    }
}

fn lead_style(kind: LineKind) -> TextStyle {
    match kind {
        LineKind::Change(change, _) => change_style(change),
        _ => TextStyle::from_role(StyleRole::Dim),
    }
}

fn change_style(change: LineChange) -> TextStyle {
    TextStyle::from_role(match change {
        LineChange::Same => StyleRole::Plain,
        LineChange::Removed => StyleRole::Token(Token::Removed),
        LineChange::Added => StyleRole::Token(Token::Added),
    })
}

fn push_styled(row: &mut StyledLine, line: &DocumentLine, part: Range<usize>) {
    let dim = TextStyle::from_role(StyleRole::Dim);
    match line.kind {
        LineKind::Heading { path_end } => {
            let path_end = path_end.clamp(part.start, part.end);
            row.push_bold(&line.text[part.start..path_end]);
            row.push(&line.text[path_end..part.end], dim);
        }
        LineKind::Pair { key_end } if part.start < key_end => {
            let key_end = key_end.min(part.end);
            row.push(&line.text[part.start..key_end], dim);
            push_tokens(row, line, key_end..part.end);
        }
        LineKind::Change(change, _) => row.push(&line.text[part], change_style(change)),
        _ => push_tokens(row, line, part),
    }
}

fn push_tokens(row: &mut StyledLine, line: &DocumentLine, part: Range<usize>) {
    let first = line
        .tokens
        .partition_point(|(end, _)| *end as usize <= part.start);
    let mut at = part.start;
    for (end, token) in &line.tokens[first..] {
        if at >= part.end {
            break;
        }
        // Half a cluster would be drawn without its combining marks.
        let end = cluster_end(&line.text, *end as usize).min(part.end);
        let style = TextStyle::from_role(StyleRole::Token(*token));
        row.push(&line.text[at..end], style);
        at = end;
    }
    row.push_plain(&line.text[at.min(part.end)..part.end]);
}

//! Fits tables to a width. The first rows settle the column widths; later rows are wrapped into
//! them, so a long table is not laid out again with every row.

use super::close_pending::close_pending;
use super::inline::{InlineSink, LinkDefinitions, write_inline};
use super::layout::RowPrefixes;
use super::line_syntax::{self, ColumnAlign};
use super::row_buffer::{BreakMode, RowBuffer};
use super::style::{MarkdownGlyphs, StyleRole, TextStyle};
use crate::text::grapheme::width;
use crate::text::sanitize::Sanitizer;
use crate::text::wrap::wrap;
use std::num::NonZeroU16;
use std::ops::Range;
use std::sync::Arc;

/// Number of rows that determine the column widths, header included.
pub const SETTLING_ROWS: usize = 48;
/// Minimum width of a shrunk column.
const COLUMN_MIN: usize = 5;
/// Width of the separator between columns.
const COLUMN_GAP: usize = 3;

/// Budget for filler bytes: per byte of the rows, plus a fixed allowance. Filler is text a row
/// shows beyond its own cells: missing cells, and column names. Without a limit, a row of one byte
/// could be laid out as more than a hundred cells.
const FILLER_SHARE: usize = 16;
const FILLER_FREE: usize = 128 << 10;
/// Filler counted for each screen row, besides its text.
const FILLER_BYTES_PER_ROW: usize = 16;

const DIM: TextStyle = TextStyle::from_role(StyleRole::Dim);
const BOLD: TextStyle = TextStyle {
    bold: true,
    ..TextStyle::from_role(StyleRole::Plain)
};

/// The styled text of one cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableCell {
    text: String,
    styles: Vec<(usize, TextStyle)>,
    width: usize,
}

struct CellSink<'a> {
    cell: &'a mut TableCell,
    sanitizer: Sanitizer,
}

impl InlineSink for CellSink<'_> {
    fn push_text(&mut self, text: &str, style: TextStyle, _at: usize) {
        let clean = self.sanitizer.push(text);
        if !clean.is_empty() {
            self.cell.text.push_str(clean.as_str());
            self.cell.styles.push((self.cell.text.len(), style));
        }
    }
}

/// The cells of one row, which may be fewer than the table has columns. Each byte of the line
/// belongs to a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRow {
    pub source: usize,
    line_bytes: usize,
    cells: Vec<TableCell>,
}

impl TableRow {
    /// `partial`: the last cell may continue.
    pub fn new(
        text: &str,
        source: usize,
        columns: usize,
        partial: bool,
        glyphs: &MarkdownGlyphs,
        links: &mut LinkDefinitions,
    ) -> Self {
        let mut ranges: Vec<Range<usize>> = line_syntax::table_cells(text).collect();
        let end = ranges.last().map_or(0, |last| last.end);
        // Surplus cells belong to the last one.
        ranges.truncate(columns);
        if let Some(last) = ranges.last_mut() {
            last.end = end;
        }
        let cells: Vec<TableCell> = ranges
            .into_iter()
            .map(|range| {
                let mut cell = TableCell::default();
                let is_unfinished = partial && range.end == end;
                let mut text = text[range].trim_matches(' ').replace("\\|", "|");
                if is_unfinished {
                    close_pending(&mut text);
                }
                let mut sink = CellSink {
                    cell: &mut cell,
                    sanitizer: Sanitizer::default(),
                };
                write_inline(&text, TextStyle::default(), glyphs, links, &mut sink);
                cell.width = cell.text.split('\n').map(width).max().unwrap_or(0);
                cell
            })
            .collect();
        Self {
            source,
            line_bytes: text.len() + 1,
            cells,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum TablePlan {
    Columns(Vec<usize>),
    /// Too many columns for the width: each row becomes a list of its cells.
    RecordList,
}

#[derive(Debug, Clone)]
pub struct TableLayout {
    aligns: Vec<ColumnAlign>,
    /// The header, and the rows received before the columns were settled.
    rows: Vec<Arc<TableRow>>,
    settled_plan: Option<Arc<TablePlan>>,
    /// An unfinished row.
    partial_row: Option<Arc<TableRow>>,
    /// Bytes of the rows laid out, and of filler in them.
    row_bytes: usize,
    filler_bytes: usize,
}

pub struct TableOutput<'a> {
    pub rows: &'a mut RowBuffer,
    pub glyphs: &'a MarkdownGlyphs,
    pub width: usize,
    pub prefixes: &'a mut RowPrefixes,
}

impl TableOutput<'_> {
    fn push(&mut self, text: &str, style: TextStyle) {
        self.rows.push_text(text, style);
    }

    fn end_row(&mut self, start: usize, source: usize) {
        let prefix = self.prefixes.take_next();
        self.rows.push_row(start, prefix, source);
    }

    /// Wraps the text since `start` into rows.
    fn wrap(&mut self, start: usize, source: usize) {
        let width = to_width(self.width);
        let prefixes = &mut *self.prefixes;
        let breaks = (width, BreakMode::Prose);
        self.rows
            .wrap(start, breaks, false, || prefixes.take_next(), |_| source);
    }
}

impl TableLayout {
    pub fn new(aligns: Vec<ColumnAlign>, mut header: TableRow) -> Self {
        header.cells.resize(aligns.len(), TableCell::default());
        Self {
            aligns,
            rows: vec![Arc::new(header)],
            settled_plan: None,
            partial_row: None,
            row_bytes: 0,
            filler_bytes: 0,
        }
    }

    pub fn columns(&self) -> usize {
        self.aligns.len()
    }

    /// Adds a row, laid out at once if the columns are settled. `partial`: it may continue.
    pub fn push(&mut self, row: TableRow, partial: bool, output: &mut TableOutput) {
        if let Some(plan) = self.settled_plan.clone() {
            return self.lay_out_row(&plan, &row, false, output);
        }
        if partial {
            self.partial_row = Some(Arc::new(row));
            return;
        }
        self.rows.push(Arc::new(row));
        if self.rows.len() == SETTLING_ROWS {
            let plan = Arc::new(self.plan(output.width));
            self.lay_out_rows(&plan, output);
            self.rows.truncate(1);
            self.settled_plan = Some(plan);
        }
    }

    /// Ends the table and lays out the remaining rows.
    pub fn finish(&mut self, output: &mut TableOutput) {
        if self.settled_plan.is_some() {
            return;
        }
        let plan = self.plan(output.width);
        self.lay_out_rows(&plan, output);
        if let Some(row) = self.partial_row.take() {
            self.lay_out_row(&plan, &row, self.rows.len() == 1, output);
        }
    }

    fn plan(&self, width: usize) -> TablePlan {
        let count = self.columns();
        let natural: Vec<usize> = (0..count)
            .map(|column| {
                let rows = self.rows.iter().chain(&self.partial_row);
                let widths = rows.filter_map(|row| Some(row.cells.get(column)?.width));
                widths.max().unwrap_or(0).max(1)
            })
            .collect();
        let available = width.saturating_sub((count - 1) * COLUMN_GAP);
        if natural.iter().sum::<usize>() <= available {
            return TablePlan::Columns(natural);
        }
        let minimum: usize = natural.iter().map(|width| (*width).min(COLUMN_MIN)).sum();
        if minimum > available {
            return TablePlan::RecordList;
        }
        TablePlan::Columns(shrink_columns(&natural, available))
    }

    fn lay_out_rows(&mut self, plan: &TablePlan, output: &mut TableOutput) {
        let rows = self.rows.clone();
        if let (TablePlan::Columns(widths), Some(header)) = (plan, rows.first()) {
            self.lay_out_columns(widths, header, true, output);
            let start = output.rows.end();
            for (column, width) in widths.iter().enumerate() {
                let margins = usize::from(column > 0) + usize::from(column + 1 < widths.len());
                if column > 0 {
                    output.push(&output.glyphs.cross.to_string(), DIM);
                }
                let line = output.glyphs.rule.to_string().repeat(width + margins);
                output.push(&line, DIM);
            }
            output.end_row(start, header.source);
        }
        if let (TablePlan::RecordList, [header]) = (plan, &rows[..]) {
            let names: Vec<_> = header.cells.iter().map(|cell| cell.text.as_str()).collect();
            let start = output.rows.end();
            output.push(&names.join(" / ").replace('\n', " "), BOLD);
            output.wrap(start, header.source);
        }
        for (index, row) in rows.iter().enumerate().skip(1) {
            self.lay_out_row(plan, row, index == 1, output);
        }
    }

    fn lay_out_row(
        &mut self,
        plan: &TablePlan,
        row: &TableRow,
        first: bool,
        output: &mut TableOutput,
    ) {
        self.row_bytes += row.line_bytes;
        match plan {
            TablePlan::Columns(widths) => self.lay_out_columns(widths, row, false, output),
            TablePlan::RecordList => {
                if !first {
                    let start = output.rows.end();
                    output.end_row(start, row.source);
                }
                self.lay_out_record(row, output);
            }
        }
    }

    /// Lays out a row as columns; its tallest cell determines its height.
    fn lay_out_columns(
        &mut self,
        widths: &[usize],
        row: &TableRow,
        header: bool,
        output: &mut TableOutput,
    ) {
        let count = match header || self.can_add_filler() {
            true => widths.len(),
            false => row.cells.len(),
        };
        let empty_cell = TableCell::default();
        let wrapped: Vec<Vec<Range<usize>>> = row
            .cells
            .iter()
            .zip(widths)
            .map(|(cell, width)| wrap(&cell.text, to_width(*width)))
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        for line in 0..height {
            let start = output.rows.end();
            let mut own_end = start;
            for (column, column_width) in widths.iter().enumerate().take(count) {
                let cell = row.cells.get(column).unwrap_or(&empty_cell);
                if column > 0 {
                    output.push(" ", TextStyle::default());
                    output.push(&output.glyphs.bar.to_string(), DIM);
                    output.push(" ", TextStyle::default());
                }
                let range = wrapped.get(column).and_then(|rows| rows.get(line));
                let range = range.cloned().unwrap_or(0..0);
                let text = cell.text[range.clone()].trim_end_matches(' ');
                let range = range.start..range.start + text.len();
                let padding = column_width.saturating_sub(width(text));
                let before = match self.aligns[column] {
                    ColumnAlign::Left => 0,
                    ColumnAlign::Center => padding / 2,
                    ColumnAlign::Right => padding,
                };
                let is_last = column + 1 == count;
                let after = if is_last { 0 } else { padding - before };
                output.push(&" ".repeat(before), TextStyle::default());
                push_cell(output.rows, cell, range, header);
                output.push(&" ".repeat(after), TextStyle::default());
                if column < row.cells.len() {
                    own_end = output.rows.end();
                }
            }
            self.filler_bytes += output.rows.end() - own_end;
            output.end_row(start, row.source);
        }
    }

    /// Lays out a row as a list of its cells, each with its column name.
    fn lay_out_record(&mut self, row: &TableRow, output: &mut TableOutput) {
        let Some(header) = self.rows.first().cloned() else {
            return;
        };
        let fills = self.can_add_filler();
        for (column, name) in header.cells.iter().enumerate() {
            let cell = row.cells.get(column);
            if cell.is_none() && !fills {
                return;
            }
            let start = output.rows.end();
            if !name.text.is_empty() && fills {
                output.push(&name.text.replace('\n', " "), BOLD);
                output.push(": ", DIM);
            }
            self.filler_bytes += output.rows.end() - start;
            match cell {
                Some(cell) => push_cell(output.rows, cell, 0..cell.text.len(), false),
                None => self.filler_bytes += FILLER_BYTES_PER_ROW,
            }
            output.wrap(start, row.source);
        }
    }

    /// Whether the budget allows more filler.
    fn can_add_filler(&self) -> bool {
        self.filler_bytes <= FILLER_FREE + FILLER_SHARE * self.row_bytes
    }
}

fn to_width(width: usize) -> NonZeroU16 {
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    NonZeroU16::new(width).unwrap_or(NonZeroU16::MIN)
}

fn push_cell(rows: &mut RowBuffer, cell: &TableCell, range: Range<usize>, header: bool) {
    let mut at = 0;
    for (end, style) in &cell.styles {
        let (from, to) = (at.max(range.start), (*end).min(range.end));
        at = *end;
        if from < to {
            let bold = style.bold || header;
            rows.push_text(&cell.text[from..to], TextStyle { bold, ..*style });
        }
    }
}

/// Shrinks columns to fill `available` columns, the widest first and evenly.
fn shrink_columns(natural: &[usize], available: usize) -> Vec<usize> {
    let mut open: Vec<usize> = (0..natural.len()).collect();
    let mut widths = natural.to_vec();
    let mut left = available;
    // Each pass satisfies the columns that need less than an even share.
    loop {
        let share = left / open.len().max(1);
        let (small, large): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|column| natural[**column] <= share);
        if small.is_empty() || large.is_empty() {
            let extra = left.saturating_sub(share * open.len());
            for (index, column) in open.iter().enumerate() {
                widths[*column] = (share + usize::from(index < extra))
                    .min(natural[*column])
                    .max(1);
            }
            return widths;
        }
        left -= small.iter().map(|column| natural[*column]).sum::<usize>();
        open = large;
    }
}

//! Fits tables to a width. The first rows determine the column widths, and later rows are wrapped
//! to them, so a long table is not laid out again with every row.

use super::close_pending::close_pending;
use super::inline::{InlineSink, LeafText, LinkDefinitions, write_inline};
use super::layout::RowPrefixes;
use super::line_syntax::{self, ColumnAlign};
use super::math::{TextEnd, math_spans};
use super::row_buffer::{BreakMode, RowBuffer, RowStart};
use super::style::{MarkdownGlyphs, StyleRole, TextStyle};
use super::table_plan::{TablePlan, plan_table};
use crate::text::grapheme::width;
use crate::text::sanitize::Sanitizer;
use crate::text::wrap::wrap;
use std::num::NonZeroU16;
use std::ops::Range;
use std::sync::Arc;

/// Number of rows that determine the column widths, header included.
pub const SETTLING_ROWS: usize = 48;

/// Limits on filler, the text that a row shows in addition to its own cells: missing cells, and
/// column names. Without a limit, a row of one byte could be laid out as more than a hundred cells.
/// The limit is a number of filler bytes per byte of the rows, plus a fixed allowance.
const FILLER_BYTES_PER_BYTE: usize = 16;
const FILLER_BYTES_ALLOWANCE: usize = 128 << 10;
/// Filler bytes counted for each missing cell of a record, which takes a screen row.
const FILLER_BYTES_PER_MISSING_CELL: usize = 16;

const DIM: TextStyle = TextStyle::from_role(StyleRole::Dim);
const BOLD: TextStyle = TextStyle {
    bold: true,
    ..TextStyle::from_role(StyleRole::Plain)
};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableCell {
    text: String,
    /// The end of each span in the text, and its style.
    styles: Vec<(usize, TextStyle)>,
    /// Width of the widest line.
    width: usize,
}

struct CellSink<'a> {
    cell: &'a mut TableCell,
    sanitizer: Sanitizer,
}

impl InlineSink for CellSink<'_> {
    fn push_text(&mut self, text: &str, style: TextStyle, _offset: usize) {
        let clean = self.sanitizer.push(text);
        if !clean.is_empty() {
            self.cell.text.push_str(clean.as_str());
            self.cell.styles.push((self.cell.text.len(), style));
        }
    }
}

/// The cells of one row, which may be fewer than the columns of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRow {
    pub source_start: usize,
    line_bytes: usize,
    cells: Vec<TableCell>,
}

impl TableRow {
    /// With `is_partial`, the last cell may still continue.
    pub fn new(
        text: &str,
        source_start: usize,
        columns: usize,
        is_partial: bool,
        glyphs: &MarkdownGlyphs,
        links: &mut LinkDefinitions,
    ) -> Self {
        let mut ranges: Vec<Range<usize>> = line_syntax::table_cells(text).collect();
        let end = ranges.last().map_or(0, |last| last.end);
        // The last cell includes any surplus cells.
        ranges.truncate(columns);
        if let Some(last) = ranges.last_mut() {
            last.end = end;
        }
        let cells: Vec<TableCell> = ranges
            .into_iter()
            .map(|range| {
                let mut cell = TableCell::default();
                let is_unfinished = is_partial && range.end == end;
                let mut text = text[range].trim_matches(' ').replace("\\|", "|");
                let math = match is_unfinished {
                    true => close_pending(&mut text),
                    false => math_spans(&text, TextEnd::Final),
                };
                let leaf = LeafText { text, math };
                let mut sink = CellSink {
                    cell: &mut cell,
                    sanitizer: Sanitizer::default(),
                };
                write_inline(&leaf, TextStyle::default(), glyphs, links, &mut sink);
                cell.width = cell.text.split('\n').map(width).max().unwrap_or(0);
                cell
            })
            .collect();
        Self {
            source_start,
            line_bytes: text.len() + 1,
            cells,
        }
    }
}

#[derive(Debug, Clone)]
pub struct TableLayout {
    aligns: Vec<ColumnAlign>,
    /// The header, and the rows received before the columns were settled.
    rows: Vec<Arc<TableRow>>,
    settled_plan: Option<Arc<TablePlan>>,
    partial_row: Option<Arc<TableRow>>,
    /// Source bytes of the rows that were laid out, and filler bytes in them.
    row_bytes: usize,
    filler_bytes: usize,
}

pub struct TableOutput<'a> {
    pub row_buffer: &'a mut RowBuffer,
    pub glyphs: &'a MarkdownGlyphs,
    pub width: usize,
    pub prefixes: &'a mut RowPrefixes,
}

impl TableOutput<'_> {
    fn push(&mut self, text: &str, style: TextStyle) {
        self.row_buffer.push_text(text, style);
    }

    fn end_row(&mut self, start: usize, source: usize) {
        let prefix = self.prefixes.take_next();
        self.row_buffer.push_row(start, prefix, source);
    }

    /// Wraps the text since `start` into rows.
    fn wrap(&mut self, start: usize, source: usize) {
        let width = to_width(self.width);
        let prefixes = &mut *self.prefixes;
        let breaks = (width, BreakMode::Prose);
        self.row_buffer.wrap(
            RowStart::of_line(start),
            breaks,
            false,
            || prefixes.take_next(),
            |_| source,
        );
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

    /// Adds a row, which is laid out at once if the columns are settled. With `is_partial`, it may
    /// still continue.
    pub fn push(&mut self, row: TableRow, is_partial: bool, output: &mut TableOutput) {
        if let Some(plan) = self.settled_plan.clone() {
            return self.lay_out_row(&plan, &row, false, output);
        }
        if is_partial {
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
        let column_count = self.columns();
        let natural_widths: Vec<usize> = (0..column_count)
            .map(|column| {
                let rows = self.rows.iter().chain(&self.partial_row);
                let widths = rows.filter_map(|row| Some(row.cells.get(column)?.width));
                widths.max().unwrap_or(0).max(1)
            })
            .collect();
        plan_table(&natural_widths, width)
    }

    fn lay_out_rows(&mut self, plan: &TablePlan, output: &mut TableOutput) {
        let rows = self.rows.clone();
        if let (TablePlan::Columns(widths), Some(header)) = (plan, rows.first()) {
            self.lay_out_columns(widths, header, true, output);
            let start = output.row_buffer.end();
            for (column, width) in widths.iter().enumerate() {
                let margins = usize::from(column > 0) + usize::from(column + 1 < widths.len());
                if column > 0 {
                    output.push(&output.glyphs.cross.to_string(), DIM);
                }
                let line = output.glyphs.rule.to_string().repeat(width + margins);
                output.push(&line, DIM);
            }
            output.end_row(start, header.source_start);
        }
        if let (TablePlan::RecordList, [header]) = (plan, &rows[..]) {
            let names: Vec<_> = header.cells.iter().map(|cell| cell.text.as_str()).collect();
            let start = output.row_buffer.end();
            output.push(&names.join(" / ").replace('\n', " "), BOLD);
            output.wrap(start, header.source_start);
        }
        for (index, row) in rows.iter().enumerate().skip(1) {
            self.lay_out_row(plan, row, index == 1, output);
        }
    }

    fn lay_out_row(
        &mut self,
        plan: &TablePlan,
        row: &TableRow,
        is_first: bool,
        output: &mut TableOutput,
    ) {
        self.row_bytes += row.line_bytes;
        match plan {
            TablePlan::Columns(widths) => self.lay_out_columns(widths, row, false, output),
            TablePlan::RecordList => {
                if !is_first {
                    let start = output.row_buffer.end();
                    output.end_row(start, row.source_start);
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
        is_header: bool,
        output: &mut TableOutput,
    ) {
        let column_count = match is_header || self.can_add_filler() {
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
        for line_index in 0..height {
            let start = output.row_buffer.end();
            let mut own_text_end = start;
            for (column, column_width) in widths.iter().enumerate().take(column_count) {
                let cell = row.cells.get(column).unwrap_or(&empty_cell);
                if column > 0 {
                    output.push(" ", TextStyle::default());
                    output.push(&output.glyphs.bar.to_string(), DIM);
                    output.push(" ", TextStyle::default());
                }
                let range = wrapped.get(column).and_then(|rows| rows.get(line_index));
                let range = range.cloned().unwrap_or(0..0);
                let text = cell.text[range.clone()].trim_end_matches(' ');
                let range = range.start..range.start + text.len();
                let padding = column_width.saturating_sub(width(text));
                let before = match self.aligns[column] {
                    ColumnAlign::Left => 0,
                    ColumnAlign::Center => padding / 2,
                    ColumnAlign::Right => padding,
                };
                let is_last = column + 1 == column_count;
                let after = if is_last { 0 } else { padding - before };
                output.push(&" ".repeat(before), TextStyle::default());
                push_cell(output.row_buffer, cell, range, is_header);
                output.push(&" ".repeat(after), TextStyle::default());
                if column < row.cells.len() {
                    own_text_end = output.row_buffer.end();
                }
            }
            self.filler_bytes += output.row_buffer.end() - own_text_end;
            output.end_row(start, row.source_start);
        }
    }

    /// Lays out a row as a list of its cells, each with its column name.
    fn lay_out_record(&mut self, row: &TableRow, output: &mut TableOutput) {
        let Some(header) = self.rows.first().cloned() else {
            return;
        };
        let can_add_filler = self.can_add_filler();
        for (column, name) in header.cells.iter().enumerate() {
            let cell = row.cells.get(column);
            if cell.is_none() && !can_add_filler {
                return;
            }
            let start = output.row_buffer.end();
            if !name.text.is_empty() && can_add_filler {
                output.push(&name.text.replace('\n', " "), BOLD);
                output.push(": ", DIM);
            }
            self.filler_bytes += output.row_buffer.end() - start;
            match cell {
                Some(cell) => push_cell(output.row_buffer, cell, 0..cell.text.len(), false),
                None => self.filler_bytes += FILLER_BYTES_PER_MISSING_CELL,
            }
            output.wrap(start, row.source_start);
        }
    }

    fn can_add_filler(&self) -> bool {
        self.filler_bytes <= FILLER_BYTES_ALLOWANCE + FILLER_BYTES_PER_BYTE * self.row_bytes
    }
}

fn to_width(width: usize) -> NonZeroU16 {
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    NonZeroU16::new(width).unwrap_or(NonZeroU16::MIN)
}

fn push_cell(row_buffer: &mut RowBuffer, cell: &TableCell, range: Range<usize>, is_header: bool) {
    let mut span_start = 0;
    for (end, style) in &cell.styles {
        let (from, to) = (span_start.max(range.start), (*end).min(range.end));
        span_start = *end;
        if from < to {
            let bold = style.bold || is_header;
            row_buffer.push_text(&cell.text[from..to], TextStyle { bold, ..*style });
        }
    }
}

//! Tables fitted to a width. The first rows settle the columns; what comes later is
//! wrapped into them, so that a long table is not laid out anew with every row.

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

/// Rows that have a say in how wide the columns are, the first one included.
pub const SETTLING_ROWS: usize = 48;
/// A column is not made narrower than this, unless its texts are.
const COLUMN_MIN: usize = 5;
/// Columns of what stands between two columns.
const COLUMN_GAP: usize = 3;

/// Bytes of filler for each byte of the rows, and those that are free. Filler is what
/// a row shows without having it: the cells that it lacks, and the names of columns.
/// A row of one byte would otherwise be laid out as more than a hundred cells.
const FILLER_SHARE: usize = 16;
const FILLER_FREE: usize = 128 << 10;
/// What a row of the screen counts as filler beside its text.
const FILLER_BYTES_PER_ROW: usize = 16;

/// One cell, as text with looks.
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
    fn push_text(&mut self, words: &str, look: TextStyle, _at: usize) {
        let clean = self.sanitizer.push(words);
        if !clean.is_empty() {
            self.cell.text.push_str(clean.as_str());
            self.cell.styles.push((self.cell.text.len(), look));
        }
    }
}

/// The cells of one row, each byte of it in one of them. There may be fewer than the
/// table has columns.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRow {
    pub source: usize,
    /// Bytes of its line.
    line_bytes: usize,
    cells: Vec<TableCell>,
}

impl TableRow {
    /// `partial`: more of its last cell may come.
    pub fn new(
        text: &str,
        source: usize,
        columns: usize,
        partial: bool,
        marks: &MarkdownGlyphs,
        links: &mut LinkDefinitions,
    ) -> Self {
        let mut ranges: Vec<Range<usize>> = line_syntax::table_cells(text).collect();
        // What is too much belongs to the last cell.
        if let Some(last) = ranges.last().map(|last| last.end)
            && ranges.len() > columns
        {
            ranges.truncate(columns);
            if let Some(cell) = ranges.last_mut() {
                cell.end = last;
            }
        }
        let end = ranges.last().map_or(0, |last| last.end);
        let bytes = text.len() + 1;
        let cells: Vec<TableCell> = ranges
            .into_iter()
            .map(|range| {
                let mut cell = TableCell::default();
                let coming = partial && range.end == end;
                let mut text = text[range].trim_matches(' ').replace("\\|", "|");
                if coming {
                    close_pending(&mut text);
                }
                let sanitizer = Sanitizer::default();
                let mut ink = CellSink {
                    cell: &mut cell,
                    sanitizer,
                };
                write_inline(&text, TextStyle::default(), marks, links, &mut ink);
                cell.width = cell.text.split('\n').map(width).max().unwrap_or(0);
                cell
            })
            .collect();
        Self {
            source,
            line_bytes: bytes,
            cells,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum TablePlan {
    Columns(Vec<usize>),
    /// Too many columns for the width: each row is a list of its cells.
    RecordList,
}

/// What a table needs in order to go on.
#[derive(Debug, Clone)]
pub struct TableLayout {
    aligns: Vec<ColumnAlign>,
    /// The first row, and those that came while the columns were not settled.
    rows: Vec<Arc<TableRow>>,
    settled_plan: Option<Arc<TablePlan>>,
    /// A row that is still coming in.
    partial_row: Option<Arc<TableRow>>,
    /// Bytes of the rows that were laid out, and of filler in them.
    row_bytes: usize,
    filler_bytes: usize,
}

/// Where a table's rows go.
pub struct TableOutput<'a> {
    pub rows: &'a mut RowBuffer,
    pub glyphs: &'a MarkdownGlyphs,
    pub width: usize,
    pub prefixes: &'a mut RowPrefixes,
}

impl TableOutput<'_> {
    fn end_row(&mut self, start: usize, source: usize) {
        let prefix = self.prefixes.take_next();
        self.rows.push_row(start, prefix, source);
    }

    /// What was put since `start`, as rows.
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

    /// Takes a row in. Once the columns are settled it is laid out at once.
    /// `partial`: more of it may come.
    pub fn push(&mut self, row: TableRow, partial: bool, sheet: &mut TableOutput) {
        if let Some(plan) = self.settled_plan.clone() {
            return self.lay_out_row(&plan, &row, false, sheet);
        }
        if partial {
            self.partial_row = Some(Arc::new(row));
            return;
        }
        self.rows.push(Arc::new(row));
        if self.rows.len() == SETTLING_ROWS {
            let plan = Arc::new(self.plan(sheet.width));
            self.lay_out_rows(&plan, sheet);
            self.rows.truncate(1);
            self.settled_plan = Some(plan);
        }
    }

    /// The end of the table: what is not laid out yet is.
    pub fn finish(&mut self, sheet: &mut TableOutput) {
        if self.settled_plan.is_some() {
            return;
        }
        let plan = self.plan(sheet.width);
        self.lay_out_rows(&plan, sheet);
        if let Some(row) = self.partial_row.take() {
            self.lay_out_row(&plan, &row, self.rows.len() == 1, sheet);
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
        let room = width.saturating_sub((count - 1) * COLUMN_GAP);
        if natural.iter().sum::<usize>() <= room {
            return TablePlan::Columns(natural);
        }
        let least: usize = natural.iter().map(|width| (*width).min(COLUMN_MIN)).sum();
        if least > room {
            return TablePlan::RecordList;
        }
        TablePlan::Columns(shrink_columns(&natural, room))
    }

    fn lay_out_rows(&mut self, plan: &TablePlan, sheet: &mut TableOutput) {
        let rows = self.rows.clone();
        if let (TablePlan::Columns(widths), Some(header)) = (plan, rows.first()) {
            self.lay_out_columns(widths, header, true, sheet);
            let start = sheet.rows.end();
            for (column, width) in widths.iter().enumerate() {
                let look = TextStyle::from_role(StyleRole::Dim);
                let margins = usize::from(column > 0) + usize::from(column + 1 < widths.len());
                if column > 0 {
                    sheet
                        .rows
                        .push_text(sheet.glyphs.cross.encode_utf8(&mut [0; 4]), look);
                }
                let line = sheet.glyphs.rule.to_string().repeat(width + margins);
                sheet.rows.push_text(&line, look);
            }
            sheet.end_row(start, header.source);
        }
        if let (TablePlan::RecordList, [header]) = (plan, &rows[..]) {
            let cells = header.cells.iter().map(|cell| cell.text.as_str());
            let names: Vec<_> = cells.collect();
            let start = sheet.rows.end();
            sheet
                .rows
                .push_text(&names.join(" / ").replace('\n', " "), bold_style());
            sheet.wrap(start, header.source);
        }
        for (index, row) in rows.iter().enumerate().skip(1) {
            self.lay_out_row(plan, row, index == 1, sheet);
        }
    }

    fn lay_out_row(
        &mut self,
        plan: &TablePlan,
        row: &TableRow,
        first: bool,
        sheet: &mut TableOutput,
    ) {
        self.row_bytes += row.line_bytes;
        match plan {
            TablePlan::Columns(widths) => self.lay_out_columns(widths, row, false, sheet),
            TablePlan::RecordList => {
                if !first {
                    let start = sheet.rows.end();
                    sheet.end_row(start, row.source);
                }
                self.lay_out_record(row, sheet);
            }
        }
    }

    /// A row as columns, as many rows high as its highest cell.
    fn lay_out_columns(
        &mut self,
        widths: &[usize],
        row: &TableRow,
        header: bool,
        sheet: &mut TableOutput,
    ) {
        let count = if header || self.can_add_filler() {
            widths.len()
        } else {
            row.cells.len()
        };
        let lacking = TableCell::default();
        let wrapped: Vec<Vec<Range<usize>>> = row
            .cells
            .iter()
            .zip(widths)
            .map(|(cell, width)| wrap(&cell.text, to_width(*width)))
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        for line in 0..height {
            let start = sheet.rows.end();
            let mut had = start;
            for (column, column_width) in widths.iter().enumerate().take(count) {
                let cell = row.cells.get(column).unwrap_or(&lacking);
                if column > 0 {
                    sheet.rows.push_text(" ", TextStyle::default());
                    let bar = sheet.glyphs.bar.to_string();
                    sheet
                        .rows
                        .push_text(&bar, TextStyle::from_role(StyleRole::Dim));
                    sheet.rows.push_text(" ", TextStyle::default());
                }
                let range = wrapped.get(column).and_then(|rows| rows.get(line));
                let range = range.cloned().unwrap_or(0..0);
                let words = cell.text[range.clone()].trim_end_matches(' ');
                let range = range.start..range.start + words.len();
                let room = column_width.saturating_sub(width(words));
                let before = match self.aligns[column] {
                    ColumnAlign::Left => 0,
                    ColumnAlign::Center => room / 2,
                    ColumnAlign::Right => room,
                };
                let last = column + 1 == count;
                let after = if last { 0 } else { room - before };
                sheet
                    .rows
                    .push_text(&" ".repeat(before), TextStyle::default());
                put_cell(sheet.rows, cell, range, header);
                sheet
                    .rows
                    .push_text(&" ".repeat(after), TextStyle::default());
                if column < row.cells.len() {
                    had = sheet.rows.end();
                }
            }
            self.filler_bytes += sheet.rows.end() - had;
            sheet.end_row(start, row.source);
        }
    }

    /// A row as a list of its cells, each with the name of its column.
    fn lay_out_record(&mut self, row: &TableRow, sheet: &mut TableOutput) {
        let Some(header) = self.rows.first().cloned() else {
            return;
        };
        let fills = self.can_add_filler();
        for (column, name) in header.cells.iter().enumerate() {
            let cell = row.cells.get(column);
            if cell.is_none() && !fills {
                return;
            }
            let start = sheet.rows.end();
            if !name.text.is_empty() && fills {
                sheet
                    .rows
                    .push_text(&name.text.replace('\n', " "), bold_style());
                sheet
                    .rows
                    .push_text(": ", TextStyle::from_role(StyleRole::Dim));
            }
            self.filler_bytes += sheet.rows.end() - start;
            match cell {
                Some(cell) => put_cell(sheet.rows, cell, 0..cell.text.len(), false),
                None => self.filler_bytes += FILLER_BYTES_PER_ROW,
            }
            sheet.wrap(start, row.source);
        }
    }

    /// May the next row show more than it has?
    fn can_add_filler(&self) -> bool {
        self.filler_bytes <= FILLER_FREE + FILLER_SHARE * self.row_bytes
    }
}

fn bold_style() -> TextStyle {
    TextStyle {
        bold: true,
        ..TextStyle::default()
    }
}

fn to_width(width: usize) -> NonZeroU16 {
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    NonZeroU16::new(width).unwrap_or(NonZeroU16::MIN)
}

fn put_cell(arena: &mut RowBuffer, cell: &TableCell, range: Range<usize>, header: bool) {
    let mut at = 0;
    for (end, look) in &cell.styles {
        let (from, to) = (at.max(range.start), (*end).min(range.end));
        at = *end;
        if from < to {
            let bold = look.bold || header;
            arena.push_text(&cell.text[from..to], TextStyle { bold, ..*look });
        }
    }
}

/// Widths that fill `room`: the widest columns give way first, evenly.
fn shrink_columns(natural: &[usize], room: usize) -> Vec<usize> {
    let mut open: Vec<usize> = (0..natural.len()).collect();
    let mut widths = natural.to_vec();
    let mut left = room;
    // Each pass gives its columns up that need less than an even share.
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

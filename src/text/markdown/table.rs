//! Tables fitted to a width. The first rows settle the columns; what comes later is
//! wrapped into them, so that a long table is not laid out anew with every row.

use super::close_pending::complete;
use super::inline::{Ink, Links, ink_inline};
use super::layout::Prefixes;
use super::line_syntax::{self, Align};
use super::row_buffer::{Breaks, RowBuffer};
use super::style::{Look, Marks, Role};
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
const BETWEEN: usize = 3;

/// Bytes of filler for each byte of the rows, and those that are free. Filler is what
/// a row shows without having it: the cells that it lacks, and the names of columns.
/// A row of one byte would otherwise be laid out as more than a hundred cells.
const FILLER_SHARE: usize = 16;
const FILLER_FREE: usize = 128 << 10;
/// What a row of the screen counts as filler beside its text.
const FILLER_ROW: usize = 16;

/// One cell, as text with looks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    text: String,
    looks: Vec<(usize, Look)>,
    width: usize,
}

struct CellInk<'a> {
    cell: &'a mut Cell,
    sanitizer: Sanitizer,
}

impl Ink for CellInk<'_> {
    fn put(&mut self, words: &str, look: Look, _at: usize) {
        let clean = self.sanitizer.push(words);
        if !clean.is_empty() {
            self.cell.text.push_str(clean.as_str());
            self.cell.looks.push((self.cell.text.len(), look));
        }
    }
}

/// The cells of one row, each byte of it in one of them. There may be fewer than the
/// table has columns.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRow {
    pub source: usize,
    /// Bytes of its line.
    bytes: usize,
    cells: Vec<Cell>,
}

impl TableRow {
    /// `partial`: more of its last cell may come.
    pub fn new(
        text: &str,
        source: usize,
        columns: usize,
        partial: bool,
        marks: &Marks,
        links: &mut Links,
    ) -> Self {
        let mut ranges: Vec<Range<usize>> = line_syntax::cells(text).collect();
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
        let cells: Vec<Cell> = ranges
            .into_iter()
            .map(|range| {
                let mut cell = Cell::default();
                let coming = partial && range.end == end;
                let mut text = text[range].trim_matches(' ').replace("\\|", "|");
                if coming {
                    complete(&mut text);
                }
                let sanitizer = Sanitizer::default();
                let mut ink = CellInk {
                    cell: &mut cell,
                    sanitizer,
                };
                ink_inline(&text, Look::default(), marks, links, &mut ink);
                cell.width = cell.text.split('\n').map(width).max().unwrap_or(0);
                cell
            })
            .collect();
        Self {
            source,
            bytes,
            cells,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Plan {
    Columns(Vec<usize>),
    /// Too many columns for the width: each row is a list of its cells.
    Records,
}

/// What a table needs in order to go on.
#[derive(Debug, Clone)]
pub struct Table {
    aligns: Vec<Align>,
    /// The first row, and those that came while the columns were not settled.
    rows: Vec<Arc<TableRow>>,
    settled: Option<Arc<Plan>>,
    /// A row that is still coming in.
    partial: Option<Arc<TableRow>>,
    /// Bytes of the rows that were laid out, and of filler in them.
    bytes: usize,
    filler: usize,
}

/// Where a table's rows go.
pub struct Sheet<'a> {
    pub arena: &'a mut RowBuffer,
    pub marks: &'a Marks,
    pub width: usize,
    pub prefixes: &'a mut Prefixes,
}

impl Sheet<'_> {
    fn end_row(&mut self, start: usize, source: usize) {
        let prefix = self.prefixes.take();
        self.arena.row(start, prefix, source);
    }

    /// What was put since `start`, as rows.
    fn wrap(&mut self, start: usize, source: usize) {
        let width = columns(self.width);
        let prefixes = &mut *self.prefixes;
        let breaks = (width, Breaks::Words);
        self.arena
            .wrap(start, breaks, false, || prefixes.take(), |_| source);
    }
}

impl Table {
    pub fn new(aligns: Vec<Align>, mut header: TableRow) -> Self {
        header.cells.resize(aligns.len(), Cell::default());
        Self {
            aligns,
            rows: vec![Arc::new(header)],
            settled: None,
            partial: None,
            bytes: 0,
            filler: 0,
        }
    }

    pub fn columns(&self) -> usize {
        self.aligns.len()
    }

    /// Takes a row in. Once the columns are settled it is laid out at once.
    /// `partial`: more of it may come.
    pub fn push(&mut self, row: TableRow, partial: bool, sheet: &mut Sheet) {
        if let Some(plan) = self.settled.clone() {
            return self.lay_row(&plan, &row, false, sheet);
        }
        if partial {
            self.partial = Some(Arc::new(row));
            return;
        }
        self.rows.push(Arc::new(row));
        if self.rows.len() == SETTLING_ROWS {
            let plan = Arc::new(self.plan(sheet.width));
            self.lay_rows(&plan, sheet);
            self.rows.truncate(1);
            self.settled = Some(plan);
        }
    }

    /// The end of the table: what is not laid out yet is.
    pub fn finish(&mut self, sheet: &mut Sheet) {
        if self.settled.is_some() {
            return;
        }
        let plan = self.plan(sheet.width);
        self.lay_rows(&plan, sheet);
        if let Some(row) = self.partial.take() {
            self.lay_row(&plan, &row, self.rows.len() == 1, sheet);
        }
    }

    fn plan(&self, width: usize) -> Plan {
        let count = self.columns();
        let natural: Vec<usize> = (0..count)
            .map(|column| {
                let rows = self.rows.iter().chain(&self.partial);
                let widths = rows.filter_map(|row| Some(row.cells.get(column)?.width));
                widths.max().unwrap_or(0).max(1)
            })
            .collect();
        let room = width.saturating_sub((count - 1) * BETWEEN);
        if natural.iter().sum::<usize>() <= room {
            return Plan::Columns(natural);
        }
        let least: usize = natural.iter().map(|width| (*width).min(COLUMN_MIN)).sum();
        if least > room {
            return Plan::Records;
        }
        Plan::Columns(shrink(&natural, room))
    }

    fn lay_rows(&mut self, plan: &Plan, sheet: &mut Sheet) {
        let rows = self.rows.clone();
        if let (Plan::Columns(widths), Some(header)) = (plan, rows.first()) {
            self.lay_columns(widths, header, true, sheet);
            let start = sheet.arena.end();
            for (column, width) in widths.iter().enumerate() {
                let look = Look::of(Role::Dim);
                let margins = usize::from(column > 0) + usize::from(column + 1 < widths.len());
                if column > 0 {
                    sheet
                        .arena
                        .put(sheet.marks.cross.encode_utf8(&mut [0; 4]), look);
                }
                let line = sheet.marks.rule.to_string().repeat(width + margins);
                sheet.arena.put(&line, look);
            }
            sheet.end_row(start, header.source);
        }
        if let (Plan::Records, [header]) = (plan, &rows[..]) {
            let cells = header.cells.iter().map(|cell| cell.text.as_str());
            let names: Vec<_> = cells.collect();
            let start = sheet.arena.end();
            sheet
                .arena
                .put(&names.join(" / ").replace('\n', " "), bold());
            sheet.wrap(start, header.source);
        }
        for (index, row) in rows.iter().enumerate().skip(1) {
            self.lay_row(plan, row, index == 1, sheet);
        }
    }

    fn lay_row(&mut self, plan: &Plan, row: &TableRow, first: bool, sheet: &mut Sheet) {
        self.bytes += row.bytes;
        match plan {
            Plan::Columns(widths) => self.lay_columns(widths, row, false, sheet),
            Plan::Records => {
                if !first {
                    let start = sheet.arena.end();
                    sheet.end_row(start, row.source);
                }
                self.lay_record(row, sheet);
            }
        }
    }

    /// A row as columns, as many rows high as its highest cell.
    fn lay_columns(&mut self, widths: &[usize], row: &TableRow, header: bool, sheet: &mut Sheet) {
        let count = if header || self.may_fill() {
            widths.len()
        } else {
            row.cells.len()
        };
        let lacking = Cell::default();
        let wrapped: Vec<Vec<Range<usize>>> = row
            .cells
            .iter()
            .zip(widths)
            .map(|(cell, width)| wrap(&cell.text, columns(*width)))
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        for line in 0..height {
            let start = sheet.arena.end();
            let mut had = start;
            for (column, column_width) in widths.iter().enumerate().take(count) {
                let cell = row.cells.get(column).unwrap_or(&lacking);
                if column > 0 {
                    sheet.arena.put(" ", Look::default());
                    let bar = sheet.marks.bar.to_string();
                    sheet.arena.put(&bar, Look::of(Role::Dim));
                    sheet.arena.put(" ", Look::default());
                }
                let range = wrapped.get(column).and_then(|rows| rows.get(line));
                let range = range.cloned().unwrap_or(0..0);
                let words = cell.text[range.clone()].trim_end_matches(' ');
                let range = range.start..range.start + words.len();
                let room = column_width.saturating_sub(width(words));
                let before = match self.aligns[column] {
                    Align::Left => 0,
                    Align::Middle => room / 2,
                    Align::Right => room,
                };
                let last = column + 1 == count;
                let after = if last { 0 } else { room - before };
                sheet.arena.put(&" ".repeat(before), Look::default());
                put_cell(sheet.arena, cell, range, header);
                sheet.arena.put(&" ".repeat(after), Look::default());
                if column < row.cells.len() {
                    had = sheet.arena.end();
                }
            }
            self.filler += sheet.arena.end() - had;
            sheet.end_row(start, row.source);
        }
    }

    /// A row as a list of its cells, each with the name of its column.
    fn lay_record(&mut self, row: &TableRow, sheet: &mut Sheet) {
        let Some(header) = self.rows.first().cloned() else {
            return;
        };
        let fills = self.may_fill();
        for (column, name) in header.cells.iter().enumerate() {
            let cell = row.cells.get(column);
            if cell.is_none() && !fills {
                return;
            }
            let start = sheet.arena.end();
            if !name.text.is_empty() && fills {
                sheet.arena.put(&name.text.replace('\n', " "), bold());
                sheet.arena.put(": ", Look::of(Role::Dim));
            }
            self.filler += sheet.arena.end() - start;
            match cell {
                Some(cell) => put_cell(sheet.arena, cell, 0..cell.text.len(), false),
                None => self.filler += FILLER_ROW,
            }
            sheet.wrap(start, row.source);
        }
    }

    /// May the next row show more than it has?
    fn may_fill(&self) -> bool {
        self.filler <= FILLER_FREE + FILLER_SHARE * self.bytes
    }
}

fn bold() -> Look {
    Look {
        bold: true,
        ..Look::default()
    }
}

fn columns(width: usize) -> NonZeroU16 {
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    NonZeroU16::new(width).unwrap_or(NonZeroU16::MIN)
}

fn put_cell(arena: &mut RowBuffer, cell: &Cell, range: Range<usize>, header: bool) {
    let mut at = 0;
    for (end, look) in &cell.looks {
        let (from, to) = (at.max(range.start), (*end).min(range.end));
        at = *end;
        if from < to {
            let bold = look.bold || header;
            arena.put(&cell.text[from..to], Look { bold, ..*look });
        }
    }
}

/// Widths that fill `room`: the widest columns give way first, evenly.
fn shrink(natural: &[usize], room: usize) -> Vec<usize> {
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

//! Encodes the difference between two buffers as terminal output. Equal rows are only compared;
//! cursor and style change only where necessary. Writes to memory, not to the terminal.
//!
//! Terminals disagree about the width of multi-character clusters. After each such cluster
//! the cursor is repositioned, and the cells that it may have covered are redrawn, so a
//! wrong width never affects other cells.

use crate::text::grapheme::cluster_width;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Position;
use ratatui::style::{Color, Modifier};
use std::io::Write;

/// Gaps up to this many unchanged cells are rewritten; moving the cursor would cost more
/// bytes.
const GAP_MAX: usize = 3;
/// Minimum number of blank cells for which erasing takes fewer bytes than writing spaces.
const BLANKS_MIN: usize = 6;
/// Modifiers that are visible on a space.
const VISIBLE_ON_SPACE: Modifier = Modifier::UNDERLINED
    .union(Modifier::REVERSED)
    .union(Modifier::CROSSED_OUT);
/// Modifiers in ratatui's bit order, with their SGR codes (ECMA-48, 8.3.117).
const MODIFIERS: [(Modifier, u8); 9] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::SLOW_BLINK, 5),
    (Modifier::RAPID_BLINK, 6),
    (Modifier::REVERSED, 7),
    (Modifier::HIDDEN, 8),
    (Modifier::CROSSED_OUT, 9),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct CellStyle {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

impl CellStyle {
    fn of(cell: &Cell) -> Self {
        Self {
            fg: cell.fg,
            bg: cell.bg,
            modifier: cell.modifier,
        }
    }

    fn looks_same_on_space(self, other: Self) -> bool {
        let is_modifier_visible = (self.modifier | other.modifier).intersects(VISIBLE_ON_SPACE);
        self.bg == other.bg && !is_modifier_visible
    }
}

/// Appends to `out` the bytes that change a terminal showing `old` into one showing `new`.
/// Both must have the same size. The terminal must be in its default style, and the bytes
/// restore that style. `cursor` and the result are the cursor position before and after; `None`
/// means unknown.
pub fn encode(
    old: &Buffer,
    new: &Buffer,
    cursor: Option<Position>,
    out: &mut Vec<u8>,
) -> Option<Position> {
    let width = usize::from(new.area.width);
    let mut encoder = Encoder {
        out,
        cursor: cursor.map(|position| (usize::from(position.x), usize::from(position.y))),
        style: CellStyle::default(),
        wide_tails: Vec::new(),
    };
    if width > 0 {
        let rows = old.content.chunks(width).zip(new.content.chunks(width));
        for (y, (old, new)) in rows.enumerate() {
            let mut cells = old.iter().zip(new);
            if !cells.all(|(old, new)| is_same(old, new)) {
                encoder.encode_row(y, old, new);
            }
        }
    }
    encoder.set_style(CellStyle::default());
    encoder
        .cursor
        .map(|(x, y)| Position::new(x as u16, y as u16))
}

struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    /// The terminal's cursor (column, row), if known.
    cursor: Option<(usize, usize)>,
    style: CellStyle,
    /// For each column of the old row: whether it is the right half of a wide cluster.
    wide_tails: Vec<bool>,
}

impl Encoder<'_> {
    fn encode_row(&mut self, y: usize, old: &[Cell], new: &[Cell]) {
        self.record_wide_tails(old);
        // From this column on the row is blank, so one sequence can erase the rest.
        let blank_from = new
            .iter()
            .rposition(|cell| !is_blank(cell))
            .map_or(0, |last| (last + columns(&new[last])).min(new.len()));
        let mut x = 0;
        // A cluster of uncertain width may have covered the columns before this one, so they
        // are redrawn.
        let mut redraw_until = 0;
        while x < new.len() {
            let cluster_columns = columns(&new[x]).min(new.len() - x);
            if x >= redraw_until && !self.needs_drawing(x, old, new) {
                x += cluster_columns;
                continue;
            }
            let blank_count = self.blank_run(x, redraw_until, old, new);
            if x >= blank_from && blank_count >= BLANKS_MIN {
                self.move_to(x, y, new);
                self.set_style(CellStyle::default());
                self.out.extend_from_slice(b"\x1b[K");
                return;
            }
            if blank_count >= BLANKS_MIN {
                self.move_to(x, y, new);
                self.set_style(CellStyle::default());
                self.control_sequence(blank_count, b'X');
                x += blank_count;
                continue;
            }
            self.move_to(x, y, new);
            let cell = &new[x];
            self.set_style_for(cell);
            let symbol = cell.symbol();
            if has_uncertain_width(symbol) {
                // Erase first, in case the terminal draws the cluster narrower.
                self.control_sequence(cluster_columns, b'X');
                self.out.extend_from_slice(symbol.as_bytes());
                self.cursor = None;
                redraw_until = redraw_until.max(x + columns_max(symbol));
            } else {
                self.out.extend_from_slice(symbol.as_bytes());
                // After the last column, some terminals defer the wrap and others do not.
                self.cursor = (x + cluster_columns < new.len()).then_some((x + cluster_columns, y));
            }
            x += cluster_columns;
        }
    }

    fn record_wide_tails(&mut self, old: &[Cell]) {
        self.wide_tails.clear();
        self.wide_tails.resize(old.len(), false);
        let mut x = 0;
        while x < old.len() {
            let cluster_columns = columns(&old[x]);
            if cluster_columns == 2 && x + 1 < old.len() {
                self.wide_tails[x + 1] = true;
            }
            x += cluster_columns;
        }
    }

    /// Whether the cluster at `x` differs from the terminal's contents.
    fn needs_drawing(&self, x: usize, old: &[Cell], new: &[Cell]) -> bool {
        if self.wide_tails[x] {
            return true;
        }
        let (old, new) = (&old[x], &new[x]);
        if old.symbol() != new.symbol() {
            return true;
        }
        let (old_style, new_style) = (CellStyle::of(old), CellStyle::of(new));
        let looks_same = new.symbol() == " " && old_style.looks_same_on_space(new_style);
        old_style != new_style && !looks_same
    }

    /// The number of consecutive blank cells from `x` on that need drawing.
    fn blank_run(&self, x: usize, redraw_until: usize, old: &[Cell], new: &[Cell]) -> usize {
        let needs_blank = |column: &usize| {
            let needs_drawing = *column < redraw_until || self.needs_drawing(*column, old, new);
            is_blank(&new[*column]) && needs_drawing
        };
        (x..new.len()).take_while(needs_blank).count()
    }

    /// Moves the cursor to a cell. Rewrites a short gap before the cell if that takes no more bytes.
    fn move_to(&mut self, x: usize, y: usize, new: &[Cell]) {
        if self.cursor == Some((x, y)) {
            return;
        }
        let gap = self
            .cursor
            .filter(|(column, row)| *row == y && *column < x)
            .map(|(column, _)| &new[column..x]);
        self.cursor = Some((x, y));
        match gap {
            Some(gap) if gap.len() <= GAP_MAX && gap.iter().all(|cell| self.can_rewrite(cell)) => {
                for cell in gap {
                    self.out.extend_from_slice(cell.symbol().as_bytes());
                }
            }
            Some(gap) => self.control_sequence(gap.len(), b'C'),
            None => {
                // Writing to a `Vec` cannot fail.
                let _ = write!(self.out, "\x1b[{};{}H", y + 1, x + 1);
            }
        }
    }

    /// Whether an unchanged cell can be rewritten in the current style.
    fn can_rewrite(&self, cell: &Cell) -> bool {
        let style = CellStyle::of(cell);
        match cell.symbol().as_bytes() {
            [b' '] => style.looks_same_on_space(self.style),
            [b'!'..=b'~'] => style == self.style,
            _ => false,
        }
    }

    /// Writes a control sequence. Its parameter is omitted if it is the default of 1.
    fn control_sequence(&mut self, parameter: usize, final_byte: u8) {
        if parameter > 1 {
            let _ = write!(self.out, "\x1b[{parameter}");
            self.out.push(final_byte);
        } else {
            self.out.extend_from_slice(&[0x1b, b'[', final_byte]);
        }
    }

    /// Sets the style for a cell if the difference is visible.
    fn set_style_for(&mut self, cell: &Cell) {
        let style = CellStyle::of(cell);
        if cell.symbol() != " " || !style.looks_same_on_space(self.style) {
            self.set_style(style);
        }
    }

    fn set_style(&mut self, style: CellStyle) {
        if style == self.style {
            return;
        }
        let mut old_style = self.style;
        self.style = style;
        let mut codes = SgrCodes::start(self.out);
        if !style.modifier.contains(old_style.modifier) {
            codes.reset();
            old_style = CellStyle::default();
        }
        for (modifier, code) in MODIFIERS {
            if style.modifier.contains(modifier) && !old_style.modifier.contains(modifier) {
                codes.push(&[code]);
            }
        }
        if style.fg != old_style.fg {
            codes.color(style.fg, 30);
        }
        if style.bg != old_style.bg {
            codes.color(style.bg, 40);
        }
        self.out.push(b'm');
    }
}

/// The parameters of one SGR sequence.
struct SgrCodes<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
}

impl<'a> SgrCodes<'a> {
    fn start(out: &'a mut Vec<u8>) -> Self {
        out.extend_from_slice(b"\x1b[");
        Self {
            out,
            is_first: true,
        }
    }

    /// Writes an explicit zero: it could be omitted only if no other parameter followed.
    fn reset(&mut self) {
        self.push(&[0]);
    }

    fn push(&mut self, codes: &[u8]) {
        for code in codes {
            if !std::mem::replace(&mut self.is_first, false) {
                self.out.push(b';');
            }
            let _ = write!(self.out, "{code}");
        }
    }

    /// `base` is 30 for the foreground, 40 for the background.
    fn color(&mut self, color: Color, base: u8) {
        let bright = base + 60;
        match color {
            Color::Reset => self.push(&[base + 9]),
            Color::Black => self.push(&[base]),
            Color::Red => self.push(&[base + 1]),
            Color::Green => self.push(&[base + 2]),
            Color::Yellow => self.push(&[base + 3]),
            Color::Blue => self.push(&[base + 4]),
            Color::Magenta => self.push(&[base + 5]),
            Color::Cyan => self.push(&[base + 6]),
            Color::Gray => self.push(&[base + 7]),
            Color::DarkGray => self.push(&[bright]),
            Color::LightRed => self.push(&[bright + 1]),
            Color::LightGreen => self.push(&[bright + 2]),
            Color::LightYellow => self.push(&[bright + 3]),
            Color::LightBlue => self.push(&[bright + 4]),
            Color::LightMagenta => self.push(&[bright + 5]),
            Color::LightCyan => self.push(&[bright + 6]),
            Color::White => self.push(&[bright + 7]),
            Color::Indexed(index) => self.push(&[base + 8, 5, index]),
            Color::Rgb(red, green, blue) => self.push(&[base + 8, 2, red, green, blue]),
        }
    }
}

/// Compares like `Cell`'s own `==`, but is faster for the usual one-byte symbols.
fn is_same(old: &Cell, new: &Cell) -> bool {
    let is_symbol_same = match (old.symbol().as_bytes(), new.symbol().as_bytes()) {
        ([old], [new]) => old == new,
        (old, new) => old == new,
    };
    is_symbol_same && CellStyle::of(old) == CellStyle::of(new)
}

fn is_blank(cell: &Cell) -> bool {
    cell.symbol() == " " && CellStyle::of(cell).looks_same_on_space(CellStyle::default())
}

/// Width of a cell's cluster. The view never writes zero-width clusters.
fn columns(cell: &Cell) -> usize {
    match cell.symbol().as_bytes() {
        [_] => 1,
        _ => cluster_width(cell.symbol()).max(1),
    }
}

/// Whether terminals may disagree about the width of this cluster. They do for all
/// multi-character clusters, and for pictographs, whose widths changed between Unicode
/// versions.
pub fn has_uncertain_width(cluster: &str) -> bool {
    let mut characters = cluster.chars();
    let first = characters.next();
    characters.next().is_some() || matches!(first, Some('\u{1F000}'..='\u{1FFFF}'))
}

/// Maximum width of an uncertain cluster, on a terminal that draws each of its characters
/// separately.
fn columns_max(cluster: &str) -> usize {
    2 * cluster.chars().count()
}

#[cfg(test)]
mod tests;

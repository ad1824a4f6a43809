//! Formats rows of cells as lines with aligned columns.

use super::grapheme::width;

/// Between two cells.
const GAP_COLUMNS: usize = 2;

/// Column widths of a table. Columns whose cells are all empty are omitted.
pub struct Columns<const N: usize> {
    widths: [usize; N],
    is_last_right_aligned: bool,
}

impl<const N: usize> Columns<N> {
    /// Makes each column as wide as its widest cell.
    pub fn fit(rows: &[[String; N]]) -> Self {
        let widest_cell = |column: usize| rows.iter().map(|row| width(&row[column])).max();
        Self {
            widths: std::array::from_fn(|column| widest_cell(column).unwrap_or(0)),
            is_last_right_aligned: false,
        }
    }

    /// Right-aligns the last column, for numbers.
    pub fn right_align_last(mut self) -> Self {
        self.is_last_right_aligned = true;
        self
    }

    /// Total width in terminal columns.
    pub fn total_width(&self) -> usize {
        let shown = self.widths.iter().filter(|width| **width > 0);
        let total: usize = shown.map(|width| width + GAP_COLUMNS).sum();
        total.saturating_sub(GAP_COLUMNS)
    }

    /// Formats one row as a line, without trailing spaces.
    pub fn format_row(&self, row: &[String; N]) -> String {
        let mut line = String::new();
        let cells = row.iter().zip(self.widths).enumerate();
        for (column, (cell, columns)) in cells.filter(|(_, (_, columns))| *columns > 0) {
            let padding = " ".repeat(columns - width(cell));
            if self.is_last_right_aligned && column + 1 == N {
                line += &padding;
                line += cell;
            } else {
                line += cell;
                line += &padding;
                line += &" ".repeat(GAP_COLUMNS);
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned_and_empty_columns_are_omitted() {
        let rows = [["가", "", "1.5"], ["abc", "", "10.0"]].map(|row| row.map(str::to_owned));
        let columns = Columns::fit(&rows);
        assert_eq!(columns.total_width(), 9);
        assert_eq!(columns.format_row(&rows[0]), "가   1.5");
        let columns = columns.right_align_last();
        assert_eq!(columns.format_row(&rows[0]), "가    1.5");
        assert_eq!(columns.format_row(&rows[1]), "abc  10.0");
    }
}

//! Formats rows of cells as lines with aligned columns.

use super::grapheme::width;

/// Terminal columns between two cells.
const GAP: usize = 2;

/// Column widths of a table. Columns whose cells are all empty are omitted.
pub struct Columns<const N: usize> {
    widths: [usize; N],
    is_last_right: bool,
}

impl<const N: usize> Columns<N> {
    pub fn of(rows: &[[String; N]]) -> Self {
        let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max();
        Self {
            widths: std::array::from_fn(|column| widest(column).unwrap_or(0)),
            is_last_right: false,
        }
    }

    /// Right-aligns the last column, for numbers.
    pub fn with_last_right(mut self) -> Self {
        self.is_last_right = true;
        self
    }

    /// Total width in terminal columns.
    pub fn total(&self) -> usize {
        let used = self.widths.iter().filter(|width| **width > 0);
        let total: usize = used.map(|width| width + GAP).sum();
        total.saturating_sub(GAP)
    }

    /// One row as a line, without trailing spaces.
    pub fn line(&self, row: &[String; N]) -> String {
        let mut line = String::new();
        let cells = row.iter().zip(self.widths).enumerate();
        for (column, (cell, columns)) in cells.filter(|(_, (_, columns))| *columns > 0) {
            let padding = columns - width(cell);
            if self.is_last_right && column + 1 == N {
                line += &" ".repeat(padding);
                line += cell;
            } else {
                line += cell;
                line += &" ".repeat(padding + GAP);
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
        let columns = Columns::of(&rows);
        assert_eq!(columns.total(), 9);
        assert_eq!(columns.line(&rows[0]), "가   1.5");
        let columns = columns.with_last_right();
        assert_eq!(columns.line(&rows[0]), "가    1.5");
        assert_eq!(columns.line(&rows[1]), "abc  10.0");
    }
}

//! Chooses how a table is laid out, and the widths of its columns.

/// Minimum width of a shrunk column.
const COLUMN_WIDTH_MIN: usize = 5;
const COLUMN_GAP_WIDTH: usize = 3;

#[derive(Debug, Clone, PartialEq)]
pub enum TablePlan {
    /// With these widths.
    Columns(Vec<usize>),
    /// Too many columns for the width: each row becomes a list of its cells.
    RecordList,
}

/// Plans a table for `width`, given the width that each column needs to avoid wrapping. Requires at
/// least one column.
pub fn plan_table(natural_widths: &[usize], width: usize) -> TablePlan {
    let available = width.saturating_sub((natural_widths.len() - 1) * COLUMN_GAP_WIDTH);
    if natural_widths.iter().sum::<usize>() <= available {
        return TablePlan::Columns(natural_widths.to_vec());
    }
    let minimum: usize = natural_widths
        .iter()
        .map(|width| (*width).min(COLUMN_WIDTH_MIN))
        .sum();
    if minimum > available {
        return TablePlan::RecordList;
    }
    TablePlan::Columns(shrink_columns(natural_widths, available))
}

/// Shrinks the widest columns evenly until all fit into a width of `available`.
fn shrink_columns(natural_widths: &[usize], available: usize) -> Vec<usize> {
    let mut unsettled: Vec<usize> = (0..natural_widths.len()).collect();
    let mut widths = natural_widths.to_vec();
    let mut remaining = available;
    // Each pass keeps the width of the columns that need no more than an even share.
    loop {
        let share = remaining / unsettled.len().max(1);
        let (fitting, too_wide): (Vec<usize>, Vec<usize>) = unsettled
            .iter()
            .partition(|column| natural_widths[**column] <= share);
        if fitting.is_empty() || too_wide.is_empty() {
            let extra = remaining.saturating_sub(share * unsettled.len());
            for (index, column) in unsettled.iter().enumerate() {
                widths[*column] = (share + usize::from(index < extra))
                    .min(natural_widths[*column])
                    .max(1);
            }
            return widths;
        }
        remaining -= fitting
            .iter()
            .map(|column| natural_widths[*column])
            .sum::<usize>();
        unsettled = too_wide;
    }
}

//! A labeled value that wraps. Continuation rows begin with a bar, so that no part of a value can
//! pass for a new line.

use super::wrap::wrap;
use std::num::NonZeroU16;

const LABEL_COLUMNS: usize = 9;
/// Before the label.
const INDENT_COLUMNS: usize = 4;
/// A row becomes wider than requested rather than leave fewer columns than this for the value.
const VALUE_COLUMNS_MIN: u16 = 10;

/// The label and its value in rows of `columns` columns, each with a line break. Without a width,
/// the value is not wrapped.
pub fn labeled_value(label: &str, value: &str, columns: Option<u16>) -> String {
    let margin = " ".repeat(INDENT_COLUMNS);
    let Some(columns) = columns else {
        return format!("{margin}{label:LABEL_COLUMNS$}{value}\n");
    };
    let used = (INDENT_COLUMNS + LABEL_COLUMNS) as u16;
    let available = columns.saturating_sub(used).max(VALUE_COLUMNS_MIN);
    let available = NonZeroU16::new(available).unwrap_or(NonZeroU16::MIN);
    let rows = wrap(value, available).into_iter().enumerate();
    let bar = format!("{:>width$} ", "|", width = LABEL_COLUMNS - 1);
    rows.map(|(index, row)| {
        let start = match index {
            0 => format!("{label:LABEL_COLUMNS$}"),
            _ => bar.clone(),
        };
        format!("{margin}{start}{}\n", value[row].trim_end())
    })
    .collect()
}

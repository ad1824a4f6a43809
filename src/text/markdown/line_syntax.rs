//! Recognizes the Markdown syntax at the start of a line (CommonMark 0.31 and GitHub tables). Tabs
//! are already expanded, so each byte of indentation is one column.

use std::ops::Range;

/// Minimum indentation of indented code.
pub const CODE_INDENT: usize = 4;
/// In a list number.
const DIGITS_MAX: usize = 9;
/// A longer line is neither a rule nor the delimiter row of a table.
const LOOKAHEAD_BYTES_MAX: usize = 4_096;
/// Maximum number of table columns.
pub const COLUMNS_MAX: usize = 128;

/// The number of leading spaces.
pub fn indent(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b' ').count()
}

pub fn is_blank(text: &str) -> bool {
    indent(text) == text.len()
}

/// The level of an ATX heading, and the range of its text.
pub fn atx_heading(text: &str) -> Option<(u8, Range<usize>)> {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &text[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let trimmed = rest.trim_end_matches(' ');
    // A closing run of `#` is not part of the title unless it is attached to a word.
    let without_closing = trimmed.trim_end_matches('#');
    let title = match without_closing.is_empty() || without_closing.ends_with(' ') {
        true => without_closing,
        false => trimmed,
    };
    let start = level + indent(title).min(title.len());
    let end = level + title.trim_end_matches(' ').len();
    Some((level as u8, start..end.max(start)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    pub delimiter: u8,
    pub length: usize,
}

/// An opening fence, and the range of its info string.
pub fn fence(text: &str) -> Option<(Fence, Range<usize>)> {
    let delimiter = *text.as_bytes().first()?;
    if delimiter != b'`' && delimiter != b'~' {
        return None;
    }
    let length = text.bytes().take_while(|byte| *byte == delimiter).count();
    let info = &text[length..];
    if length < 3 || delimiter == b'`' && info.contains('`') {
        return None;
    }
    let start = length + indent(info).min(info.len());
    let end = length + info.trim_end_matches(' ').len();
    Some((Fence { delimiter, length }, start..end.max(start)))
}

impl Fence {
    pub fn is_closed_by(self, text: &str) -> bool {
        let indentation = indent(text);
        let text = &text[indentation..];
        let length = text
            .bytes()
            .take_while(|byte| *byte == self.delimiter)
            .count();
        indentation < CODE_INDENT && length >= self.length && is_blank(&text[length..])
    }
}

/// A thematic break.
pub fn is_rule(text: &str) -> bool {
    let Some(delimiter) = text
        .bytes()
        .next()
        .filter(|delimiter| b"-*_".contains(delimiter))
    else {
        return false;
    };
    let mut count = 0;
    text.len() <= LOOKAHEAD_BYTES_MAX
        && text.bytes().all(|byte| {
            count += usize::from(byte == delimiter);
            byte == delimiter || byte == b' '
        })
        && count >= 3
}

/// The heading level of the paragraph above `text`, if `text` is a setext underline.
pub fn setext_level(text: &str) -> Option<u8> {
    let text = text.trim_end_matches(' ');
    let is_run_of = |delimiter| !text.is_empty() && text.bytes().all(|byte| byte == delimiter);
    if is_run_of(b'=') {
        Some(1)
    } else {
        is_run_of(b'-').then_some(2)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListMarker {
    /// The bullet, or the delimiter after the number.
    pub delimiter: u8,
    pub number: Option<u64>,
    /// The width of the marker, without the spaces after it.
    pub columns: usize,
}

pub fn list_marker(text: &str) -> Option<ListMarker> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let delimiter = *text.as_bytes().get(digits)?;
    let rest = text.get(digits + 1..)?;
    if !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let number = match (digits, delimiter) {
        (0, b'-' | b'*' | b'+') => None,
        (1..=DIGITS_MAX, b'.' | b')') => Some(text[..digits].parse().ok()?),
        _ => return None,
    };
    Some(ListMarker {
        delimiter,
        number,
        columns: digits + 1,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColumnAlign {
    #[default]
    Left,
    Center,
    Right,
}

/// The column alignments if `row` is the delimiter row of a table with this header, or if it is
/// unfinished and could still become one.
pub fn table_columns(header: &str, row: &str, is_partial: bool) -> Option<Vec<ColumnAlign>> {
    let count = table_cells(header).count();
    if !header.contains('|') && !row.contains('|') {
        return None;
    }
    let may_become_delimiter_row = row.bytes().all(|byte| b"|:- ".contains(&byte));
    if is_partial && header.contains('|') && may_become_delimiter_row {
        let mut columns = table_alignments(row).unwrap_or_default();
        columns.resize(count, ColumnAlign::Left);
        return Some(columns);
    }
    table_alignments(row).filter(|columns| columns.len() == count)
}

/// The column alignments, if `text` is the delimiter row of a table.
pub fn table_alignments(text: &str) -> Option<Vec<ColumnAlign>> {
    let is_delimiter_byte = |byte: u8| matches!(byte, b'|' | b':' | b'-' | b' ');
    if text.len() > LOOKAHEAD_BYTES_MAX || !text.bytes().all(is_delimiter_byte) {
        return None;
    }
    let column = |range: Range<usize>| {
        let cell = text[range].trim_matches(' ');
        let dashes = cell.strip_prefix(':').unwrap_or(cell);
        let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
        let is_delimiter_cell = !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-');
        let align = match (cell.starts_with(':'), cell.ends_with(':')) {
            (true, true) => ColumnAlign::Center,
            (false, true) => ColumnAlign::Right,
            _ => ColumnAlign::Left,
        };
        is_delimiter_cell.then_some(align)
    };
    let columns: Option<Vec<ColumnAlign>> = table_cells(text).map(column).collect();
    columns.filter(|columns| !columns.is_empty() && columns.len() <= COLUMNS_MAX)
}

/// The cells of a table row, without the outer bars. An escaped bar is part of its cell.
pub fn table_cells(row: &str) -> impl Iterator<Item = Range<usize>> {
    let end = row.trim_end_matches(' ').len();
    let mut start = indent(&row[..end]);
    start += usize::from(row[start..end].starts_with('|'));
    let mut next_start = Some(start.min(end));
    std::iter::from_fn(move || {
        let start = next_start?;
        let mut is_escaped = false;
        let bar = row[start..end].bytes().position(|byte| {
            let is_bar = byte == b'|' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_bar
        });
        let cell_end = bar.map_or(end, |bar| start + bar);
        // No cell follows a trailing bar.
        next_start = bar.map(|_| cell_end + 1).filter(|next| *next < end);
        Some(start..cell_end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_need_a_space_and_drop_closing_hashes() {
        let heading = |text: &'static str| atx_heading(text).map(|(level, at)| (level, &text[at]));
        assert_eq!(heading("# One"), Some((1, "One")));
        assert_eq!(heading("## 둘 ##  "), Some((2, "둘")));
        assert_eq!(heading("### C#"), Some((3, "C#")));
        assert_eq!(heading("#"), Some((1, "")));
        assert_eq!(heading("# #"), Some((1, "")));
        assert_eq!(heading("#hashtag"), None);
        assert_eq!(heading("####### seven"), None);
    }

    #[test]
    fn fence_closes_with_at_least_as_many_characters() {
        let (three, info) = fence("``` rust ").expect("valid fence");
        assert_eq!(info, 4..8);
        assert!(three.is_closed_by("  ````  "));
        assert!(
            !three.is_closed_by("``")
                && !three.is_closed_by("``` x")
                && !three.is_closed_by("    ```")
        );
        assert!(fence("~~~ a`b").is_some());
        assert_eq!(fence("``` a`b"), None);
        assert_eq!(fence("``"), None);
    }

    #[test]
    fn list_markers_are_bullets_or_short_numbers_before_a_space() {
        let number = |text| list_marker(text).map(|marker| (marker.number, marker.columns));
        assert_eq!(number("- a"), Some((None, 1)));
        assert_eq!(number("12) a"), Some((Some(12), 3)));
        assert_eq!(number("*"), Some((None, 1)));
        assert_eq!(number("*a*"), None);
        assert_eq!(number("3.14"), None);
        assert_eq!(number("1234567890. a"), None);
    }

    #[test]
    fn thematic_break_needs_three_equal_characters() {
        assert!(is_rule("---") && is_rule("* * *") && is_rule("___   "));
        assert!(!is_rule("--") && !is_rule("--*") && !is_rule("===") && !is_rule(""));
    }

    #[test]
    fn table_cells_are_split_at_bars() {
        let split = |row: &'static str| table_cells(row).map(|at| &row[at]).collect::<Vec<_>>();
        assert_eq!(split("| a | b |"), [" a ", " b "]);
        assert_eq!(split("a|b"), ["a", "b"]);
        assert_eq!(split("  | a \\| b || c"), [" a \\| b ", "", " c"]);
        assert_eq!(split("|"), [""]);
    }

    #[test]
    fn second_table_row_sets_the_column_alignment() {
        use ColumnAlign::{Center, Left, Right};
        assert_eq!(
            table_alignments("|---|:-:|--:|"),
            Some(vec![Left, Center, Right])
        );
        assert_eq!(table_alignments(" :-- | - "), Some(vec![Left, Left]));
        assert_eq!(table_alignments("| --- | a |"), None);
        assert_eq!(table_alignments("| --- | |"), None);
    }
}

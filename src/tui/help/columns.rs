//! The layout of the help: groups in one or two columns, and entries in rows. No text is
//! truncated.

use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::help::entries::{HelpEntry, HelpGroup};
use crate::tui::widgets::painter::wrapped_rows;

/// Minimum width of the area for two columns: a screen of 100 columns without its margins.
const TWO_COLUMNS_WIDTH_MIN: u16 = 100 - 2;
const GAP_COLUMNS: u16 = 4;
/// Minimum width of a column that shows descriptions beside the names instead of below them.
const BESIDE_COLUMNS_MIN: u16 = 40;
/// Share of a column that the names take, in eighths.
const NAMES_EIGHTHS: u16 = 3;
/// Maximum width of the names; wide enough for the longest.
const NAMES_COLUMNS_MAX: u16 = 38;
/// Indent of the names below the heading, and of a description below the names.
const INDENT_COLUMNS: u16 = 2;

#[derive(Debug, PartialEq, Eq)]
pub struct HelpColumn {
    /// Position in the area of the help.
    pub x: u16,
    pub width: u16,
    pub rows: Vec<HelpRow>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct HelpRow {
    pub is_heading: bool,
    /// A heading, or the keys and commands of an entry.
    pub names: String,
    pub names_x: u16,
    pub description: String,
    pub description_x: u16,
    ends_entry: bool,
}

impl HelpColumn {
    /// How many entries end before this row.
    pub fn entries_before(&self, row: usize) -> usize {
        let rows = self.rows.iter().take(row);
        rows.filter(|row| row.ends_entry).count()
    }

    /// How many entries end at this row or after it.
    pub fn entries_after(&self, row: usize) -> usize {
        let rows = self.rows.iter().skip(row);
        rows.filter(|row| row.ends_entry).count()
    }
}

/// Lays the groups out in an area of this width. A group is never split between columns.
pub fn columns(groups: &[HelpGroup], area_width: u16) -> Vec<HelpColumn> {
    if area_width < TWO_COLUMNS_WIDTH_MIN {
        return vec![HelpColumn {
            x: 0,
            width: area_width,
            rows: rows(groups, area_width),
        }];
    }
    let width = (area_width - GAP_COLUMNS) / 2;
    let heights: Vec<usize> = groups
        .iter()
        .map(|group| rows(std::slice::from_ref(group), width).len())
        .collect();
    // Split where the taller column is shortest. Of equal splits, take the last, which fills the left
    // column.
    let height = |split: usize| {
        let (left, right) = heights.split_at(split);
        left.iter().sum::<usize>().max(right.iter().sum())
    };
    let split = (0..=groups.len()).rev().min_by_key(|split| height(*split));
    let (left, right) = groups.split_at(split.unwrap_or(0));
    let column = |x, groups| HelpColumn {
        x,
        width,
        rows: rows(groups, width),
    };
    vec![column(0, left), column(width + GAP_COLUMNS, right)]
}

fn rows(groups: &[HelpGroup], width: u16) -> Vec<HelpRow> {
    let mut rows = Vec::new();
    for group in groups {
        if !rows.is_empty() {
            rows.push(HelpRow::default());
        }
        let heading = trimmed_rows(&Clean::from_static(group.title), width);
        rows.extend(heading.into_iter().map(|names| HelpRow {
            is_heading: true,
            names,
            ..HelpRow::default()
        }));
        for entry in &group.entries {
            rows.extend(entry_rows(entry, width));
        }
    }
    rows
}

fn entry_rows(entry: &HelpEntry, width: u16) -> Vec<HelpRow> {
    let is_beside = width >= BESIDE_COLUMNS_MIN;
    let inner = width.saturating_sub(INDENT_COLUMNS).max(1);
    let (names_columns, description_x) = match is_beside {
        true => {
            let columns = (inner * NAMES_EIGHTHS / 8).min(NAMES_COLUMNS_MAX);
            (columns, INDENT_COLUMNS + columns + 2)
        }
        false => (inner, 2 * INDENT_COLUMNS),
    };
    let names = name_rows(&entry.names, names_columns, inner);
    let columns = width.saturating_sub(description_x).max(1);
    let description = trimmed_rows(&Clean::single_line(&entry.description), columns);
    // The description begins below the last row whose names reach into its column.
    let is_wide = |row: &String| self::width(row) > usize::from(names_columns);
    let start = match is_beside {
        true => names.iter().rposition(is_wide).map_or(0, |row| row + 1),
        false => names.len(),
    };
    let count = names.len().max(start + description.len());
    let mut names = names.into_iter();
    let mut description = description.into_iter();
    (0..count)
        .map(|row| HelpRow {
            is_heading: false,
            names: names.next().unwrap_or_default(),
            names_x: INDENT_COLUMNS,
            description: match row >= start {
                true => description.next().unwrap_or_default(),
                false => String::new(),
            },
            description_x,
            ends_entry: row + 1 == count,
        })
        .collect()
}

/// Puts names into rows of at most `columns`. A wider name gets a row of its own and wraps at
/// `columns_max`.
fn name_rows(names: &[String], columns: u16, columns_max: u16) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let comma = if index + 1 < names.len() { "," } else { "" };
        let name = format!("{name}{comma}");
        match rows.last_mut() {
            Some(row) if width(row) + 1 + width(&name) <= columns.into() => {
                row.push(' ');
                row.push_str(&name);
            }
            _ => rows.extend(trimmed_rows(&Clean::escaped(&name), columns_max)),
        }
    }
    rows
}

/// Wraps text and removes blanks at the ends of rows, which could exceed the width.
fn trimmed_rows(text: &Clean, columns: u16) -> Vec<String> {
    let rows = wrapped_rows(text, columns).into_iter();
    rows.map(|row| row.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::help::entries::{HelpTopic, matching_groups};
    use crate::tui::help::here::KeysHere;
    use crate::tui::keymap::Keymap;

    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.split_whitespace()
    }

    #[test]
    fn no_width_of_the_help_cuts_a_key_or_a_description() {
        let groups = matching_groups(
            HelpTopic::Everything,
            "",
            "",
            &Keymap::default(),
            &KeysHere::default(),
        );
        for area_width in 12..240 {
            for column in columns(&groups, area_width) {
                assert!(column.x + column.width <= area_width);
                for row in &column.rows {
                    let names_end = usize::from(row.names_x) + width(&row.names);
                    let end = usize::from(row.description_x) + width(&row.description);
                    let both = !row.description.is_empty() && !row.names.is_empty();
                    assert!(!both || names_end < row.description_x.into(), "{row:?}");
                    assert!(names_end <= column.width.into(), "{area_width}: {row:?}");
                    assert!(end <= column.width.into(), "{area_width}: {row:?}");
                }
            }
        }
    }

    #[test]
    fn wrapped_rows_of_the_help_keep_every_word() {
        let groups = matching_groups(
            HelpTopic::Everything,
            "",
            "",
            &Keymap::default(),
            &KeysHere::default(),
        );
        for area_width in [18, 38, 58, 78, 98, 118, 198] {
            let columns = columns(&groups, area_width);
            let rows = || columns.iter().flat_map(|column| &column.rows);
            let shown: String = rows().map(|row| format!("{} ", row.names)).collect();
            let described: String = rows().map(|row| format!("{} ", row.description)).collect();
            let entries = || groups.iter().flat_map(|group| &group.entries);
            let mut expected = String::new();
            for group in &groups {
                expected.push_str(&format!("{} ", group.title));
                for entry in &group.entries {
                    expected.push_str(&format!("{} ", entry.names.join(", ")));
                }
            }
            // At the smallest width, words themselves are wrapped.
            let joined = |text: &str| words(text).collect::<String>();
            assert_eq!(joined(&shown), joined(&expected), "{area_width}");
            let expected: Vec<_> = entries().flat_map(|e| words(&e.description)).collect();
            assert_eq!(joined(&described), expected.concat(), "{area_width}");
        }
    }

    #[test]
    fn two_columns_of_the_help_need_a_screen_of_a_hundred_columns() {
        let groups = matching_groups(
            HelpTopic::Everything,
            "",
            "",
            &Keymap::default(),
            &KeysHere::default(),
        );
        assert_eq!(columns(&groups, 97).len(), 1);
        let both = columns(&groups, 98);
        let [left, right] = both.as_slice() else {
            panic!("two columns");
        };
        let one = rows(&groups, 97).len();
        let tallest = left.rows.len().max(right.rows.len());
        assert!(tallest < one, "{tallest} rows instead of {one}");
        // A better split would have to divide a group.
        let heights = groups
            .iter()
            .map(|group| rows(std::slice::from_ref(group), left.width).len());
        let tallest_group = heights.max().expect("the help has groups");
        assert!(left.rows.len().abs_diff(right.rows.len()) < tallest_group);
    }

    #[test]
    fn a_wide_name_in_the_help_has_a_row_of_its_own() {
        let entry = HelpEntry {
            names: vec!["F9".into(), "/a-long-command [WITH ARGUMENTS]".into()],
            description: "Does it".to_owned(),
            found_by: Vec::new(),
        };
        let rows = entry_rows(&entry, 40);
        let shown = rows.iter().map(|row| (&*row.names, &*row.description));
        let shown: Vec<_> = shown.collect();
        let expected = [
            ("F9,", ""),
            ("/a-long-command [WITH ARGUMENTS]", ""),
            ("", "Does it"),
        ];
        assert_eq!(shown, expected);
    }
}

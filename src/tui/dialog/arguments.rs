//! The arguments of a call as a dialog draws them, and which parts have been drawn. Parts
//! are byte ranges of the text, because row numbers change with the width.

use crate::domain::Arguments;
use crate::text::Clean;
use crate::text::lossless_wrap::{LosslessRows, lossless_rows};
use crate::tui::theme::Glyphs;
use std::ops::Range;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct DrawnArguments {
    /// The arguments as indented JSON, with invisible characters escaped.
    text: String,
    /// The drawn byte ranges of `text`, sorted and disjoint.
    drawn: Vec<Range<usize>>,
    /// When the last undrawn part was drawn.
    fully_drawn_at: Option<Duration>,
}

impl DrawnArguments {
    pub fn new(arguments: &Arguments) -> Self {
        let json = serde_json::to_string_pretty(arguments).unwrap_or_default();
        Self {
            text: Clean::unambiguous(&json).into(),
            drawn: Vec::new(),
            fully_drawn_at: None,
        }
    }

    /// Replaces the arguments. If they changed, all of them count as undrawn.
    pub fn update(&mut self, arguments: &Arguments) {
        let new = Self::new(arguments);
        if new.text != self.text {
            *self = new;
        }
    }

    /// Wraps the text losslessly: it can be rebuilt from the rows.
    pub fn rows(&self, columns: u16, glyphs: &Glyphs) -> LosslessRows {
        lossless_rows(&self.text, columns, glyphs.continuations)
    }

    /// Marks these rows as drawn; `starts` holds the byte at which each row starts.
    pub fn mark_drawn(&mut self, rows: Range<usize>, starts: &[usize], now: Duration) {
        let end = starts.get(rows.end).copied().unwrap_or(self.text.len());
        let Some(start) = starts.get(rows.start).copied().filter(|at| *at < end) else {
            return;
        };
        let mut part = start..end;
        let at = self.drawn.partition_point(|old| old.end < part.start);
        while let Some(old) = self.drawn.get(at).filter(|old| old.start <= part.end) {
            part = part.start.min(old.start)..part.end.max(old.end);
            self.drawn.remove(at);
        }
        self.drawn.insert(at, part);
        if self.first_undrawn().is_none() && self.fully_drawn_at.is_none() {
            self.fully_drawn_at = Some(now);
        }
    }

    /// The first undrawn byte.
    pub fn first_undrawn(&self) -> Option<usize> {
        let first = match self.drawn.first() {
            Some(first) if first.start == 0 => first.end,
            _ => 0,
        };
        (first < self.text.len()).then_some(first)
    }

    /// When the arguments became fully drawn, if they are.
    pub fn fully_drawn_at(&self) -> Option<Duration> {
        self.fully_drawn_at
    }

    /// Number of rows, starting at `starts`, that are not fully drawn.
    pub fn undrawn_rows(&self, starts: &[usize]) -> usize {
        let mut left = 0;
        let mut counted = 0;
        let mut from = 0;
        let ends = std::iter::once(self.text.len()..self.text.len());
        for drawn in self.drawn.iter().cloned().chain(ends) {
            if from < drawn.start {
                let first = starts.partition_point(|at| *at <= from).saturating_sub(1);
                let end = starts.partition_point(|at| *at < drawn.start);
                left += end.saturating_sub(first.max(counted));
                counted = end;
            }
            from = drawn.end;
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::grapheme::{cluster_width, clusters_forward};
    use crate::text::lossless_wrap::MARGIN_COLUMNS;
    use proptest::prelude::*;
    use serde_json::json;

    fn argued(value: &serde_json::Value) -> DrawnArguments {
        DrawnArguments::new(value.as_object().expect("an object"))
    }

    /// Rebuilds the text from screen rows, as a reader who knows the margin signs would.
    fn read_back(rows: &[String], columns: usize) -> String {
        let mut text = String::new();
        for row in rows {
            let sign = row.chars().next().expect("a margin sign");
            let cells: String = row.chars().skip(2).collect();
            let used: usize = clusters_forward(&cells).map(cluster_width).sum();
            let cells = cells + &" ".repeat(columns.saturating_sub(used));
            match sign {
                ' ' if text.is_empty() => {}
                ' ' => text = text.trim_end_matches(' ').to_owned() + "\n",
                '┆' => text = text.trim_end_matches(' ').to_owned() + " ",
                '\\' => {}
                '/' => {
                    text.pop();
                }
                other => panic!("not a margin sign: {other:?}"),
            }
            text += &cells;
        }
        text.trim_end_matches(' ').to_owned()
    }

    proptest! {
        #[test]
        fn arguments_can_be_rebuilt_from_their_rows(
            value in "[a-c \u{a0}\u{202e}가漢⟨⟩\\\\\"\n┆/👩‍👩‍👧é\u{301}]{0,60}",
            key in "[a \n:{}가]{0,20}",
            columns in 4u16..40,
        ) {
            let argued = argued(&json!({ key: value, "n": [1, {}] }));
            let laid = argued.rows(columns + MARGIN_COLUMNS, &Glyphs::new(false));
            let read = read_back(&laid.rows, columns.into());
            prop_assert_eq!(&read, &argued.text);
            for row in &laid.rows {
                prop_assert!(crate::text::grapheme::width(row) <= usize::from(columns + MARGIN_COLUMNS));
            }
        }

        #[test]
        fn undrawn_parts_are_tracked_across_widths(
            steps in prop::collection::vec((5u16..30, 0usize..40, 1usize..12), 0..12),
        ) {
            let mut argued = argued(&json!({ "a": "word 낱말 ".repeat(40) }));
            let mut seen = vec![false; argued.text.len()];
            for (columns, first, count) in steps {
                let starts = argued.rows(columns, &Glyphs::new(false)).starts;
                let rows = first.min(starts.len())..(first + count).min(starts.len());
                argued.mark_drawn(rows.clone(), &starts, Duration::ZERO);
                let byte = |row: usize| starts.get(row).copied().unwrap_or(seen.len());
                let part = byte(rows.start)..byte(rows.end);
                seen[part].fill(true);
                prop_assert_eq!(argued.first_undrawn(), seen.iter().position(|seen| !seen));
                let end = |row: usize| starts.get(row + 1).copied().unwrap_or(seen.len());
                let is_left = |row: &usize| seen[starts[*row]..end(*row)].contains(&false);
                let left = (0..starts.len()).filter(is_left).count();
                prop_assert_eq!(argued.undrawn_rows(&starts), left);
                prop_assert_eq!(argued.fully_drawn_at().is_some(), left == 0);
            }
        }
    }

    #[test]
    fn literal_escape_text_differs_from_an_escaped_character() {
        let text = |value: &str| argued(&json!({ "a": value })).text;
        assert_ne!(text("\u{202e}"), text("⟨U+202E⟩"));
        assert_ne!(text("\u{1b}"), text("⟨ESC⟩"));
    }
}

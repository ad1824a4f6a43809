//! The prefixes of a leaf's rows, and the columns that remain to the right of them.

use super::{MarkdownLayout, RowPrefixes};
use crate::text::markdown::block_event::{BlockPrefix, PrefixPart};
use std::num::NonZeroU16;

/// Longer lines of prose are hard to read. Code and tables may use all columns.
const PROSE_COLUMNS_MAX: u16 = 100;

impl MarkdownLayout {
    /// The prefix of code: as wide as [`INSET`].
    pub fn code_bar(&self) -> String {
        format!("{} ", self.glyphs.code_bar)
    }

    /// The columns for prose after the prefix. Prefix and prose together take at most
    /// [`PROSE_COLUMNS_MAX`] columns.
    pub(super) fn prose_width(&self, prefixes: RowPrefixes) -> NonZeroU16 {
        let surplus = self.width.get().saturating_sub(PROSE_COLUMNS_MAX);
        let left = self.content_width(prefixes).get().saturating_sub(surplus);
        NonZeroU16::new(left).unwrap_or(NonZeroU16::MIN)
    }

    /// The columns to the right of the prefix.
    pub fn content_width(&self, prefixes: RowPrefixes) -> NonZeroU16 {
        let prefix_columns = self.row_buffer.prefix(prefixes.rest).chars().count();
        let remaining = usize::from(self.width.get()).saturating_sub(prefix_columns);
        let remaining = u16::try_from(remaining).unwrap_or(u16::MAX);
        NonZeroU16::new(remaining).unwrap_or(NonZeroU16::MIN)
    }

    pub(super) fn intern_prefixes(&mut self, prefix: &BlockPrefix, inset: &str) -> RowPrefixes {
        let [next, rest] = [&prefix.first, &prefix.rest].map(|parts| {
            let text = self.prefix_text(parts) + inset;
            self.row_buffer.intern_prefix(self.limit_prefix(&text))
        });
        RowPrefixes { next, rest }
    }

    /// Limits a prefix to half of the width by dropping leading characters, each of which is one
    /// column wide.
    pub(super) fn limit_prefix<'a>(&self, text: &'a str) -> &'a str {
        let columns_max = usize::from(self.width.get() / 2);
        let dropped_chars = text.chars().count().saturating_sub(columns_max);
        let start = text.char_indices().nth(dropped_chars);
        start.map_or("", |(start, _)| &text[start..])
    }

    pub(super) fn prefix_text(&self, parts: &[PrefixPart]) -> String {
        let mut text = String::new();
        for part in parts {
            match *part {
                PrefixPart::Quote => text.extend([self.glyphs.quote, ' ']),
                PrefixPart::Bullet => text.extend([self.glyphs.bullet, ' ']),
                PrefixPart::Number(number, delimiter) => {
                    text.push_str(&format!("{number}{} ", char::from(delimiter)));
                }
                PrefixPart::Task(done) => text.push_str(if done { "[x] " } else { "[ ] " }),
                PrefixPart::Space(columns) => text.push_str(&" ".repeat(columns)),
            }
        }
        text
    }
}

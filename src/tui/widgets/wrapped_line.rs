//! One line of a text field as drawn: sanitized, wrapped, with a map back to the raw bytes.

use crate::text::grapheme::clusters;
use crate::text::wrap::wrap_line;
use crate::text::{Clean, ScriptContext};
use std::num::NonZeroU16;
use std::ops::Range;

/// A tab where it must be visible: this symbol and three spaces. The symbol itself is escaped.
pub const TAB: &str = "⇥   ";
pub const TAB_SIGN: char = '⇥';

/// How many rows after an edit are re-wrapped at first.
const ROWS_AHEAD: usize = 4;

/// How a text field shows characters that look like others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum FieldDisplay {
    /// As they are, for a text that the user writes.
    #[default]
    Readable,
    /// Escaped, and tabs as a symbol, for a text that the user approves. Holds the scripts of the
    /// original text.
    Unambiguous(ScriptContext),
}

impl FieldDisplay {
    /// For a text that the user approves.
    pub fn for_approval(text: &str) -> Self {
        Self::Unambiguous(ScriptContext::of(text))
    }

    /// Whether this text is drawn as it is.
    fn keeps(&self, raw: &str) -> bool {
        let is_tab = |c: char| match self {
            Self::Readable => c == '\t',
            Self::Unambiguous(_) => matches!(c, '\t' | TAB_SIGN),
        };
        let shown = || match self {
            Self::Readable => Clean::escaped(raw),
            Self::Unambiguous(context) => Clean::unambiguous_part(raw, context),
        };
        !raw.contains(is_tab) && shown().as_str() == raw
    }

    /// The clusters of a line, each as drawn.
    fn clusters<'a>(&self, raw: &'a str) -> Vec<(&'a str, String)> {
        match self {
            Self::Readable => clusters(raw)
                .map(|cluster| match cluster {
                    "\t" => (cluster, "    ".to_owned()),
                    _ => (cluster, Clean::escaped(cluster).into()),
                })
                .collect(),
            Self::Unambiguous(context) => Clean::unambiguous_clusters(raw, context)
                .map(|(cluster, shown)| match cluster {
                    "\t" => (cluster, TAB.to_owned()),
                    "⇥" => (cluster, "⟨U+21E5⟩".to_owned()),
                    _ => (cluster, shown.into()),
                })
                .collect(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct WrappedLine {
    pub columns: u16,
    display: FieldDisplay,
    pub text: String,
    /// If raw and shown bytes differ: the start of each cluster in both.
    raw_to_shown: Option<Vec<(usize, usize)>>,
    pub rows: Vec<Range<usize>>,
}

impl WrappedLine {
    pub fn new(raw: &str, columns: u16, display: &FieldDisplay) -> Self {
        let (text, map) = clean_line(raw, display);
        let width = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
        let rows = wrap_line(&text, width);
        Self {
            columns,
            display: display.clone(),
            text,
            raw_to_shown: map,
            rows,
        }
    }

    /// Re-wraps the rows around an edit that replaced `cut` in the raw line with `new`.
    /// Returns false if the whole line must be wrapped again.
    pub fn splice(&mut self, cut: Range<usize>, new: &str) -> bool {
        if self.raw_to_shown.is_some() {
            return false;
        }
        self.text.replace_range(cut.clone(), new);
        let changed = cut.start + new.len();
        let shifted = |old: usize| old - cut.len() + new.len();
        // The text after a row decides where the row ends, and may also affect the row
        // before. A hyphen depends on the text before it.
        let row = self.rows.partition_point(|row| row.start < cut.start);
        let mut first = row.saturating_sub(3);
        while first > 0 && self.text[self.rows[first].start..].starts_with(['-', '\u{2010}']) {
            first -= 1;
        }
        let start = self.rows[first].start;
        let mut ahead = ROWS_AHEAD;
        loop {
            let behind = self.rows.partition_point(|row| row.start < cut.end) + ahead;
            let end = self.rows.get(behind).map(|row| shifted(row.start));
            let part = &self.text[start..end.unwrap_or(self.text.len())];
            if !self.display.keeps(part) {
                return false;
            }
            let width = NonZeroU16::new(self.columns).unwrap_or(NonZeroU16::MIN);
            let mut made: Vec<Range<usize>> = wrap_line(part, width)
                .into_iter()
                .map(|row| start + row.start..start + row.end)
                .collect();
            let mut unchanged_from = None;
            if end.is_some() {
                // Once a new row starts where an old one did, all later rows are unchanged.
                let same = |new: usize| {
                    let old = (new + cut.len()).checked_sub(changed - cut.start)?;
                    self.rows.binary_search_by_key(&old, |row| row.start).ok()
                };
                unchanged_from = made
                    .windows(2)
                    .enumerate()
                    .filter(|(_, rows)| rows[0].start >= changed)
                    .filter_map(|(at, rows)| Some((at + 1, same(rows[1].start)?)))
                    .next();
                if unchanged_from.is_none() {
                    ahead *= 8;
                    continue;
                }
            }
            let old_end = unchanged_from.map_or(self.rows.len(), |(_, old)| old);
            made.truncate(unchanged_from.map_or(made.len(), |(new, _)| new));
            for row in &mut self.rows[old_end..] {
                *row = shifted(row.start)..shifted(row.end);
            }
            self.rows.splice(first..old_end, made);
            return true;
        }
    }

    pub fn shown_byte(&self, raw: usize) -> usize {
        let Some(map) = &self.raw_to_shown else {
            return raw;
        };
        let after = map.partition_point(|pair| pair.0 < raw);
        map.get(after).map_or(self.text.len(), |pair| pair.1)
    }

    pub fn raw_byte(&self, byte: usize) -> usize {
        let Some(map) = &self.raw_to_shown else {
            return byte;
        };
        let after = map.partition_point(|pair| pair.1 <= byte);
        map.get(after.saturating_sub(1)).map_or(0, |pair| pair.0)
    }
}

/// The sanitized line, with a cluster map if it differs from the raw one.
fn clean_line(raw: &str, display: &FieldDisplay) -> (String, Option<Vec<(usize, usize)>>) {
    if display.keeps(raw) {
        return (raw.to_owned(), None);
    }
    let mut text = String::with_capacity(raw.len());
    let mut map = Vec::new();
    let mut at = 0;
    for (cluster, shown) in display.clusters(raw) {
        map.push((at, text.len()));
        at += cluster.len();
        text.push_str(&shown);
    }
    map.push((at, text.len()));
    (text, Some(map))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn spliced_line_wraps_like_a_new_line(
            raw in "[a-c 가漢🇰🇷é\u{301}\u{1112}\u{1161}\u{2011}⟨⇥-]{0,200}",
            edits in prop::collection::vec((0usize..220, 0usize..12, "[a-c 가漢🇰é\u{301}\u{1161}\u{2011}⇥]{0,8}"), 1..8),
            columns in 1u16..14,
            is_approved in any::<bool>(),
        ) {
            let display = match is_approved {
                true => FieldDisplay::for_approval(&raw),
                false => FieldDisplay::Readable,
            };
            let mut raw = raw;
            let mut shown = WrappedLine::new(&raw, columns, &display);
            for (at, cut, new) in edits {
                let edge = |byte: usize| raw.floor_char_boundary(byte.min(raw.len()));
                let cut = edge(at)..edge(at + cut);
                raw.replace_range(cut.clone(), &new);
                let whole = WrappedLine::new(&raw, columns, &display);
                if !shown.splice(cut, &new) {
                    shown = whole.clone();
                }
                prop_assert_eq!(&shown.text, &whole.text);
                prop_assert_eq!(&shown.rows, &whole.rows);
            }
        }
    }

    #[test]
    fn edit_of_a_long_line_keeps_surrounding_rows() {
        let raw = "word ".repeat(20_000);
        let wrap = |raw: &str| WrappedLine::new(raw, 40, &FieldDisplay::Readable);
        let mut shown = wrap(&raw);
        assert!(shown.splice(50_000..50_000, "x"));
        assert_eq!(shown.rows, wrap(&shown.text).rows);
    }

    #[test]
    fn a_field_for_approval_marks_what_the_dialog_marks() {
        let shown = |raw: &str, whole: &str| {
            WrappedLine::new(raw, 80, &FieldDisplay::for_approval(whole)).text
        };
        assert_eq!(shown("p\u{430}ypal\t", "p\u{430}ypal"), "p⟨U+0430⟩ypal⇥   ");
        assert_eq!(shown("ＡＢＣ", "ＡＢＣ"), "⟨U+FF21⟩⟨U+FF22⟩⟨U+FF23⟩");
        assert_eq!(shown("ＡＢＣ", "ＡＢＣ\n한글"), "ＡＢＣ");
        assert_eq!(
            shown("\u{441} он e\u{301}", "\u{441} он пошёл"),
            "с он e⟨U+0301⟩"
        );
    }
}

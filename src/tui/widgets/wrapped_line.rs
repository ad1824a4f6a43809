//! One line of a text field as drawn: sanitized, wrapped, with a map back to the raw bytes.

use crate::text::grapheme::{cluster_end, clusters};
use crate::text::wrap::wrap_line;
use crate::text::{Clean, ScriptContext};
use crate::tui::widgets::editor::Chips;
use std::num::NonZeroU16;
use std::ops::Range;

/// A visible tab: this symbol and three spaces. A `⇥` in the text is escaped.
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

    /// The clusters of a line, each as drawn, and whether it is a folded paste.
    fn clusters<'a>(&self, raw: &'a str, chips: &Chips) -> Vec<(&'a str, String, bool)> {
        let shown = |cluster: &'a str, shown: &dyn Fn() -> String| match chips.label(cluster) {
            Some((label, is_chip)) => (cluster, label, is_chip),
            None => (cluster, shown(), false),
        };
        match self {
            Self::Readable => clusters(raw)
                .map(|cluster| match cluster {
                    "\t" => (cluster, "    ".to_owned(), false),
                    _ => shown(cluster, &|| Clean::escaped(cluster).into()),
                })
                .collect(),
            Self::Unambiguous(context) => Clean::unambiguous_clusters(raw, context)
                .map(|(cluster, text)| match cluster {
                    "\t" => (cluster, TAB.to_owned(), false),
                    "⇥" => (cluster, "⟨U+21E5⟩".to_owned(), false),
                    _ => shown(cluster, &|| text.as_str().to_owned()),
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
    /// The clusters that are not drawn as they are, in order.
    replaced: Vec<ReplacedCluster>,
    pub rows: Vec<Range<usize>>,
}

/// A cluster of the raw line, and its replacement in the shown text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ReplacedCluster {
    raw: Range<usize>,
    shown: Range<usize>,
    is_chip: bool,
}

impl ReplacedCluster {
    /// Moves the cluster in both texts. Each pair is an amount to add and an amount to subtract.
    fn move_by(&mut self, raw: (usize, usize), shown: (usize, usize)) {
        let moved = |range: &Range<usize>, (plus, minus): (usize, usize)| {
            range.start + plus - minus..range.end + plus - minus
        };
        self.raw = moved(&self.raw, raw);
        self.shown = moved(&self.shown, shown);
    }
}

impl WrappedLine {
    pub fn new(raw: &str, columns: u16, display: &FieldDisplay, chips: &Chips) -> Self {
        let (text, replaced) = clean_line(raw, display, chips);
        let width = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
        let rows = wrap_line(&text, width);
        Self {
            columns,
            display: display.clone(),
            text,
            replaced,
            rows,
        }
    }

    /// Re-wraps the rows around an edit that replaced `cut` with `new_len` bytes; `raw` is the raw
    /// line after the edit. Returns false if the whole line must be wrapped again.
    pub fn splice(&mut self, cut: Range<usize>, new_len: usize, raw: &str, chips: &Chips) -> bool {
        // In a text for approval, distant text may affect how a cluster is drawn.
        let is_local = self.display == FieldDisplay::Readable;
        if !is_local && !self.replaced.is_empty() {
            return false;
        }
        let width = NonZeroU16::new(self.columns).unwrap_or(NonZeroU16::MIN);
        let first = self.first_row_to_wrap(cut.start);
        let start = self.rows[first].start;
        let raw_start = self.raw_byte(start);
        let after_cut = cluster_end(&self.text, self.shown_byte(cut.end));
        let mut ahead = ROWS_AHEAD;
        loop {
            let mut behind = self.rows.partition_point(|row| row.start < after_cut) + ahead;
            while self
                .rows
                .get(behind)
                .is_some_and(|row| self.is_inside_cluster(row.start))
            {
                behind += 1;
            }
            let old_end = self.rows.get(behind).map(|row| row.start);
            let raw_end = old_end.map(|end| self.raw_byte(end) - cut.len() + new_len);
            let part = &raw[raw_start..raw_end.unwrap_or(raw.len())];
            let (shown, mut replaced) = clean_line(part, &self.display, chips);
            if !is_local && !replaced.is_empty() {
                return false;
            }
            let edited_end = shown_byte(&replaced, shown.len(), cut.start + new_len - raw_start);
            let mut rows = wrap_line(&shown, width);
            // Where old text moves to: `old - old_stop + new_stop`.
            let old_stop = old_end.unwrap_or(self.text.len());
            let new_stop = start + shown.len();
            let mut kept_from = self.rows.len();
            if old_end.is_some() {
                let to_old = |new: usize| (start + new + old_stop).checked_sub(new_stop);
                let tail = rows.iter().map(|row| row.start).enumerate();
                let tail = tail.skip_while(|(_, row)| *row < edited_end).skip(1);
                let unchanged = tail
                    .filter(|(_, row)| !is_inside_cluster(&replaced, *row))
                    .find_map(|(at, row)| Some((at, self.row_at(to_old(row)?, after_cut)?)));
                let Some((at, old)) = unchanged else {
                    ahead *= 8;
                    continue;
                };
                rows.truncate(at);
                kept_from = old;
            }
            for row in &mut rows {
                *row = start + row.start..start + row.end;
            }
            let moved = |old: usize| old + new_stop - old_stop;
            for row in &mut self.rows[kept_from..] {
                *row = moved(row.start)..moved(row.end);
            }
            self.rows.splice(first..kept_from, rows);
            self.text.replace_range(start..old_stop, &shown);
            for cluster in &mut replaced {
                cluster.move_by((raw_start, 0), (start, 0));
            }
            let old = start..old_stop;
            self.splice_replaced(old, replaced, (new_len, cut.len()), (new_stop, old_stop));
            return true;
        }
    }

    /// The row that starts at a byte of the shown text, unless that is before `after_cut` or inside
    /// the replacement of a cluster. If the edited line has a row that starts at the same place,
    /// the row found here and all later ones are unchanged.
    fn row_at(&self, shown: usize, after_cut: usize) -> Option<usize> {
        if shown < after_cut || self.is_inside_cluster(shown) {
            return None;
        }
        self.rows.binary_search_by_key(&shown, |row| row.start).ok()
    }

    /// Replaces the clusters in a range of the old shown text, and moves those after it, see
    /// [`ReplacedCluster::move_by`].
    fn splice_replaced(
        &mut self,
        old: Range<usize>,
        new: Vec<ReplacedCluster>,
        raw_shift: (usize, usize),
        shown_shift: (usize, usize),
    ) {
        let starts_before =
            |shown: usize| move |cluster: &ReplacedCluster| cluster.shown.start < shown;
        let before = self.replaced.partition_point(starts_before(old.start));
        let after = self.replaced.partition_point(starts_before(old.end));
        for cluster in &mut self.replaced[after..] {
            cluster.move_by(raw_shift, shown_shift);
        }
        self.replaced.splice(before..after, new);
    }

    /// The row from which to wrap again after an edit at a raw byte. The text after a row decides
    /// where the row ends, and may also affect the row before. Whether a row may start with a hyphen
    /// depends on the text before it.
    fn first_row_to_wrap(&self, raw: usize) -> usize {
        let edited = self.start_of_cluster_up_to(raw);
        let row = self.rows.partition_point(|row| row.start < edited);
        let mut first = row.saturating_sub(3);
        let is_bad_start = |first: usize| {
            let start = self.rows[first].start;
            let starts_with_hyphen = self.text[start..].starts_with(['-', '\u{2010}']);
            starts_with_hyphen || self.is_inside_cluster(start)
        };
        while first > 0 && is_bad_start(first) {
            first -= 1;
        }
        first
    }

    /// The byte in the shown text for a byte of the raw line. If a replaced cluster contains the byte
    /// or ends at it, the start of that cluster: an edit may change it, and it may fill many rows.
    fn start_of_cluster_up_to(&self, raw: usize) -> usize {
        let after = self.replaced.partition_point(|old| old.raw.start < raw);
        let before = after.checked_sub(1).map(|at| &self.replaced[at]);
        match before.filter(|cluster| raw <= cluster.raw.end) {
            Some(cluster) => cluster.shown.start,
            None => self.shown_byte(raw),
        }
    }

    fn is_inside_cluster(&self, shown: usize) -> bool {
        is_inside_cluster(&self.replaced, shown)
    }

    /// The byte ranges of the labels of folded pastes that overlap a range of the shown text.
    pub fn chips_in(&self, shown: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let first = self
            .replaced
            .partition_point(|old| old.shown.end <= shown.start);
        let overlapping = self.replaced[first..].iter();
        overlapping
            .take_while(move |cluster| cluster.shown.start < shown.end)
            .filter(|cluster| cluster.is_chip)
            .map(|cluster| cluster.shown.clone())
    }

    /// The byte in the shown text for a byte of the raw line.
    pub fn shown_byte(&self, raw: usize) -> usize {
        shown_byte(&self.replaced, self.text.len(), raw)
    }

    /// The byte of the raw line for a byte of the shown text. Inside the replacement of a cluster,
    /// the start of that cluster.
    pub fn raw_byte(&self, shown: usize) -> usize {
        let after = self
            .replaced
            .partition_point(|old| old.shown.start <= shown);
        match after.checked_sub(1).map(|at| &self.replaced[at]) {
            None => shown,
            Some(before) if shown < before.shown.end => before.raw.start,
            Some(before) => before.raw.end + (shown - before.shown.end),
        }
    }
}

fn is_inside_cluster(replaced: &[ReplacedCluster], shown: usize) -> bool {
    let after = replaced.partition_point(|old| old.shown.start < shown);
    let before = after.checked_sub(1).map(|at| &replaced[at]);
    before.is_some_and(|cluster| shown < cluster.shown.end)
}

/// See [`WrappedLine::shown_byte`]. Never more than `shown_len`.
fn shown_byte(replaced: &[ReplacedCluster], shown_len: usize, raw: usize) -> usize {
    let after = replaced.partition_point(|old| old.raw.start < raw);
    let shown = match after.checked_sub(1).map(|at| &replaced[at]) {
        None => raw,
        Some(before) => before.shown.end + raw.saturating_sub(before.raw.end),
    };
    shown.min(shown_len)
}

/// The sanitized line, and the clusters in which it differs from the raw one.
fn clean_line(raw: &str, display: &FieldDisplay, chips: &Chips) -> (String, Vec<ReplacedCluster>) {
    if display.keeps(raw) && !chips.occur_in(raw) {
        return (raw.to_owned(), Vec::new());
    }
    let mut text = String::with_capacity(raw.len());
    let mut replaced = Vec::new();
    let mut at = 0;
    for (cluster, shown, is_chip) in display.clusters(raw, chips) {
        if shown != cluster {
            replaced.push(ReplacedCluster {
                raw: at..at + cluster.len(),
                shown: text.len()..text.len() + shown.len(),
                is_chip,
            });
        }
        at += cluster.len();
        text.push_str(&shown);
    }
    (text, replaced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrap(raw: &str, columns: u16, display: &FieldDisplay) -> WrappedLine {
        WrappedLine::new(raw, columns, display, &Chips::default())
    }

    proptest! {
        #[test]
        fn spliced_line_wraps_like_a_new_line(
            raw in "[a-c 가漢🇰🇷é\u{301}\u{1112}\u{1161}\u{2011}⟨⇥\t\u{202e}\u{10FFFD}-]{0,200}",
            edits in prop::collection::vec((0usize..220, 0usize..12, "[a-c 가漢🇰é\u{301}\u{1161}\u{2011}⇥\t\u{202e}\u{10FFFD}\u{200d}👩]{0,8}"), 1..8),
            columns in 1u16..14,
            is_approved in any::<bool>(),
        ) {
            let mut chips = Chips::default();
            prop_assert_eq!(chips.fold(&"line\n".repeat(240)), Some('\u{10FFFD}'));
            let display = match is_approved {
                true => FieldDisplay::for_approval(&raw),
                false => FieldDisplay::Readable,
            };
            let mut raw = raw;
            let mut shown = WrappedLine::new(&raw, columns, &display, &chips);
            for (at, cut, new) in edits {
                let edge = |byte: usize| raw.floor_char_boundary(byte.min(raw.len()));
                let cut = edge(at)..edge(at + cut);
                raw.replace_range(cut.clone(), &new);
                let whole = WrappedLine::new(&raw, columns, &display, &chips);
                let is_spliced = shown.splice(cut, new.len(), &raw, &chips);
                prop_assert!(is_spliced || is_approved);
                if !is_spliced {
                    shown = whole.clone();
                }
                prop_assert_eq!(&shown.text, &whole.text);
                prop_assert_eq!(&shown.rows, &whole.rows);
                prop_assert_eq!(&shown.replaced, &whole.replaced);
            }
        }
    }

    #[test]
    fn edit_of_a_long_line_keeps_surrounding_rows() {
        let mut raw = "word ".repeat(20_000);
        let mut shown = wrap(&raw, 40, &FieldDisplay::Readable);
        raw.insert(50_000, 'x');
        assert!(shown.splice(50_000..50_000, 1, &raw, &Chips::default()));
        assert_eq!(shown.rows, wrap(&raw, 40, &FieldDisplay::Readable).rows);
    }

    #[test]
    fn an_edit_inside_a_replaced_cluster_wraps_the_rows_before_it() {
        let mut raw = "하漢\u{e9}\u{200d}a".to_owned();
        let mut shown = wrap(&raw, 3, &FieldDisplay::Readable);
        assert_eq!(shown.text, "하漢é⟨U+200D⟩a");
        let at = "하漢\u{e9}".len();
        raw.insert(at, '\t');
        assert!(shown.splice(at..at, 1, &raw, &Chips::default()));
        assert_eq!(shown.rows, wrap(&raw, 3, &FieldDisplay::Readable).rows);
    }

    #[test]
    fn a_field_for_approval_escapes_the_same_characters_as_the_dialog() {
        let shown = |raw: &str, whole: &str| wrap(raw, 80, &FieldDisplay::for_approval(whole)).text;
        assert_eq!(shown("p\u{430}ypal\t", "p\u{430}ypal"), "p⟨U+0430⟩ypal⇥   ");
        assert_eq!(shown("ＡＢＣ", "ＡＢＣ"), "⟨U+FF21⟩⟨U+FF22⟩⟨U+FF23⟩");
        assert_eq!(shown("ＡＢＣ", "ＡＢＣ\n한글"), "ＡＢＣ");
        assert_eq!(
            shown("\u{441} он e\u{301}", "\u{441} он пошёл"),
            "с он e⟨U+0301⟩"
        );
    }
}

//! Grapheme clusters (UAX #29) and their terminal widths. One place answers how
//! wide a cluster is, so that wrapping, the editor and the cursor agree.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};
use unicode_width::UnicodeWidthStr;

/// Terminal columns that `cluster`, one grapheme cluster, takes: 0, 1 or 2.
/// A control character takes none.
pub fn cluster_width(cluster: &str) -> usize {
    match cluster.as_bytes() {
        [b' '..=b'~'] => 1,
        [byte, ..] if byte.is_ascii_control() => 0,
        _ => cluster.width().min(2),
    }
}

/// Terminal columns of one line of text.
pub fn width(line: &str) -> usize {
    if is_printable_ascii(line) {
        return line.len();
    }
    clusters(line).map(cluster_width).sum()
}

/// The grapheme clusters of `text`, in order.
pub fn clusters(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.graphemes(true)
}

/// The end of the cluster that `at` stands in or behind: `at` itself, unless it cuts
/// a cluster. O(1) between characters of ASCII, else the length of what is around.
pub fn cluster_end(line: &str, at: usize) -> usize {
    let is_ascii = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii);
    let bytes = line.as_bytes();
    if at == 0 || is_ascii(bytes.get(at)) && is_ascii(bytes.get(at - 1)) {
        return at.min(line.len());
    }
    let mut cursor = GraphemeCursor::new(at, line.len(), true);
    match cursor.is_boundary(line, 0) {
        Ok(true) => at,
        _ => cursor
            .next_boundary(line, 0)
            .ok()
            .flatten()
            .unwrap_or(line.len()),
    }
}

/// The longest start of `line` that fits into `columns`, cut at a cluster.
pub fn truncate(line: &str, columns: usize) -> &str {
    if line.len() <= columns && is_printable_ascii(line) {
        return line;
    }
    let mut used = 0;
    for (at, cluster) in line.grapheme_indices(true) {
        used += cluster_width(cluster);
        if used > columns {
            return &line[..at];
        }
    }
    line
}

/// Each byte of such a line is one cluster, one column wide.
pub(super) fn is_printable_ascii(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_as_wide_as_terminals_draw_them() {
        let cases = [
            ("a", 1),
            ("한", 2),
            ("\u{1112}\u{1161}\u{11AB}", 2),
            ("漢", 2),
            ("か\u{3099}", 2),
            ("ﾊ", 1),
            ("e\u{301}", 1),
            ("👨\u{200D}👩\u{200D}👧\u{200D}👦", 2),
            ("👍🏽", 2),
            ("🇰🇷", 2),
            ("❤\u{FE0F}", 2),
            ("1\u{FE0F}\u{20E3}", 2),
            ("क्षि", 2),
            ("\u{301}", 0),
            ("\n", 0),
            ("\u{1B}", 0),
        ];
        for (cluster, columns) in cases {
            assert_eq!(clusters(cluster).count(), 1, "{cluster:?}");
            assert_eq!(cluster_width(cluster), columns, "{cluster:?}");
        }
    }

    #[test]
    fn a_line_is_as_wide_as_its_clusters() {
        assert_eq!(width("abc"), 3);
        assert_eq!(width("한글 abc 👨‍👩‍👧"), 4 + 1 + 3 + 1 + 2);
        assert_eq!(width(""), 0);
    }

    #[test]
    fn truncating_never_cuts_a_wide_cluster_in_half() {
        assert_eq!(truncate("한글", 3), "한");
        assert_eq!(truncate("abc", 2), "ab");
        assert_eq!(truncate("abc", 3), "abc");
        assert_eq!(truncate("e\u{301}x", 1), "e\u{301}");
        assert_eq!(truncate("한", 0), "");
    }
}

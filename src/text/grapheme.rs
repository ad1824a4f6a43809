//! Grapheme clusters (UAX #29) and their terminal widths. Wrapping, the editor and the cursor all
//! measure clusters here, so they agree.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};
use unicode_width::UnicodeWidthStr;

/// The width of one grapheme cluster in terminal columns: 0, 1 or 2. ASCII control characters have
/// width 0.
pub fn cluster_width(cluster: &str) -> usize {
    match cluster.as_bytes() {
        [b' '..=b'~'] => 1,
        [byte, ..] if byte.is_ascii_control() => 0,
        _ => cluster.width().min(2),
    }
}

/// The width of one line in terminal columns.
pub fn width(line: &str) -> usize {
    if is_printable_ascii(line) {
        return line.len();
    }
    clusters_forward(line).map(cluster_width).sum()
}

pub fn clusters(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.graphemes(true)
}

/// The longest prefix of `text` with at most `clusters_max` grapheme clusters and `bytes_max`
/// bytes. A cluster is cut only if the first one alone exceeds `bytes_max`.
pub fn bounded_prefix(text: &str, clusters_max: usize, bytes_max: usize) -> &str {
    let mut end = 0;
    for cluster in clusters(text).take(clusters_max) {
        if end + cluster.len() > bytes_max {
            break;
        }
        end += cluster.len();
    }
    match end {
        0 if clusters_max > 0 => &text[..text.floor_char_boundary(bytes_max)],
        _ => &text[..end],
    }
}

/// The nearest cluster boundary at or after byte `offset`. O(1) between ASCII characters, otherwise
/// proportional to the surrounding cluster.
pub fn cluster_end(line: &str, offset: usize) -> usize {
    let is_ascii = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii);
    let bytes = line.as_bytes();
    if offset == 0 || is_ascii(bytes.get(offset)) && is_ascii(bytes.get(offset - 1)) {
        return offset.min(line.len());
    }
    let mut cursor = GraphemeCursor::new(offset, line.len(), true);
    match cursor.is_boundary(line, 0) {
        Ok(true) => offset,
        _ => cursor
            .next_boundary(line, 0)
            .ok()
            .flatten()
            .unwrap_or(line.len()),
    }
}

/// Like [`clusters`], but forward only and faster: characters that never join their neighbors skip
/// the segmentation tables.
pub fn clusters_forward(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = standalone_len(rest).or_else(|| rest.graphemes(true).next().map(str::len))?;
        let (cluster, after) = rest.split_at(end);
        rest = after;
        Some(cluster)
    })
}

/// The length in bytes of the first character if it is a cluster by itself.
fn standalone_len(text: &str) -> Option<usize> {
    // Printable ASCII needs no decoding.
    if let [b' '..=b'~', b' '..=b'~', ..] | [b' '..=b'~'] = text.as_bytes() {
        return Some(1);
    }
    let mut chars = text.chars();
    let first = chars.next().filter(|first| is_standalone(*first))?;
    let is_cluster = chars.next().is_none_or(is_standalone);
    is_cluster.then(|| first.len_utf8())
}

/// Whether `c` belongs to a set of common characters that never join each other into a cluster
/// (UAX #29). The set contains no combining marks, jamo, pictographs or regional indicators.
pub(super) fn is_standalone(c: char) -> bool {
    matches!(c,
        ' '..='~'
        | '\u{A1}'..='\u{A8}' | '\u{AA}'..='\u{AC}' | '\u{AF}'..='\u{2FF}'
        | '\u{2010}'..='\u{2027}' | '\u{2190}'..='\u{2193}' | '\u{2500}'..='\u{259F}'
        | '\u{3001}'..='\u{3020}' | '\u{3041}'..='\u{3096}' | '\u{30A0}'..='\u{30FF}'
        | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
}

/// The longest prefix of `line` that fits into `columns`, cut at a cluster boundary.
pub fn truncate_to_width(line: &str, columns: usize) -> &str {
    if line.len() <= columns && is_printable_ascii(line) {
        return line;
    }
    let mut used_columns = 0;
    for (offset, cluster) in line.grapheme_indices(true) {
        used_columns += cluster_width(cluster);
        if used_columns > columns {
            return &line[..offset];
        }
    }
    line
}

/// Whether each byte of `line` is a cluster of its own, one column wide.
pub(super) fn is_printable_ascii(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bounded_prefix_keeps_whole_clusters_within_the_byte_limit() {
        assert_eq!(bounded_prefix("한국어", 2, 100), "한국");
        assert_eq!(bounded_prefix("한국어", 9, 7), "한국");
        assert_eq!(bounded_prefix("👩‍👩‍👧x", 1, 100), "👩‍👩‍👧");
        let giant = format!("e{}", "\u{301}".repeat(1_000));
        assert_eq!(bounded_prefix(&giant, 10, 4), "e\u{301}");
        assert_eq!(bounded_prefix("", 10, 10), "");
    }

    #[test]
    fn cluster_widths_match_terminals() {
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
    fn line_width_is_the_sum_of_its_cluster_widths() {
        assert_eq!(width("abc"), 3);
        assert_eq!(width("한글 abc 👨‍👩‍👧"), 4 + 1 + 3 + 1 + 2);
        assert_eq!(width(""), 0);
    }

    proptest! {
        #[test]
        fn forward_iteration_finds_the_same_clusters_as_two_way_iteration(
            text in "[a-c \n가각漢\u{1100}\u{1161}\u{11A8}👩\u{200D}👧🇰🇷é\u{301}─…\u{FE0F}❤↔©0\u{20E3}]{0,24}"
        ) {
            let fast: Vec<&str> = clusters_forward(&text).collect();
            prop_assert_eq!(fast, clusters(&text).collect::<Vec<_>>());
        }
    }

    #[test]
    fn standalone_characters_never_join_each_other() {
        let standalone: Vec<char> = ('\u{20}'..'\u{E000}')
            .filter(|c| is_standalone(*c))
            .collect();
        for pair in standalone.windows(2) {
            let text: String = [pair[0], pair[1], pair[0]].iter().collect();
            assert_eq!(clusters(&text).count(), 3, "{text:?}");
        }
    }

    #[test]
    fn truncating_never_cuts_a_wide_cluster_in_half() {
        assert_eq!(truncate_to_width("한글", 3), "한");
        assert_eq!(truncate_to_width("abc", 2), "ab");
        assert_eq!(truncate_to_width("abc", 3), "abc");
        assert_eq!(truncate_to_width("e\u{301}x", 1), "e\u{301}");
        assert_eq!(truncate_to_width("한", 0), "");
    }
}

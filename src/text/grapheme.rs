//! Grapheme clusters (UAX #29) and their terminal widths.

/// Terminal columns that `cluster`, one grapheme cluster, takes: 0, 1 or 2.
pub fn cluster_width(cluster: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(cluster).min(2)
}

/// Terminal columns of one line of text.
pub fn width(line: &str) -> usize {
    clusters(line).map(cluster_width).sum()
}

/// The grapheme clusters of `text`, in order.
pub fn clusters(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    unicode_segmentation::UnicodeSegmentation::graphemes(text, true)
}

/// The longest start of `line` that fits into `columns`, cut at a cluster.
pub fn truncate(line: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, cluster) in unicode_segmentation::UnicodeSegmentation::grapheme_indices(line, true) {
        used += cluster_width(cluster);
        if used > columns {
            return &line[..at];
        }
    }
    line
}

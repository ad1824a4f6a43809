//! The list of recognizers, and the characters at which they may open.

use super::recognizer::{BoxedRecognizer, OpeningContext};
use super::{
    gemma, harmony, json, pythonic, special_token, stripped_harmony, tags, thinking_tags,
    tool_code, wrapper,
};

/// The functions that open recognizers. All recognizers that open at a character read the text in
/// parallel. If several match at the same character, the first one in this list wins.
pub(super) const RECOGNIZERS: [fn(&OpeningContext<'_>) -> Option<BoxedRecognizer>; 12] = [
    thinking_tags::open,
    harmony::open,
    stripped_harmony::open,
    wrapper::open,
    wrapper::close,
    tags::open,
    tags::open_named,
    json::open,
    special_token::open,
    gemma::open,
    pythonic::open,
    tool_code::open,
];

/// Characters at which a recognizer may open within a line of ordinary text, outside a wrapper. At
/// the start of a line and after a call, recognizers may open at others too.
pub(super) const MARKERS: [char; 4] = ['<', '{', '[', 'f'];
/// Text at which a recognizer may open within a line, like [`MARKERS`].
pub(super) const MARKER_TEXT: &str = "to=";

#[cfg(test)]
mod tests {
    use super::super::{markers, tags};
    use crate::fixtures::documented;
    use std::collections::BTreeSet;

    /// Labels that are neither in the table of wrappers nor in that of grammars.
    const OTHER_LABELS: [&str; 3] = ["JSON", "Python", "Harmony"];

    #[test]
    fn form_labels_match_the_documented_ones() {
        let page = include_str!("../../docs/dialects.md");
        let wrappers = markers::WRAPPERS.iter().map(|wrapper| wrapper.form);
        let labels: BTreeSet<String> = wrappers
            .chain(tags::labels())
            .chain(OTHER_LABELS)
            .map(str::to_owned)
            .collect();
        let rows = documented(page, "## Call forms");
        assert_eq!(labels, rows.concat().into_iter().collect());
    }
}

//! Finds words in a text, to mark them. Ignores case and Unicode composition, so decomposed Hangul
//! from a macOS file name is found too.

use super::grapheme::clusters_forward;
use icu_normalizer::ComposingNormalizerBorrowed;
use std::ops::Range;

/// The form in which texts are compared: composed, lowercase.
pub fn case_fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
    composed.to_lowercase()
}

/// Whether one of the folded `terms` occurs in `text`. Much faster than [`term_matches`].
pub fn contains_any(text: &str, terms: &[String]) -> bool {
    if terms.is_empty() {
        return false;
    }
    let text = case_fold(text);
    let mut terms = terms.iter().filter(|term| !term.is_empty());
    terms.any(|term| text.contains(term.as_str()))
}

/// Byte ranges of all terms in `text`, in order and without overlap. The terms must be folded;
/// a range consists of whole grapheme clusters. O(len × terms).
pub fn term_matches(text: &str, terms: &[String]) -> Vec<Range<usize>> {
    if !contains_any(text, terms) {
        return Vec::new();
    }
    let mut folded = String::with_capacity(text.len());
    // For each byte of `folded`, the cluster in `text` that it comes from.
    let mut clusters: Vec<usize> = Vec::with_capacity(text.len());
    let mut starts = Vec::new();
    let mut at = 0;
    for cluster in clusters_forward(text) {
        match cluster.as_bytes() {
            [byte] => folded.push(byte.to_ascii_lowercase().into()),
            _ => folded.push_str(&case_fold(cluster)),
        }
        clusters.resize(folded.len(), starts.len());
        starts.push(at);
        at += cluster.len();
    }
    starts.push(text.len());
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for term in terms.iter().filter(|term| !term.is_empty()) {
        ranges.extend(folded.match_indices(term.as_str()).map(|(start, found)| {
            let last = clusters[start + found.len() - 1];
            starts[clusters[start]]..starts[last + 1]
        }));
    }
    ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    ranges.dedup_by(|later, earlier| later.start < earlier.end);
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, terms: &[&str]) -> String {
        let terms: Vec<String> = terms.iter().map(|term| case_fold(term)).collect();
        let mut out = text.to_owned();
        for range in term_matches(text, &terms).into_iter().rev() {
            out.insert(range.end, ']');
            out.insert(range.start, '[');
        }
        out
    }

    #[test]
    fn every_occurrence_is_found_in_any_case() {
        let text = "The ROUTER is here; routers are fun.";
        let expected = "The [ROUTER] is here; [router]s are fun.";
        assert_eq!(marked(text, &["Router", ""]), expected);
        assert_eq!(
            marked("서울 날씨와 옷차림", &["날씨"]),
            "서울 [날씨]와 옷차림"
        );
        assert_eq!(marked("İstanbul", &["stan"]), "İ[stan]bul");
    }

    #[test]
    fn decomposed_letters_match_composed_ones_and_stay_whole() {
        let decomposed = "\u{1102}\u{1161}\u{11af}\u{110a}\u{1175}";
        assert_eq!(marked(decomposed, &["날씨"]), format!("[{decomposed}]"));
        assert_eq!(marked("날씨", &[decomposed]), "[날씨]");
        // A cluster is marked whole if a part of it matches.
        assert_eq!(marked("a👩‍👧b", &["👩"]), "a[👩‍👧]b");
    }

    #[test]
    fn overlapping_terms_give_one_range() {
        assert_eq!(marked("abcab", &["ab", "abc", "b"]), "[abc][ab]");
    }
}

//! A search text, compared without regard to how letters are composed (Unicode NFC), and without
//! regard to case unless it contains an uppercase letter.

use super::grapheme::clusters_forward;
use icu_normalizer::ComposingNormalizerBorrowed;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindQuery {
    needle: String,
    is_case_sensitive: bool,
}

impl FindQuery {
    /// `None` if the text is empty.
    pub fn new(text: &str) -> Option<Self> {
        let is_case_sensitive = text.chars().any(char::is_uppercase);
        let needle = normalize_for_find(text, is_case_sensitive);
        (!needle.is_empty()).then_some(Self {
            needle,
            is_case_sensitive,
        })
    }

    pub fn is_case_sensitive(&self) -> bool {
        self.is_case_sensitive
    }

    /// The offsets of all matches in a text that [`normalize_for_find`] returned. Matches do not overlap.
    pub fn offsets_in<'a>(&'a self, normalized: &'a str) -> impl Iterator<Item = usize> + 'a {
        normalized
            .match_indices(&self.needle)
            .map(|(offset, _)| offset)
    }

    /// The ranges of all matches in a text. A match covers whole clusters. O(len).
    pub fn ranges_in(&self, text: &str) -> Vec<Range<usize>> {
        let mut normalized = String::with_capacity(text.len());
        // The end of each cluster in the normalized text, and its start and end in the text.
        let mut clusters: Vec<(usize, Range<usize>)> = Vec::new();
        let mut byte = 0;
        for cluster in clusters_forward(text) {
            normalized.push_str(&normalize_for_find(cluster, self.is_case_sensitive));
            clusters.push((normalized.len(), byte..byte + cluster.len()));
            byte += cluster.len();
        }
        let cluster_at = |offset: usize| clusters.partition_point(|(end, _)| *end <= offset);
        let range = |offset: usize| {
            let first = cluster_at(offset);
            let last = cluster_at(offset + self.needle.len() - 1);
            clusters[first].1.start..clusters[last].1.end
        };
        self.offsets_in(&normalized).map(range).collect()
    }
}

/// The form in which texts are compared: composed, and in lowercase unless `is_case_sensitive`.
pub fn normalize_for_find(text: &str, is_case_sensitive: bool) -> String {
    if text.is_ascii() {
        return match is_case_sensitive {
            true => text.to_owned(),
            false => text.to_ascii_lowercase(),
        };
    }
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
    match is_case_sensitive {
        true => composed.into_owned(),
        false => composed.chars().flat_map(char::to_lowercase).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icu_normalizer::DecomposingNormalizerBorrowed;
    use proptest::prelude::*;

    fn found(query: &str, text: &str) -> Vec<String> {
        let query = FindQuery::new(query).expect("not empty");
        let ranges = query.ranges_in(text);
        ranges
            .into_iter()
            .map(|range| text[range].to_owned())
            .collect()
    }

    #[test]
    fn composed_and_decomposed_letters_match_each_other() {
        let decomposed = "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}";
        assert_eq!(found("한글", &format!("a {decomposed} b")), [decomposed]);
        assert_eq!(found(decomposed, "a 한글 b"), ["한글"]);
        assert_eq!(found("é", "cafe\u{301}"), ["e\u{301}"]);
        assert_eq!(found("하", "한글"), [""; 0], "a syllable is one letter");
    }

    #[test]
    fn case_matters_only_if_the_query_has_an_uppercase_letter() {
        assert_eq!(found("main", "Main main MAIN"), ["Main", "main", "MAIN"]);
        assert_eq!(found("Main", "Main main MAIN"), ["Main"]);
        assert_eq!(found("straße", "STRASSE Straße"), ["Straße"]);
        assert_eq!(found("i̇x", "İX"), ["İX"], "lower case may be longer");
    }

    #[test]
    fn matches_do_not_overlap_and_cover_whole_clusters() {
        assert_eq!(found("aa", "aaaaa"), ["aa", "aa"]);
        assert_eq!(found("e", "e\u{301}e"), ["e"]);
        assert_eq!(FindQuery::new(""), None);
    }

    fn composed(text: &str) -> String {
        let normalizer = ComposingNormalizerBorrowed::new_nfc();
        normalizer.normalize(text).into_owned()
    }

    proptest! {
        /// A text of a few letters, each composed or not, is searched as if all were composed.
        #[test]
        fn matches_agree_with_a_plain_search_in_the_composed_text(
            letters in prop::collection::vec(("[가각날씨한글ab ]", any::<bool>()), 0..40),
            query in "[가각날씨한글ab]{1,2}",
            is_query_decomposed in any::<bool>(),
        ) {
            let decompose = |text: &str, is_decomposed: bool| match is_decomposed {
                true => DecomposingNormalizerBorrowed::new_nfd().normalize(text).into_owned(),
                false => text.to_owned(),
            };
            let parts = letters.iter().map(|(letter, is_decomposed)| decompose(letter, *is_decomposed));
            let text: String = parts.collect();
            let find_query = FindQuery::new(&decompose(&query, is_query_decomposed)).expect("not empty");
            let ranges = find_query.ranges_in(&text);
            let plain: String = letters.iter().map(|(letter, _)| letter.as_str()).collect();
            prop_assert_eq!(ranges.len(), plain.matches(&query).count());
            for range in ranges {
                prop_assert_eq!(composed(&text[range]), query.clone());
            }
        }
    }
}

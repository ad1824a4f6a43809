//! English search terms for common Korean words. Most servers describe their tools in English, so
//! without them a Korean prompt finds none of their tools.

use crate::text::{WordList, word_list};

/// Lines such as `가격 = price cost`. A stem matches anywhere, because particles and endings follow it
/// without a space.
static TERMS: WordList = word_list!("korean_terms");

/// The English words for the Korean words of a text, in the order of the table.
pub(super) fn translations(text: &str) -> impl Iterator<Item = &'static str> {
    let has_hangul = text.chars().any(|c| ('가'..='힣').contains(&c));
    let lines = TERMS.iter().filter(move |_| has_hangul);
    let terms = lines.filter_map(|line| line.split_once(" = "));
    let found = terms.filter(|(stem, _)| text.contains(stem));
    found.map(|(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_found_before_particles_and_endings() {
        let words: Vec<&str> = translations("파일을 읽어 줘").collect();
        assert_eq!(words, ["read", "file"]);
        assert_eq!(translations("read the file").count(), 0);
    }

    #[test]
    fn every_korean_term_has_one_line() {
        let stems = TERMS
            .iter()
            .map(|line| line.split_once(" = ").expect("a term").0);
        let stems: Vec<&str> = stems.collect();
        assert!(stems.is_sorted_by(|one, next| one < next));
    }
}

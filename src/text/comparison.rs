//! Normalizes names and the text that the user types, so that they can be compared.

use icu_normalizer::DecomposingNormalizerBorrowed;

/// Decomposes `text` (NFKD) and converts it to lowercase. An incomplete syllable then matches, because
/// the key of `나` is a prefix of the key of `날씨`. A name that the file system stores in decomposed
/// form matches too.
pub fn comparison_key(text: &str) -> String {
    let decomposed = const { DecomposingNormalizerBorrowed::new_nfkd() }.normalize(text);
    decomposed.to_lowercase()
}

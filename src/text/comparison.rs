//! Normalizes text to compare what the user types with names.

use icu_normalizer::DecomposingNormalizerBorrowed;

/// Decomposes `text` (NFKD) and converts it to lowercase. An incomplete syllable then matches, because
/// the key of `나` is a prefix of the key of `날씨`, and so does a name that the file system stores in
/// decomposed form.
pub fn comparison_key(text: &str) -> String {
    let decomposed = const { DecomposingNormalizerBorrowed::new_nfkd() }.normalize(text);
    decomposed.to_lowercase()
}

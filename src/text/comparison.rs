//! Text in a form for comparing what a user types with names.

use icu_normalizer::DecomposingNormalizerBorrowed;

/// Decomposes `text` (NFKD) and lowers its case, so that an incomplete syllable matches, and so that
/// file names that a system stores decomposed match as well: the key of `나` is a prefix of the key of
/// `날씨`.
pub fn comparison_key(text: &str) -> String {
    let decomposed = const { DecomposingNormalizerBorrowed::new_nfkd() }.normalize(text);
    decomposed.to_lowercase()
}

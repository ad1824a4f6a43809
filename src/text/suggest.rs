//! Suggests a known word for a mistyped one.

use strsim::osa_distance;

/// Only this many leading characters are compared, which bounds the work.
const WORD_CHARS_MAX: usize = 64;

/// The closest of `options`, ignoring case, if it differs from `word` by at most one mistake, or by a
/// third of its length if that is more. A mistake is an added, missing, replaced or transposed letter.
pub fn nearest<'a>(word: &str, options: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded_prefix(word);
    options
        .into_iter()
        .map(|option| (osa_distance(&word, &folded_prefix(option)), option))
        .filter(|(distance, option)| *distance <= (option.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, option)| option)
}

fn folded_prefix(word: &str) -> String {
    word.to_lowercase().chars().take(WORD_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn typos_are_matched_and_unrelated_words_are_not() {
        let names = ["ollama", "openai", "mistral", "anthropic"];
        for (word, expected) in [
            ("olama", Some("ollama")),
            ("OpenAI", Some("openai")),
            ("antropic", Some("anthropic")),
            ("opneai", Some("openai")),
            ("gemini", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, names), expected, "{word}");
        }
    }
}

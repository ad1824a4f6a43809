//! The nearest known spelling of a word that is not known.

/// The one of `options` that `word` was probably meant to be.
pub(super) fn nearest<'a>(
    word: &str,
    options: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(WORD_MAX).collect();
    options
        .into_iter()
        .map(|option| (distance(&word, option), option))
        .filter(|(distance, option)| *distance <= (option.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, option)| option)
}

/// Longer words are compared by their start alone, which bounds the work.
const WORD_MAX: usize = 64;

/// Levenshtein distance in characters, upper and lower case being one.
fn distance(word: &[char], option: &str) -> usize {
    let mut row: Vec<usize> = (0..=word.len()).collect();
    let option = option.to_lowercase();
    for (down, letter) in option.chars().take(WORD_MAX).enumerate() {
        let mut diagonal = row[0];
        row[0] = down + 1;
        for (across, other) in word.iter().enumerate() {
            let replaced = diagonal + usize::from(*other != letter);
            diagonal = row[across + 1];
            row[across + 1] = replaced.min(diagonal + 1).min(row[across] + 1);
        }
    }
    row[word.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_a_stranger_is_not() {
        let names = ["ollama", "openai", "mistral", "anthropic"];
        for (word, near) in [
            ("olama", Some("ollama")),
            ("OpenAI", Some("openai")),
            ("antropic", Some("anthropic")),
            ("gemini", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, names), near, "{word}");
        }
    }
}

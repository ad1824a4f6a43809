//! The nearest known spelling of a word that is not known.

/// The one of `options` that `word` was probably meant to be.
pub fn nearest<'a>(word: &str, options: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
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

/// The slips between two words, upper and lower case being one: a letter more, a
/// letter less, another letter, two letters swapped.
fn distance(word: &[char], option: &str) -> usize {
    let option: Vec<char> = option.to_lowercase().chars().take(WORD_MAX).collect();
    let mut rows = vec![(0..=word.len()).collect::<Vec<usize>>()];
    for (down, letter) in option.iter().enumerate() {
        let above = &rows[down];
        let mut row = vec![down + 1];
        for (across, other) in word.iter().enumerate() {
            let replaced = above[across] + usize::from(other != letter);
            let mut least = replaced.min(above[across + 1] + 1).min(row[across] + 1);
            let is_swap =
                down > 0 && across > 0 && option[down - 1] == *other && word[across - 1] == *letter;
            if is_swap {
                least = least.min(rows[down - 1][across - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[option.len()][word.len()]
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
            ("opneai", Some("openai")),
            ("gemini", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, names), near, "{word}");
        }
    }
}

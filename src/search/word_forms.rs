//! Compares forms of English words.

/// Endings of English words, the longest first.
const ENDINGS: &[&str] = &["ing", "es", "ed", "s", "e", "y"];

/// The beginning that other forms of an English word share.
pub fn stem(word: &str) -> &str {
    let stem = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending));
    stem.filter(|stem| stem.len() >= 3).unwrap_or(word)
}

/// The stem with one final consonant: `running` and `run` have the same.
pub fn base(word: &str) -> &str {
    let stem = stem(word);
    let mut letters = stem.chars().rev();
    let last = letters.next().filter(char::is_ascii);
    match last.is_some() && last == letters.next() && stem.len() > 3 {
        true => &stem[..stem.len() - 1],
        false => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_the_same_base() {
        for (one, other) in [("routers", "router"), ("running", "run"), ("baked", "bake")] {
            assert_eq!(base(one), base(other));
        }
        assert_ne!(base("team"), base("tea"));
    }
}

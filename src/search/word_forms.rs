//! Compares forms of English words.

/// Endings of English words, the longest first.
const ENDINGS: &[&str] = &["ing", "es", "ed", "s", "e", "y"];

/// Endings that the index removes from words, or part of which it removes.
const REMOVED_ENDINGS: &[&str] = &[
    "able", "al", "alism", "ality", "ally", "alize", "ance", "ant", "ate", "ation", "ational",
    "ative", "ator", "ed", "edly", "ement", "ence", "ent", "er", "es", "ful", "fulness", "ible",
    "ic", "ical", "icity", "ies", "ing", "ingly", "ion", "ism", "ive", "iveness", "ivity",
    "ization", "ize", "izer", "ment", "ness", "ous", "ously", "ousness",
];

/// The beginning that other forms of an English word share.
pub fn stem(word: &str) -> &str {
    let stem = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending));
    stem.filter(|stem| stem.len() >= 3).unwrap_or(word)
}

/// The stem, with a doubled last letter reduced to one: `running` and `run` have the same base.
pub fn base(word: &str) -> &str {
    let stem = stem(word);
    let mut letters = stem.chars().rev();
    let last = letters.next().filter(char::is_ascii);
    match last.is_some() && last == letters.next() && stem.len() > 3 {
        true => &stem[..stem.len() - 1],
        false => stem,
    }
}

/// Shorter words are not completed if only their last letter begins an ending: `taxi` would find `tax`,
/// because of `taxing`.
const ONE_LETTER_OVERLAP_MIN: usize = 5;

/// Possible words that begin with `typed` and whose stem in the index may be shorter than `typed`,
/// such as `running`, indexed as `run`, for `runni`. Many of them do not exist.
pub fn completions(typed: &str) -> Vec<String> {
    let overlap_min = match typed.len() {
        ..ONE_LETTER_OVERLAP_MIN => 2,
        _ => 1,
    };
    let mut completions: Vec<String> = REMOVED_ENDINGS
        .iter()
        .flat_map(|ending| (overlap_min..ending.len()).map(|length| ending.split_at(length)))
        .filter(|(overlap, _)| typed.ends_with(overlap))
        .map(|(_, rest)| format!("{typed}{rest}"))
        .collect();
    if base(typed).len() < typed.len() && stem(typed) == typed {
        completions.push(format!("{typed}ing"));
    }
    completions.sort();
    completions.dedup();
    completions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_cut_off_inside_its_ending_is_completed() {
        for (typed, word) in [
            ("runn", "running"),
            ("runni", "running"),
            ("genera", "generation"),
            ("happin", "happiness"),
            ("generaliza", "generalization"),
        ] {
            assert!(completions(typed).contains(&word.to_owned()), "{typed}");
        }
        assert_eq!(completions("work"), Vec::<String>::new());
    }

    #[test]
    fn forms_of_a_word_have_the_same_base() {
        for (one, other) in [("routers", "router"), ("running", "run"), ("baked", "bake")] {
            assert_eq!(base(one), base(other));
        }
        assert_ne!(base("team"), base("tea"));
    }
}

//! Recognizes the part of a sentence that tells the user not to enter something, such as `Do not
//! enter your password here`. Everything else is kept: a negation elsewhere in the text must not
//! hide a request for a secret.

use crate::text::{WordList, word_list};
/// Words before the verb, in English.
static NEGATIONS: WordList = word_list!("negated_entries", "negations");
/// Verbs whose object may be a secret.
static VERBS: WordList = word_list!("negated_entries", "verbs");
/// Words that end the negated part, because the rest of the sentence may still ask for a secret.
static CLAUSE_WORDS: WordList = word_list!("negated_entries", "clause words");
/// Endings of Korean clauses that forbid entering something. The object precedes them.
static KOREAN_ENDINGS: WordList = word_list!("negated_entries", "korean endings");

/// The text without the parts that tell the user not to enter something.
pub fn without_negated_entries(text: &str) -> String {
    let text = without_english_entries(text);
    text.split_inclusive(ends_sentence)
        .map(without_korean_entry)
        .collect()
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '。' | '\n' | ';' | ',' | '，')
}

/// Removes each `never enter …` up to the end of its clause.
fn without_english_entries(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let words = text.split_inclusive(char::is_whitespace);
    let mut is_negated = false;
    let mut last_words = [String::new(), String::new()];
    for word in words {
        let plain = plain_word(word);
        let starts = VERBS.contains(&plain.as_str()) && follows_negation(&last_words);
        is_negated = starts || is_negated && !CLAUSE_WORDS.contains(&plain.as_str());
        match is_negated {
            true => kept.push(' '),
            false => kept.push_str(word),
        }
        let ends = word.trim_end().ends_with(ends_sentence);
        is_negated &= !ends;
        last_words = match ends {
            true => [String::new(), String::new()],
            false => [std::mem::take(&mut last_words[1]), plain],
        };
    }
    kept
}

fn follows_negation(last_words: &[String; 2]) -> bool {
    let [first, second] = last_words;
    NEGATIONS
        .iter()
        .any(|negation| match negation.split_once(' ') {
            Some((one, two)) => one == first && two == second,
            None => negation == second,
        })
}

fn plain_word(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.to_lowercase()
}

/// A Korean clause names the secret first: `비밀번호를 입력하지 마세요`.
fn without_korean_entry(clause: &str) -> &str {
    let found = KOREAN_ENDINGS
        .iter()
        .find_map(|end| Some((clause.find(end)?, end.len())));
    match found {
        // `비밀번호를 입력하고 적지 마세요` does ask for it.
        Some((at, length)) if !clause[..at].contains("입력") => &clause[at + length..],
        _ => clause,
    }
}

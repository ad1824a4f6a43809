//! Words that do not indicate the topic of a prompt: requests, politeness, and words that occur in
//! questions of every kind.

use crate::text::{WordList, word_list};

static ENGLISH: WordList = word_list!("filler_words.en");
static KOREAN: WordList = word_list!("filler_words.ko");

/// `word` is in lower case.
pub(super) fn is_filler(word: &str) -> bool {
    let is_in = |list: &WordList| list.binary_search(&word).is_ok();
    is_in(&ENGLISH) || is_in(&KOREAN)
}

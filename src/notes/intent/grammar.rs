//! Matches words against phrases such as `{find} me? my notes|note {about} {topic}`.
//!
//! - `note|notes`: one of these words; with `?` at the end, optional.
//! - `{find}`: one of the alternatives of a class, which may have several words; `{find?}` is
//!   optional, `{find*}` matches any number. Classes are defined by the language.
//! - `{style}` also captures the words, as part of the style; `{tail?}` is a tail (see [`Grammar`]).
//! - `{topic}`: one or more words, as many as possible, which are captured.

/// A name and its alternatives.
pub(super) type Class = (&'static str, &'static [&'static str]);

/// The classes and tails of a language, in lower case. `#` stands for a number.
pub(super) struct Grammar {
    pub(super) classes: &'static [&'static [Class]],
    /// Phrases that describe how to write, such as `in French`.
    pub(super) tails: &'static [&'static str],
    /// The same, but only after a comma, because they may be part of a topic.
    pub(super) tails_after_comma: &'static [&'static str],
}

const TAIL_WORDS_MAX: usize = 8;
const NUMBERS: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "a", "few",
    "hundred",
];

/// The captured parts of a phrase.
#[derive(Debug, Clone, Default)]
pub(super) struct Match<'a> {
    /// Empty if the phrase has no topic.
    pub(super) topic: &'a [&'a str],
    pub(super) style: Vec<String>,
}

impl Grammar {
    /// Matches all of `words` against the first phrase that fits and whose topic passes `accepts`.
    pub(super) fn find<'a>(
        &self,
        words: &'a [&'a str],
        phrases: &[&str],
        accepts: impl Fn(&[&str]) -> bool,
    ) -> Option<Match<'a>> {
        phrases.iter().find_map(|phrase| {
            let elements: Vec<&str> = phrase.split(' ').collect();
            let found = self.match_elements(words, &elements)?;
            accepts(found.topic).then_some(found)
        })
    }

    /// A comma before a tail stays with the word before it.
    pub(super) fn split_tails<'a>(&self, mut words: &'a [&'a str]) -> (&'a [&'a str], Vec<String>) {
        let mut tails = Vec::new();
        while let Some(at) = (1..words.len()).find(|at| self.is_tail_at(words, *at)) {
            tails.insert(0, words[at..].join(" "));
            words = &words[..at];
        }
        (words, tails)
    }

    fn is_tail_at(&self, words: &[&str], at: usize) -> bool {
        let tail = &words[at..];
        let follows_comma = words[at - 1].ends_with(',');
        self.is_tail(tail)
            || follows_comma && self.find(tail, self.tails_after_comma, |_| true).is_some()
    }

    fn is_tail(&self, words: &[&str]) -> bool {
        words.len() <= TAIL_WORDS_MAX && self.find(words, self.tails, |_| true).is_some()
    }

    fn match_elements<'a>(&self, words: &'a [&'a str], elements: &[&str]) -> Option<Match<'a>> {
        let Some((element, rest)) = elements.split_first() else {
            return words.is_empty().then(Match::default);
        };
        match *element {
            "{topic}" => (1..=words.len()).rev().find_map(|length| {
                let (topic, after) = words.split_at(length);
                let found = self.match_elements(after, rest)?;
                Some(Match { topic, ..found })
            }),
            "{tail?}" => {
                let lengths = (1..=words.len().min(TAIL_WORDS_MAX)).rev();
                let tail = lengths.into_iter().find_map(|length| {
                    let (tail, after) = words.split_at(length);
                    let found = self.is_tail(tail).then(|| self.match_elements(after, rest));
                    Some(with_style(found??, tail))
                });
                tail.or_else(|| self.match_elements(words, rest))
            }
            element => self.match_class(words, element, elements, rest),
        }
    }

    fn match_class<'a>(
        &self,
        words: &'a [&'a str],
        element: &str,
        elements: &[&str],
        rest: &[&str],
    ) -> Option<Match<'a>> {
        let name = element.strip_prefix('{').map(|name| {
            let name = name.trim_end_matches('}');
            name.trim_end_matches(['?', '*'])
        });
        let repeats = element.ends_with("*}");
        let is_optional = repeats || element.ends_with("?}") || element.ends_with('?');
        let try_alternative = |alternative: &str| {
            let length = prefix_length(words, alternative)?;
            let (matched, after) = words.split_at(length);
            let found = self.match_elements(after, if repeats { elements } else { rest })?;
            Some(match name {
                Some("style") => with_style(found, matched),
                _ => found,
            })
        };
        let found = match name {
            Some(name) => self
                .class(name)
                .iter()
                .find_map(|text| try_alternative(text)),
            None => element
                .trim_end_matches('?')
                .split('|')
                .find_map(try_alternative),
        };
        found.or_else(|| is_optional.then(|| self.match_elements(words, rest))?)
    }

    fn class(&self, name: &str) -> &'static [&'static str] {
        let mut classes = self.classes.iter().copied().flatten();
        let found = classes.find(|(class, _)| *class == name);
        found.map_or(&[], |(_, alternatives)| alternatives)
    }
}

fn with_style<'a>(mut found: Match<'a>, words: &[&str]) -> Match<'a> {
    found.style.insert(0, words.join(" "));
    found
}

/// The number of words that `expected` matches at the beginning.
fn prefix_length(words: &[&str], expected: &str) -> Option<usize> {
    let mut length = 0;
    for expected in expected.split(' ') {
        if !is_word(words.get(length)?, expected) {
            return None;
        }
        length += 1;
    }
    Some(length)
}

const SHORTHAND: &[(&str, &str)] = &[
    ("u", "you"),
    ("pls", "please"),
    ("plz", "please"),
    ("thx", "thanks"),
    ("whats", "what's"),
    ("wheres", "where's"),
    ("lets", "let's"),
    ("im", "i'm"),
    ("w/", "with"),
];

/// Compares a word with one in lower case. Ignores a comma or exclamation mark after it and the form
/// of its apostrophe. `#` matches a number, and a short spelling matches the word it stands for.
fn is_word(word: &str, expected: &str) -> bool {
    let word = word.trim_end_matches([',', '!']).to_lowercase();
    if let Some(suffix) = expected.strip_prefix('#') {
        let number = word.strip_suffix(suffix).unwrap_or_default();
        let is_digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        return is_digits || NUMBERS.contains(&number);
    }
    let is_short = |(short, long): &(&str, &str)| word == *short && expected == *long;
    word == expected || word.replace('’', "'") == expected || SHORTHAND.iter().any(is_short)
}

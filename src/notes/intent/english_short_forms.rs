//! English requests whose phrase also begins ordinary prompts: `is X in my notes`, `note about X please`,
//! `a note explaining X`. Their topics must be plain nouns or subjects.

use super::english_lookalikes::{DETERMINERS, is_statement};
use super::topic::RequestTopic;

/// A new note whose subject is explained. Messages explain, too: see [`is_subject`].
pub(super) const CREATE_EXPLANATION: &[&str] = &[
    "{create} me? {article?} {plain*} {style*} {plain*} note {for-myself?} {tail?} explaining|describing {topic}",
];
/// A new note, without a verb.
pub(super) const CREATE_PLEASE: &[&str] =
    &["a|another? {plain*} {style*} {plain*} note {for-myself?} {tail?} {about} {topic} please"];
/// The topic precedes the notes. A topic with a determiner usually refers to the conversation.
pub(super) const CREATE_IN_NOTES: &[&str] =
    &["add|save|put|write|record {topic} to|in|into {vault} as a|another? {plain*} note"];
pub(super) const FIND_THING: &[&str] = &["is|are {topic} in {my} notes|vault"];
/// Notes that the user has are text, even if their topic is an instrument.
pub(super) const FIND_OWN_NOTES: &[&str] =
    &["{do-i-have} {any?} {my?} notes|note {mentioning} {topic}"];
/// One note by its topic. `the TOPIC notes` is not included: those notes may be in the conversation.
pub(super) const SUMMARIZE_THE_NOTE: &[&str] = &[
    "{style?} {summarize} the {topic} note",
    "{ask-for?} {article?} quick? {style*} {summary} of the {topic} note",
];

/// Words in a note that explains something to another person.
const EXCUSES: &[&str] = &[
    "absence",
    "absences",
    "absent",
    "late",
    "lateness",
    "delay",
    "delays",
    "delayed",
    "resignation",
    "resigning",
    "leaving",
    "quitting",
    "sorry",
    "decision",
    "mistake",
    "situation",
    "happened",
    "sick",
    "illness",
    "i",
    "i'm",
    "me",
    "my",
    "we",
    "we're",
    "our",
    "us",
    "you",
    "your",
    "he",
    "she",
    "they",
    "his",
    "her",
    "their",
    "myself",
    "ourselves",
    "why",
];
/// Words for something in the conversation.
const PRONOUNS: &[&str] = &[
    "it",
    "this",
    "that",
    "these",
    "those",
    "them",
    "you",
    "your",
    "yours",
    "everything",
    "what",
];
/// Beginnings of a subject that has a determiner.
const SUBJECT_BEGINNINGS: &[&str] = &[
    "the difference",
    "the basics",
    "the history",
    "the rules of",
    "the theory of",
    "the concept of",
    "the principle",
];
/// Instruments that notes may be about. The other musical words mean notes in music.
const INSTRUMENTS: &[&str] = &["guitar", "piano", "violin"];
/// Words that cannot be part of a thing to look for, such as pronouns, adverbs, adjectives, and
/// nouns for the form of a text.
const NOT_THINGS: &[&str] = &[
    "he",
    "she",
    "they",
    "we",
    "i",
    "you",
    "there",
    "anything",
    "anyone",
    "anybody",
    "something",
    "someone",
    "somebody",
    "everything",
    "everyone",
    "everybody",
    "nothing",
    "nobody",
    "none",
    "one",
    "more",
    "much",
    "many",
    "most",
    "not",
    "still",
    "already",
    "really",
    "actually",
    "also",
    "too",
    "only",
    "even",
    "just",
    "ever",
    "here",
    "now",
    "in",
    "on",
    "of",
    "and",
    "or",
    "but",
    "that",
    "which",
    "who",
    "what",
    "correct",
    "right",
    "wrong",
    "ok",
    "okay",
    "fine",
    "good",
    "bad",
    "better",
    "best",
    "clear",
    "consistent",
    "complete",
    "accurate",
    "missing",
    "safe",
    "true",
    "false",
    "enough",
    "different",
    "same",
    "important",
    "public",
    "private",
    "relevant",
    "necessary",
    "broken",
    "hidden",
    "open",
    "empty",
    "new",
    "old",
    "interesting",
    "written",
    "shown",
    "known",
    "lost",
    "gone",
    "readable",
    "formatting",
    "format",
    "order",
    "punctuation",
    "tone",
    "style",
    "layout",
    "markdown",
];
/// Endings of adjectives and participles after a noun, as in `the table sorted`.
const ADJECTIVE_ENDINGS: &[&str] = &["ed", "able", "ible", "ly", "ful", "less", "-sensitive"];
/// Maximum number of words of a thing after a determiner.
const THING_WORDS_MAX: usize = 3;

/// Whether a note explains a subject instead of somebody's behavior.
pub(super) fn is_subject(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let is_excuse = lower.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'');
        EXCUSES.contains(&word)
    });
    let has_known_beginning = SUBJECT_BEGINNINGS
        .iter()
        .any(|start| lower.starts_with(start));
    !is_excuse && (has_known_beginning || !has_determiner(&lower))
}

/// Whether the topic of `note about TOPIC please` is neither the place of the note, as in `on the
/// agenda`, nor the beginning of a sentence, and does not refer to the conversation.
pub(super) fn is_topic_before_please(topic: &RequestTopic, words: &[&str]) -> bool {
    let lower = topic.text.to_lowercase();
    let has_on = words.iter().any(|word| word.eq_ignore_ascii_case("on"));
    let is_place = has_on && has_determiner(&lower);
    !(is_place || is_statement(topic) || has_pronoun(&lower))
}

/// Whether the topic of `add TOPIC to my notes as a note` does not refer to the conversation.
pub(super) fn is_outside_conversation(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    !has_determiner(&lower) && !has_pronoun(&lower)
}

/// Whether the topic of `is TOPIC in my notes` is a thing, as in `the router password`. A sentence such
/// as `is the table sorted in my notes` asks about the notes.
pub(super) fn is_thing(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let (words_max, noun) = match words.split_first() {
        Some((first, rest)) if DETERMINERS.contains(first) => (THING_WORDS_MAX, rest),
        _ => (1, &words[..]),
    };
    let ends_as_adjective = |word: &&str| ADJECTIVE_ENDINGS.iter().any(|end| word.ends_with(end));
    let is_sentence = noun.len() > 1 && noun.last().is_some_and(ends_as_adjective);
    let is_other = |word: &&str| NOT_THINGS.contains(word);
    !noun.is_empty() && noun.len() <= words_max && !is_sentence && !noun.iter().any(is_other)
}

/// Whether the topic is only an instrument, as in `guitar`: the notes are about playing it. Notes
/// on `the guitar` may be musical ones.
pub(super) fn is_about_instrument(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let mut words = lower.split_whitespace();
    words.all(|word| INSTRUMENTS.contains(&word))
}

fn has_pronoun(lower: &str) -> bool {
    lower
        .split_whitespace()
        .any(|word| PRONOUNS.contains(&word))
}

fn has_determiner(lower: &str) -> bool {
    let first = lower.split_whitespace().next().unwrap_or_default();
    DETERMINERS.contains(&first)
}

//! The English phrases. To add a way to ask, add a phrase; its words are in `english_classes`.

use super::NoteIntent;
use super::english_classes::GRAMMAR;
use super::english_lookalikes::{
    is_judgment, is_message, is_music, is_place_or_mistake, is_put_elsewhere, is_statement,
};
use super::english_names::{is_kind_of_note, is_note_file};
use super::english_short_forms::{
    CREATE_EXPLANATION, CREATE_IN_NOTES, CREATE_PLEASE, FIND_OWN_NOTES, FIND_THING,
    SUMMARIZE_THE_NOTE, is_about_instrument, is_outside_conversation, is_subject, is_thing,
    is_topic_before_please,
};
use super::english_surfaces::{is_description, is_on_surface};
use super::english_topics::is_topic;
use super::topic::RequestTopic;

/// Words which show that the notes in a request are text, not music.
const TEXT_WORDS: &[&str] = &[
    "my",
    "our",
    "about",
    "mention",
    "mentions",
    "mentioning",
    "tagged",
];
/// Contractions at the beginning of a question, without apostrophes, and their long forms.
const CONTRACTIONS: &[(&str, &str)] = &[
    ("whered", "where did"),
    ("whend", "when did"),
    ("whatd", "what did"),
];
const POLITE: &[&str] = &["{greeting?} {please?} {could-you?} {please?} {help?} {topic}"];
const POLITE_ENDINGS: &[&str] = &["{topic} {thanks}"];
/// The folder of notes, as the place of a new note.
const DESTINATIONS: &[&str] = &["{topic} to|in|into|inside {vault}"];

const CREATE: &[&str] = &[
    "{create} me? {article?} {plain*} {style*} {plain*} note {for-myself?} {tail?} {about} {topic}",
    "{create} me? {article?} {plain*} note {for-myself?} {titled} {topic}",
    "{take} me? {article} {plain*} {style*} {plain*} note {for-myself?} {tail?} {about} {topic}",
    // After `would you`.
    "mind {creating} me? {article?} {plain*} {style*} {plain*} note {for-myself?} {tail?} {about} {topic}",
    "new note {about} {topic}",
    "new note {titled} {topic}",
    "note to self {about} {topic}",
];
const CREATE_NOTES: &[&str] = &[
    "{take} me? {article?} {plain*} {style*} {plain*} notes {for-myself?} {tail?} {about} {topic}",
    "{create} me? {article?} {plain*} {style*} {plain*} notes {for-myself?} {tail?} {about} {topic}",
];

const FIND_NOTES: &[&str] = &[
    "{find} me? {any?} {my} notes|note {mentioning} {topic}",
    "{find} me? {any?} {the?} notes|note {mentioning} {topic}",
    "{find} me? {any?} {my} notes|note for|with {topic}",
    "{find} me? {any?} {the?} notes|note for|with {topic}",
    "{show} me? {any?} {my} notes|note {mentioning} {topic}",
    "{show} me? {any?} {the?} notes|note {mentioning} {topic}",
    "{show} me? {any?} {my} notes|note for|with {topic}",
    "open {my} notes {mentioning} {topic}",
    "which|what of {my} notes|note {mention} {topic}",
    "which|what of the notes|note {mention} {topic}",
    "which|what notes|note {mention} {topic}",
    "which|what notes of mine {mention} {topic}",
    "which|what notes do i have {mentioning} {topic}",
    "which|what notes have i|we got? {mentioning} {topic}",
    "{show} me? what|which notes i have {mentioning} {topic}",
    "what are {my} notes {mentioning} {topic}",
    "{is-there} {any?} {my?} notes|note {mentioning} {topic}",
    "do|does {my} notes|note|vault {mention} {topic}",
    "where|when did|do i {wrote-about} {topic}",
    "did i ever? write|note down? anything|something {about} {topic}",
    "have i ever? written|noted down? anything|something {about} {topic}",
    "have i ever? written|noted {about} {topic}",
    "{find} me? everything|anything|all|what {i-noted} {about} {topic}",
    "{show} me? everything|anything|all|what {i-noted} {about} {topic}",
    "where in my notes did|do i {wrote-about} {topic}",
    "in which|what note|notes did|do i {wrote-about} {topic}",
    "in which of my notes did|do i {wrote-about} {topic}",
    "where have i written|noted down? {about?} {topic}",
    "where is|are|'s my|the notes|note {mentioning} {topic}",
    "where's my|the note {mentioning} {topic}",
];
/// Notes about a topic, without a verb.
const NOTES_ABOUT: &[&str] = &[
    "{my?} notes {mentioning} {topic}",
    "got? any notes {mentioning} {topic}",
    "everything|anything|something|all {mentioning} {topic} in|from {my} notes|vault",
    "everything|anything {i-noted} {about} {topic}",
];
const FIND_TOPIC_NOTES: &[&str] = &[
    "{find} me? {any?} {my} {topic} notes|note",
    "{show} me? {any?} {my} {topic} notes|note",
    "where are|is {my} {topic} notes|note",
];
const FIND_IN_NOTES: &[&str] = &[
    "{find} me? everything|anything|something|all|what {i-wrote} {about} {topic} in|from {my} notes|vault",
    "{show} me? everything|anything|something|all|what {i-wrote} {about} {topic} in|from {my} notes|vault",
    "{find} me? everything|anything|something|all {mentioning} {topic} in|from {my} notes|vault",
    "{show} me? everything|anything|something|all {mentioning} {topic} in|from {my} notes|vault",
    "{find} me? everything|anything|something|all in|from {my} notes|vault {mentioning} {topic}",
    "{is-there} everything|anything|something {mentioning} {topic} in|from {my} notes|vault",
    "{is-there} anything|something in {my} notes|vault {mentioning} {topic}",
    "did i ever? write|note down? anything|something? {about} {topic} in {my} notes|vault",
    "have i ever? written|noted down? anything|something? {about} {topic} in {my} notes|vault",
    "is|are {topic} mentioned in {my} notes|vault",
    "did i write|note anything|something {about} {topic} in {my} notes|vault",
    "have i written|noted anything|something {about} {topic} in {my} notes|vault",
    "{search} in|through? {my} notes|vault for anything {mentioning} {topic}",
    "{search} in|through? {my} notes|vault for|about|on {topic}",
    "{search} in|through? {the} notes|vault for {topic}",
    "{search} in|through? notes for|: {topic}",
    "{search} {my} notes : {topic}",
    "is there anything|something {mentioning} {topic} in {my} notes|vault",
    "{find} me? {any?} notes|note {mentioning} {topic} in|from|through|among|across {my} notes|vault",
    "{find} me? {about} {topic} in|from|through|among|across {my} notes|vault",
    "{find} me? {topic} in|from|through|among|across {my} notes|vault",
    "{find} me? {topic} in|from|through|among|across the notes|vault",
    "{find} me? {topic} in|through|among|across notes",
    "{search} in|through? notes for|about|on {topic}",
];

const SUMMARIZE_OPEN_NOTE: &[&str] = &[
    "{style?} {summarize} {open} note",
    "{ask-for?} {article?} quick? {style*} {summary} of {open} note",
    "what is|does {open} note about",
    "what does {open} note say",
    "what's {open} note about",
    "what's in {open} note",
    "what is in {open} note",
];

const SUMMARIZE_TOPIC: &[&str] = &[
    "{style?} {summarize} {my} notes|note {mentioning} {topic}",
    "{style?} {summarize} {the?} notes|note {mentioning} {topic}",
    "{style?} {summarize} {my} notes for {topic}",
    "{style?} {summarize} what|everything {my} notes|vault say|says|contain|have {about} {topic}",
    "{style?} {summarize} what i wrote|noted|know {about} {topic} in|from my notes",
    "{style?} {summarize} what i wrote|noted {about} {topic}",
    "{style?} {summarize} everything|all {i-wrote} {about} {topic} in|from my notes",
    "{style?} {summarize} everything|all {i-noted} {about} {topic}",
    "{ask-for?} {article?} quick? {style*} {summary} of what|everything|all {i-noted} {about} {topic}",
    "what do i know {about} {topic} according to my notes",
    "{style?} {summarize} everything in {my} notes|vault {mentioning} {topic}",
    "{ask-for?} {article?} quick? {style*} {summary} of {my} notes {mentioning} {topic}",
    "{ask-for?} {article?} quick? {style*} {summary} of {the?} notes {mentioning} {topic}",
    "what do|does {my} notes|note|vault say|tell|contain|have me? about|on {topic}",
    "what do|does the notes|note|vault say|tell|contain|have me? about|on {topic}",
    "what do|does {my} notes|note {about} {topic} say",
    "what's in {my} notes {about} {topic}",
    "what is in {my} notes {about} {topic}",
    "what have i written|noted down? {about} {topic} in my notes",
    "what did i write|note down? {about} {topic} in my notes",
    "what have i written|noted down? {about} {topic}",
    "what did i write|note down? {about} {topic}",
];
const SUMMARIZE_TOPIC_NOTES: &[&str] = &[
    "{style?} {summarize} {my} {topic} notes|note",
    "{ask-for?} {article?} quick? {style*} {summary} of {my} {topic} notes|note",
    "what's in {my} {topic} notes|note",
    "what is in {my} {topic} notes|note",
    "what do|does {my} {topic} notes|note say",
];
const SUMMARIZE_FILE: &[&str] = &[
    "{style?} {summarize} {the-note?} {topic}",
    "{ask-for?} {article?} quick? {style*} {summary} of {the-note?} {topic}",
];

pub(super) fn parse(sentence: &str) -> Option<NoteIntent> {
    let sentence = separate_words(sentence);
    let all_words: Vec<&str> = sentence.split_whitespace().collect();
    let words = without_politeness(&all_words);
    let (request, mut tails) = GRAMMAR.split_tails(words);
    let request = without_politeness(request);
    let bare = GRAMMAR.find(request, DESTINATIONS, |_| true);
    let bare = bare.map_or(request, |found| found.topic);
    let (bare, mut inner_tails) = GRAMMAR.split_tails(bare);
    let created = topic_of(bare, CREATE, |topic| is_note(words, topic)).or_else(|| {
        topic_of(bare, CREATE_NOTES, |topic| {
            is_note(words, topic) && !is_music(topic)
        })
    });
    let created = created.or_else(|| {
        topic_of(bare, CREATE_EXPLANATION, |topic| {
            is_note(words, topic) && is_subject(topic)
        })
    });
    let created = created.or_else(|| {
        topic_of(request, CREATE_IN_NOTES, |topic| {
            is_note(words, topic) && is_outside_conversation(topic)
        })
    });
    let created = created.or_else(|| {
        let (order, _) = GRAMMAR.split_tails(&all_words);
        topic_of(order, CREATE_PLEASE, |topic| {
            is_note(words, topic) && is_topic_before_please(topic, order)
        })
    });
    if let Some((topic, style)) = created {
        inner_tails.append(&mut tails);
        let style = join_style(style, &mut inner_tails);
        return Some(NoteIntent::Create { topic, style });
    }
    if let Some(query) = query(words) {
        return Some(NoteIntent::Find { query });
    }
    if let Some(found) = GRAMMAR.find(request, SUMMARIZE_OPEN_NOTE, |_| true) {
        let style = join_style(found.style, &mut tails);
        return Some(NoteIntent::SummarizeOpenNote { style });
    }
    if let Some((name, style)) = topic_of(request, SUMMARIZE_FILE, is_note_file) {
        let style = join_style(style, &mut tails);
        return Some(NoteIntent::SummarizeFile { name, style });
    }
    let found = topic_of(request, SUMMARIZE_TOPIC, has_no_inline_text);
    let found = found.or_else(|| topic_of(request, SUMMARIZE_TOPIC_NOTES, is_kind_of_note));
    let found = found.or_else(|| topic_of(request, SUMMARIZE_THE_NOTE, is_kind_of_note));
    let (topic, style) = found?;
    let style = join_style(style, &mut tails);
    Some(NoteIntent::SummarizeTopic { topic, style })
}

fn query(words: &[&str]) -> Option<String> {
    let means_text = words
        .iter()
        .any(|word| TEXT_WORDS.contains(&word.to_lowercase().as_str()));
    let is_text =
        |topic: &RequestTopic| has_no_inline_text(topic) && (means_text || !is_music(topic));
    let is_about_text = |topic: &RequestTopic| {
        is_text(topic) && !is_on_surface(topic) && !is_place_or_mistake(topic)
    };
    let find = |phrases: &[&str], accepts: &dyn Fn(&RequestTopic) -> bool| {
        Some(topic_of(words, phrases, accepts)?.0)
    };
    find(FIND_IN_NOTES, &|topic| {
        is_text(topic) && !is_judgment(topic)
    })
    .or_else(|| find(FIND_NOTES, &is_about_text))
    .or_else(|| find(FIND_TOPIC_NOTES, &is_kind_of_note))
    .or_else(|| {
        find(NOTES_ABOUT, &|topic| {
            is_about_text(topic) && !is_statement(topic)
        })
    })
    .or_else(|| {
        find(FIND_THING, &|topic| {
            is_text(topic) && !is_judgment(topic) && is_thing(topic)
        })
    })
    .or_else(|| find(FIND_OWN_NOTES, &is_about_instrument))
}

fn is_note(words: &[&str], topic: &RequestTopic) -> bool {
    let is_other_text = is_message(topic) || is_description(topic);
    let is_on_surface = follows_on(words, topic) && is_on_surface(topic);
    !(is_other_text || is_on_surface || is_put_elsewhere(topic))
}

/// Whether the topic comes after `on`, not after `about`, which never introduces a surface.
fn follows_on(words: &[&str], topic: &RequestTopic) -> bool {
    let first = topic.text.split_whitespace().next().unwrap_or_default();
    let mut pairs = words.windows(2);
    pairs.any(|pair| pair[0].eq_ignore_ascii_case("on") && pair[1].starts_with(first))
}

/// A colon introduces text in the prompt itself, which is then meant instead of the notes.
fn has_no_inline_text(topic: &RequestTopic) -> bool {
    !topic.text.contains(':')
}

/// The topic and the style of the first phrase that fits. Any topic in quotation marks is accepted.
fn topic_of(
    words: &[&str],
    phrases: &[&str],
    accepts: impl Fn(&RequestTopic) -> bool,
) -> Option<(String, Vec<String>)> {
    let parse = |words: &[&str]| {
        let text = words.join(" ").replace(" :", ":");
        let topic = RequestTopic::parse(text.trim_end_matches(','))?;
        let is_accepted = topic.is_quoted || (is_topic(&topic) && accepts(&topic));
        is_accepted.then_some(topic.text)
    };
    let found = GRAMMAR.find(words, phrases, |topic| parse(topic).is_some())?;
    Some((parse(found.topic)?, found.style))
}

fn without_politeness<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let begun = GRAMMAR.find(words, POLITE, |_| true);
    let words = begun.map_or(words, |found| found.topic);
    let ended = GRAMMAR.find(words, POLITE_ENDINGS, |_| true);
    ended.map_or(words, |found| found.topic)
}

/// Separates a colon at the end of a word from the word, and the words of `where'd`.
fn separate_words(sentence: &str) -> String {
    let words = sentence.split_whitespace().enumerate().map(|(at, word)| {
        let separated = word.strip_suffix(':').map(|word| format!("{word} :"));
        let contracted = CONTRACTIONS.iter().find(|(short, _)| {
            at == 0 && word.replace(['’', '\''], "").eq_ignore_ascii_case(short)
        });
        let contracted = contracted.map(|(_, words)| (*words).to_owned());
        separated.or(contracted).unwrap_or_else(|| word.to_owned())
    });
    words.collect::<Vec<_>>().join(" ")
}

fn join_style(mut style: Vec<String>, tails: &mut Vec<String>) -> String {
    style.append(tails);
    let style = style.iter().map(|part| part.trim_end_matches(','));
    style.collect::<Vec<_>>().join(", ")
}

/// Classes that phrases use but the grammar does not define.
#[cfg(test)]
pub(super) fn undefined_classes() -> Vec<&'static str> {
    let phrases = [
        POLITE,
        POLITE_ENDINGS,
        DESTINATIONS,
        CREATE,
        CREATE_NOTES,
        FIND_NOTES,
        FIND_TOPIC_NOTES,
        NOTES_ABOUT,
        FIND_IN_NOTES,
        SUMMARIZE_OPEN_NOTE,
        SUMMARIZE_TOPIC,
        SUMMARIZE_TOPIC_NOTES,
        SUMMARIZE_FILE,
        SUMMARIZE_THE_NOTE,
        CREATE_EXPLANATION,
        CREATE_PLEASE,
        CREATE_IN_NOTES,
        FIND_THING,
        FIND_OWN_NOTES,
        GRAMMAR.tails,
        GRAMMAR.tails_after_comma,
    ];
    let elements = phrases
        .concat()
        .into_iter()
        .flat_map(|phrase| phrase.split(' '));
    let names = elements.filter_map(|element| {
        let name = element.strip_prefix('{')?.strip_suffix('}')?;
        Some(name.trim_end_matches(['?', '*']))
    });
    let is_defined = |name: &str| {
        let mut classes = GRAMMAR.classes.iter().copied().flatten();
        classes.any(|(class, _)| *class == name)
    };
    names
        .filter(|name| !["topic", "tail"].contains(name) && !is_defined(name))
        .collect()
}

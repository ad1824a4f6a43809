//! The English phrases: a fixed beginning, followed by the topic.

use super::{NoteIntent, Topic};

/// A part of a phrase, in lower case. The first alternative that fits is taken.
enum Part {
    One(&'static [&'static str]),
    Optional(&'static [&'static str]),
}

use Part::{One, Optional};

const ARTICLES: Part = Optional(&["a", "an", "the", "another", "one"]);
const ABOUT: Part = One(&["about", "on", "regarding", "concerning"]);
const ABOUT_OR_FOR: Part = One(&[
    "about",
    "on",
    "for",
    "regarding",
    "concerning",
    "that mention",
    "that talk about",
    "mentioning",
    "containing",
]);
const MY: Part = Optional(&["all of my", "all my", "all the", "my", "the", "our", "all"]);
const ME: Part = Optional(&["me"]);
const NOTES: Part = One(&["notes", "note"]);
const SUMMARIZE: Part = One(&["summarize", "summarise", "sum up"]);
const SUMMARY: Part = One(&["summary"]);
const ASK_FOR: Part = Optional(&["give me", "show me", "write me", "write", "make", "create"]);
const OPEN: Part = Optional(&[
    "this open",
    "the open",
    "my open",
    "this current",
    "the current",
    "my current",
    "this",
    "the",
    "current",
    "open",
]);

/// Polite beginnings, which do not change the request.
const POLITE: &[Part] = &[
    Optional(&["please"]),
    Optional(&["can you", "could you", "would you", "will you"]),
    Optional(&["please"]),
];

const CREATE: &[&[Part]] = &[&[
    One(&["create", "make", "write", "write down", "add", "draft"]),
    ME,
    ARTICLES,
    Optional(&["new", "quick"]),
    Optional(&["short", "brief", "quick", "small", "new"]),
    One(&["note"]),
    ABOUT,
]];

const FIND: &[&[Part]] = &[
    &[
        One(&["find", "search for", "look for", "show", "list", "get"]),
        ME,
        MY,
        Optional(&["any", "some"]),
        NOTES,
        ABOUT_OR_FOR,
    ],
    &[
        One(&["search", "look"]),
        Optional(&["in", "through"]),
        MY,
        One(&["notes"]),
        One(&["for", "about", "on"]),
    ],
    &[
        One(&["which", "what"]),
        Optional(&["of my", "of the"]),
        One(&["notes", "note"]),
        One(&[
            "talks about",
            "talk about",
            "mentions",
            "mention",
            "are about",
            "is about",
            "are on",
            "is on",
            "discuss",
            "contain",
        ]),
    ],
    &[
        One(&["which", "what"]),
        One(&["notes"]),
        One(&["do i have"]),
        ABOUT,
    ],
    &[
        One(&["do i have"]),
        Optional(&["any", "a", "some"]),
        NOTES,
        ABOUT,
    ],
];

const SUMMARIZE_OPEN_NOTE: &[&[Part]] = &[
    &[SUMMARIZE, OPEN, One(&["note"])],
    &[
        ASK_FOR,
        ARTICLES,
        SUMMARY,
        One(&["of"]),
        OPEN,
        One(&["note"]),
    ],
    &[One(&["what is", "what's"]), OPEN, One(&["note about"])],
];

const SUMMARIZE_TOPIC: &[&[Part]] = &[
    &[SUMMARIZE, MY, One(&["notes"]), ABOUT_OR_FOR],
    &[
        ASK_FOR,
        ARTICLES,
        SUMMARY,
        One(&["of"]),
        MY,
        One(&["notes"]),
        ABOUT_OR_FOR,
    ],
    &[
        One(&["what do", "what does"]),
        MY,
        NOTES,
        One(&["say about", "say on", "tell me about"]),
    ],
];

/// Words that refer to something outside the prompt, so they are no topic.
const REFERENCES: &[&str] = &[
    "this",
    "that",
    "it",
    "these",
    "those",
    "them",
    "him",
    "her",
    "above",
    "below",
    "everything",
    "something",
    "anything",
    "conversation",
    "chat",
    "our",
    "the",
    "my",
    "all",
    "of",
];

/// Signs that the prompt contains or points to its own text.
const TEXT_SIGNS: &[&str] = &[
    "this text",
    "the text",
    "following",
    "this list",
    "this document",
    "below",
    "this page",
    "the above",
    "attached",
    "behalf of",
    "what we",
    "what you",
    "what i said",
    "to the readme",
    "in the readme",
    "in the doc",
    "in src/",
    ", then ",
];
/// Words that point to something outside the prompt if a topic begins with them.
const DEMONSTRATIVES: &[&str] = &["this", "that", "these", "those", "line", "page"];

pub(super) fn parse(sentence: &str) -> Option<NoteIntent> {
    let sentence = sentence.replace('’', "'");
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let words = after(&words, POLITE)?;
    let words = match words {
        [rest @ .., last] if last.eq_ignore_ascii_case("please") => rest,
        words => words,
    };
    if let Some(topic) = topic_after(words, CREATE) {
        return Some(NoteIntent::Create { topic: topic.text });
    }
    // A colon introduces the text to search.
    let has_no_text = |topic: &Topic| topic.is_quoted || !topic.text.contains(':');
    if let Some(topic) = topic_after(words, FIND).filter(has_no_text) {
        return Some(NoteIntent::Find { query: topic.text });
    }
    let is_open_note = SUMMARIZE_OPEN_NOTE
        .iter()
        .any(|phrase| after(words, phrase).is_some_and(<[_]>::is_empty));
    if is_open_note {
        return Some(NoteIntent::SummarizeOpenNote);
    }
    let topic = topic_after(words, SUMMARIZE_TOPIC).filter(has_no_text)?;
    Some(NoteIntent::SummarizeTopic { topic: topic.text })
}

/// The topic that follows one of the phrases.
fn topic_after(words: &[&str], phrases: &[&[Part]]) -> Option<Topic> {
    let rest = phrases.iter().find_map(|phrase| after(words, phrase))?;
    let topic = Topic::parse(rest.join(" ").trim_end_matches(','))?;
    (topic.is_quoted || is_topic(&topic)).then_some(topic)
}

fn is_topic(topic: &Topic) -> bool {
    let lower = topic.text.to_lowercase();
    let refers = lower
        .split_whitespace()
        .all(|word| REFERENCES.contains(&word));
    let has_own_text = TEXT_SIGNS.iter().any(|sign| lower.contains(sign));
    let first = lower.split_whitespace().next().unwrap_or_default();
    let points = lower != first && DEMONSTRATIVES.contains(&first);
    !refers && !points && !has_own_text && !topic.has_second_sentence()
}

/// The words after a phrase; `None` if they do not begin with it.
fn after<'a, 'b>(mut words: &'a [&'b str], phrase: &[Part]) -> Option<&'a [&'b str]> {
    for part in phrase {
        let (alternatives, is_required) = match part {
            One(alternatives) => (alternatives, true),
            Optional(alternatives) => (alternatives, false),
        };
        let rest = alternatives
            .iter()
            .find_map(|alternative| strip_words(words, alternative));
        match rest {
            Some(rest) => words = rest,
            None if is_required => return None,
            None => {}
        }
    }
    Some(words)
}

fn strip_words<'a, 'b>(mut words: &'a [&'b str], expected: &str) -> Option<&'a [&'b str]> {
    for word in expected.split(' ') {
        let (first, rest) = words.split_first()?;
        if first.trim_end_matches(',').to_lowercase() != word {
            return None;
        }
        words = rest;
    }
    Some(words)
}

//! The English phrases: a fixed beginning, followed by the topic.

use super::english_lookalikes::{is_message, is_music, is_on_surface, is_topic};
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
const OWN: &[&str] = &["my", "our"];
const ME: Part = Optional(&["me"]);
const NOTES: Part = One(&["notes", "note"]);
const SHORT: Part = Optional(&["short", "brief", "quick", "concise", "little", "good"]);
const SUMMARIZE: Part = One(&[
    "summarize",
    "summarise",
    "sum up",
    "briefly summarize",
    "briefly summarise",
]);
const SUMMARY: Part = One(&["summary", "overview"]);
const ASK_FOR: Part = Optional(&[
    "give me", "show me", "write me", "get me", "i need", "i'd like", "write", "make", "create",
]);
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
    Optional(&["hey", "hi", "hello", "ok", "okay"]),
    Optional(&["please", "kindly"]),
    Optional(&[
        "can you",
        "could you",
        "would you",
        "will you",
        "i want you to",
        "i would like you to",
        "i'd like you to",
    ]),
    Optional(&["please", "kindly", "quickly"]),
    Optional(&["help me"]),
];
/// Polite endings.
const POLITE_ENDINGS: &[&str] = &["please", "for me", "thanks", "thank you"];

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
        One(&["which of my", "what of my", "which of our"]),
        One(&["notes", "note"]),
        One(&["are on", "is on", "contain", "contains"]),
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
            "discuss",
            "discusses",
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
        SHORT,
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
        SHORT,
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

/// Beginnings and endings of requests whose topic stands in between.
const FIND_BEFORE: &[&[Part]] = &[&[
    One(&["search for", "look for", "look up", "find", "search"]),
    ME,
]];
const IN_NOTES: &[&str] = &[
    "in my notes",
    "in all my notes",
    "in all of my notes",
    "in our notes",
    "in the notes",
    "from my notes",
    "through my notes",
    "among my notes",
];

pub(super) fn parse(sentence: &str) -> Option<NoteIntent> {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let words = after(&words, POLITE)?;
    let words = POLITE_ENDINGS
        .iter()
        .find_map(|ending| before(words, ending))
        .unwrap_or(words);
    if let Some(topic) = topic_after(words, CREATE) {
        let is_note = topic.is_quoted || !(is_message(&topic) || is_on_surface(&topic));
        return is_note.then_some(NoteIntent::Create { topic: topic.text });
    }
    // A colon introduces the text to search.
    let has_no_text = |topic: &Topic| topic.is_quoted || !topic.text.contains(':');
    let is_own = words
        .iter()
        .any(|word| OWN.contains(&word.to_lowercase().as_str()));
    let is_text = |topic: &Topic| is_own || topic.is_quoted || !is_music(topic);
    let query = topic_in_notes(words).or_else(|| topic_after(words, FIND));
    if let Some(topic) = query.filter(|topic| has_no_text(topic) && is_text(topic)) {
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
    topic_of(rest)
}

/// The topic of `search for TOPIC in my notes`.
fn topic_in_notes(words: &[&str]) -> Option<Topic> {
    let rest = IN_NOTES.iter().find_map(|ending| before(words, ending))?;
    let rest = FIND_BEFORE.iter().find_map(|phrase| after(rest, phrase))?;
    let about = after(rest, &[ABOUT]).or_else(|| after(rest, &[NOTES, ABOUT]));
    topic_of(about.unwrap_or(rest))
}

fn topic_of(words: &[&str]) -> Option<Topic> {
    let topic = Topic::parse(words.join(" ").trim_end_matches(','))?;
    (topic.is_quoted || is_topic(&topic)).then_some(topic)
}

/// The words before `ending`; `None` if they do not end with it.
fn before<'a, 'b>(words: &'a [&'b str], ending: &str) -> Option<&'a [&'b str]> {
    let expected: Vec<&str> = ending.split(' ').collect();
    let at = words.len().checked_sub(expected.len())?;
    let (rest, last) = words.split_at(at);
    let mut pairs = last.iter().zip(&expected);
    pairs
        .all(|(word, expected)| is_word(word, expected))
        .then_some(rest)
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
        if !is_word(first, word) {
            return None;
        }
        words = rest;
    }
    Some(words)
}

/// Compares a word with one in lower case. Ignores a comma after it and the form of its apostrophe.
fn is_word(word: &str, expected: &str) -> bool {
    let word = word.trim_end_matches(',').to_lowercase();
    word == expected || word.replace('’', "'") == expected
}

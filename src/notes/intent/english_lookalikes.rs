//! English prompts that only sound like notes: those that bring their own text, messages to people,
//! notes on paper and notes in music.

use super::Topic;

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
    "me",
    "you",
    "us",
    "yourself",
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
    "to the docs",
    "to the doc",
    "to the wiki",
    "to the changelog",
    "to the file",
    "to the code",
    "in the code",
    "to the document",
    "to the essay",
    "to the email",
    "this conversation",
    "this chat",
    ", then ",
    " and then ",
    " and translate",
    " and send",
    " and email",
    " and read ",
    " and explain",
    " and tell ",
    " and post ",
    " and fix",
];

/// A note about something *to* one of these is a message.
const RECIPIENTS: &[&str] = &[
    "teacher",
    "teachers",
    "professor",
    "school",
    "principal",
    "tutor",
    "coach",
    "boss",
    "manager",
    "supervisor",
    "team",
    "colleague",
    "colleagues",
    "coworker",
    "coworkers",
    "staff",
    "employees",
    "students",
    "hr",
    "client",
    "clients",
    "customer",
    "customers",
    "landlord",
    "landlady",
    "tenant",
    "tenants",
    "neighbor",
    "neighbors",
    "neighbour",
    "neighbours",
    "roommate",
    "roommates",
    "guests",
    "mother",
    "mom",
    "mum",
    "father",
    "dad",
    "parents",
    "wife",
    "husband",
    "partner",
    "girlfriend",
    "boyfriend",
    "fiancé",
    "son",
    "daughter",
    "kids",
    "children",
    "sister",
    "brother",
    "grandma",
    "grandpa",
    "grandmother",
    "grandfather",
    "aunt",
    "uncle",
    "friend",
    "friends",
    "babysitter",
    "nanny",
    "doctor",
    "dentist",
    "him",
    "her",
    "them",
    "everyone",
    "everybody",
];
const TITLES: &[&str] = &["mr", "mrs", "ms", "miss", "dr", "prof", "professor"];
const DETERMINERS: &[&str] = &[
    "my", "our", "his", "her", "their", "your", "the", "a", "an", "all",
];

/// Things on which a note is written or put.
const SURFACES: &[&str] = &[
    "fridge",
    "refrigerator",
    "door",
    "whiteboard",
    "blackboard",
    "calendar",
    "napkin",
    "wall",
    "desk",
    "envelope",
    "receipt",
    "invoice",
    "mirror",
    "arm",
    "hand",
    "pull request",
    "pr",
    "ticket",
    "issue",
];
/// Signs of notes in music.
const MUSIC: &[&str] = &[
    "string", "strings", "fret", "octave", "scale", "chord", "piano", "guitar", "violin", "staff",
    "clef", "stave", "arpeggio", "melody",
];
/// Words that point to something outside the prompt if a topic begins with them.
const DEMONSTRATIVES: &[&str] = &["this", "that", "these", "those", "line", "page"];

/// Whether the topic stands for itself, without text that the prompt brings or points to.
pub(super) fn is_topic(topic: &Topic) -> bool {
    let lower = topic.text.to_lowercase();
    let refers = lower
        .split_whitespace()
        .all(|word| REFERENCES.contains(&word));
    let has_own_text = TEXT_SIGNS.iter().any(|sign| lower.contains(sign));
    let first = lower.split_whitespace().next().unwrap_or_default();
    let points = lower != first && DEMONSTRATIVES.contains(&first);
    !refers && !points && !has_own_text && !topic.has_second_sentence()
}

/// Whether a person is to get the note, as in `my absence to my teacher`.
pub(super) fn is_message(topic: &Topic) -> bool {
    let lower = topic.text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        let rest = &words[at + 1..];
        let rest = match rest {
            [first, rest @ ..] if DETERMINERS.contains(first) => rest,
            rest => rest,
        };
        let person = rest.first().map(|word| word.trim_end_matches(['.', ',']));
        let is_person = |person: &str| {
            TITLES.contains(&person) || rest.len() == 1 && RECIPIENTS.contains(&person)
        };
        at > 0 && *word == "to" && person.is_some_and(is_person)
    })
}

/// Whether the topic is the thing that the note is put on, as in `the fridge`.
pub(super) fn is_on_surface(topic: &Topic) -> bool {
    let lower = topic.text.to_lowercase();
    let thing = DETERMINERS
        .iter()
        .find_map(|word| lower.strip_prefix(word)?.strip_prefix(' '));
    thing.is_some_and(|thing| SURFACES.contains(&thing))
}

/// Whether the notes are those of music.
pub(super) fn is_music(topic: &Topic) -> bool {
    let lower = topic.text.to_lowercase();
    lower.split_whitespace().any(|word| MUSIC.contains(&word))
}

//! English topics that are places for a note on paper, or describe a note instead of its topic.

use super::english_lookalikes::{CONTAINERS, DETERMINERS};
use super::topic::RequestTopic;

/// Surfaces that a paper note is written on or stuck to.
const SURFACES: &[&str] = &[
    "card",
    "fridge",
    "phone",
    "refrigerator",
    "door",
    "whiteboard",
    "blackboard",
    "calendar",
    "napkin",
    "wall",
    "desk",
    "desktop",
    "envelope",
    "receipt",
    "invoice",
    "mirror",
    "arm",
    "hand",
    "board",
    "chalkboard",
    "notice board",
    "bulletin board",
    "screen",
    "slide",
    "slides",
    "table",
    "box",
    "package",
    "pull request",
    "pr",
    "ticket",
    "issue",
    "postcard",
    "letterhead",
    "tag",
    "label",
    "windshield",
    "mailbox",
];
/// Words before a surface that leave it a surface. Others may make it a topic, as in `the periodic
/// table`.
const SURFACE_ADJECTIVES: &[&str] = &[
    "front",
    "back",
    "gift",
    "company",
    "office",
    "kitchen",
    "bathroom",
    "bedroom",
    "fridge",
    "birthday",
    "christmas",
    "greeting",
    "thank-you",
    "index",
    "classroom",
    "school",
    "blank",
    "big",
    "small",
    "little",
    "new",
    "old",
    "white",
];
/// Words after a surface that begin the text of the note, or describe the note.
const AFTER_SURFACE: &[&str] = &[
    "for",
    "saying",
    "reading",
    "to",
    "with",
    "that",
    "using",
    "asking",
    "telling",
    "thanking",
    "reminding",
    "apologising",
    "apologizing",
    "visible",
    "readable",
    "legible",
    "bigger",
    "smaller",
];
/// Parts of a thing, before `of`.
const PARTS: &[&str] = &[
    "top", "bottom", "back", "front", "side", "cover", "inside", "margin",
];
const INSTRUMENTS: &[&str] = &[
    "guitar", "piano", "violin", "flute", "cello", "trumpet", "bass",
];
/// Verbs after an instrument that make its sound the topic.
const SOUND_VERBS: &[&str] = &["sound", "ring", "sustain", "last", "resonate"];
const LENGTH_UNITS: &[&str] = &[
    "paragraph",
    "paragraphs",
    "word",
    "words",
    "page",
    "pages",
    "sentence",
    "sentences",
    "line",
    "lines",
    "characters",
];

/// Whether the topic is the surface for a paper note, as in `the fridge`, `my front door` and `the
/// whiteboard: meeting moved`.
pub(super) fn is_on_surface(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let whole = without_determiner(&words);
    if let [part, "of", thing @ ..] = whole
        && PARTS.contains(part)
    {
        return begins_with_surface(thing, true);
    }
    begins_with_surface(&words, false)
}

/// Whether the words begin with a surface, followed by nothing or by words about the note. The
/// surface needs a determiner or an adjective.
fn begins_with_surface(words: &[&str], is_document_a_surface: bool) -> bool {
    let rest = without_determiner(words);
    let adjectives = rest
        .iter()
        .take_while(|word| SURFACE_ADJECTIVES.contains(word));
    let adjectives = adjectives.count();
    // `fridge` is an adjective and a surface.
    (0..=adjectives).any(|at| {
        let is_marked = at > 0 || rest.len() < words.len();
        is_marked
            && [1, 2].into_iter().any(|length| {
                let Some((surface, after)) = rest[at..].split_at_checked(length) else {
                    return false;
                };
                let surface = surface.join(" ");
                let name = surface.trim_end_matches([':', ',']);
                let is_surface =
                    SURFACES.contains(&name) || is_document_a_surface && CONTAINERS.contains(&name);
                let begins_text = after.first().is_none_or(|next| {
                    AFTER_SURFACE.contains(next) || next.starts_with(|c: char| c.is_ascii_digit())
                });
                is_surface && (begins_text || name.len() < surface.len())
            })
    })
}

fn without_determiner<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    match words {
        [first, rest @ ..] if DETERMINERS.contains(first) => rest,
        words => words,
    }
}

/// Whether the topic describes a sound or the length of the note, as in `a guitar sound longer` and `3
/// paragraphs long`.
pub(super) fn is_description(topic: &RequestTopic) -> bool {
    let lower = topic.text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let is_sound = matches!(words[..], [determiner, thing, verb, ..]
        if DETERMINERS.contains(&determiner)
            && INSTRUMENTS.contains(&thing)
            && SOUND_VERBS.contains(&verb));
    let is_length = matches!(words[..], [count, unit, "long", ..]
        if count.parse::<u32>().is_ok() && LENGTH_UNITS.contains(&unit));
    is_sound || is_length
}

//! Thinking inside the text, between tags (DIALECTS 35 to 37).

use super::family::{Form, Found, Opening, Recogniser, Step, Until};
use crate::domain::Offered;

const STARTS: [(&str, &Until); 5] = [
    ("<think>", &until(&["</think>", "</thinking>"])),
    ("<thinking>", &until(&["</think>", "</thinking>"])),
    ("[THINK]", &until(&["[/THINK]"])),
    ("<|channel>thought", &until(&["<channel|>"])),
    ("<|START_THINKING|>", &until(&["<|END_THINKING|>"])),
];
const ENDS: [&str; 5] = [
    "</think>",
    "</thinking>",
    "[/THINK]",
    "<channel|>",
    "<|END_THINKING|>",
];
/// A tag right behind one of these is being talked about.
const QUOTES: [char; 9] = ['`', '"', '\'', '“', '‘', '(', '*', '<', '「'];
/// Around an answer: neither text nor thinking.
const FRAMES: [&str; 2] = ["<|START_RESPONSE|>", "<|END_RESPONSE|>"];

const fn until(tags: &'static [&'static str]) -> Until {
    Until { tags, reread: &[] }
}

/// A tag in code, or right behind a quotation mark, is being talked about.
pub(super) fn open(opening: &Opening<'_>) -> Option<Form> {
    let behind_quote = opening.before.is_some_and(|c| QUOTES.contains(&c));
    let quoted = opening.in_code || opening.in_span || behind_quote;
    let may = matches!(opening.marker, '<' | '[') && !quoted && opening.wrapper.is_none();
    let may_start = !opening.before.is_some_and(|c| c.is_ascii_alphanumeric());
    may.then(|| Box::new(Tag { may_start }) as _)
}

#[derive(Debug)]
struct Tag {
    /// Right behind a word it is a type's argument; what ends thinking may stand there.
    may_start: bool,
}

impl Recogniser for Tag {
    fn step(&mut self, _c: char, body: &str, _offered: &Offered) -> Step {
        let starts = STARTS.iter().map(|(tag, _)| tag);
        let starts = starts.filter(|_| self.may_start);
        if !self.may_start && STARTS.iter().any(|(tag, _)| *tag == body) {
            Step::Reject
        } else if let Some((_, until)) = STARTS.iter().find(|(tag, _)| *tag == body) {
            Step::Found(Found::ThinkingStarts { until })
        } else if ENDS.contains(&body) {
            Step::Found(Found::ThinkingEnds)
        } else if FRAMES.contains(&body) {
            Step::Found(Found::Closes)
        } else if starts
            .chain(&ENDS)
            .chain(&FRAMES)
            .any(|tag| tag.starts_with(body))
        {
            Step::Hold
        } else {
            Step::Reject
        }
    }
}

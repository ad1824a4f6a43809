//! Thinking inside the text, between tags (DIALECTS 35 to 37).

use super::family::{Form, Found, Opening, Recogniser, Step, Until};
use crate::domain::Offered;

const STARTS: [(&str, &Until); 4] = [
    ("<think>", &until(&["</think>", "</thinking>"])),
    ("<thinking>", &until(&["</think>", "</thinking>"])),
    ("<|channel>thought", &until(&["<channel|>"])),
    ("<|START_THINKING|>", &until(&["<|END_THINKING|>"])),
];
const ENDS: [&str; 4] = ["</think>", "</thinking>", "<channel|>", "<|END_THINKING|>"];
/// Around an answer: neither text nor thinking.
const FRAMES: [&str; 2] = ["<|START_RESPONSE|>", "<|END_RESPONSE|>"];

const fn until(tags: &'static [&'static str]) -> Until {
    Until { tags, reread: &[] }
}

/// A tag in a fence, or right after a backtick, is being talked about.
pub(super) fn open(opening: &Opening<'_>) -> Option<Form> {
    let quoted = opening.in_code || opening.quoted();
    let may = opening.marker == '<' && !quoted && opening.wrapper.is_none();
    may.then(|| Box::new(Tag) as _)
}

#[derive(Debug)]
struct Tag;

impl Recogniser for Tag {
    fn step(&mut self, _c: char, body: &str, _offered: &Offered) -> Step {
        let starts = STARTS.iter().map(|(tag, _)| tag);
        if let Some((_, until)) = STARTS.iter().find(|(tag, _)| *tag == body) {
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

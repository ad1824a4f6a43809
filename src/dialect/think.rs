//! Thinking inside the text, between tags (DIALECTS 35 and 36).

use super::family::{Form, Found, Opening, Recogniser, Step, Until};
use crate::domain::Offered;

const STARTS: [&str; 2] = ["<think>", "<thinking>"];
const ENDS: &[&str] = &["</think>", "</thinking>"];
const UNTIL: &Until = &Until {
    tags: ENDS,
    reread: &[],
};

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
        if STARTS.contains(&body) {
            Step::Found(Found::ThinkingStarts { until: UNTIL })
        } else if ENDS.contains(&body) {
            Step::Found(Found::ThinkingEnds)
        } else if STARTS.iter().chain(ENDS).any(|tag| tag.starts_with(body)) {
            Step::Hold
        } else {
            Step::Reject
        }
    }
}

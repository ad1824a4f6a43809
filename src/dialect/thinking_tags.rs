//! Thinking inside the text, between tags.

use super::recognizer::{
    Advance, BoxedRecognizer, OpeningContext, RecognizedForm, Recognizer, ThinkingEnd,
};
use crate::domain::Toolset;

const STARTS: [(&str, &ThinkingEnd); 5] = [
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
/// A tag directly after one of these is only mentioned.
const QUOTES: [char; 9] = ['`', '"', '\'', '“', '‘', '(', '*', '<', '「'];
/// Frame an answer; neither text nor thinking.
const FRAMES: [&str; 2] = ["<|START_RESPONSE|>", "<|END_RESPONSE|>"];

const fn until(tags: &'static [&'static str]) -> ThinkingEnd {
    ThinkingEnd { tags, reread: &[] }
}

/// A tag in code or directly after a quote is only mentioned.
pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let after_quote = opening.previous_char.is_some_and(|c| QUOTES.contains(&c));
    let quoted = opening.is_in_fence || opening.is_in_code_span || after_quote;
    let can_open = matches!(opening.marker, '<' | '[') && !quoted && opening.wrapper.is_none();
    let may_start = !opening
        .previous_char
        .is_some_and(|c| c.is_ascii_alphanumeric());
    can_open.then(|| Box::new(ThinkingTagRecognizer { may_start }) as _)
}

#[derive(Debug)]
struct ThinkingTagRecognizer {
    /// False directly after a word, where an opening tag is a type argument. A closing tag is still
    /// allowed there.
    may_start: bool,
}

impl Recognizer for ThinkingTagRecognizer {
    fn step(&mut self, _c: char, body: &str, _offered: &Toolset) -> Advance {
        let starts = STARTS.iter().map(|(tag, _)| tag).filter(|_| self.may_start);
        if !self.may_start && STARTS.iter().any(|(tag, _)| *tag == body) {
            Advance::Reject
        } else if let Some((_, until)) = STARTS.iter().find(|(tag, _)| *tag == body) {
            Advance::Found(RecognizedForm::ThinkingStarts { until })
        } else if ENDS.contains(&body) {
            Advance::Found(RecognizedForm::ThinkingEnds)
        } else if FRAMES.contains(&body) {
            Advance::Found(RecognizedForm::Delimiter)
        } else if starts
            .chain(&ENDS)
            .chain(&FRAMES)
            .any(|tag| tag.starts_with(body))
        {
            Advance::Hold
        } else {
            Advance::Reject
        }
    }
}

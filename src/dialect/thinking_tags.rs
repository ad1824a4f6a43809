//! Recognizes the tags around thinking in the text.

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
/// A tag directly after one of these characters is only mentioned.
const MENTION_PREFIXES: [char; 9] = ['`', '"', '\'', '“', '‘', '(', '*', '<', '「'];
/// Tags around an answer, which are hidden.
const ANSWER_TAGS: [&str; 2] = ["<|START_RESPONSE|>", "<|END_RESPONSE|>"];

const fn until(tags: &'static [&'static str]) -> ThinkingEnd {
    ThinkingEnd { tags, reread: &[] }
}

/// Does not open in code or directly after one of [`MENTION_PREFIXES`], where a tag is only mentioned.
pub(super) fn open(opening: &OpeningContext<'_>) -> Option<BoxedRecognizer> {
    let is_after_mention_prefix = opening
        .previous_char
        .is_some_and(|c| MENTION_PREFIXES.contains(&c));
    let is_mention = opening.is_in_fence || opening.is_in_code_span || is_after_mention_prefix;
    let can_open =
        matches!(opening.first_char, '<' | '[') && !is_mention && opening.wrapper.is_none();
    let can_start_thinking = !opening
        .previous_char
        .is_some_and(|c| c.is_ascii_alphanumeric());
    can_open.then(|| Box::new(ThinkingTagRecognizer { can_start_thinking }) as _)
}

#[derive(Debug)]
struct ThinkingTagRecognizer {
    /// False directly after a word, where an opening tag is a type argument, as in `Vec<think>`. A
    /// closing tag is still recognized there.
    can_start_thinking: bool,
}

impl Recognizer for ThinkingTagRecognizer {
    fn step(&mut self, _c: char, body: &str, _offered: &Toolset) -> Advance {
        let starts = STARTS
            .iter()
            .map(|(tag, _)| tag)
            .filter(|_| self.can_start_thinking);
        if !self.can_start_thinking && STARTS.iter().any(|(tag, _)| *tag == body) {
            Advance::Reject
        } else if let Some((_, until)) = STARTS.iter().find(|(tag, _)| *tag == body) {
            Advance::Found(RecognizedForm::ThinkingStarts { until })
        } else if ENDS.contains(&body) {
            Advance::Found(RecognizedForm::ThinkingEnds)
        } else if ANSWER_TAGS.contains(&body) {
            Advance::Found(RecognizedForm::Delimiter)
        } else if starts
            .chain(&ENDS)
            .chain(&ANSWER_TAGS)
            .any(|tag| tag.starts_with(body))
        {
            Advance::Hold
        } else {
            Advance::Reject
        }
    }
}

//! Recognizes the prompts that note agents act on: those that are a documented phrase from beginning
//! to end, and no others. Pure. The phrases are in `assets/words/`.

mod phrases;

use icu_normalizer::ComposingNormalizerBorrowed;
use phrases::{PHRASES, Phrase, PhraseKind};

/// Longer prompts usually contain the text to work on, or further instructions.
const PROMPT_CHARS_MAX: usize = 200;
/// At the end of a word, these end a sentence.
const SENTENCE_ENDS: [char; 3] = ['.', '?', '!'];

/// A request to create, find or summarize notes. `style` describes how to write, such as `detailed`
/// or `French`; it may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteIntent {
    Create {
        topic: String,
        style: String,
    },
    Find {
        query: String,
    },
    SummarizeOpenNote {
        style: String,
    },
    SummarizeTopic {
        topic: String,
        style: String,
    },
    /// Summarize the note with this file name or path. If there is no such note, the prompt goes to the
    /// model: the file may be elsewhere.
    SummarizeFile {
        name: String,
    },
}

impl NoteIntent {
    /// The intent of a whole prompt, if it is a phrase.
    pub fn of_prompt(prompt: &str) -> Option<Self> {
        let prompt = prompt.trim();
        let is_too_long = prompt.chars().nth(PROMPT_CHARS_MAX).is_some();
        if is_too_long || prompt.contains(['\n', '\r']) {
            return None;
        }
        let composed = ComposingNormalizerBorrowed::new_nfc().normalize(prompt);
        let is_end = |c: char| c.is_whitespace() || SENTENCE_ENDS.contains(&c);
        let sentence = composed.trim_end_matches(is_end);
        if has_second_sentence(sentence) {
            return None;
        }
        let matching = PHRASES
            .iter()
            .filter_map(|phrase| Some((phrase, phrase.topic_in(sentence)?)));
        // Of several phrases, the one with the most fixed words is meant.
        let (phrase, topic) = matching.max_by_key(|(phrase, _)| phrase.fixed_length())?;
        Self::of_phrase(phrase, topic)
    }

    /// Whether a whole prompt asks to find notes, which needs no model.
    pub fn is_search(prompt: &str) -> bool {
        matches!(Self::of_prompt(prompt), Some(Self::Find { .. }))
    }

    fn of_phrase(phrase: &Phrase, topic: &str) -> Option<Self> {
        let (topic, style) = (topic.to_owned(), phrase.style.to_owned());
        Some(match phrase.kind {
            PhraseKind::Create => Self::Create { topic, style },
            PhraseKind::Find => Self::Find { query: topic },
            // The words of `summarize this note in TOPIC` are a style.
            PhraseKind::SummarizeOpenNote if style.is_empty() => {
                Self::SummarizeOpenNote { style: topic }
            }
            PhraseKind::SummarizeOpenNote => Self::SummarizeOpenNote { style },
            PhraseKind::SummarizeTopic => Self::SummarizeTopic { topic, style },
            // Several words before `.md` are no file name.
            PhraseKind::SummarizeFile if topic.contains(char::is_whitespace) => return None,
            PhraseKind::SummarizeFile => {
                let name = topic + phrase.extension();
                Self::SummarizeFile { name }
            }
        })
    }
}

fn has_second_sentence(sentence: &str) -> bool {
    let mut words = sentence.split_whitespace().rev().skip(1);
    words.any(|word| word.ends_with(SENTENCE_ENDS))
}

#[cfg(test)]
mod tests;

//! Recognizes prompts that ask to create, find or summarize notes. Only a whole prompt counts: a
//! prompt that merely mentions notes goes to the model. Pure. `english` and `korean`
//! contain the phrases; in doubt, a prompt goes to the model.

mod english;
mod english_classes;
mod english_lookalikes;
mod english_names;
mod english_short_forms;
mod english_style;
mod english_surfaces;
mod english_topics;
mod grammar;
mod korean;
mod korean_create;
mod korean_lookalikes;
mod korean_parts;
mod korean_spacing;
mod korean_style;
mod korean_words;
mod topic;

use icu_normalizer::ComposingNormalizerBorrowed;
use topic::without_final_punctuation;

/// Longer prompts usually contain the text to work on, or further instructions.
const PROMPT_CHARS_MAX: usize = 300;

/// A request to create, find or summarize notes. `style` describes how to write, in the user's words,
/// such as `detailed, in French`; it may be empty.
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
        style: String,
    },
}

impl NoteIntent {
    /// The intent of a whole prompt, if it has one.
    pub fn of_prompt(prompt: &str) -> Option<Self> {
        let prompt = prompt.trim();
        if prompt.contains(['\n', '\r']) || prompt.chars().count() > PROMPT_CHARS_MAX {
            return None;
        }
        let composed = ComposingNormalizerBorrowed::new_nfc().normalize(prompt);
        let sentence = without_final_punctuation(&composed);
        english::parse(sentence).or_else(|| korean::parse(sentence))
    }

    /// Whether a whole prompt asks to find notes, which needs no model.
    pub fn is_search(prompt: &str) -> bool {
        matches!(Self::of_prompt(prompt), Some(Self::Find { .. }))
    }
}

#[cfg(test)]
mod tests;

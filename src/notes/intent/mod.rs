//! Recognizes prompts that ask to create, find or summarize notes. Only a whole prompt counts: a
//! prompt that merely mentions notes goes to the model. Pure. `english` and `korean`
//! contain the phrases; in doubt, a prompt goes to the model.

mod english;
mod english_classes;
mod english_lookalikes;
mod english_topics;
mod grammar;
mod korean;
mod korean_lookalikes;
mod korean_words;

use icu_normalizer::ComposingNormalizerBorrowed;

/// Longer prompts bring their own text or instructions.
const PROMPT_CHARS_MAX: usize = 300;
/// Opening and closing quotation marks.
const QUOTES: &[(char, char)] = &[
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('‘', '’'),
    ('„', '“'),
    ('’', '’'),
    ('«', '»'),
    ('「', '」'),
    ('『', '』'),
];

/// Words whose period does not end a sentence.
const ABBREVIATIONS: &[&str] = &["dr", "mr", "mrs", "ms", "prof", "st", "vs", "no"];

/// A request to create, find or summarize notes. `style` is how to write, in the user's words, such
/// as `detailed, in French`; it may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteIntent {
    Create {
        topic: String,
        style: String,
    },
    Find {
        query: String,
    },
    /// Summarize the open note.
    SummarizeOpenNote {
        style: String,
    },
    SummarizeTopic {
        topic: String,
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
}

fn without_final_punctuation(text: &str) -> &str {
    text.trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, '.' | '?' | '!' | '~' | '…' | '？' | '！' | '。' | '～')
    })
}

/// A topic as the user wrote it, and whether it was in quotation marks.
struct Topic {
    text: String,
    is_quoted: bool,
}

impl Topic {
    /// Removes quotation marks around the whole text. `None` if nothing is left.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let quoted = QUOTES.iter().find_map(|(open, close)| {
            let inner = text.strip_prefix(*open)?.strip_suffix(*close)?;
            (!inner.contains([*open, *close])).then_some(inner)
        });
        let topic = without_final_punctuation(quoted.unwrap_or(text)).trim();
        let has_words = topic.chars().any(char::is_alphanumeric);
        has_words.then(|| Self {
            text: topic.to_owned(),
            is_quoted: quoted.is_some(),
        })
    }

    /// Whether a second sentence follows the first, so that the prompt asks for more.
    fn has_second_sentence(&self) -> bool {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        words.windows(2).any(|pair| {
            let word = pair[0].trim_end_matches(['.', '?', '!', ';']);
            let is_abbreviation = pair[0].ends_with('.')
                && (word.chars().count() == 1
                    || word.contains('.')
                    || ABBREVIATIONS.contains(&word.to_lowercase().as_str()));
            word.len() < pair[0].len() && !is_abbreviation
        })
    }
}

#[cfg(test)]
mod tests;

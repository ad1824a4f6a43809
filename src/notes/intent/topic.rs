//! The topic of a request, as the user wrote it.

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

/// A topic as the user wrote it, and whether it was in quotation marks.
pub(super) struct RequestTopic {
    pub(super) text: String,
    pub(super) is_quoted: bool,
}

impl RequestTopic {
    /// Removes quotation marks around the whole text, and punctuation at its end. `None` if it has
    /// no letter or digit.
    pub(super) fn parse(text: &str) -> Option<Self> {
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

    /// Whether a second sentence follows the first, which makes the prompt more than a request.
    pub(super) fn has_second_sentence(&self) -> bool {
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

pub(super) fn without_final_punctuation(text: &str) -> &str {
    text.trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, '.' | '?' | '!' | '~' | '…' | '？' | '！' | '。' | '～')
    })
}

//! The regular expression of a text field. Compiled once, with bounded memory; matching is linear in
//! the text.

use regex::{Regex, RegexBuilder};

const COMPILED_BYTES_MAX: usize = 1 << 18;
const EXCERPT_CHARS_MAX: usize = 200;

/// A regular expression that must match some part of the value.
#[derive(Debug, Clone)]
pub struct TextPattern {
    source: String,
    /// `None` if the pattern cannot be evaluated here, for example because it is too large or uses
    /// look-around. The server checks the value again.
    compiled: Option<Regex>,
}

impl TextPattern {
    pub fn new(source: String) -> Self {
        let compiled = RegexBuilder::new(&source)
            .size_limit(COMPILED_BYTES_MAX)
            .dfa_size_limit(COMPILED_BYTES_MAX)
            .build();
        Self {
            compiled: compiled.ok(),
            source,
        }
    }

    /// Whether the text contains a match, or the pattern cannot be evaluated.
    pub(super) fn is_match(&self, text: &str) -> bool {
        let compiled = self.compiled.as_ref();
        compiled.is_none_or(|pattern| pattern.is_match(text))
    }

    /// The beginning of the pattern, unsanitized.
    pub(super) fn excerpt(&self) -> String {
        self.source.chars().take(EXCERPT_CHARS_MAX).collect()
    }
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for TextPattern {}

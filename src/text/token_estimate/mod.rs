//! Estimates token counts without a tokenizer, by counting the units that tokenizers split text
//! into. The weights are fitted to the tokenizers in the tests with samples of English, code, JSON,
//! Korean and Japanese, erring on the high side.

#[cfg(test)]
mod tests;

use super::{WordList, word_list};

static SMALL_VOCABULARIES: WordList = word_list!("small_vocabularies");

/// Weights in hundredths of a token.
mod weight {
    /// A run of letters, and each letter beyond the seventh.
    pub const WORD: u64 = 123;
    pub const LONG_WORD_LETTER: u64 = 23;
    pub const SHORT_WORD_LETTERS: u32 = 7;
    /// A run of digits, and each digit.
    pub const NUMBER: u64 = 78;
    pub const DIGIT: u64 = 78;
    /// A run of symbols, each symbol, and a repeat of the previous symbol: a long line of one
    /// symbol is a few tokens.
    pub const SYMBOL_RUN: u64 = 18;
    pub const SYMBOL: u64 = 48;
    pub const REPEATED_SYMBOL: u64 = 6;
    pub const LINE: u64 = 20;
    /// The indentation of a line.
    pub const INDENT: u64 = 230;
    pub const HANGUL: u64 = 97;
    pub const KANA: u64 = 74;
    pub const HAN: u64 = 84;
    /// Any other non-ASCII character, including emoji.
    pub const OTHER: u64 = 150;
}

/// The kinds of tokenizer vocabulary that the estimate distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Vocabulary {
    /// More than 100,000 tokens, as in nearly all current models.
    #[default]
    Large,
    /// The vocabulary of GPT-4o and gpt-oss, which covers less Japanese.
    Gpt,
    /// Gemma's 256,000 tokens, which cover much more Japanese and Chinese.
    Gemma,
    /// About 32,000 tokens, mostly of European languages: Llama 2, early Mistral models, Phi.
    Small,
    /// A small English vocabulary, which splits other scripts into bytes: SmolLM.
    English,
}

impl Vocabulary {
    /// Detects the vocabulary from the family reported by the server and the model name.
    pub fn for_model(family: Option<&str>, model: &str) -> Self {
        let name = model.to_lowercase();
        let family = family.unwrap_or_default().to_lowercase();
        let matches_any = |names: &[&str]| {
            names
                .iter()
                .any(|known| name.contains(known) || family.starts_with(known))
        };
        if matches_any(&["gemma"]) {
            Self::Gemma
        } else if matches_any(&["smollm"]) {
            Self::English
        } else if matches_any(&["gpt", "o200k"]) {
            Self::Gpt
        } else if matches_any(&SMALL_VOCABULARIES) {
            Self::Small
        } else {
            Self::Large
        }
    }

    /// Percentages to scale the weights by: first those of all other text, then those of Hangul, then
    /// those of kana and Han.
    fn weight_percentages(self) -> [u64; 3] {
        match self {
            Self::Large => [100, 100, 100],
            Self::Gpt => [100, 100, 114],
            Self::Gemma => [102, 100, 85],
            Self::Small => [110, 175, 165],
            Self::English => [108, 330, 265],
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Start,
    Letter,
    Digit,
    Symbol,
    Space,
    Line,
    Hangul,
    Kana,
    Han,
    Other,
}

/// Estimated number of tokens in `text`. O(len).
pub fn estimate(text: &str, vocabulary: Vocabulary) -> u64 {
    let [mut base_weight, mut hangul_weight, mut han_kana_weight] = [0u64; 3];
    let (mut previous_class, mut previous_char, mut letters_in_run) =
        (CharClass::Start, '\0', 0u32);
    for c in text.chars() {
        let class = char_class(c);
        let starts_run = class != previous_class;
        match class {
            CharClass::Letter => {
                letters_in_run = if starts_run { 1 } else { letters_in_run + 1 };
                base_weight += if starts_run { weight::WORD } else { 0 };
                base_weight += if letters_in_run > weight::SHORT_WORD_LETTERS {
                    weight::LONG_WORD_LETTER
                } else {
                    0
                };
            }
            CharClass::Digit => {
                base_weight += weight::DIGIT + if starts_run { weight::NUMBER } else { 0 }
            }
            CharClass::Symbol if c == previous_char => base_weight += weight::REPEATED_SYMBOL,
            CharClass::Symbol => {
                base_weight += weight::SYMBOL + if starts_run { weight::SYMBOL_RUN } else { 0 }
            }
            CharClass::Line => base_weight += weight::LINE,
            CharClass::Space if previous_class == CharClass::Line => base_weight += weight::INDENT,
            CharClass::Hangul => hangul_weight += weight::HANGUL,
            CharClass::Kana => han_kana_weight += weight::KANA,
            CharClass::Han => han_kana_weight += weight::HAN,
            // Repeated box-drawing and block characters, as in frames and rules.
            CharClass::Other if c == previous_char && matches!(c, '\u{2500}'..='\u{259F}') => {
                base_weight += weight::REPEATED_SYMBOL
            }
            CharClass::Other => base_weight += weight::OTHER,
            CharClass::Space | CharClass::Start => {}
        }
        (previous_class, previous_char) = (class, c);
    }
    let percentages = vocabulary.weight_percentages();
    (base_weight * percentages[0]
        + hangul_weight * percentages[1]
        + han_kana_weight * percentages[2])
        .div_ceil(10_000)
}

fn char_class(c: char) -> CharClass {
    match c {
        '\n' => CharClass::Line,
        ' ' | '\t' | '\r' => CharClass::Space,
        'a'..='z' | 'A'..='Z' => CharClass::Letter,
        '0'..='9' => CharClass::Digit,
        _ if c.is_ascii() => CharClass::Symbol,
        '\u{AC00}'..='\u{D7A3}' | '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' => {
            CharClass::Hangul
        }
        '\u{3040}'..='\u{30FF}' => CharClass::Kana,
        '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}' => {
            CharClass::Han
        }
        // Accented Latin letters are part of letter runs in nearly all vocabularies.
        _ if c < '\u{250}' && c.is_alphabetic() => CharClass::Letter,
        // CJK punctuation and full-width forms.
        '\u{3000}'..='\u{303F}' | '\u{FF00}'..='\u{FFEF}' => CharClass::Kana,
        _ => CharClass::Other,
    }
}

//! How many tokens a text takes, estimated without a tokenizer: by counting what
//! tokenizers cut texts into. The weights were fitted to the counts that seven
//! tokenizers of today give for English, code, JSON, Korean and Japanese, so that an
//! estimate is rather too high than too low.

#[cfg(test)]
mod tests;

/// Weights in hundredths of a token.
mod weight {
    /// A run of letters, and each letter of it beyond the seventh.
    pub const WORD: u64 = 123;
    pub const LONG_WORD_LETTER: u64 = 23;
    pub const SHORT_WORD_LETTERS: u32 = 7;
    /// A run of digits, and each of its digits.
    pub const NUMBER: u64 = 78;
    pub const DIGIT: u64 = 78;
    /// A run of signs, each of them, and one that repeats the sign before: long rules
    /// of one sign are single tokens.
    pub const SYMBOL_RUN: u64 = 18;
    pub const SYMBOL: u64 = 48;
    pub const REPEATED_SYMBOL: u64 = 6;
    pub const LINE: u64 = 20;
    /// The space that a line begins with.
    pub const INDENT: u64 = 230;
    pub const HANGUL: u64 = 97;
    pub const KANA: u64 = 74;
    pub const HAN: u64 = 84;
    /// Any other character outside ASCII, emoji among them.
    pub const OTHER: u64 = 150;
}

/// Which vocabulary a tokenizer has, as far as it matters to the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Vocabulary {
    /// More than a hundred thousand tokens, as nearly all models of today have.
    #[default]
    Large,
    /// That of GPT-4o and gpt-oss holds less of Japanese.
    Gpt,
    /// Gemma's 256,000 tokens hold many more of Japanese and Chinese.
    Gemma,
    /// Some 32,000 tokens, of European languages: Llama 2, the first Mistrals, Phi.
    Small,
    /// As many of English alone: other scripts are cut into their bytes. SmolLM.
    English,
}

impl Vocabulary {
    /// By the family that a server names and the name of the model.
    pub fn for_model(family: Option<&str>, model: &str) -> Self {
        let name = model.to_lowercase();
        let family = family.unwrap_or_default().to_lowercase();
        let is_any = |names: &[&str]| {
            names
                .iter()
                .any(|known| name.contains(known) || family.starts_with(known))
        };
        if is_any(&["gemma"]) {
            Self::Gemma
        } else if is_any(&["smollm"]) {
            Self::English
        } else if is_any(&["gpt", "o200k"]) {
            Self::Gpt
        } else if is_any(&[
            "llama2",
            "llama-2",
            "codellama",
            "tinyllama",
            "vicuna",
            "phi2",
            "phi3",
            "phi-2",
            "phi-3",
            "mixtral",
            "mistral:7b",
            "mistral-7b",
        ]) {
            Self::Small
        } else {
            Self::Large
        }
    }

    /// Hundredths of the usual weight: of letters and signs, of Hangul, of kana and Han.
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

/// Tokens of `text`, estimated in one pass.
pub fn estimate(text: &str, vocabulary: Vocabulary) -> u64 {
    let [mut usual, mut hangul, mut han] = [0u64; 3];
    let (mut before, mut last, mut letters) = (CharClass::Start, '\0', 0u32);
    for c in text.chars() {
        let kind = char_class(c);
        let begins = kind != before;
        match kind {
            CharClass::Letter => {
                letters = if begins { 1 } else { letters + 1 };
                usual += if begins { weight::WORD } else { 0 };
                usual += if letters > weight::SHORT_WORD_LETTERS {
                    weight::LONG_WORD_LETTER
                } else {
                    0
                };
            }
            CharClass::Digit => usual += weight::DIGIT + if begins { weight::NUMBER } else { 0 },
            CharClass::Symbol if c == last => usual += weight::REPEATED_SYMBOL,
            CharClass::Symbol => {
                usual += weight::SYMBOL + if begins { weight::SYMBOL_RUN } else { 0 }
            }
            CharClass::Line => usual += weight::LINE,
            CharClass::Space if before == CharClass::Line => usual += weight::INDENT,
            CharClass::Hangul => hangul += weight::HANGUL,
            CharClass::Kana => han += weight::KANA,
            CharClass::Han => han += weight::HAN,
            // Drawn of box characters, so is a frame.
            CharClass::Other if c == last && matches!(c, '\u{2500}'..='\u{259F}') => {
                usual += weight::REPEATED_SYMBOL
            }
            CharClass::Other => usual += weight::OTHER,
            CharClass::Space | CharClass::Start => {}
        }
        (before, last) = (kind, c);
    }
    let shares = vocabulary.weight_percentages();
    (usual * shares[0] + hangul * shares[1] + han * shares[2]).div_ceil(10_000)
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
        // Their marks are parts of the letters' runs in nearly all vocabularies.
        _ if c < '\u{250}' && c.is_alphabetic() => CharClass::Letter,
        // Full stops, commas and brackets of the same scripts.
        '\u{3000}'..='\u{303F}' | '\u{FF00}'..='\u{FFEF}' => CharClass::Kana,
        _ => CharClass::Other,
    }
}

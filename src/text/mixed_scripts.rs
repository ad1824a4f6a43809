//! Finds letters that look like letters of another script: a Cyrillic `а` in a Latin word,
//! mathematical and fullwidth forms of ASCII. Words in one script are ordinary, and so are words in
//! an East Asian script with Latin letters (`API를`), which cannot be confused.

use icu_properties::CodePointMapData;
use icu_properties::props::{Alphabetic, Script};
use std::ops::Range;

/// Scripts whose letters look alike.
const CONFUSABLE: [Script; 7] = [
    Script::Latin,
    Script::Greek,
    Script::Cyrillic,
    Script::Armenian,
    Script::Cherokee,
    Script::Coptic,
    Script::Lisu,
];
const EAST_ASIAN: [Script; 5] = [
    Script::Han,
    Script::Hangul,
    Script::Hiragana,
    Script::Katakana,
    Script::Bopomofo,
];
/// Greek letters that do not look like any Latin letter. Units and formulas use them beside Latin
/// letters.
const DISTINCT_GREEK: &str = "ΓΔΘΛΞΠΣΦΨΩδθλμξπφψ";
const FULLWIDTH_ASCII: Range<char> = '\u{FF01}'..'\u{FF5F}';

/// The byte offsets of the letters in `text` that look like others, in ascending order. O(len), fast
/// for ASCII.
pub(super) fn deceptive_letters(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    if text.is_ascii() {
        return found;
    }
    let has_fullwidth = text.chars().any(|c| FULLWIDTH_ASCII.contains(&c));
    // Fullwidth digits and punctuation are common in East Asian text.
    let marks_fullwidth = has_fullwidth && !text.chars().any(is_east_asian);
    let mut word = Word::default();
    for (offset, c) in text.char_indices() {
        if is_in_word(c) {
            word.push(offset, c);
        } else {
            std::mem::take(&mut word).find(marks_fullwidth, &mut found);
            if marks_fullwidth && FULLWIDTH_ASCII.contains(&c) {
                found.push(offset);
            }
        }
    }
    word.find(marks_fullwidth, &mut found);
    found
}

/// Letters, digits and marks without a separator between them.
#[derive(Default)]
struct Word {
    chars: Vec<(usize, char)>,
    is_ascii: bool,
}

impl Word {
    fn push(&mut self, offset: usize, c: char) {
        self.is_ascii = c.is_ascii() && (self.is_ascii || self.chars.is_empty());
        self.chars.push((offset, c));
    }

    fn find(self, marks_fullwidth: bool, found: &mut Vec<usize>) {
        if self.is_ascii || self.chars.is_empty() {
            return;
        }
        let main = self.main_script();
        let has_east_asian = self.chars.iter().any(|(_, c)| is_east_asian(*c));
        let has_ascii_letters = self.chars.iter().any(|(_, c)| c.is_ascii_alphabetic());
        let is_deceptive = |c: char| {
            if FULLWIDTH_ASCII.contains(&c) {
                return match is_fullwidth_letter(c) {
                    true => !has_east_asian,
                    false => marks_fullwidth,
                };
            }
            if is_mathematical(c) || has_ascii_letters && is_letterlike(c) {
                return true;
            }
            let is_distinct = main == Some(Script::Latin) && DISTINCT_GREEK.contains(c);
            confusable_script(c).is_some_and(|script| Some(script) != main) && !is_distinct
        };
        let deceptive = self.chars.iter().filter(|(_, c)| is_deceptive(*c));
        found.extend(deceptive.map(|(offset, _)| offset));
    }

    /// The script of most letters, among those that can be confused. Latin wins a tie.
    fn main_script(&self) -> Option<Script> {
        let mut counts = [0; CONFUSABLE.len()];
        for script in self.chars.iter().filter_map(|(_, c)| confusable_script(*c)) {
            if let Some(at) = CONFUSABLE.iter().position(|known| *known == script) {
                counts[at] += 1;
            }
        }
        let most = *counts.iter().max()?;
        let main = CONFUSABLE.iter().zip(counts);
        main.filter(|(_, count)| *count == most && most > 0)
            .map(|(script, _)| *script)
            .next()
    }
}

fn is_in_word(c: char) -> bool {
    c.is_alphanumeric()
        || is_mathematical(c)
        || !c.is_ascii() && script_of(c) == Script::Inherited
        || icu_properties::CodePointSetData::new::<Alphabetic>().contains(c)
}

fn script_of(c: char) -> Script {
    CodePointMapData::<Script>::new().get(c)
}

fn confusable_script(c: char) -> Option<Script> {
    if c.is_ascii() {
        return c.is_ascii_alphabetic().then_some(Script::Latin);
    }
    // Fullwidth letters are handled separately.
    let script = script_of(c);
    (CONFUSABLE.contains(&script) && !FULLWIDTH_ASCII.contains(&c)).then_some(script)
}

fn is_east_asian(c: char) -> bool {
    !c.is_ascii() && EAST_ASIAN.contains(&script_of(c))
}

fn is_fullwidth_letter(c: char) -> bool {
    matches!(c, 'Ａ'..='Ｚ' | 'ａ'..='ｚ')
}

/// Mathematical alphanumeric symbols: bold, italic and other forms of ASCII and Greek letters.
fn is_mathematical(c: char) -> bool {
    matches!(c, '\u{1D400}'..='\u{1D7FF}')
}

/// Mathematical letters from an older Unicode block, such as `ℎ`. Alone, they are ordinary.
fn is_letterlike(c: char) -> bool {
    matches!(
        c,
        '\u{2102}' | '\u{210A}'..='\u{2113}' | '\u{2115}' | '\u{2118}'..='\u{211D}' | '\u{2124}'
            | '\u{2128}' | '\u{212C}'..='\u{2131}' | '\u{2133}' | '\u{2134}' | '\u{2139}'
    )
}

#[cfg(test)]
mod tests {
    use crate::text::Clean;

    #[test]
    fn letters_of_another_script_are_marked() {
        for (raw, shown) in [
            ("p\u{430}ypal", "p⟨U+0430⟩ypal"),
            ("/etc/p\u{430}sswd x", "/etc/p⟨U+0430⟩sswd x"),
            ("g\u{3BF}\u{3BF}gle", "g⟨U+03BF⟩⟨U+03BF⟩gle"),
            ("прив\u{65}т", "прив⟨U+0065⟩т"),
            ("\u{430}b", "⟨U+0430⟩b"),
            ("\u{FF45}tc", "⟨U+FF45⟩tc"),
            ("rm \u{FF0D}rf \u{FF0F}", "rm ⟨U+FF0D⟩rf ⟨U+FF0F⟩"),
            ("\u{1D42B}\u{1D426} x", "⟨U+1D42B⟩⟨U+1D426⟩ x"),
            ("\u{210E}ome", "⟨U+210E⟩ome"),
            ("\u{13A2}est.sh", "⟨U+13A2⟩est.sh"),
            ("API를 p\u{430}", "API를 p⟨U+0430⟩"),
            ("p\u{430}를", "p⟨U+0430⟩를"),
        ] {
            assert_eq!(Clean::unambiguous(raw).as_str(), shown, "{raw:?}");
        }
    }

    #[test]
    fn names_of_mixed_scripts_are_marked() {
        let shown = "se⟨U+0441⟩ure";
        assert_eq!(Clean::name("se\u{441}ure").as_str(), shown);
        assert_eq!(Clean::quoted_if_needed("se\u{441}ure").as_str(), shown);
    }

    #[test]
    fn ordinary_words_are_not_marked() {
        for text in [
            "привет, мир; Ελληνικά, ΑΒΓ; Հայերեն; ᏣᎳᎩ",
            "файл.txt и README, C:\\Новая папка",
            "API를 Python으로 v2의 테스트123 파일.txt",
            "使用API（v2），然后；２０２４年、Ｔシャツ、第１章",
            "Pythonで書く、カタカナABC",
            "10 µm, 5 μm, 3 kΩ, 2 Ωm, 4 MΩ, Δt, λx",
            "ใช้APIนี้ APIको בAPI العربيةAPI",
            "x ∈ ℝ, ℂ → ℝ, ∑ x, m², H₂O, №5, ½, ﬁn",
            "naïve café Đặng Größe ʼn ñandú ſ",
        ] {
            assert_eq!(Clean::unambiguous(text).as_str(), text);
        }
    }
}

//! Finds characters that look like others: a Cyrillic `а` in a Latin word, a Cyrillic word that
//! reads as an English one, mathematical and fullwidth forms of ASCII, a division slash. Prose in
//! one script is ordinary, and so are words in an East Asian script with Latin letters (`API를`),
//! which cannot be confused. A false positive is worse than a miss: users would stop noticing
//! the marks.

use super::ascii_twin::{
    ascii_letter_twin, ascii_punctuation_twin, is_latin_look_alike, is_ordinary_numeral,
    is_roman_numeral,
};
use super::script_context::{CONFUSABLE, ScriptContext};
use super::script_words::{
    PartKind, TextPart, is_east_asian, is_mathematical, is_non_ascii_digit, script_of, text_parts,
};
use icu_properties::props::Script;
use std::ops::Range;

/// Greek letters that do not look like any Latin letter. Units and formulas use them next to
/// Latin letters.
const DISTINCT_GREEK: &str = "ΓΔΘΛΞΠΣΦΨΩδθλμξπφψ";
/// Further Greek letters of formulas, which resemble Latin ones.
const FORMULA_GREEK: &str = "αβγεζηκνρστχω";
const FORMULA_FUNCTIONS: [&str; 6] = ["sin", "cos", "tan", "log", "ln", "exp"];
/// Subscripts of a symbol in a formula, as in `σmax`. Other words are not formulas.
const FORMULA_SUBSCRIPTS: [&str; 12] = [
    "max", "min", "eff", "avg", "tot", "rel", "ref", "ext", "int", "in", "out", "crit",
];
const FULLWIDTH_ASCII: Range<char> = '\u{FF01}'..'\u{FF5F}';

/// The byte offsets of characters in `text` that pass for others, in ascending order. `context`
/// describes the whole value. O(len), fast for ASCII.
pub(super) fn deceptive_letters(text: &str, context: &ScriptContext) -> Vec<usize> {
    let mut found = Vec::new();
    if text.is_ascii() {
        return found;
    }
    for part in text_parts(text) {
        match part.kind {
            PartKind::Word => Word::new(text, part, context).collect_deceptive(&mut found),
            PartKind::Other if is_deceptive_punctuation(text, part, context) => {
                found.push(part.start);
            }
            PartKind::Other | PartKind::Escape => {}
        }
    }
    found
}

/// Whether a character between words passes for ASCII punctuation.
fn is_deceptive_punctuation(text: &str, part: TextPart, context: &ScriptContext) -> bool {
    let Some(c) = part.text.chars().next().filter(|c| !c.is_ascii()) else {
        return false;
    };
    let is_cjk_form = matches!(c, '\u{3000}'..='\u{303F}' | '\u{FE10}'..='\u{FE6F}');
    if FULLWIDTH_ASCII.contains(&c) || is_cjk_form {
        let is_twin = FULLWIDTH_ASCII.contains(&c) || ascii_punctuation_twin(c).is_some();
        return is_twin && !context.has_east_asian;
    }
    if ascii_punctuation_twin(c).is_none() {
        return false;
    }
    let before = text[..part.start].chars().next_back();
    let after = text[part.start + part.text.len()..].chars().next();
    let is_before_word = after.is_some_and(char::is_alphanumeric);
    match c {
        // Opens a quotation in German.
        '‚' => before.is_some_and(char::is_alphanumeric) || !is_before_word,
        // A mathematical tilde stands between spaces or before a number.
        '∼' | '˜' => after.is_some_and(|c| c == '/' || c.is_alphabetic()),
        '∶' => !context.has_east_asian,
        c => !context.has(script_of(c)),
    }
}

struct Word<'a> {
    start: usize,
    text: &'a str,
    before: &'a str,
    after: &'a str,
    context: &'a ScriptContext,
    has_ascii_letters: bool,
}

impl<'a> Word<'a> {
    fn new(text: &'a str, part: TextPart<'a>, context: &'a ScriptContext) -> Self {
        Self {
            start: part.start,
            text: part.text,
            before: &text[..part.start],
            after: &text[part.start + part.text.len()..],
            context,
            has_ascii_letters: part.text.contains(|c: char| c.is_ascii_alphabetic()),
        }
    }

    fn collect_deceptive(&self, found: &mut Vec<usize>) {
        if self.text.is_ascii() {
            return;
        }
        let main = self.main_script();
        let is_formula = self.is_formula();
        let is_copy = self.context.has_ascii && self.is_copy_of_ascii();
        let marks_latin = self.marks_latin_look_alikes();
        let is_deceptive = |c: char| {
            if c.is_ascii() {
                return main.is_some_and(|main| main != Script::Latin)
                    && c.is_ascii_alphabetic()
                    && !is_formula;
            }
            if FULLWIDTH_ASCII.contains(&c) {
                return !self.context.has_east_asian;
            }
            if is_mathematical(c) || self.has_ascii_letters && is_letterlike(c) {
                return true;
            }
            let script = script_of(c);
            if script == Script::Latin && is_latin_look_alike(c) {
                return marks_latin(c);
            }
            if is_east_asian(c) {
                let is_punctuation = ascii_punctuation_twin(c).is_some();
                return is_punctuation && self.context.has_ascii && !self.context.has_east_asian;
            }
            if CONFUSABLE.contains(&script) && main != Some(script) {
                return !is_formula;
            }
            is_copy || self.is_from_other_script(c, script)
        };
        let chars = self.text.char_indices();
        let deceptive = chars.filter(|(_, c)| is_deceptive(*c));
        found.extend(deceptive.map(|(offset, _)| self.start + offset));
    }

    /// The most frequent of the [`CONFUSABLE`] scripts among the letters. Latin wins a tie.
    fn main_script(&self) -> Option<Script> {
        let mut counts = [0; CONFUSABLE.len()];
        for script in self.text.chars().filter_map(confusable_script) {
            if let Some(at) = CONFUSABLE.iter().position(|known| *known == script) {
                counts[at] += 1;
            }
        }
        let highest = *counts.iter().max()?;
        let main = CONFUSABLE.iter().zip(counts);
        main.filter(|(_, count)| *count == highest && highest > 0)
            .map(|(script, _)| *script)
            .next()
    }

    /// Whether the Greek letters of a word are those of a formula or unit: `TNFα`, `σx`, `kΩ`,
    /// `NFκB`, `α`.
    fn is_formula(&self) -> bool {
        let letters = self.text.chars().filter(|c| c.is_alphabetic());
        let mut greek = Vec::new();
        let (mut lowercase, mut last) = (0, 0);
        for c in letters {
            last += 1;
            match c {
                c if DISTINCT_GREEK.contains(c) => {}
                c if FORMULA_GREEK.contains(c) => greek.push(last),
                c if c.is_ascii() => lowercase += usize::from(c.is_ascii_lowercase()),
                _ => return false,
            }
        }
        let is_at_edge = || greek.iter().all(|at| [1, last].contains(at));
        match greek.len() {
            0 => self.text.contains(|c| DISTINCT_GREEK.contains(c)),
            1 => match lowercase {
                0 => true,
                1 => is_at_edge(),
                _ => {
                    let subscripts = FORMULA_SUBSCRIPTS.iter();
                    let functions = FORMULA_FUNCTIONS.iter();
                    let mut symbols = subscripts
                        .filter_map(|subscript| self.text.strip_suffix(subscript))
                        .chain(functions.filter_map(|name| self.text.strip_prefix(name)));
                    symbols.any(|symbol| symbol.chars().count() == 1)
                }
            },
            2 => lowercase == 0 && self.has_ascii_letters,
            _ => false,
        }
    }

    /// Whether every letter of the word could pass for ASCII, and the value has no prose in the
    /// script of the word.
    fn is_copy_of_ascii(&self) -> bool {
        if self.has_ascii_letters || self.is_formula() {
            return false;
        }
        let letters = self.text.chars().filter(|c| !c.is_ascii());
        letters.clone().all(|c| {
            let script = script_of(c);
            // A host is written in one script, whatever surrounds its address.
            let is_host = self.before.ends_with("://");
            let is_prose = self.context.has_prose(script) && !is_host || is_east_asian(c);
            let is_other = !matches!(script, Script::Latin | Script::Common);
            is_other && !is_prose && ascii_letter_twin(c).is_some()
        })
    }

    /// Whether `c`, in a word with ASCII letters or digits, is a digit, or a letter that resembles
    /// ASCII, of a script in which the value is not written.
    fn is_from_other_script(&self, c: char, script: Script) -> bool {
        let has_ascii = self.text.contains(|c: char| c.is_ascii_alphanumeric());
        if is_non_ascii_digit(c) {
            return has_ascii && !self.context.has(script);
        }
        let is_known = CONFUSABLE.contains(&script) || self.context.has_prose(script);
        self.has_ascii_letters && !is_known && ascii_letter_twin(c).is_some()
    }

    /// Returns a predicate: whether a Latin look-alike of ASCII is deceptive in this word.
    fn marks_latin_look_alikes(&self) -> impl Fn(char) -> bool {
        let is_ascii_like =
            |c: char| c.is_ascii() || script_of(c) != Script::Latin || is_latin_look_alike(c);
        let mut letters = self.text.chars().filter(|c| c.is_alphabetic());
        let has_neighbors =
            self.has_ascii_letters || self.context.has_ascii && letters.nth(1).is_some();
        let is_ascii_word = self.context.has_ascii && self.text.chars().all(is_ascii_like);
        let is_word = has_neighbors && is_ascii_word;
        let is_number = self.text.chars().all(is_ordinary_numeral) || self.context.has_east_asian;
        let is_turkish = self.context.is_turkic || self.is_turkish_word();
        let is_phonetic = self.context.is_phonetic;
        move |c| match c {
            'ı' => is_word && !is_turkish && !is_phonetic,
            'ǀ' | 'ǃ' => is_ascii_word && !is_phonetic,
            c if is_roman_numeral(c) => !(is_ordinary_numeral(c) && (is_number || !has_neighbors)),
            _ => is_word && !is_phonetic,
        }
    }

    /// Whether a word with `ı` follows the rules of Turkish: the vowels before and after `ı` are `a`
    /// or `ı`, separated from it by a consonant, and there is no `q`, `w` or `x`. Parts of paths,
    /// addresses and options are not words.
    fn is_turkish_word(&self) -> bool {
        let is_separator = |c: char| "/\\_@=$~".contains(c);
        let mut before = self.before.chars().rev();
        let is_after_separator = match before.next() {
            Some('.' | ':') => before.next().is_some_and(char::is_alphanumeric),
            Some('-') => !before.next().is_some_and(char::is_alphanumeric),
            c => c.is_some_and(is_separator),
        };
        let mut after = self.after.chars();
        let is_before_separator = match after.next() {
            Some('.' | ':') => after.next().is_some_and(char::is_alphanumeric),
            c => c.is_some_and(is_separator),
        };
        let is_native = |c: char| c.is_alphabetic() && !"qwxQWX".contains(c);
        // These suffixes do not follow vowel harmony.
        let stem = self.text.split("ıyor").next().unwrap_or_default();
        let stem = stem.strip_suffix("ki").unwrap_or(stem);
        let vowels = stem.char_indices();
        let vowels = vowels.filter(|(_, c)| "aeıiouAEIOU".contains(*c));
        let vowels: Vec<(usize, char)> = vowels.collect();
        let is_harmonic = vowels.windows(2).all(|pair| {
            let [(at, first), (next, second)] = [pair[0], pair[1]];
            let is_plain = first != 'ı' && second != 'ı';
            let has_consonant = next > at + first.len_utf8();
            is_plain || has_consonant && [first, second].iter().all(|c| "aıAI".contains(*c))
        });
        !is_after_separator
            && !is_before_separator
            && is_harmonic
            && self.text.chars().all(is_native)
    }
}

fn confusable_script(c: char) -> Option<Script> {
    if c.is_ascii() {
        return c.is_ascii_alphabetic().then_some(Script::Latin);
    }
    // Fullwidth letters are handled separately.
    let script = script_of(c);
    (CONFUSABLE.contains(&script) && !FULLWIDTH_ASCII.contains(&c)).then_some(script)
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
mod tests;

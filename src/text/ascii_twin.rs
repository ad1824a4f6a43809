//! Finds the ASCII character that another character looks like, by Unicode's table of confusables
//! (UTS #39), with corrections.

use super::invisible::is_invisible;

/// ASCII punctuation of commands, paths, URLs and code. Other punctuation, such as `?` and `*`, has
/// few look-alikes.
const PUNCTUATION: &str = "/:.!|\\,;'\"-~$&()<>=";
/// Characters of ordinary text that look like ASCII punctuation: quotation marks, primes, accents and
/// stress marks, dashes, brackets, and the arrows of prompts.
const ORDINARY_PUNCTUATION: &str = "´¸ʹʻʼʽʾˈˊˋː‘’‛′‵‹›–⁓❮❯❨❩❲❳➖";
/// Latin letters of modern and historic alphabets that Unicode calls confusable, but that readers
/// can tell from ASCII.
const DISTINCT_LATIN: &str = "þɣʋƿ";
/// Roman numerals that ordinary text uses; the others are copies of ASCII letters.
const ORDINARY_NUMERALS: [std::ops::RangeInclusive<char>; 2] = ['Ⅰ'..='Ⅻ', 'ⅰ'..='ⅻ'];
const SMALL_CAPITALS: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ";

/// The text with letters, digits and punctuation replaced by the ASCII characters that they look
/// like, and without invisible characters. For recognizing words only. O(len).
pub fn fold_look_alikes(text: &str) -> String {
    let visible = text.chars().filter(|c| !is_invisible(*c));
    visible
        .map(|c| skeleton(c).filter(char::is_ascii).unwrap_or(c))
        .collect()
}

/// The ASCII letter or digit that looks like `c`.
pub(super) fn ascii_letter_twin(c: char) -> Option<char> {
    // In the table, but distinct in the fonts of terminals.
    if matches!(c, 'г' | 'б') {
        return None;
    }
    skeleton(c).filter(char::is_ascii_alphanumeric)
}

/// The ASCII punctuation that looks like `c`; `None` if `c` itself is common in ordinary text.
pub(super) fn ascii_punctuation_twin(c: char) -> Option<char> {
    let is_box_drawing = matches!(c, '\u{2500}'..='\u{257F}');
    if is_box_drawing || ORDINARY_PUNCTUATION.contains(c) {
        return None;
    }
    match c {
        // The table maps these to `l`, like `|` itself.
        'ǀ' | '∣' | '⏽' | '︱' | '￨' => Some('|'),
        _ => skeleton(c).filter(|twin| PUNCTUATION.contains(*twin)),
    }
}

/// Whether the Latin letter or numeral `c` passes for ASCII.
pub(super) fn is_latin_look_alike(c: char) -> bool {
    let has_letter_twin = || ascii_letter_twin(c).is_some() && !DISTINCT_LATIN.contains(c);
    // Click letters, such as `ǃ`.
    let has_punctuation_twin = || ascii_punctuation_twin(c).is_some();
    is_roman_numeral(c) || SMALL_CAPITALS.contains(c) || has_letter_twin() || has_punctuation_twin()
}

pub(super) fn is_roman_numeral(c: char) -> bool {
    matches!(c, '\u{2160}'..='\u{217F}')
}

pub(super) fn is_ordinary_numeral(c: char) -> bool {
    ORDINARY_NUMERALS.iter().any(|range| range.contains(&c))
}

fn skeleton(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    let mut buffer = [0; 4];
    let mut skeleton = unicode_security::skeleton(c.encode_utf8(&mut buffer));
    match (skeleton.next()?, skeleton.next(), skeleton.next()) {
        (twin, None, _) => Some(twin),
        ('r', Some('n'), None) => Some('m'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_match_the_appearance_of_their_characters() {
        let letters = "асеорхуӏԁɑɡıⅿ৪٥סט";
        let twins: String = letters.chars().filter_map(ascii_letter_twin).collect();
        assert_eq!(twins, "aceopxyldagim8oov");
        let punctuation = "∕⁄꞉․ǃǀ∖∶‚∼⹀";
        let twins: String = punctuation
            .chars()
            .filter_map(ascii_punctuation_twin)
            .collect();
        assert_eq!(twins, "//:.!|\\:,~=");
        let others = "gжигбт한日éß–’“…";
        let twins: String = others.chars().filter_map(ascii_letter_twin).collect();
        assert_eq!(twins, "");
        let others = "a–’“…│╱·日";
        let twins: String = others.chars().filter_map(ascii_punctuation_twin).collect();
        assert_eq!(twins, "");
    }
}

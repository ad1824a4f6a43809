//! Characters that a terminal draws like others: decomposed sequences (not Unicode NFC), conjoining
//! Hangul jamo, unusual hyphens and the ideographic space. Precomposed letters are none of these.
//! `mixed_scripts.rs` finds letters of other scripts.

use super::invisible::{is_invisible, is_unusual};
use icu_normalizer::ComposingNormalizerBorrowed;
use unicode_width::UnicodeWidthChar;

/// Whether the text contains a look-alike character or sequence. O(len), fast for ASCII.
pub(super) fn has_look_alikes(text: &str) -> bool {
    !text.is_ascii() && (text.chars().any(is_look_alike) || !is_composed(text))
}

/// Whether `c` may appear next to the escapes of its cluster: it is visible by itself and looks
/// like no other character.
pub(super) fn is_unmistakable(c: char) -> bool {
    let is_visible = !is_invisible(c) && !is_unusual(c) && c.width() != Some(0);
    is_visible && !is_look_alike(c) && is_composed(c.encode_utf8(&mut [0; 4]))
}

fn is_composed(text: &str) -> bool {
    const { ComposingNormalizerBorrowed::new_nfc() }.is_normalized(text)
}

/// Whether `c` looks like another character wherever it appears.
fn is_look_alike(c: char) -> bool {
    let is_hyphen = matches!(
        c,
        '\u{2D7}' | '\u{2010}'..='\u{2012}' | '\u{2043}' | '\u{2212}' | '\u{FE63}'
    );
    // A jamo alone looks like its compatibility jamo, and a sequence like its syllable.
    let is_conjoining_jamo = matches!(
        c,
        '\u{1100}'..='\u{11FF}' | '\u{A960}'..='\u{A97F}' | '\u{D7B0}'..='\u{D7FF}'
    );
    // The ideographic space looks like two spaces.
    is_hyphen || is_conjoining_jamo || c == '\u{3000}'
}

#[cfg(test)]
mod tests {
    use crate::text::Clean;

    #[test]
    fn texts_that_look_the_same_are_shown_differently() {
        for (raw, shown) in [
            // The first of each pair is the ordinary text.
            ("한글", "한글"),
            ("\u{1112}\u{1161}\u{11AB}글", "⟨U+1112⟩⟨U+1161⟩⟨U+11AB⟩글"),
            ("하\u{11AB}", "하⟨U+11AB⟩"),
            ("ㅎ", "ㅎ"),
            ("\u{1112}", "⟨U+1112⟩"),
            ("caf\u{E9}s", "cafés"),
            ("cafe\u{301}s", "cafe⟨U+0301⟩s"),
            ("が", "が"),
            ("か\u{3099}", "か⟨U+3099⟩"),
            ("Å", "Å"),
            ("\u{212B}", "⟨U+212B⟩"),
            ("a-b", "a-b"),
            ("a\u{2011}b", "a⟨U+2011⟩b"),
            ("\u{2212}1", "⟨U+2212⟩1"),
            ("a b", "a b"),
            ("a\u{A0}b", "a⟨U+00A0⟩b"),
            ("a\u{3000}b", "a⟨U+3000⟩b"),
            // The escapes cannot be imitated.
            ("⟨U+2011⟩", "⟨U+27E8⟩U+2011⟩"),
            ("⟨\u{301}", "⟨U+27E8⟩⟨U+0301⟩"),
            ("e\u{301}\u{200D}\u{202E}", "e⟨U+0301⟩⟨U+200D⟩⟨U+202E⟩"),
        ] {
            assert_eq!(Clean::unambiguous(raw).as_str(), shown, "{raw:?}");
        }
    }

    #[test]
    fn ordinary_text_of_many_languages_is_not_marked() {
        for text in [
            "서울의 날씨는 맑음, 최고 21 °C – “좋아요”…",
            "東京の天気。ガラス、ぱんだ、ﾊﾟ",
            "北京今天天气很好！《书名》",
            "Đặng Thị Hà: Việt Nam; Ærø, naïve façade, Größe, Žluťoučký kůň",
            "हिन्दी क्षेत्र, ภาษาไทย, עִבְרִית, العربية",
            "👩‍👩‍👧 👍🏽 🇰🇷 ❤\u{FE0F} 1\u{FE0F}\u{20E3} q\u{301}",
            "2010–2020 — a/b_c.d:e",
        ] {
            assert_eq!(Clean::unambiguous(text).as_str(), text);
        }
    }
}

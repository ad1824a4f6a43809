//! Sanitizing and wrapping: tests of important cases, and property tests.

use humble::text::Clean;
use humble::text::grapheme::{cluster_width, clusters, width};
use humble::text::sanitize::Sanitizer;
use humble::text::wrap::{wrap, wrap_line};
use proptest::prelude::*;
use std::num::NonZeroU16;

fn clean(raw: &str) -> String {
    Clean::new(raw).into()
}

fn escaped(raw: &str) -> String {
    Clean::escaped(raw).into()
}

fn columns(width: u16) -> NonZeroU16 {
    NonZeroU16::new(width).expect("tests wrap to at least one column")
}

fn rows(line: &str, width: u16) -> Vec<&str> {
    wrap_line(line, columns(width))
        .into_iter()
        .map(|row| &line[row])
        .collect()
}

#[test]
fn escape_sequences_are_removed_in_7_bit_and_8_bit_form() {
    let cases = [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\u{9b}31mred\u{9b}0m", "red"),
        ("a\x1b[1;2;3 qb", "ab"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]8;;https://evil\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        ("a\u{9d}52;c;aGk=\u{9c}b", "ab"),
        ("a\x1bPq#0;2;0;0;0\x1b\\b", "ab"),
        ("a\u{90}data\u{9c}b", "ab"),
        ("a\x1b_Gf=100;AAAA\x1b\\b", "ab"),
        ("a\x1b^pm\x1b\\b", "ab"),
        ("a\x1bXsos\x1b\\b", "ab"),
        ("a\x1bcb\x1b7c\x1b(0d", "abcd"),
        ("a\x1b\x1b[2Jb", "ab"),
        ("a\x1b]0;x\x18b", "ab"),
        ("a\x1b]0;x\x1b[31mb", "ab"),
        ("한\x1b[", "한"),
        ("a\x1b[12한", "a한"),
        ("a\x00\x08\x0b\x7f\u{85}b", "ab"),
    ];
    for (raw, expected) in cases {
        assert_eq!(clean(raw), expected, "{raw:?}");
    }
}

#[test]
fn unterminated_sequence_hides_text_at_most_to_the_end_of_its_line() {
    assert_eq!(clean("a\x1b]0;title\nb"), "a\nb");
    assert_eq!(clean("a\x1b[31\nb"), "a\nb");
    let long = format!("\x1b]{}", "x".repeat(10_000));
    assert!(clean(&long).len() > 5_000);
}

#[test]
fn line_breaks_and_tabs_are_normalized() {
    assert_eq!(
        clean("a\r\nb\rc\n\nd\u{2028}e\tf\tg"),
        "a\nb\nc\n\nd\ne   f   g"
    );
    assert_eq!(String::from(Clean::single_line("a\r\nb")), "a b");
}

#[test]
fn deceptive_characters_are_dropped() {
    for deceiver in [
        "\u{202E}",
        "\u{2066}",
        "\u{2069}",
        "\u{200B}",
        "\u{2060}",
        "\u{FEFF}",
        "\u{AD}",
        "\u{115F}",
        "\u{1160}",
        "\u{3164}",
        "\u{FFA0}",
        "\u{E0041}",
        "\u{E0001}",
        "\u{FE0F}",
        "\u{FE00}",
        "\u{E0100}",
        "\u{FFF9}",
        "\u{200D}",
        "\u{200C}",
        "\u{34F}",
        "\u{61C}",
        "\u{180E}",
        "\u{200F}",
        "\u{2064}",
        "\u{17B4}",
        "\u{FFFE}",
        "\u{1D173}",
    ] {
        assert_eq!(clean(&format!("a{deceiver}b")), "ab", "{deceiver:?}");
        assert_eq!(clean(&format!("한{deceiver}글")), "한글", "{deceiver:?}");
        assert_eq!(clean(deceiver), "", "{deceiver:?}");
        let code = u32::from(deceiver.chars().next().expect("one character"));
        let visible = escaped(&format!("a{deceiver}b"));
        assert_eq!(visible, format!("a⟨U+{code:04X}⟩b"));
    }
}

#[test]
fn joiners_and_selectors_inside_valid_clusters_are_kept() {
    for cluster in [
        "👨\u{200D}👩\u{200D}👧\u{200D}👦",
        "🏳\u{FE0F}\u{200D}🌈",
        "👩🏽\u{200D}❤\u{FE0F}\u{200D}💋\u{200D}👨🏽",
        "❤\u{FE0F}",
        "1\u{FE0F}\u{20E3}",
        "🇰🇷",
        "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
        "می\u{200C}خواهم",
        "क\u{94D}\u{200D}ष",
        "ක\u{DCA}\u{200D}ර",
        "葛\u{E0100}",
        "\u{1112}\u{1161}\u{11AB}",
        "e\u{301}",
        "か\u{3099}",
        "ที่",
    ] {
        assert_eq!(clean(cluster), cluster, "{cluster:?}");
        assert_eq!(escaped(cluster), cluster, "{cluster:?}");
        assert_eq!(clean(&format!("x{cluster}y")), format!("x{cluster}y"));
    }
}

#[test]
fn tags_that_do_not_spell_a_flag_are_dropped() {
    let hidden: String = "ignore"
        .chars()
        .filter_map(|c| char::from_u32(0xE0000 + u32::from(c)))
        .collect();
    assert_eq!(clean(&format!("🏴{hidden}\u{E007F}x")), "🏴x");
    assert_eq!(clean(&format!("{hidden}x")), "x");
}

#[test]
fn stacked_marks_are_limited_and_marks_without_a_base_are_dropped() {
    let stacked = format!("e{}x", "\u{301}".repeat(100));
    assert_eq!(clean(&stacked), format!("e{}x", "\u{301}".repeat(8)));
    assert_eq!(clean("\u{301}a\n\u{301}b"), "a\nb");
}

#[test]
fn escaped_text_shows_hidden_characters() {
    assert_eq!(
        escaped("a\x1b[2Jb\r\n\tc\u{85}\u{7f}"),
        "a⟨ESC⟩[2Jb⟨CR⟩\n⟨TAB⟩c⟨U+0085⟩⟨DEL⟩"
    );
    assert_eq!(escaped("rm\u{A0}-rf"), "rm⟨U+00A0⟩-rf");
    assert_eq!(escaped("a\u{200D}"), "a⟨U+200D⟩");
    assert_eq!(escaped("서울\u{3000}東京"), "서울\u{3000}東京");
}

#[test]
fn private_use_characters_are_escaped_where_they_could_imitate_the_interface() {
    // Powerline's arrow and branch, and icons of both private planes.
    let icons = "\u{e0b0}\u{f00c}\u{f8ff}\u{f0000}\u{10fffd}";
    let shown = "⟨U+E0B0⟩⟨U+F00C⟩⟨U+F8FF⟩⟨U+F0000⟩⟨U+10FFFD⟩";
    assert_eq!(escaped(icons), shown);
    assert_eq!(Clean::unambiguous(icons).as_str(), shown);
    assert_eq!(Clean::name(icons).as_str(), shown);
    // An answer may use the icons of the user's font.
    assert_eq!(clean(icons), icons);
}

#[test]
fn different_names_never_look_alike() {
    let name = |raw: &str| String::from(Clean::name(raw));
    let names = [
        ("send", "send"),
        ("\u{1b}send", "⟨ESC⟩send"),
        ("se\u{200B}nd", "se⟨U+200B⟩nd"),
        ("\u{200B}", "⟨U+200B⟩"),
        ("⟨ESC⟩send", "⟨U+27E8⟩ESC⟩send"),
        ("", "\"\""),
        (" ", "\" \""),
        ("\" \"", "\"\" \"\""),
        ("send ", "\"send \""),
        ("se\nnd", "se⟨LF⟩nd"),
        ("se\tnd", "se⟨TAB⟩nd"),
        ("se\u{3000}nd", "se⟨U+3000⟩nd"),
        ("날씨 알림", "날씨 알림"),
        ("👨‍👩‍👧", "👨‍👩‍👧"),
    ];
    for (raw, expected) in names {
        assert_eq!(name(raw), expected, "{raw:?}");
    }
}

#[test]
fn text_breaks_at_spaces_and_trailing_spaces_may_exceed_the_width() {
    assert_eq!(rows("the quick fox", 9), ["the quick ", "fox"]);
    assert_eq!(rows("ab    cd", 3), ["ab    ", "cd"]);
    assert_eq!(rows("  indent", 5), ["  ind", "ent"]);
    assert_eq!(rows("", 5), [""]);
    assert_eq!(rows("     ", 2), ["     "]);
}

#[test]
fn hangul_words_stay_whole_and_han_and_kana_break_anywhere() {
    assert_eq!(rows("안녕하세요 세계", 12), ["안녕하세요 ", "세계"]);
    assert_eq!(rows("東京都に行く", 6), ["東京都", "に行く"]);
    assert_eq!(rows("안녕하세요", 4), ["안녕", "하세", "요"]);
    assert_eq!(rows("abc漢字", 5), ["abc漢", "字"]);
}

#[test]
fn no_row_starts_with_closing_or_ends_with_opening_punctuation() {
    assert_eq!(rows("東京です。次", 8), ["東京で", "す。次"]);
    assert_eq!(rows("東京は「夏」", 8), ["東京は", "「夏」"]);
}

#[test]
fn long_tokens_break_after_hyphens_and_slashes_or_anywhere() {
    assert_eq!(rows("resolve-library-id", 10), ["resolve-", "library-id"]);
    assert_eq!(rows("src/text/wrap", 8), ["src/", "text/", "wrap"]);
    // A break at a space is preferred if the next row can hold the whole URL.
    assert_eq!(rows("see https://a.b/c", 14), ["see ", "https://a.b/c"]);
    assert_eq!(rows("abcdefgh", 3), ["abc", "def", "gh"]);
    assert_eq!(rows("run --flag", 6), ["run ", "--flag"]);
}

#[test]
fn cluster_wider_than_the_row_gets_its_own_row() {
    assert_eq!(rows("a한b", 1), ["a", "한", "b"]);
}

#[test]
fn wrapped_rows_exclude_line_breaks() {
    let rows_of = |text: &'static str| -> Vec<_> {
        let rows = wrap(text, columns(3)).into_iter();
        rows.map(|row| &text[row]).collect()
    };
    assert_eq!(rows_of("ab cd\n\n한글"), ["ab ", "cd", "", "한", "글"]);
    assert_eq!(rows_of(""), [""]);
}

fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        Just("\x1b".to_owned()),
        Just("\x1b[".to_owned()),
        Just("\x1b]0;".to_owned()),
        Just("\x1b\\".to_owned()),
        Just("\x07".to_owned()),
        Just("\u{9b}".to_owned()),
        Just("\u{9c}".to_owned()),
        Just("\r".to_owned()),
        Just("\n".to_owned()),
        Just("\t".to_owned()),
        Just("\u{200D}".to_owned()),
        Just("\u{200C}".to_owned()),
        Just("\u{FE0F}".to_owned()),
        Just("\u{20E3}".to_owned()),
        Just("\u{301}".to_owned()),
        Just("\u{202E}".to_owned()),
        Just("👩".to_owned()),
        Just("🏴".to_owned()),
        Just("\u{E0067}".to_owned()),
        Just("\u{E007F}".to_owned()),
        Just("क\u{94D}".to_owned()),
        Just("م".to_owned()),
        Just("\u{600}".to_owned()),
        Just("한".to_owned()),
        Just("\u{1112}\u{1161}".to_owned()),
        Just("漢字、".to_owned()),
        Just("「".to_owned()),
        Just(" ".to_owned()),
        Just("word-or/two ".to_owned()),
        Just("31m".to_owned()),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(fragment, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn sanitizing_in_chunks_equals_sanitizing_the_whole(raw in fragments(), cuts in prop::collection::vec(0usize..200, 0..6)) {
        let mut cuts: Vec<_> = cuts.into_iter().filter(|&cut| raw.is_char_boundary(cut.min(raw.len()))).map(|cut| cut.min(raw.len())).collect();
        cuts.sort_unstable();
        let mut sanitizer = Sanitizer::default();
        let mut joined = Clean::default();
        let mut start = 0;
        for end in cuts.into_iter().chain([raw.len()]) {
            joined.append(&sanitizer.push(&raw[start..end]));
            start = end;
        }
        prop_assert_eq!(joined, Clean::new(&raw));
    }

    #[test]
    fn sanitized_text_has_no_control_characters_and_does_not_change_again(raw in fragments()) {
        for text in [clean(&raw), escaped(&raw)] {
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'
                || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200B}' | '\u{FEFF}')), "{:?}", text);
            prop_assert_eq!(clean(&text), text);
        }
    }

    #[test]
    fn wrapping_keeps_all_bytes_and_clusters_within_the_width(raw in fragments(), row_width in 1u16..12, is_clean in any::<bool>()) {
        let line = if is_clean { clean(&raw) } else { raw }.replace('\n', " ");
        let wrapped = wrap_line(&line, columns(row_width));
        let mut end = 0;
        let mut row_clusters = Vec::new();
        for row in wrapped {
            prop_assert_eq!(row.start, end);
            end = row.end;
            let text = &line[row];
            row_clusters.extend(clusters(text));
            let visible = text.trim_end_matches(' ');
            let is_single_cluster = clusters(visible).count() == 1;
            prop_assert!(width(visible) <= usize::from(row_width) || is_single_cluster, "{:?}", text);
        }
        prop_assert_eq!(end, line.len());
        let line_clusters: Vec<_> = clusters(&line).collect();
        prop_assert_eq!(row_clusters, line_clusters);
        prop_assert!(clusters(&line).all(|cluster| cluster_width(cluster) <= 2));
    }
}

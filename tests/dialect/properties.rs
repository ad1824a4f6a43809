//! Texts put together from fragments of markers: whatever they say, all ways of
//! cutting them agree, and no byte is lost.

use crate::cuts::{offered, scan};
use humble::dialect::scan::{Piece, Scanner};
use proptest::prelude::*;

/// Only tags, fences with their info word, comments, separators and white space
/// may be missing.
fn is_dropped(gap: &str) -> bool {
    let mut gap = gap.to_owned();
    for dropped in ["<think>", "<thinking>", "</think>", "</thinking>", "// c\n"] {
        gap = gap.replace(dropped, "");
    }
    let mut after_fence = gap.split("```");
    let outside = after_fence.next().unwrap_or_default().to_owned();
    let rest: String = after_fence
        .map(|part| {
            part.trim_start_matches('`')
                .trim_start_matches(|c: char| c.is_ascii_alphanumeric())
        })
        .collect();
    let separators = |c: char| c.is_whitespace() || "`;,[]".contains(c);
    (outside + &rest).chars().all(separators)
}

fn raw_of(piece: &Piece) -> Option<&str> {
    match piece {
        Piece::Text(raw) | Piece::Thinking(raw) => Some(raw),
        Piece::Call(call) => Some(&call.raw),
        Piece::Unusable(call) => Some(&call.raw),
        Piece::TextWasThinking => None,
    }
}

/// Whether `shown`, in this order and with what may be dropped between, is `text`.
fn is_all_of(text: &str, shown: &[&str]) -> bool {
    let Some((first, more)) = shown.split_first() else {
        return is_dropped(text);
    };
    text.char_indices().any(|(at, _)| {
        text[at..].starts_with(first)
            && is_dropped(&text[..at])
            && is_all_of(&text[at + first.len()..], more)
    })
}

fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        "\"",
        "'",
        ":",
        ",",
        ";",
        "\\",
        "\n",
        " ",
        "`",
        "```",
        "```json\n",
        "<think>",
        "</think>",
        "<thinking>",
        "</thinking>",
        "<th",
        "{\"name\": ",
        "\"add\"",
        "\"arguments\": ",
        "{\"a\": 1, \"b\": 2}",
        "\"unknown\"",
        "\"tool_calls\": ",
        "[{",
        "}]",
        "한글",
        "prose ",
        "// c\n",
        "/*",
        "1",
        "None",
        "{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}",
        "{\"name\": \"nope\", \"arguments\": {}}",
        "{\"name\": \"add\", \"arguments\": {\"a\" 1}}",
        "{\"name\": \"get_time\", \"arguments\": {}}",
    ]);
    prop::collection::vec(fragment, 0..14).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_way_of_cutting_gives_the_same_pieces(text in fragments(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let offered = offered();
        let whole = scan(&offered, [text.as_str()]);
        prop_assert_eq!(&scan(&offered, text.split_inclusive(|_| true)), &whole);
        let ends: Vec<_> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| *cut.get(&ends)).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]);
        prop_assert_eq!(&scan(&offered, chunks), &whole);
    }

    #[test]
    fn every_byte_is_accounted_for(text in fragments()) {
        // Not joined: thinking without a word leaves no piece between two texts.
        let mut scanner = Scanner::new(offered());
        let mut pieces: Vec<_> = text.split_inclusive(|_| true).flat_map(|c| scanner.push(c)).collect();
        pieces.extend(scanner.finish());
        let shown: Vec<_> = pieces.iter().filter_map(raw_of).collect();
        prop_assert!(is_all_of(&text, &shown), "{:?} of {:?}", pieces, text);
    }
}

//! Tests annotated samples of every language, and properties of any text in any language: coverage,
//! order, determinism and linear work.

mod braces;
mod config;
mod scripts;

use super::line_cursor::BYTES_EXAMINED;
use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

const ANNOTATIONS: [(Token, &str); 10] = [
    (Token::Comment, "com"),
    (Token::String, "txt"),
    (Token::Number, "num"),
    (Token::Keyword, "kw"),
    (Token::Type, "ty"),
    (Token::Function, "fn"),
    (Token::Key, "key"),
    (Token::Added, "add"),
    (Token::Removed, "del"),
    (Token::Heading, "head"),
];

/// Annotates a line, so that `let x` becomes `«kw:let» x`.
fn annotate(line: &str, spans: &[(u32, Token)]) -> String {
    let mut start = 0;
    let mut annotated = String::new();
    for (end, token) in spans {
        let text = &line[start..*end as usize];
        start = *end as usize;
        match ANNOTATIONS.iter().find(|(known, _)| known == token) {
            Some((_, name)) => annotated += &format!("«{name}:{text}»"),
            None => annotated += text,
        }
    }
    annotated
}

fn strip_annotations(annotated: &str) -> String {
    let mut code = annotated.replace('»', "");
    for (_, name) in ANNOTATIONS {
        code = code.replace(&format!("«{name}:"), "");
    }
    code
}

fn highlight_and_annotate(language: &str, code: &str) -> String {
    let mut highlighter = Highlighter::new(language).expect("known language");
    let mut lines = Vec::new();
    for line in code.split('\n') {
        let mut spans = Vec::new();
        highlighter.highlight_line(line, &mut spans);
        lines.push(annotate(line, &spans));
    }
    lines.join("\n")
}

fn assert_highlights(language: &str, expected: &str) {
    assert_eq!(
        highlight_and_annotate(language, &strip_annotations(expected)),
        expected,
        "{language}"
    );
}

fn samples() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let groups = [braces::SAMPLES, scripts::SAMPLES, config::SAMPLES];
    groups.into_iter().flatten()
}

#[test]
fn every_sample_is_highlighted_as_annotated() {
    for (language, expected) in samples() {
        assert_highlights(language, expected);
    }
}

#[test]
fn every_language_has_a_sample() {
    let sampled: HashSet<&str> = samples()
        .filter_map(|(info, _)| Highlighter::new(info))
        .map(|highlighter| highlighter.language.name)
        .collect();
    let missing: Vec<&str> = languages().filter(|name| !sampled.contains(name)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn language_names_and_aliases_are_unique_and_resolve() {
    let mut seen = HashSet::new();
    for language in languages::all() {
        for name in language.names() {
            assert!(seen.insert(name), "{name} is listed twice");
            let resolved = Highlighter::new(name).map(|highlighter| highlighter.language.name);
            assert_eq!(resolved, Some(language.name), "{name}");
        }
    }
    assert!(seen.len() > 120, "{} names", seen.len());
}

#[test]
fn first_word_of_the_info_string_selects_the_language() {
    let cases = [
        ("rust", Some("rust")),
        ("  Rust,ignore", Some("rust")),
        ("{.python .numberLines}", Some("python")),
        ("js:app.js", Some("javascript")),
        ("src/main.rs", Some("rust")),
        ("language-c++ x", Some("cpp")),
        ("Makefile", Some("makefile")),
        ("C#", Some("csharp")),
        ("tsx{1,3}", Some("typescript")),
        ("", None),
        ("text", None),
        ("한글", None),
    ];
    for (info, expected) in cases {
        let selected = Highlighter::new(info).map(|highlighter| highlighter.language.name);
        assert_eq!(selected, expected, "{info}");
    }
}

#[test]
fn unterminated_single_line_string_ends_with_its_line_unless_a_backslash_continues_it() {
    assert_highlights("java", "x = «txt:\"open»\n«ty:int» y");
    assert_highlights("python", "s = «txt:f\"a »{x\n«kw:if» y} z");
    assert_highlights("c", "s = «txt:\"a \\»\n«txt:b\"»; «ty:int» x");
    assert_highlights("js", "«txt:`a »${b + «txt:\"c»\nd}«txt: e`»; f");
}

#[test]
fn existing_spans_are_left_untouched() {
    let mut highlighter = Highlighter::new("rust").expect("known language");
    let mut out = vec![(7, Token::Keyword)];
    highlighter.highlight_line("let", &mut out);
    assert_eq!(out, [(7, Token::Keyword), (3, Token::Keyword)]);
    highlighter.highlight_line("", &mut out);
    assert_eq!(out.len(), 2, "an empty line has no spans");
}

#[test]
fn text_beyond_the_line_limit_is_plain_and_does_not_change_the_state() {
    let mut long = Highlighter::new("rust").expect("known language");
    let mut short = long;
    let mut out = Vec::new();
    // The whole char at the limit is plain.
    let start = format!("/*{}", "x".repeat(LINE_BYTES_MAX - 3));
    long.highlight_line(&format!("{start}한 */ let"), &mut out);
    let (limit, end) = (start.len() as u32, (start.len() + "한 */ let".len()) as u32);
    assert_eq!(out, [(limit, Token::Comment), (end, Token::Plain)]);
    short.highlight_line(&start, &mut out);
    assert_eq!(long, short);
}

#[test]
fn saved_state_is_small_and_unchanged_by_highlighting_from_its_copies() {
    let line = "let s = r#\"a\"#; /* b */ 'c' \"d {x}\" // e";
    let saved = Highlighter::new("rust").expect("known language");
    let mut whole = Vec::new();
    let mut whole_state = saved;
    whole_state.highlight_line(line, &mut whole);
    for end in 0..line.len() {
        saved.clone().highlight_line(&line[..end], &mut Vec::new());
    }
    let (mut repeated_state, mut repeated) = (saved, Vec::new());
    repeated_state.highlight_line(line, &mut repeated);
    assert_eq!((repeated_state, repeated), (whole_state, whole));
    assert!(
        size_of::<Highlighter>() <= 96,
        "{}",
        size_of::<Highlighter>()
    );
}

/// Bytes examined for a line, without the length limit.
fn bytes_examined(language: &'static Language, line: &str) -> usize {
    let mut highlighter = Highlighter::from_language(language);
    let mut out = Vec::new();
    let before = BYTES_EXAMINED.get();
    highlighter.paint(&mut LineCursor::new(line, &mut out));
    BYTES_EXAMINED.get() - before
}

/// Delimiters and escapes to repeat. Those that contain blanks are listed separately.
const FRAGMENTS: &str = "\" ' ` /* */ (* {- { ${ } # r# [[ [= ]= ]] < <<A </ <script> <? ?> & / /[ %w( s( q{ ~r/ \
    a: ]( <!-- --> \\ \\' 'a $ $a @a. #{ \\( R\" R\"x( )x . 1. 0x e+ = ! 한 🦀' | + @@ x; url( \
    f\"{ $( \"$( <style>a:";
const FRAGMENTS_WITH_BLANKS: [&str; 10] = [
    "<a b=", "a b", "a: ", "a =", "- ", ": ", "``` `", "` `` ", "\t", " ",
];

#[test]
fn highlighting_work_is_linear_in_line_length() {
    for language in languages::all() {
        for fragment in FRAGMENTS.split(' ').chain(FRAGMENTS_WITH_BLANKS) {
            // The CSS lexer looks ahead for a brace, so the only one is as far away as possible.
            let once = bytes_examined(language, &(fragment.repeat(500) + "{"));
            let twice = bytes_examined(language, &(fragment.repeat(1_000) + "{"));
            // The start of a line may be cheaper to lex, which matters more in the shorter line.
            let bound = 2 * once + 1_000;
            assert!(
                twice <= bound,
                "{} {fragment:?}: {once}, {twice}",
                language.name
            );
            assert!(
                once <= 100 * 500 * fragment.len(),
                "{} {fragment:?}",
                language.name
            );
        }
    }
}

#[test]
fn each_byte_of_a_megabyte_line_is_examined_a_bounded_number_of_times() {
    for fragment in ["\"", "/*", "{"] {
        let line = fragment.repeat(1_000_000 / fragment.len());
        for name in ["rust", "js", "markdown"] {
            let language = languages::find(name).expect("known language");
            let examined = bytes_examined(language, &line);
            assert!(examined < 40 * line.len(), "{name} {fragment}: {examined}");
        }
    }
}

/// Text that mixes delimiters, escapes, samples and arbitrary characters.
fn code() -> impl Strategy<Value = String> {
    let code_characters = "[\"'`/*#<>{}()\\[\\]\\\\$@%:;=.,!?&|~^+ a-zA-Z0-9_\t\r-]{0,40}";
    let fragment = prop_oneof![
        3 => code_characters.prop_map(String::from),
        1 => "\\PC{0,12}".prop_map(String::from),
        1 => "[가-힣ㄱ-ㅎ🦀👨é\u{200D}\"'\\\\{$#/]{0,12}".prop_map(String::from),
        2 => prop::sample::select(samples().map(|(_, annotated)| strip_annotations(annotated)).collect::<Vec<_>>()),
    ];
    prop::collection::vec(fragment, 0..4).prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_in_any_language_is_covered_exactly_once_and_deterministically(code in code()) {
        for language in languages::all() {
            let mut highlighter = Highlighter::from_language(language);
            for line in code.split('\n') {
                let mut copy = highlighter;
                let (mut out, mut repeated) = (Vec::new(), Vec::new());
                highlighter.highlight_line(line, &mut out);
                copy.highlight_line(line, &mut repeated);
                prop_assert_eq!(&out, &repeated);
                prop_assert_eq!(highlighter, copy);
                prop_assert_eq!(out.last().map_or(0, |(end, _)| *end as usize), line.len());
                prop_assert!(out.first().is_none_or(|(end, _)| *end > 0));
                prop_assert!(out.windows(2).all(|pair| pair[0].0 < pair[1].0));
                prop_assert!(out.windows(2).all(|pair| pair[0].1 != pair[1].1));
                prop_assert!(out.iter().all(|(end, _)| line.is_char_boundary(*end as usize)));
            }
        }
    }
}

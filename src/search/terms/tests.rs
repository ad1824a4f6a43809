//! Terms of queries, with words, phrases and letter pairs.

use super::*;

#[test]
fn cjk_runs_become_overlapping_pairs_and_a_last_letter() {
    assert_eq!(letter_pairs("메모장 a책"), "메모 모장 장 책 ");
    assert_eq!(letter_pairs("plain text"), "");
}

#[test]
fn a_term_occurs_in_a_text_with_another_ending() {
    let occurs = |query, text| SearchTerms::parse(query).any_in(text);
    assert!(occurs("routers", "The router password is on the box."));
    assert!(occurs("passwords", "Router: PASSWORD"));
    assert!(occurs("공유기", "공유기를 껐다 켠다"));
    assert!(occurs("제주여행", "제주 여행 계획"));
    assert!(!occurs("제주여행", "제주 귤"));
    assert!(!occurs("routers", "A route to the sea."));
}

#[test]
fn a_query_loses_stop_words_and_particles() {
    let terms = |query| {
        SearchTerms::parse(query)
            .texts()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        terms("How do I set up the Router?"),
        ["set", "up", "router"]
    );
    assert_eq!(terms("API를 데이터베이스에서"), ["api", "데이터베이스"]);
    assert_eq!(terms("The The"), ["the"], "a stop word alone is a term");
    assert_eq!(
        terms("책을"),
        ["책을"],
        "a particle is kept if only one letter would remain"
    );
    assert_eq!(terms("\"; DROP (a* OR NEAR"), ["drop", "near"]);
    assert_eq!(terms("  ?! "), Vec::<String>::new());
}

#[test]
fn words_in_quotes_are_a_phrase() {
    let terms = |query| -> Vec<String> {
        let terms = SearchTerms::parse_with_phrases(query);
        terms.texts().map(str::to_owned).collect()
    };
    assert_eq!(
        terms("the espresso \"Last  Month\""),
        ["espresso", "last month"]
    );
    assert_eq!(terms("\"to be or not"), ["to be or not"], "not closed");
    assert_eq!(terms("\"espresso\" x \"\""), ["x", "espresso"]);
    assert_eq!(terms("\"제주 여행을\""), ["제주", "여행"]);
    assert_eq!(
        terms("\"last-month\") OR (\"x*\""),
        ["or", "last month", "x"]
    );
}

#[test]
fn decomposed_hangul_is_composed() {
    let decomposed = "\u{1106}\u{1166}\u{1106}\u{1169}";
    assert_eq!(SearchTerms::parse(decomposed), SearchTerms::parse("메모"));
}

//! Emphasis, code and links within a paragraph.

use super::*;

/// The stretches as text: `*` bold, `/` italic, `~` struck, `_` link, `'` code, `.` dim.
#[derive(Default)]
struct Paper {
    text: String,
    stretches: Vec<String>,
}

impl Ink for Paper {
    fn put(&mut self, words: &str, look: Look, _at: usize) {
        self.text.push_str(words);
        let signs = [
            (look.bold, '*'),
            (look.italic, '/'),
            (look.struck, '~'),
            (look.underlined, '_'),
            (look.role == Role::Code, '\''),
            (look.role == Role::Dim, '.'),
        ];
        let signs: String = signs
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, sign)| *sign)
            .collect();
        if !signs.is_empty() && !words.is_empty() {
            self.stretches.push(format!("{signs}{words}"));
        }
    }
}

fn inked(text: &str) -> (String, Vec<String>) {
    let mut paper = Paper::default();
    let marks = Marks::new(false, true);
    ink_inline(
        text,
        Look::default(),
        &marks,
        &mut Links::default(),
        &mut paper,
    );
    (paper.text, paper.stretches)
}

#[test]
fn emphasis_loses_its_signs_and_keeps_its_looks() {
    let (text, looks) = inked("**굵게** *slanted* ***both*** ~~gone~~ `code` plain");
    assert_eq!(text, "굵게 slanted both gone code plain");
    assert_eq!(looks, ["*굵게", "/slanted", "*/both", "~gone", "'code"]);
}

#[test]
fn what_looks_like_a_block_is_the_leafs_text() {
    for text in ["# *a*", "1. *a*", "- *a*", "> *a*", "| *a* |", "--- *a*"] {
        assert_eq!(inked(text).0, text.replace('*', ""), "{text}");
    }
}

#[test]
fn links_show_where_they_lead_unless_their_words_do() {
    assert_eq!(inked("[here](https://a.b/c)").0, "here (https://a.b/c)");
    assert_eq!(inked("[a.b](https://a.b/)").0, "a.b");
    assert_eq!(inked("<https://a.b>").0, "https://a.b");
    assert_eq!(
        inked("[https://good.example](https://bad.example)").0,
        "https://good.example (https://bad.example)"
    );
    assert_eq!(inked("![](x.png)").0, "image: x.png");
}

#[test]
fn a_definition_is_shown_and_used() {
    let mut paper = Paper::default();
    let marks = Marks::new(false, true);
    let mut links = Links::default();
    let mut ink = |text: &str, links: &mut Links| {
        ink_inline(text, Look::default(), &marks, links, &mut paper)
    };
    assert_eq!(ink("see [the Docs][1]", &mut links), []);
    let [definition] = &ink("[1]: https://a.b", &mut links)[..] else {
        panic!("one definition");
    };
    assert!(links.define(definition.clone()), "text waits for it");
    ink(" [the docs][1]", &mut links);
    assert!(paper.text.contains("[1]: https://a.b"), "{}", paper.text);
    assert!(
        paper.text.ends_with("the docs (https://a.b)"),
        "{}",
        paper.text
    );
}

#[test]
fn a_footnote_is_no_link() {
    let mut links = Links::default();
    let marks = Marks::new(false, true);
    let mut paper = Paper::default();
    for definition in ink_inline(
        "[^2]: Single.",
        Look::default(),
        &marks,
        &mut links,
        &mut paper,
    ) {
        assert!(!links.define(definition));
    }
    ink_inline(
        " Also [^2].",
        Look::default(),
        &marks,
        &mut links,
        &mut paper,
    );
    assert_eq!(paper.text, "[^2]: Single. Also [^2].");
}

#[test]
fn math_and_tags_stay_as_they_are() {
    assert_eq!(inked("$a_1 * b_1 * c$").0, "$a_1 * b_1 * c$");
    assert_eq!(inked("**$5** or **$10** and `$x`").0, "$5 or $10 and $x");
    assert_eq!(inked("a<br>b *c*").0, "a\nb c");
    assert_eq!(inked("<b>x</b> *c*").0, "<b>x</b> c");
}

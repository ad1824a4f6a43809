//! Emphasis, code and links within a paragraph.

use super::*;

/// The stretches as text: `*` bold, `/` italic, `~` struck, `_` link, `'` code, `.` dim.
#[derive(Default)]
struct RecordingSink {
    text: String,
    stretches: Vec<String>,
}

impl InlineSink for RecordingSink {
    fn push_text(&mut self, words: &str, look: TextStyle, _at: usize) {
        self.text.push_str(words);
        let signs = [
            (look.bold, '*'),
            (look.italic, '/'),
            (look.strikethrough, '~'),
            (look.underlined, '_'),
            (look.role == StyleRole::Code, '\''),
            (look.role == StyleRole::Dim, '.'),
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
    let mut paper = RecordingSink::default();
    let marks = MarkdownGlyphs::new(false, true);
    write_inline(
        text,
        TextStyle::default(),
        &marks,
        &mut LinkDefinitions::default(),
        &mut paper,
    );
    (paper.text, paper.stretches)
}

#[test]
fn emphasis_markers_are_removed_and_styles_kept() {
    let (text, looks) = inked("**굵게** *slanted* ***both*** ~~gone~~ `code` plain");
    assert_eq!(text, "굵게 slanted both gone code plain");
    assert_eq!(looks, ["*굵게", "/slanted", "*/both", "~gone", "'code"]);
}

#[test]
fn block_syntax_inside_a_leaf_is_plain_text() {
    for text in ["# *a*", "1. *a*", "- *a*", "> *a*", "| *a* |", "--- *a*"] {
        assert_eq!(inked(text).0, text.replace('*', ""), "{text}");
    }
}

#[test]
fn links_show_their_target_unless_their_text_does() {
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
fn link_definition_is_shown_and_applied() {
    let mut paper = RecordingSink::default();
    let marks = MarkdownGlyphs::new(false, true);
    let mut links = LinkDefinitions::default();
    let mut ink = |text: &str, links: &mut LinkDefinitions| {
        write_inline(text, TextStyle::default(), &marks, links, &mut paper)
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
fn footnote_is_not_a_link() {
    let mut links = LinkDefinitions::default();
    let marks = MarkdownGlyphs::new(false, true);
    let mut paper = RecordingSink::default();
    for definition in write_inline(
        "[^2]: Single.",
        TextStyle::default(),
        &marks,
        &mut links,
        &mut paper,
    ) {
        assert!(!links.define(definition));
    }
    write_inline(
        " Also [^2].",
        TextStyle::default(),
        &marks,
        &mut links,
        &mut paper,
    );
    assert_eq!(paper.text, "[^2]: Single. Also [^2].");
}

#[test]
fn math_and_html_tags_are_unchanged() {
    assert_eq!(inked("$a_1 * b_1 * c$").0, "$a_1 * b_1 * c$");
    assert_eq!(inked("**$5** or **$10** and `$x`").0, "$5 or $10 and $x");
    assert_eq!(inked("a<br>b *c*").0, "a\nb c");
    assert_eq!(inked("<b>x</b> *c*").0, "<b>x</b> c");
}

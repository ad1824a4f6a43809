//! Tests of emphasis, code and links within a paragraph.

use super::*;
use crate::text::markdown::math::{TextEnd, math_spans};

fn leaf(text: &str) -> LeafText {
    LeafText {
        text: text.to_owned(),
        math: math_spans(text, TextEnd::Final),
    }
}

/// Records the text, and each styled span prefixed with one symbol per style: `*` bold, `/` italic,
/// `~` strikethrough, `_` underlined, `'` code, `.` dim.
#[derive(Default)]
struct RecordingSink {
    text: String,
    spans: Vec<String>,
}

impl InlineSink for RecordingSink {
    fn push_text(&mut self, text: &str, style: TextStyle, _offset: usize) {
        self.text.push_str(text);
        let symbols = [
            (style.bold, '*'),
            (style.italic, '/'),
            (style.strikethrough, '~'),
            (style.underlined, '_'),
            (style.role == StyleRole::Code, '\''),
            (style.role == StyleRole::Dim, '.'),
        ];
        let symbols: String = symbols
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, symbol)| *symbol)
            .collect();
        if !symbols.is_empty() && !text.is_empty() {
            self.spans.push(format!("{symbols}{text}"));
        }
    }
}

fn render(text: &str) -> (String, Vec<String>) {
    let mut sink = RecordingSink::default();
    let glyphs = MarkdownGlyphs::new(false, true);
    write_inline(
        &leaf(text),
        TextStyle::default(),
        &glyphs,
        &mut LinkDefinitions::default(),
        &mut sink,
    );
    (sink.text, sink.spans)
}

#[test]
fn emphasis_markers_are_removed_and_styles_kept() {
    let (text, spans) = render("**굵게** *slanted* ***both*** ~~gone~~ `code` plain");
    assert_eq!(text, "굵게 slanted both gone code plain");
    assert_eq!(spans, ["*굵게", "/slanted", "*/both", "~gone", "'code"]);
}

#[test]
fn block_syntax_inside_a_leaf_is_plain_text() {
    for text in ["# *a*", "1. *a*", "- *a*", "> *a*", "| *a* |", "--- *a*"] {
        assert_eq!(render(text).0, text.replace('*', ""), "{text}");
    }
}

#[test]
fn links_show_their_target_unless_their_text_does() {
    assert_eq!(render("[here](https://a.b/c)").0, "here (https://a.b/c)");
    assert_eq!(render("[a.b](https://a.b/)").0, "a.b");
    assert_eq!(render("<https://a.b>").0, "https://a.b");
    assert_eq!(
        render("[https://good.example](https://bad.example)").0,
        "https://good.example (https://bad.example)"
    );
}

#[test]
fn image_shows_its_alternative_text_once_and_its_target() {
    assert_eq!(render("![](x.png)").0, "image: x.png");
    assert_eq!(
        render("An image: ![a cat](x.png).").0,
        "An image: a cat (image: x.png)."
    );
    assert_eq!(render("![x.png](x.png)").0, "x.png (image)");
}

#[test]
fn link_definition_is_shown_and_applied() {
    let mut sink = RecordingSink::default();
    let glyphs = MarkdownGlyphs::new(false, true);
    let mut links = LinkDefinitions::default();
    let mut write = |text: &str, links: &mut LinkDefinitions| {
        write_inline(&leaf(text), TextStyle::default(), &glyphs, links, &mut sink)
    };
    assert_eq!(write("see [the Docs][1]", &mut links), []);
    let [definition] = &write("[1]: https://a.b", &mut links)[..] else {
        panic!("one definition");
    };
    assert!(
        links.define(definition.clone()),
        "earlier text refers to it"
    );
    write(" [the docs][1]", &mut links);
    assert!(sink.text.contains("[1]: https://a.b"), "{}", sink.text);
    assert!(
        sink.text.ends_with("the docs (https://a.b)"),
        "{}",
        sink.text
    );
}

#[test]
fn footnote_is_not_a_link() {
    let mut links = LinkDefinitions::default();
    let glyphs = MarkdownGlyphs::new(false, true);
    let mut sink = RecordingSink::default();
    for definition in write_inline(
        &leaf("[^2]: Single."),
        TextStyle::default(),
        &glyphs,
        &mut links,
        &mut sink,
    ) {
        assert!(!links.define(definition));
    }
    write_inline(
        &leaf(" Also [^2]."),
        TextStyle::default(),
        &glyphs,
        &mut links,
        &mut sink,
    );
    assert_eq!(sink.text, "[^2]: Single. Also [^2].");
}

#[test]
fn math_and_html_tags_are_unchanged_except_line_breaks() {
    assert_eq!(render("$a_1 * b_1 * c$").0, "$a_1 * b_1 * c$");
    assert_eq!(render("**$5** or **$10** and `$x`").0, "$5 or $10 and $x");
    for text in [
        r"\( \int_0^1 x^2 \, dx \)",
        r"\[ a \; b \\ \{c\} \]",
        "$$\n\\begin{a} *x* & _y_ \\\\\n- b <i> [c](d) \\,\n$$",
        r"$a\,b$는 $\{1\}$",
    ] {
        assert_eq!(render(text).0, text);
    }
    assert_eq!(
        render(r"**so \(x_1\,y_1\)** \*a\* \# \$5").0,
        r"so \(x_1\,y_1\) *a* # $5"
    );
    assert_eq!(render(r"\[a\](b)").0, "[a](b)");
    assert_eq!(render("a<br>b *c*").0, "a\nb c");
    assert_eq!(render("<b>x</b> *c*").0, "<b>x</b> c");
}

//! Properties of the Markdown layout for generated texts.

mod cost;
mod excerpt;
mod shown;

use super::block_event::{BlockEvent, LeafKind, PrefixPart};
use super::*;
use crate::text::grapheme::width;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

fn glyphs() -> MarkdownGlyphs {
    MarkdownGlyphs::new(false, true)
}

/// The rows as text. Each styled span is followed by its style, and each row by the byte where it
/// begins, by whether it continues a line, and by its block.
fn rows(view: &MarkdownView) -> Vec<String> {
    (0..view.len())
        .map(|row| {
            let line = view.row(row);
            let mut shown = line.prefix.to_owned();
            let mut span_start = 0;
            for (end, style) in line.style_spans() {
                let end = end.min(line.text.len());
                shown.push_str(&line.text[span_start..end]);
                if style != TextStyle::default() {
                    shown.push_str(&format!("⟦{style:?}⟧"));
                }
                span_start = end;
                if span_start == line.text.len() {
                    break;
                }
            }
            let block = view.blocks().iter().position(|block| block.contains(row));
            let continues_line = view.continues_line(row);
            format!(
                "{shown} @{} {continues_line} {block:?}",
                view.row_start_byte(row)
            )
        })
        .collect()
}

fn plain(view: &MarkdownView) -> Vec<String> {
    let row = |row| {
        let line: StyledRow = view.row(row);
        format!("{}{}", line.prefix, line.text)
    };
    (0..view.len()).map(row).collect()
}

fn markdown() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => prop::sample::select(vec!["\n", "\n\n", " ", "  ", "    ", "\n- ", "\n  - ", "\n1. ", "\n> "]),
        3 => prop::sample::select(vec!["- ", "* ", "+ ", "1. ", "2) ", "> ", "# ", "### ", "[ ] ", "[x] "]),
        2 => prop::sample::select(vec!["```", "~~~", "```rust\n", "\n```\n", "---", "===", "***", "\n---\n", "\t"]),
        2 => prop::sample::select(vec!["|", " | ", "|---|---|\n", "| a | b |\n", "\n| 1 | `2|3` |\n", ":-:", "\\|"]),
        3 => prop::sample::select(vec!["**", "*", "_", "~~", "`", "``", "[", "](", ")", "](http://a.b)", "&amp;", "&#x202e;", "\\", "$", "<br>", "!["]),
        6 => prop::sample::select(vec!["a", "word", "two words ", "// code", "한국어", "굵게(bold)", "漢字かな", "👩‍👩‍👧", "e\u{301}", "1", "2024", "\"말\"", "مرحبا", "\u{202E}"]),
    ];
    prop::collection::vec(part, 0..28).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("PROPTEST_CASES").map_or(512, |cases| cases.parse().expect("a number")), ..ProptestConfig::default() })]

    #[test]
    fn streamed_layout_equals_whole_layout_at_every_prefix(raw in markdown(), width in 1u16..40, step in 1usize..9) {
        let mut streamed = MarkdownView::new("", width, glyphs(), true);
        let mut end = 0;
        while end < raw.len() {
            end = raw.ceil_char_boundary(end + step);
            streamed.extend_to(&raw[..end], true);
            let whole = MarkdownView::new(&raw[..end], width, glyphs(), true);
            prop_assert_eq!(rows(&streamed), rows(&whole), "{:?}", &raw[..end]);
        }
        streamed.extend_to(&raw, false);
        prop_assert_eq!(rows(&streamed), rows(&MarkdownView::new(&raw, width, glyphs(), false)));
    }

    #[test]
    fn no_row_is_wider_than_the_width(raw in markdown(), columns in 4u16..60) {
        let view = MarkdownView::new(&raw, columns, glyphs(), false);
        for row in plain(&view) {
            prop_assert!(width(row.trim_end()) <= usize::from(columns), "{row:?}");
        }
    }

    #[test]
    fn rows_of_rendered_markdown_are_in_source_order(raw in markdown(), columns in 1u16..60) {
        let view = MarkdownView::new(&raw, columns, glyphs(), false);
        let sources: Vec<_> = (0..view.len()).map(|row| view.row_start_byte(row)).collect();
        prop_assert!(sources.is_sorted(), "{sources:?} {:?}", rows(&view));
    }

    #[test]
    fn rendering_markdown_loses_no_letter(raw in markdown(), columns in 1u16..60) {
        let view = MarkdownView::new(&raw, columns, glyphs(), false);
        let shown: String = plain(&view).concat();
        // `x` is not checked: the marker of a done task contains one, which a narrow row may omit.
        let count = |text: &str, letter: char| text.chars().filter(|c| *c == letter).count();
        // Character references and line break tags are replaced.
        let raw = raw.replace("&amp;", "").replace("&#x202e;", "").replace("<br>", "");
        for letter in raw.chars().filter(|c| c.is_alphabetic() && *c != 'x') {
            prop_assert!(count(&shown, letter) >= count(&raw, letter), "{letter:?} of {raw:?} in {:?}", plain(&view));
        }
    }

    #[test]
    fn blocks_match_the_reference_parser(raw in block_markdown()) {
        prop_assert_eq!(scanner_leaves(&raw), reference_leaves(&raw), "{:?}", raw);
    }
}

/// Markdown of block constructs that the reference parser and the scanner treat alike: no HTML,
/// link definitions or tables.
fn block_markdown() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => prop::sample::select(vec!["\n", "\n\n", " ", "  ", "    "]),
        3 => prop::sample::select(vec!["- ", "* ", "1. ", "2) ", "> ", "# ", "-", "1."]),
        2 => prop::sample::select(vec!["```", "~~~", "\n```\n", "---", "===", "\n---\n"]),
        4 => prop::sample::select(vec!["a", "b c", "한"]),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

/// The kinds of the leaves in order, each prefixed by its containers: `>` for a quote, `-` for an
/// item.
fn scanner_leaves(raw: &str) -> Vec<String> {
    let mut scanner = scan::BlockScanner::default();
    let mut leaves: Vec<String> = Vec::new();
    let mut record = |event: BlockEvent| match event {
        BlockEvent::OpenLeaf { kind, prefix, .. } => {
            let path: String = prefix
                .rest
                .iter()
                .map(|part| if *part == PrefixPart::Quote { '>' } else { '-' })
                .collect();
            leaves.push(path + kind_code(&kind));
        }
        BlockEvent::ChangeKind(kind) => {
            if let Some(last) = leaves.last_mut() {
                *last = last.trim_end_matches(char::is_alphanumeric).to_owned() + kind_code(&kind);
            }
        }
        _ => {}
    };
    let mut start = 0;
    for line in raw.split('\n') {
        let part = LinePart {
            start,
            end: start + line.len(),
            is_continuation: false,
            is_cut: false,
            is_partial: false,
        };
        if start + line.len() < raw.len() || !line.is_empty() {
            scanner.push_line(raw, part, &mut record);
        }
        start += line.len() + 1;
    }
    scanner.finish(&mut record);
    // The reference parser has no leaf for empty quotes and items.
    leaves.retain(|leaf| !leaf.ends_with('e'));
    leaves
}

fn kind_code(kind: &LeafKind) -> &'static str {
    match kind {
        LeafKind::Paragraph => "p",
        LeafKind::Heading(1) => "h1",
        LeafKind::Heading(_) => "h2",
        LeafKind::Code { .. } => "c",
        LeafKind::Table(_) => "t",
        LeafKind::Rule => "r",
        LeafKind::EmptyItem => "e",
    }
}

fn reference_leaves(raw: &str) -> Vec<String> {
    let mut path = String::new();
    let mut leaves: Vec<String> = Vec::new();
    let mut is_in_leaf = false;
    for event in Parser::new_ext(raw, Options::empty()) {
        let leaf = match &event {
            Event::Start(Tag::BlockQuote(_)) => {
                path.push('>');
                None
            }
            Event::Start(Tag::Item) => {
                path.push('-');
                None
            }
            Event::End(TagEnd::BlockQuote(_) | TagEnd::Item) => {
                path.pop();
                None
            }
            Event::Start(Tag::Paragraph) => Some("p"),
            Event::Start(Tag::Heading { level, .. }) => {
                Some(if *level as u8 == 1 { "h1" } else { "h2" })
            }
            Event::Start(Tag::CodeBlock(_)) => Some("c"),
            Event::Rule => Some("r"),
            // The text of a tight item has no paragraph around it.
            Event::Text(_) | Event::Code(_) if !is_in_leaf => Some("p"),
            _ => None,
        };
        match &event {
            Event::Start(Tag::List(_) | Tag::Item | Tag::BlockQuote(_)) => is_in_leaf = false,
            Event::End(TagEnd::Emphasis | TagEnd::Strong) | Event::SoftBreak | Event::HardBreak => {
            }
            Event::End(_) | Event::Rule => is_in_leaf = false,
            _ => is_in_leaf = true,
        }
        leaves.extend(leaf.map(|leaf| format!("{path}{leaf}")));
    }
    leaves
}

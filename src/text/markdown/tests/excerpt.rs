//! Tests of copying a selected part of the laid-out text.

use super::super::{MarkdownView, RowOffset, RowPlace};
use super::{glyphs, markdown, plain};
use proptest::prelude::*;

fn place(row: usize, byte: usize) -> RowPlace {
    let offset = RowOffset::Text(byte);
    RowPlace { row, offset }
}

fn excerpt_of_rows(raw: &str, width: u16, first: usize, last: usize) -> String {
    let view = MarkdownView::new(raw, width, glyphs(), false);
    let start = RowPlace {
        row: first,
        offset: RowOffset::BeforeMarker,
    };
    view.excerpt(raw, start, place(last, view.row(last).text.len()))
}

const ANSWER: &str = "## Title\n\nSome **bold** words that wrap.\n\n- one\n- [two](http://a.b)\n\n\
    ```rust\nfn main() {\n\tx();\n}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.";

#[test]
fn the_whole_text_is_copied_as_its_source() {
    let view = MarkdownView::new(ANSWER, 20, glyphs(), false);
    let rows = [
        "Title",
        "",
        "Some bold words that ",
        "wrap.",
        "",
        "• one",
        "• two (http://a.b)",
        "",
        "  rust",
        "▏ fn main() {",
        "▏     x();",
        "▏ }",
        "",
        "  a │ b",
        "  ──┼──",
        "  1 │ 2",
        "",
        "The end.",
    ];
    assert_eq!(plain(&view), rows);
    assert_eq!(excerpt_of_rows(ANSWER, 20, 0, 17), ANSWER);
}

#[test]
fn whole_lines_are_copied_as_markdown_and_parts_as_shown() {
    assert_eq!(excerpt_of_rows(ANSWER, 20, 0, 0), "## Title");
    let wrapped = "Some **bold** words that wrap.";
    assert_eq!(excerpt_of_rows(ANSWER, 20, 2, 3), wrapped, "joined");
    assert_eq!(excerpt_of_rows(ANSWER, 20, 2, 2), "Some bold words that ");
    assert_eq!(
        excerpt_of_rows(ANSWER, 20, 5, 6),
        "- one\n- [two](http://a.b)"
    );
    let view = MarkdownView::new(ANSWER, 20, glyphs(), false);
    let part = |start, end| view.excerpt(ANSWER, start, end);
    assert_eq!(part(place(2, 5), place(3, 4)), "bold words that wrap");
    assert_eq!(part(place(0, 2), place(2, 9)), "tle\n\nSome bold");
    assert_eq!(
        part(place(5, 0), place(6, 3)),
        "one\ntwo",
        "after the bullet"
    );
    assert_eq!(part(place(3, 0), place(5, 3)), "wrap.\n\n- one");
}

#[test]
fn code_is_copied_without_its_frame_and_with_its_tabs() {
    let code = "fn main() {\n\tx();\n}";
    assert_eq!(excerpt_of_rows(ANSWER, 20, 9, 11), code);
    assert_eq!(excerpt_of_rows(ANSWER, 20, 8, 11), code, "with its label");
    assert_eq!(excerpt_of_rows(ANSWER, 20, 10, 10), "\tx();");
    assert_eq!(excerpt_of_rows(ANSWER, 20, 8, 8), "rust");
    let with_fence = "```rust\nfn main() {\n\tx();\n}\n```\n\n| a | b |\n|---|---|";
    assert_eq!(
        excerpt_of_rows(ANSWER, 20, 8, 13),
        with_fence.rsplit_once('\n').expect("a line").0
    );
    let until_code = "- [two](http://a.b)\n\nfn main() {";
    assert_eq!(excerpt_of_rows(ANSWER, 20, 6, 9), until_code);
    let view = MarkdownView::new(ANSWER, 6, glyphs(), false);
    assert_eq!(
        view.block_source(ANSWER, 0).as_deref(),
        Some(code),
        "wrapped"
    );
}

#[test]
fn code_in_a_list_is_copied_without_its_indentation() {
    let raw = "1. x\n\n   ```\n   a\n\n     b\n   ```\n";
    let view = MarkdownView::new(raw, 40, glyphs(), false);
    assert_eq!(view.block_source(raw, 0).as_deref(), Some("a\n\n  b"));
    let indented = "    a\n      b\n";
    let view = MarkdownView::new(indented, 40, glyphs(), false);
    assert_eq!(view.block_source(indented, 0).as_deref(), Some("a\n  b"));
    let blank_first = "```\n\n\na\n```";
    let view = MarkdownView::new(blank_first, 40, glyphs(), false);
    assert_eq!(view.block_source(blank_first, 0).as_deref(), Some("\n\na"));
}

#[test]
fn tables_are_copied_row_by_row_and_cells_as_text() {
    let table = "| a | b |\n|---|---|\n| 1 | 2 |";
    assert_eq!(excerpt_of_rows(ANSWER, 20, 13, 15), table);
    assert_eq!(excerpt_of_rows(ANSWER, 20, 15, 15), "| 1 | 2 |");
    let view = MarkdownView::new(ANSWER, 20, glyphs(), false);
    assert_eq!(view.excerpt(ANSWER, place(15, 0), place(15, 1)), "1");
    let across = view.excerpt(ANSWER, place(15, 0), place(15, 6));
    assert_eq!(across, "| 1 | 2 |", "across a border");
    let quoted = "> | a | b |\n> |---|---|\n> | 1 | 2 |";
    let view = MarkdownView::new(quoted, 40, glyphs(), false);
    assert_eq!(view.block_source(quoted, 0).as_deref(), Some(table));
}

#[test]
fn hidden_characters_of_a_code_block_are_not_copied() {
    let raw = "```\nrm\t-rf \u{202E}x\u{200B}\n```";
    let view = MarkdownView::new(raw, 40, glyphs(), false);
    assert_eq!(view.block_source(raw, 0).as_deref(), Some("rm  -rf x"));
}

proptest! {
    #[test]
    fn any_excerpt_consists_of_shown_text_or_source_lines(
        raw in markdown(), width in 1u16..40, from in 0usize..60, to in 0usize..60, byte in 0usize..9,
    ) {
        let view = MarkdownView::new(&raw, width, glyphs(), false);
        let rows = view.len();
        prop_assume!(rows > 0);
        let (from, to) = (from % rows, to % rows);
        let (first, last) = (from.min(to), from.max(to));
        let start = view.row(first).text;
        let start = place(first, start.floor_char_boundary(byte.min(start.len())));
        let end = place(last, view.row(last).text.len());
        let excerpt = view.excerpt(&raw, start, end);
        let shown: String = (0..rows).map(|row| view.row(row).text).collect();
        let is_known = |line: &str| {
            let line: String = line.split_whitespace().collect();
            let shown: String = shown.split_whitespace().collect();
            shown.contains(&line) || view.source.split_whitespace().collect::<String>().contains(&line)
        };
        prop_assert!(excerpt.lines().all(is_known), "{excerpt:?}");
    }
}

//! Bounds on the work and memory that a text costs.

use super::super::{MarkdownView, emphasis};
use super::{glyphs, rows};

/// Bytes laid out for a text streamed in chunks of 60 bytes.
fn bytes_laid_out(raw: &str) -> usize {
    let mut view = MarkdownView::new("", 80, glyphs(), true);
    let mut end = 0;
    while end < raw.len() {
        end = raw.ceil_char_boundary(end + 60);
        view.extend_to(&raw[..end], true);
    }
    view.layout.row_buffer.bytes_written
}

#[test]
fn cost_per_token_does_not_grow_with_length() {
    type Shape = fn(usize) -> String;
    let shapes: [(&str, Shape); 8] = [
        ("list", |n| {
            (0..n).map(|n| format!("- item {n} of it\n")).collect()
        }),
        ("nested list", |n| {
            (0..n)
                .map(|n| format!("{}- item {n}\n", " ".repeat(n % 9)))
                .collect()
        }),
        ("table", |n| {
            "|a|b|\n|-|-|\n".to_owned() + &"| one | two words |\n".repeat(n)
        }),
        ("fence", |n| {
            "```rust\n".to_owned() + &"let x = \"y\"; // z\n".repeat(n)
        }),
        ("prose", |n| {
            "Some **words** of it.\nAnother line.\n\n".repeat(n / 2)
        }),
        ("one paragraph", |n| "some words of it,\n".repeat(n)),
        ("one line", |n| "some words of it. ".repeat(n)),
        ("one word", |n| "somewordsofit한글".repeat(n)),
    ];
    for (name, shape) in shapes {
        let [short, long] = [1_000, 4_000].map(|lines| bytes_laid_out(&shape(lines)));
        assert!(long < 5 * short, "{name}: {short} and {long} bytes");
    }
}

fn bytes_searched(action: impl FnOnce()) -> usize {
    emphasis::BYTES_SEARCHED.set(0);
    action();
    emphasis::BYTES_SEARCHED.get()
}

const DELIMITER_PATTERNS: [&str; 7] = [
    " \\``",
    "*a ",
    "a *b ",
    "`a *b ",
    "a _b* ",
    "``` `` ` ",
    "**가(나)**는 ",
];

#[test]
fn long_line_of_delimiters_is_scanned_a_bounded_number_of_times() {
    for part in DELIMITER_PATTERNS {
        let raw = part.repeat(6_000 / part.len());
        let bytes = bytes_searched(|| {
            MarkdownView::new(&raw, 80, glyphs(), false);
        });
        assert!(bytes < 16 * raw.len(), "{part:?}: {bytes} bytes");
    }
}

#[test]
fn appending_to_a_long_line_of_delimiters_has_bounded_cost() {
    for part in DELIMITER_PATTERNS {
        let raw = part.repeat(3_000 / part.len());
        let cut = raw.floor_char_boundary(2_900);
        let mut view = MarkdownView::new(&raw[..cut], 80, glyphs(), true);
        let bytes = bytes_searched(|| view.extend_to(&raw, true));
        assert!(bytes < 64 * 1_024, "{part:?}: {bytes} bytes");
    }
}

/// The memory used by a table of many nearly empty rows, and the bytes of its source.
fn table_cost(header: &[&str], row: &str, width: u16) -> (usize, usize) {
    let header_line = format!("|{}|\n", header.join("|"));
    let delimiter_line = format!("|{}\n", "-|".repeat(header.len()));
    let raw = header_line + &delimiter_line + &row.repeat(4_000);
    let view = MarkdownView::new(&raw, width, glyphs(), false);
    (view.memory_bytes(), raw.len())
}

#[test]
fn table_row_cost_is_bounded_by_its_length() {
    let name = "name ".repeat(400);
    let long = {
        let mut header = vec!["b"; 12];
        header[0] = &name;
        header
    };
    // The name of the case, the header and the width.
    let shapes: [(&str, &[&str], u16); 4] = [
        ("list of cells", &["a"; 128], 80),
        ("columns", &["abc"; 30], 240),
        ("one long name", &long, 20),
        ("one long name, narrow", &long, 4),
    ];
    let costs = shapes.map(|(name, header, width)| (name, table_cost(header, "|\n", width)));
    let is_excessive =
        |(_, (cost, bytes)): &&(&str, (usize, usize))| *cost > (1 << 20) + 128 * bytes;
    let excessive: Vec<_> = costs.iter().filter(is_excessive).collect();
    assert!(excessive.is_empty(), "{excessive:?}");
}

#[test]
fn streamed_long_lines_and_short_table_rows_are_laid_out_like_the_whole_text() {
    let short_rows = format!("|{}\n|{}\n", "abc|".repeat(30), "-|".repeat(30)) + &"|\n".repeat(900);
    let lines = DELIMITER_PATTERNS.map(|part| part.repeat(6_000 / part.len()));
    for raw in lines.iter().chain([&short_rows]) {
        let mut streamed = MarkdownView::new("", 240, glyphs(), true);
        let mut end = 0;
        while end < raw.len() {
            end = raw.ceil_char_boundary(end + 211);
            streamed.extend_to(&raw[..end], true);
            let whole = MarkdownView::new(&raw[..end], 240, glyphs(), true);
            assert_eq!(rows(&streamed), rows(&whole), "{:?}", &raw[..end]);
        }
    }
}

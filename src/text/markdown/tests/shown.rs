//! Tests of the rows that individual constructs produce.

use super::super::MarkdownView;
use super::{glyphs, plain};

fn shown(raw: &str, columns: u16) -> Vec<String> {
    let rows = plain(&MarkdownView::new(raw, columns, glyphs(), false));
    rows.iter().map(|row| row.trim_end().to_owned()).collect()
}

/// Like [`shown`], while more text may follow.
fn shown_open(raw: &str) -> Vec<String> {
    let rows = plain(&MarkdownView::new(raw, 40, glyphs(), true));
    rows.iter().map(|row| row.trim_end().to_owned()).collect()
}

#[test]
fn lists_nest_and_continue_their_numbering() {
    let raw = "Fruit:\n- apple\n  - red\n\n    sweet\n- 배\n\n3. three\n3. four\n\n- [x] done\n- [ ] not\n-\n";
    let rows = [
        "Fruit:",
        "• apple",
        "  • red",
        "",
        "    sweet",
        "• 배",
        "",
        "3. three",
        "4. four",
        "",
        "[x] done",
        "[ ] not",
        "•",
    ];
    assert_eq!(shown(raw, 40), rows);
}

#[test]
fn block_quote_marker_is_on_every_row() {
    let raw = "> one two three\n> - four\n>\n> five\n\nsix";
    let rows = ["│ one two", "│ three", "│ • four", "│", "│ five", "", "six"];
    assert_eq!(shown(raw, 10), rows);
}

#[test]
fn code_has_a_bar_and_is_broken_at_the_width() {
    let raw = "Run:\n```sh\nlet  x = 한글;\n\n  y\n```\nend";
    let rows = [
        "Run:",
        "",
        "  sh",
        "▏ let  x",
        "↳ = 한글;",
        "▏",
        "▏   y",
        "",
        "end",
    ];
    assert_eq!(shown(raw, 9), rows);
    assert_eq!(
        shown("- a\n  ```\n  b\n   c\n", 20),
        ["• a", "  ▏ b", "  ▏  c"]
    );
    assert_eq!(
        shown("a\n\n    code\n\n      more\n\nb", 20),
        ["a", "", "▏ code", "▏", "▏   more", "", "b"]
    );
}

#[test]
fn wrapped_code_line_continues_after_a_marker() {
    let raw = "```\nlet name = \"value of it\";\nnext\n```\n> - ```\n>   abcdefghijkl\n";
    let rows = [
        "▏ let name =",
        "↳ \"value of",
        "↳ it\";",
        "▏ next",
        "",
        "│ • ▏ abcdefgh",
        "│   ↳ ijkl",
    ];
    assert_eq!(shown(raw, 14), rows);
}

#[test]
fn url_stays_on_one_row_if_it_fits() {
    let raw = "See https://a.example/b/c now, and/or [docs](https://a.example/longer/path).";
    let rows = [
        "See",
        "https://a.example/b/c",
        "now, and/or docs",
        "(https://a.example/",
        "longer/path).",
    ];
    assert_eq!(shown(raw, 22), rows);
}

#[test]
fn tables_are_fitted_to_the_terminal_width() {
    let raw = "| step | value |\n|------|------:|\n| 17 | 17 |\n| + 25 | `42` |\n";
    let rows = [
        "  step │ value",
        "  ─────┼──────",
        "  17   │    17",
        "  + 25 │    42",
    ];
    assert_eq!(shown(raw, 40), rows);
    let long = "| a | b |\n|---|---|\n| one two three four | 한국어 문장 하나 |\n";
    let rows = [
        "  a         │ b",
        "  ──────────┼─────────",
        "  one two   │ 한국어",
        "  three     │ 문장",
        "  four      │ 하나",
    ];
    assert_eq!(shown(long, 22), rows);
}

#[test]
fn table_too_wide_to_fit_becomes_a_list_of_records() {
    let raw = "| name | age | town |\n|---|---|---|\n| Anna | 41 | Busan |\n| Jun | 7 | |\n";
    let rows = [
        "  name: Anna",
        "  age: 41",
        "  town: Busan",
        "",
        "  name: Jun",
        "  age: 7",
        "  town:",
    ];
    assert_eq!(shown(raw, 16), rows);
}

#[test]
fn missing_cells_are_shown_empty() {
    let raw = "| a | b | c |\n|---|--:|---|\n| 1 |\n|\n";
    let rows = ["  a │ b │ c", "  ──┼───┼──", "  1 │   │", "    │   │"];
    assert_eq!(shown(raw, 40), rows);
    let rows = ["  a: 1", "  b:", "  c:", "", "  a:", "  b:", "  c:"];
    assert_eq!(shown(raw, 8), rows);
}

#[test]
fn full_row_after_many_short_rows_shows_all_cells() {
    let header = format!("|{}\n|{}\n", "a|".repeat(60), "-|".repeat(60));
    let raw = header + &"|\n".repeat(4_000) + "|" + &"x|".repeat(60) + "\n";
    for columns in [80, 400] {
        let rows = shown(&raw, columns).join("\n");
        assert_eq!(rows.matches('x').count(), 60, "{columns} columns");
    }
}

#[test]
fn surplus_table_cells_are_kept() {
    assert_eq!(shown("a | b\n--|--\n1 | 2 | 3\n", 20)[2], "  1 │ 2 | 3");
}

#[test]
fn emphasis_closes_next_to_letters() {
    assert_eq!(
        shown("**단어(word)**는 **\"말\"**이다", 40),
        ["단어(word)는 \"말\"이다"]
    );
    assert_eq!(
        shown("그는**「예」**라고 했다", 40),
        ["그는「예」라고 했다"]
    );
}

#[test]
fn markers_do_not_flicker_while_streaming() {
    let raw = "Some **bold** and `code`, [link](https://a.b) *end*\n\n- **x**: y\n- [x] z\n\n```rust\nlet a;\n```\n";
    for end in (0..=raw.len()).filter(|end| raw.is_char_boundary(*end)) {
        let rows = shown_open(&raw[..end]).join("\n");
        let has_marker = rows.contains(['*', '`']) || rows.contains("](");
        assert!(!has_marker, "{:?} shows {rows:?}", &raw[..end]);
    }
}

#[test]
fn table_column_never_shrinks_while_rows_stream_in() {
    let raw = "| a | b |\n|---|---|\n| one | two |\n| a long cell | x |\n| c | d |\n";
    let column_ends: Vec<_> = (1..=raw.len())
        .filter_map(|end| shown_open(&raw[..end]).first()?.find('│'))
        .collect();
    assert!(
        column_ends.is_sorted() && column_ends.ends_with(&[14]),
        "{column_ends:?}"
    );
    assert_eq!(shown_open("| a | b"), ["  a │ b", "  ──┼──"]);
    assert_eq!(shown_open("| a | b |\n|-"), ["  a │ b", "  ──┼──"]);
}

#[test]
fn reference_link_resolves_once_its_definition_is_complete() {
    let raw = "See [docs][1].\n\n[1]: https://a.b/login\n";
    let mut view = MarkdownView::new("See [docs][1].\n\n", 60, glyphs(), true);
    for end in 16..=raw.len() {
        view.extend_to(&raw[..end], true);
        assert_eq!(plain(&view)[0], "See [docs][1].");
    }
    view.extend_to(raw, false);
    let rows = [
        "See docs (https://a.b/login).",
        "",
        "[1]: https://a.b/login",
    ];
    assert_eq!(plain(&view), rows);
}

#[test]
fn list_item_does_not_move_while_streaming() {
    let raw = "Intro.\n\n1. **First**: a\n\n2. `x`\n\n- [x] done\n";
    let mut previous = Vec::new();
    for end in 1..=raw.len() {
        let rows = shown_open(&raw[..end]);
        let filled_rows = |rows: &[String]| -> Vec<usize> {
            (0..rows.len())
                .filter(|row| !rows[*row].is_empty())
                .collect()
        };
        let current = filled_rows(&rows);
        assert!(
            current.starts_with(&previous),
            "{:?}: {rows:?}",
            &raw[..end]
        );
        previous = current;
    }
}

#[test]
fn underline_without_a_heading_is_kept() {
    assert_eq!(
        shown("- b `c`\n===\nTitle\n", 40),
        ["• b c", "  ===", "  Title"]
    );
    assert_eq!(
        shown("> quote *em*\n===\nafter", 40),
        ["│ quote em", "│ ===", "│ after"]
    );
    assert_eq!(shown("* **c**\n--\nd", 40), ["• c", "  --", "  d"]);
    assert_eq!(shown("a `b`\n===\nc", 40), ["a b", "c"]);
}

#[test]
fn markers_in_cells_and_badges_do_not_flicker() {
    let raw = "| a | `b_c` | **d** |\n|---|---|---|\n| `x` | **y** z | [l](http://m) |\n\n\
        [![Build](https://i.b)](https://c.d) 料金は[公式](https://e.f)です ![p](q)\n";
    for end in (0..=raw.len()).filter(|end| raw.is_char_boundary(*end)) {
        let rows = shown_open(&raw[..end]).join("\n");
        let has_marker = rows.contains(['*', '`', '[', ']', '!']);
        assert!(!has_marker, "{:?} shows {rows:?}", &raw[..end]);
    }
}

#[test]
fn tabs_advance_to_the_next_tab_stop() {
    let raw = "-\tone\n\t-\ttwo\n\t\t-\tthree\n";
    assert_eq!(shown(raw, 40), ["• one", "  • two", "    • three"]);
    assert_eq!(shown("```\na\tb\nabc\td\n```", 40), ["▏ a   b", "▏ abc d"]);
}

#[test]
fn terminal_control_sequences_are_removed() {
    let raw = "a\u{1b}[31m &#x1b;[2J &#x202e;b `\u{9b}x` [l](&#x1b;]0;t&#7;)\n```\u{1b}]0;x\u{7}\n\u{8d}\n```\n| \u{1b}c | &#x9b;|\n|-|-|\n";
    let rows = shown(raw, 60).join("\n");
    assert!(
        rows.chars()
            .all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'),
        "{rows:?}"
    );
}

#[test]
fn long_line_is_one_paragraph_with_intact_emphasis() {
    let words = "word ".repeat(405);
    let raw = format!("{words}and **some words that are bold here** {words}");
    let rows = shown(&raw, 50);
    assert!(
        rows[..rows.len() - 1].iter().all(|row| row.len() > 40),
        "{rows:?}"
    );
    let joined: Vec<_> = rows.iter().flat_map(|row| row.split_whitespace()).collect();
    assert_eq!(joined.join(" "), raw.replace('*', "").trim());
}

#[test]
fn long_line_of_code_is_wrapped_as_one_line() {
    let line = "abcdefghi ".repeat(1_000);
    let rows = shown(&format!("```\n{line}\n```\n"), 42);
    assert_eq!(rows.len(), 250);
    assert_eq!(rows[0], format!("▏ {}", "abcdefghi ".repeat(4).trim_end()));
    assert!(
        rows[1..].windows(2).all(|pair| pair[0] == pair[1]),
        "{rows:?}"
    );
}

#[test]
fn math_is_shown_as_written_even_while_it_arrives() {
    let raw = "Sum:\n\\[\n\\int_0^1 x \\, dx \\\\\n- b_1 * c_1 * d\n= \\{e\\}\n\\]\n- an item";
    let rows = [
        "Sum:",
        r"\[",
        r"\int_0^1 x \, dx \\",
        "- b_1 * c_1 * d",
        r"= \{e\}",
        r"\]",
        "• an item",
    ];
    assert_eq!(shown(raw, 40), rows);
    let unfinished = &raw[..raw.find("{e").expect("in the text") + 2];
    let rows: Vec<_> = rows[..4].iter().copied().chain([r"= \{e"]).collect();
    assert_eq!(shown_open(unfinished), rows);
    assert_eq!(shown_open(r"so **\( x^* \,"), [r"so \( x^* \,"]);
    assert_eq!(shown_open(r"so $\int_0 *x"), [r"so $\int_0 *x"]);
}

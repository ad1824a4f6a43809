use super::op::{Kind, Op, Part};
use super::*;
use crate::text::grapheme::width;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

fn marks() -> Marks {
    Marks::new(false, true)
}

/// Rows as text, with each stretch's look behind it.
fn rows(text: &Markdown) -> Vec<String> {
    (0..text.len())
        .map(|row| {
            let line = text.row(row);
            let mut shown = line.prefix.to_owned();
            let mut at = 0;
            for (end, look) in line.looks() {
                let end = end.min(line.text.len());
                shown.push_str(&line.text[at..end]);
                if look != Look::default() {
                    shown.push_str(&format!("⟦{look:?}⟧"));
                }
                at = end;
                if at == line.text.len() {
                    break;
                }
            }
            format!("{shown} @{}", text.byte_of(row))
        })
        .collect()
}

fn plain(text: &Markdown) -> Vec<String> {
    let row = |row| {
        let line: Line = text.row(row);
        format!("{}{}", line.prefix, line.text)
    };
    (0..text.len()).map(row).collect()
}

/// Markdown of parts that mean something to one another.
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
    fn streamed_equals_whole_at_every_prefix(raw in markdown(), width in 1u16..40, step in 1usize..9) {
        let mut streamed = Markdown::new("", width, marks(), true);
        let mut end = 0;
        while end < raw.len() {
            end = raw.ceil_char_boundary(end + step);
            streamed.extend_to(&raw[..end], true);
            let whole = Markdown::new(&raw[..end], width, marks(), true);
            prop_assert_eq!(rows(&streamed), rows(&whole), "{:?}", &raw[..end]);
        }
        streamed.extend_to(&raw, false);
        prop_assert_eq!(rows(&streamed), rows(&Markdown::new(&raw, width, marks(), false)));
    }

    #[test]
    fn no_row_is_wider_than_the_width(raw in markdown(), columns in 4u16..60) {
        let text = Markdown::new(&raw, columns, marks(), false);
        for row in plain(&text) {
            prop_assert!(width(row.trim_end()) <= usize::from(columns), "{row:?}");
        }
    }

    #[test]
    fn rows_come_in_the_order_of_the_source(raw in markdown(), columns in 1u16..60) {
        let text = Markdown::new(&raw, columns, marks(), false);
        let sources: Vec<_> = (0..text.len()).map(|row| text.byte_of(row)).collect();
        prop_assert!(sources.is_sorted(), "{sources:?} {:?}", rows(&text));
    }

    #[test]
    fn no_letter_is_lost(raw in markdown(), columns in 1u16..60) {
        let text = Markdown::new(&raw, columns, marks(), false);
        let shown: String = plain(&text).concat();
        // A task's box has a letter too, and a narrow row no room for it.
        let count = |text: &str, letter: char| text.chars().filter(|c| *c == letter).count();
        // Character references are what they stand for.
        let raw = raw.replace("&amp;", "").replace("&#x202e;", "").replace("<br>", "");
        for letter in raw.chars().filter(|c| c.is_alphabetic() && *c != 'x') {
            prop_assert!(count(&shown, letter) >= count(&raw, letter), "{letter:?} of {raw:?} in {:?}", plain(&text));
        }
    }

    #[test]
    fn blocks_are_those_of_the_reference_parser(raw in blocks()) {
        prop_assert_eq!(ours(&raw), theirs(&raw), "{:?}", raw);
    }
}

/// Block structure alone: no tags, no definitions, no tables.
fn blocks() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => prop::sample::select(vec!["\n", "\n\n", " ", "  ", "    "]),
        3 => prop::sample::select(vec!["- ", "* ", "1. ", "2) ", "> ", "# ", "-", "1."]),
        2 => prop::sample::select(vec!["```", "~~~", "\n```\n", "---", "===", "\n---\n"]),
        4 => prop::sample::select(vec!["a", "b c", "한"]),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

/// Leaves in order, each with the containers around it.
fn ours(raw: &str) -> Vec<String> {
    let mut scanner = scan::Scanner::default();
    let mut leaves: Vec<String> = Vec::new();
    let mut take = |op: Op| match op {
        Op::Open { kind, prefix, .. } => {
            let path: String = prefix
                .rest
                .iter()
                .map(|part| if *part == Part::Quote { '>' } else { '-' })
                .collect();
            leaves.push(path + name(&kind));
        }
        Op::Become(kind) => {
            if let Some(last) = leaves.last_mut() {
                *last = last.trim_end_matches(char::is_alphanumeric).to_owned() + name(&kind);
            }
        }
        _ => {}
    };
    let mut start = 0;
    for line in raw.split('\n') {
        let piece = scan::Piece {
            start,
            end: start + line.len(),
            continues: false,
            cut: false,
            partial: false,
        };
        if start + line.len() < raw.len() || !line.is_empty() {
            scanner.line(raw, piece, &mut take);
        }
        start += line.len() + 1;
    }
    scanner.finish(&mut take);
    // Empty quotes and items are containers without a leaf to the other parser.
    leaves.retain(|leaf| !leaf.ends_with('e'));
    leaves
}

fn name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Paragraph => "p",
        Kind::Heading(1) => "h1",
        Kind::Heading(_) => "h2",
        Kind::Code { .. } => "c",
        Kind::Table(_) => "t",
        Kind::Rule => "r",
        Kind::Empty => "e",
    }
}

fn theirs(raw: &str) -> Vec<String> {
    let mut path = String::new();
    let mut leaves: Vec<String> = Vec::new();
    let mut in_leaf = false;
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
            // A tight item's text has no paragraph around it.
            Event::Text(_) | Event::Code(_) if !in_leaf => Some("p"),
            _ => None,
        };
        match &event {
            Event::Start(Tag::List(_) | Tag::Item | Tag::BlockQuote(_)) => in_leaf = false,
            Event::End(TagEnd::Emphasis | TagEnd::Strong) | Event::SoftBreak | Event::HardBreak => {
            }
            Event::End(_) | Event::Rule => in_leaf = false,
            _ => in_leaf = true,
        }
        leaves.extend(leaf.map(|leaf| format!("{path}{leaf}")));
    }
    leaves
}

fn shown(raw: &str, columns: u16) -> Vec<String> {
    let rows = plain(&Markdown::new(raw, columns, marks(), false));
    rows.iter().map(|row| row.trim_end().to_owned()).collect()
}

/// The same while more may follow.
fn shown_open(raw: &str) -> Vec<String> {
    let rows = plain(&Markdown::new(raw, 40, marks(), true));
    rows.iter().map(|row| row.trim_end().to_owned()).collect()
}

#[test]
fn lists_nest_and_count_on() {
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
fn quotes_keep_their_sign_on_every_row() {
    let raw = "> one two three\n> - four\n>\n> five\n\nsix";
    let rows = ["│ one two", "│ three", "│ • four", "│", "│ five", "", "six"];
    assert_eq!(shown(raw, 10), rows);
}

#[test]
fn code_is_set_in_and_broken_where_the_width_ends() {
    let raw = "Run:\n```sh\nlet  x = 한글;\n\n  y\n```\nend";
    let rows = [
        "Run:",
        "",
        "  sh",
        "  let  x",
        "  = 한글;",
        "",
        "    y",
        "",
        "end",
    ];
    assert_eq!(shown(raw, 9), rows);
    assert_eq!(
        shown("- a\n  ```\n  b\n   c\n", 20),
        ["• a", "    b", "     c"]
    );
    assert_eq!(
        shown("a\n\n    code\n\n      more\n\nb", 20),
        ["a", "", "  code", "", "    more", "", "b"]
    );
}

#[test]
fn tables_are_fitted_to_the_width() {
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
fn a_table_that_cannot_fit_is_a_list_of_its_rows() {
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
fn what_a_table_has_too_much_of_is_not_lost() {
    assert_eq!(shown("a | b\n--|--\n1 | 2 | 3\n", 20)[2], "  1 │ 2 | 3");
}

#[test]
fn letters_beside_emphasis_do_not_keep_it_from_ending() {
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
fn no_sign_shows_that_vanishes_with_the_next_letter() {
    let raw = "Some **bold** and `code`, [link](https://a.b) *end*\n\n- **x**: y\n- [x] z\n\n```rust\nlet a;\n```\n";
    for end in (0..=raw.len()).filter(|end| raw.is_char_boundary(*end)) {
        let rows = shown_open(&raw[..end]).join("\n");
        let sign = rows.contains(['*', '`']) || rows.contains("](");
        assert!(!sign, "{:?} shows {rows:?}", &raw[..end]);
    }
}

#[test]
fn a_row_of_a_table_that_comes_in_moves_no_column() {
    let raw = "| a | b |\n|---|---|\n| one | two |\n| a long cell";
    let rows = ["  a   │ b", "  ────┼────", "  one │ two", "  a … │"];
    assert_eq!(shown_open(raw), rows);
    assert_eq!(shown_open("| a | b"), ["  a │ b", "  ──┼──"]);
    assert_eq!(shown_open("| a | b |\n|-"), ["  a │ b", "  ──┼──"]);
}

#[test]
fn a_reference_is_resolved_when_its_definition_comes() {
    let mut text = Markdown::new("See [docs][1].\n\n", 60, marks(), true);
    assert_eq!(plain(&text), ["See [docs][1]."]);
    text.extend_to("See [docs][1].\n\n[1]: https://a.b\n", true);
    assert_eq!(
        plain(&text),
        ["See docs (https://a.b).", "", "[1]: https://a.b"]
    );
}

#[test]
fn nothing_a_terminal_obeys_gets_through() {
    let raw = "a\u{1b}[31m &#x1b;[2J &#x202e;b `\u{9b}x` [l](&#x1b;]0;t&#7;)\n```\u{1b}]0;x\u{7}\n\u{8d}\n```\n| \u{1b}c | &#x9b;|\n|-|-|\n";
    let rows = shown(raw, 60).join("\n");
    assert!(
        rows.chars()
            .all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'),
        "{rows:?}"
    );
}

/// Bytes laid out for a text that streams in sixty bytes at a time.
fn work(raw: &str) -> usize {
    let mut text = Markdown::new("", 80, marks(), true);
    let mut end = 0;
    while end < raw.len() {
        end = raw.ceil_char_boundary(end + 60);
        text.extend_to(&raw[..end], true);
    }
    text.layout.arena.work
}

#[test]
fn the_ten_thousandth_token_costs_what_the_first_did() {
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
        let [short, long] = [1_000, 4_000].map(|lines| work(&shape(lines)));
        assert!(long < 5 * short, "{name}: {short} and {long} bytes");
    }
}

#[test]
fn a_long_line_is_one_paragraph_whose_emphasis_is_whole() {
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
fn a_long_line_of_code_is_one_line() {
    let line = "abcdefghi ".repeat(1_000);
    let rows = shown(&format!("```\n{line}\n```\n"), 42);
    assert_eq!(rows.len(), 250);
    assert_eq!(rows[0], format!("  {}", "abcdefghi ".repeat(4).trim_end()));
    assert!(rows.windows(2).all(|pair| pair[0] == pair[1]), "{rows:?}");
}

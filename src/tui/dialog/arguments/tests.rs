//! Nothing is left out: the arguments can be rebuilt from the drawn cells at any width.

use super::*;
use crate::argument_reader::read_arguments;
use crate::tui::widgets::painter::Painter;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

fn drawn(value: &Value) -> DrawnArguments {
    DrawnArguments::new(&value.as_object().expect("an object").clone().into())
}

/// The cells of all rows; the second cell of a wide character is empty.
fn cells(arguments: &DrawnArguments, columns: u16) -> Vec<Vec<String>> {
    let model = crate::tui::UiModel::new(&Default::default(), (columns, 1));
    let rows = arguments.rows(columns, &Glyphs::new(false)).rows;
    let draw = |row: &crate::text::styled_line::StyledLine| {
        assert!(row.width() <= usize::from(columns), "{row:?}");
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, 1));
        let mut pen = Painter::new(&mut buffer, model.screen.theme, model.screen.glyphs);
        pen.put_styled_line(0, 0, row, columns);
        let mut cells = Vec::new();
        let mut covered = 0;
        for cell in buffer.content() {
            if covered > 0 {
                covered -= 1;
                cells.push(String::new());
                continue;
            }
            covered = crate::text::grapheme::width(cell.symbol()).saturating_sub(1);
            cells.push(cell.symbol().to_owned());
        }
        cells
    };
    rows.iter().map(draw).collect()
}

fn rows(value: &Value, columns: u16) -> String {
    let rows = drawn(value).rows(columns, &Glyphs::new(false)).rows;
    let rows = rows.iter().map(|row| row.text().trim_end().to_owned());
    rows.collect::<Vec<_>>().join("\n")
}

const TEXT: &str = "[a-c\u{430}ａ \t\u{a0}\u{3000}\u{202e}\u{2011}\u{1100}\u{1161}\u{212b}가漢⟨⟩⇥\\\\\"\\n┆/:.\\[\\]{}0-9+-👩‍👩‍👧é\u{301}]{0,40}";

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        TEXT.prop_map(Value::from),
        "(a\n)*b {0,2}".prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(Value::Null),
        Just(json!("true")),
        Just(json!("- oldText + newText")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any_key(), inner.clone()), 0..4)
                .prop_map(|members| members.into_iter().collect()),
            (TEXT, TEXT, inner).prop_map(|(old, new, more)| {
                json!({ "oldText": old, "newText": new, "more": more })
            }),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{1,3}",
        "[a \n:.\\[\\]{}가\"⟨]{0,12}",
        Just("path".to_owned())
    ]
}

proptest! {
    #[test]
    fn arguments_can_be_rebuilt_from_the_drawn_cells(
        members in prop::collection::vec((any_key(), any_value()), 0..5),
        columns in 20u16..90,
    ) {
        let arguments: Value = members.into_iter().collect();
        let read = read_arguments(&cells(&drawn(&arguments), columns));
        prop_assert_eq!(Value::Object(read), arguments);
    }

    #[test]
    fn the_json_view_is_the_exact_json(value in any_value(), columns in 20u16..60) {
        let arguments = json!({ "a": value });
        let mut drawn = drawn(&arguments);
        drawn.toggle_json();
        let text: String = drawn.json.document.lines.iter().map(|line| line.text.as_str()).collect();
        let members = arguments.as_object().expect("an object");
        let exact = json_lines::indented_object(members);
        prop_assert_eq!(serde_json::from_str::<Value>(&exact).ok(), Some(arguments.clone()));
        prop_assert_eq!(text, values::shown_json(&exact.replace('\n', "")));
        prop_assert!(drawn.rows(columns, &Glyphs::new(false)).rows.len() >= 3);
    }

    #[test]
    fn arguments_are_fully_drawn_only_once_every_row_was_drawn(value in any_value(), columns in 20u16..60, skipped in 0usize..40) {
        let mut drawn = drawn(&json!({ "a": value, "b": "one\ntwo\nthree" }));
        let starts = drawn.rows(columns, &Glyphs::new(false)).starts;
        let skipped = skipped % starts.len();
        for row in (0..starts.len()).filter(|row| *row != skipped) {
            drawn.mark_drawn(row..row + 1, &starts, Duration::ZERO);
        }
        prop_assert_eq!(drawn.fully_drawn_at(), None);
        prop_assert_eq!(drawn.undrawn_rows(&starts), 1);
        drawn.mark_drawn(skipped..skipped + 1, &starts, Duration::ZERO);
        prop_assert!(drawn.fully_drawn_at().is_some());
    }
}

#[test]
fn edits_are_drawn_as_a_diff() {
    let edit = json!({
        "path": "src/b.py",
        "edits": [{ "oldText": "def f():\n    return 1\n    # unchanged",
                    "newText": "def g():\n    return 2\n    # unchanged" }],
        "dryRun": false,
    });
    assert_eq!(
        rows(&edit, 80),
        "  path    src/b.py                       dryRun  false\n\
         \x20 edits[0]: - oldText + newText\n\
         \x20   1 - def f():\n\
         \x20   2 -     return 1\n\
         \x20   1 + def g():\n\
         \x20   2 +     return 2\n\
         \x20   3       # unchanged"
    );
}

#[test]
fn multi_line_texts_have_line_numbers() {
    let write = json!({ "content": "fn main() {\n\tprintln!(\"hi\");  \n}\n", "path": "a.rs" });
    assert_eq!(
        rows(&write, 60),
        "  path  a.rs\n\
         \x20 content: 3 lines, ends with a line break\n\
         \x20   1  fn main() {\n\
         \x20   2  ⇥   println!(\"hi\"); ⟨SP⟩\n\
         \x20   3  }"
    );
    assert_eq!(
        rows(&json!({ "a": "\n" }), 60),
        "  a: 1 line, ends with a line break\n    1"
    );
}

#[test]
fn code_is_highlighted_by_file_name_declared_language_or_key() {
    let has_keyword = |value: Value| {
        let document =
            ArgumentDocument::readable(&value.as_object().expect("an object").clone().into());
        let is_keyword = |token: &(u32, crate::text::highlight::Token)| {
            token.1 == crate::text::highlight::Token::Keyword
        };
        document
            .lines
            .iter()
            .any(|line| line.tokens.iter().any(is_keyword))
    };
    assert!(has_keyword(
        json!({ "path": "a.rs", "content": "fn a() {\n}" })
    ));
    assert!(has_keyword(
        json!({ "language": "python", "code": "def a():\n  pass" })
    ));
    assert!(has_keyword(json!({ "query": "SELECT a FROM b\nWHERE c" })));
    assert!(has_keyword(
        json!({ "command": "if true; then rm -rf x; fi" })
    ));
    assert!(!has_keyword(json!({ "text": "fn a() {\n}" })));
}

#[test]
fn toggling_the_view_keeps_the_record_of_drawn_rows() {
    let mut drawn = drawn(&json!({ "a": "one\ntwo" }));
    let starts = drawn.rows(40, &Glyphs::new(false)).starts;
    drawn.mark_drawn(0..2, &starts, Duration::ZERO);
    drawn.toggle_json();
    assert_eq!(drawn.first_undrawn(), Some(0), "the JSON was not drawn");
    drawn.toggle_json();
    drawn.mark_drawn(2..3, &starts, Duration::ZERO);
    assert!(drawn.fully_drawn_at().is_some());
    drawn.toggle_json();
    assert_eq!(drawn.first_undrawn(), None);
}

#[test]
fn every_edit_in_a_list_is_drawn_as_a_diff() {
    let edit = json!({ "edits": [
        { "newText": "    return 1", "oldText": "\treturn 1" },
        { "oldText": "a", "newText": "b" },
    ] });
    assert_eq!(
        rows(&edit, 60),
        "  edits[0]: - oldText + newText\n\
         \x20   1 - ⇥   return 1\n\
         \x20   1 +     return 1\n\
         \x20 edits[1]: - oldText + newText\n\
         \x20   1 - a\n\
         \x20   1 + b"
    );
    let rename = json!({ "old": "a.txt", "new": "b.txt" });
    assert_eq!(rows(&rename, 60), "  old  a.txt\n  new  b.txt");
    let quoted = json!({ "old": "\tx", "new": "y" });
    assert!(rows(&quoted, 60).starts_with("  - old + new"));
}

#[test]
fn look_alikes_are_judged_by_the_whole_value() {
    let arguments = json!({
        "text": "ＡＢＣ\n한글\n１２３",
        "query": "ＡＢＣ\nabc",
        "edits": { "oldText": "привет\nс", "newText": "rm -с\nx" },
    });
    let rows = rows(&arguments, 80);
    let marks = rows.matches("⟨U+").count();
    assert_eq!(marks, 4, "{rows}");
    assert!(
        rows.contains("rm -⟨U+0441⟩") && rows.contains("⟨U+FF21⟩"),
        "{rows}"
    );
}

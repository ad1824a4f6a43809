//! The text being read keeps its position while more text streams in below it and when the window
//! is resized.

use crate::answers::screen_harness::{ScreenHarness, buffer_to_lines, screen_harness};
use crossterm::event::KeyCode;
use humble::domain::PieceKind;
use humble::tui::UiInput;
use proptest::prelude::*;

fn markdown() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(vec![
        "word ",
        "two words ",
        "한국어 문장 ",
        "漢字かな",
        "👩‍👩‍👧 ",
        "**bold** ",
        "**open ",
        "`code` ",
        "\n",
        "\n\n",
        "\n- ",
        "\n  - ",
        "\n1. ",
        "\n> ",
        "\n## ",
        "\n```rust\n",
        "let x = 1;\n",
        "\n```\n",
        "\n| a | b |\n|---|---|\n",
        "| one | a cell with more |\n",
        "[1]: http://a.b\n",
        "[x][1] ",
        "\n---\n",
        "&amp; ",
        "a_very_long_word_that_has_no_spaces_",
    ]);
    prop::collection::vec(fragment, 1..30).prop_map(|fragments| fragments.concat())
}

fn resize(harness: &mut ScreenHarness, (width, height): (u16, u16)) {
    harness.model.screen.size = (width, height);
    harness.input(UiInput::Resize { width, height });
}

fn chat_rows(harness: &mut ScreenHarness) -> Vec<String> {
    let rows = buffer_to_lines(&harness.draw().0);
    let below_header = rows.iter().skip(1);
    below_header.map(|row| row.trim().to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn reading_position_is_kept_while_text_streams_in(before in markdown(), after in markdown(), pages in 1usize..4) {
        let mut harness = screen_harness((80, 24));
        harness.prompt("go");
        let filler: String = (0..40).map(|line| format!("Line {line} of what came before.\n\n")).collect();
        harness.stream_delta(1, PieceKind::Text, &format!("{before}\n```\n~~~\n\n{filler}"));
        harness.draw();
        for _ in 0..pages {
            harness.key(KeyCode::PageUp);
            harness.draw();
        }
        let expected = chat_rows(&mut harness)[..10].to_vec();
        for start in (0..after.len()).step_by(5) {
            let [from, to] = [start, (start + 5).min(after.len())].map(|index| after.floor_char_boundary(index));
            harness.stream_delta(1, PieceKind::Text, &after[from..to]).advance_clock(20);
            prop_assert_eq!(&chat_rows(&mut harness)[..10], &expected[..]);
        }
    }

    #[test]
    fn reading_position_is_kept_across_resizes(
        text in markdown(),
        sizes in prop::collection::vec((20u16..130, 6u16..50), 1..6),
        pages in 1usize..5,
    ) {
        let mut harness = screen_harness((80, 24));
        harness.prompt("go");
        let filler: String = (0..30).map(|line| format!("Line {line} of what came later.\n\n")).collect();
        harness.stream_delta(1, PieceKind::Text, &format!("{text}\n```\n~~~\n\n{filler}"));
        harness.draw();
        for _ in 0..pages {
            harness.key(KeyCode::PageUp);
            harness.draw();
        }
        let expected = chat_rows(&mut harness)[..14].to_vec();
        for size in sizes {
            resize(&mut harness, size);
            harness.draw();
        }
        resize(&mut harness, (80, 24));
        prop_assert_eq!(&chat_rows(&mut harness)[..14], &expected[..]);
    }
}

#[test]
fn raw_and_rendered_views_show_the_same_position() {
    let mut harness = screen_harness((80, 24));
    harness.prompt("go");
    let text: String = (0..60)
        .map(|line| format!("- **Item {line}** of the list\n\n"))
        .collect();
    harness.stream_delta(1, PieceKind::Text, &text);
    harness.draw();
    harness.key(KeyCode::PageUp).draw();
    let rendered = chat_rows(&mut harness);
    harness.key(KeyCode::F(5));
    let raw = chat_rows(&mut harness);
    assert!(
        rendered[0].starts_with("• Item") || rendered[1].starts_with("• Item"),
        "{rendered:?}"
    );
    let first_item = rendered
        .iter()
        .find(|row| row.contains("Item"))
        .expect("visible item");
    let item = first_item.trim_start_matches("• ").to_owned();
    let raw_item = format!(
        "- {}",
        item.replace("Item", "**Item").replace(" of", "** of")
    );
    assert!(raw[..3].contains(&raw_item), "{raw_item:?} in {raw:?}");
    harness.key(KeyCode::F(5));
    assert_eq!(chat_rows(&mut harness)[..14], rendered[..14]);
}

#[test]
fn thinking_being_read_is_not_folded() {
    let mut harness = screen_harness((80, 24));
    harness.prompt("go");
    let thoughts: String = (0..60).map(|line| format!("Thought {line}.\n\n")).collect();
    harness.stream_delta(1, PieceKind::Thinking, &thoughts);
    harness.draw();
    harness.key(KeyCode::PageUp).draw();
    let expected = chat_rows(&mut harness)[..12].to_vec();
    harness
        .stream_delta(2, PieceKind::Text, "The answer.")
        .advance_clock(100);
    assert_eq!(&chat_rows(&mut harness)[..12], &expected[..]);
}

//! Tests of the text viewer.

use super::*;
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn viewer(text: &str) -> TextViewer {
    TextViewer::new("t", text)
}

/// Scrolls through the text and collects all rows.
fn read_through(reading: &mut TextViewer, columns: u16, height: usize) -> Vec<String> {
    let mut rows = reading.view(columns, height);
    loop {
        let top = reading.top;
        reading.move_by(1);
        let view = reading.view(columns, height);
        if reading.top == top {
            return rows;
        }
        rows.extend(view.last().cloned());
    }
}

#[test]
fn sixteen_megabytes_open_and_scroll_at_once() {
    for line in ["x".repeat(16 << 20), "한 줄\n".repeat(2 << 20)] {
        let started = Instant::now();
        let mut reading = viewer(&line);
        reading.view(60, 20);
        reading.page(1);
        reading.jump(true);
        let last = reading.view(60, 20).len();
        assert!(last == 20 && reading.percent_read() == Some(100));
        assert!(started.elapsed() < Duration::from_secs(2), "too slow");
    }
}

#[test]
fn a_short_text_does_not_scroll() {
    let mut reading = viewer("a\n\nb");
    assert_eq!(reading.view(10, 5), ["a", "", "b"]);
    reading.move_by(3);
    assert_eq!(reading.view(10, 5), ["a", "", "b"]);
    assert_eq!(reading.percent_read(), None);
}

#[test]
fn hidden_characters_are_escaped_on_screen_and_copied_raw() {
    let text = "safe\u{202e}\u{1b}[31m";
    let mut reading = TextViewer::new("t", text);
    assert_eq!(reading.view(40, 1), ["safe⟨U+202E⟩⟨ESC⟩[31m"]);
    assert_eq!(reading.copied(), text, "copies raw text");
}

#[test]
fn every_row_of_a_servers_text_is_marked() {
    let long = format!("{}User:", "wide ".repeat(2_000));
    let text = format!("User:\nHi.\n\nUser:\n{long}\n\nUser:\nBye.");
    let own = text.rfind("\n\nUser:").expect("the last heading");
    let mut reading = viewer(&text).marking_server_text(vec![0, own + 1, own + 2]);
    let rows = read_through(&mut reading, 12, 5);
    let ours: Vec<&str> = (rows.iter().map(String::as_str))
        .filter(|row| !row.starts_with("| "))
        .collect();
    assert_eq!(ours, ["User:", "", "User:"]);
    assert_eq!(rows[..4], ["User:", "| Hi.", "| ", "| User:"]);
    // A trailing space may exceed the width.
    assert!(rows.iter().all(|row| row.trim_end().len() <= 12));
    assert_eq!(reading.copied(), text, "copies without marks");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn scrolling_down_shows_every_line_once(
        lines in prop::collection::vec("[a-z]{0,40}", 1..400),
        height in 1usize..12,
    ) {
        let text = lines.join("\n");
        let mut reading = viewer(&text);
        let rows = read_through(&mut reading, 60, height);
        let expected: Vec<String> = text.split('\n').map(str::to_owned).collect();
        prop_assert_eq!(rows, expected);
        reading.jump(false);
        prop_assert_eq!(reading.top, ChunkRow::default());
    }
}

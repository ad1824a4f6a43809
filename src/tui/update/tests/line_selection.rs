//! Selecting lines of the chat with the keyboard: where the selection starts and how far it extends.

use crate::tui::update::line_selection;
use crate::tui::update::tests::*;

/// A chat with an answer that is longer than the view, and a short one before it.
fn with_long_answer() -> ChatHarness {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("Short.").wait(2_000);
    let lines: Vec<String> = (1..=60).map(|n| format!("- line {n}")).collect();
    chat.keys("two<Enter>").turn_event(TurnEvent::Delta {
        piece: PieceId(70),
        kind: PieceKind::Text,
        text: lines.join("\n"),
    });
    let end = TurnEnd::Answered {
        text: lines.join("\n"),
        is_truncated: false,
    };
    chat.turn_ends(end).wait(2_000);
    chat
}

/// The first and the last copied line.
fn copied(chat: &mut ChatHarness) -> (String, String) {
    let text = chat.keys("y").copied().expect("a copy");
    let line = |line: Option<&str>| line.unwrap_or_default().to_owned();
    (line(text.lines().next()), line(text.lines().last()))
}

fn pair(first: &str, last: &str) -> (String, String) {
    (first.to_owned(), last.to_owned())
}

#[test]
fn line_selection_starts_where_the_user_is_reading() {
    let mut chat = with_long_answer();
    chat.keys("<Tab><Up>v");
    assert_eq!(
        copied(&mut chat),
        pair("- line 60", "- line 60"),
        "at the end"
    );
    chat.keys("<Up><Up>");
    assert_eq!(copied(&mut chat), pair("- line 58", "- line 60"));
    chat.keys("<Esc><PgUp>");
    let screen = chat.screen();
    let first = screen.lines().find(|row| row.contains("line "));
    let first = first.expect("a line").trim().replace('•', "-");
    chat.keys("v");
    let (start, end) = copied(&mut chat);
    assert!(
        first.ends_with(start.trim_start_matches("- ")),
        "{first}: {start}"
    );
    assert_eq!(start, end);
    assert_ne!(start, "- line 1");
}

#[test]
fn a_message_that_begins_in_view_is_selected_from_its_first_line_on() {
    let mut chat = with_long_answer();
    chat.keys("<Tab><Ctrl+Home><Up>");
    chat.keys("<Down>v");
    let (start, _) = copied(&mut chat);
    assert!(["Short.", "two", "- line 1"].contains(&&*start), "{start}");
}

#[test]
fn home_and_end_extend_the_lines_within_the_message_and_then_over_the_chat() {
    for (to_start, to_end) in [("<Home>", "<End>"), ("g", "G")] {
        let mut chat = with_long_answer();
        chat.keys("<Tab><Up>v").keys(to_start);
        assert_eq!(
            copied(&mut chat),
            pair("- line 1", "- line 60"),
            "{to_start}"
        );
        chat.keys(to_start);
        assert_eq!(copied(&mut chat), pair("one", "- line 60"), "{to_start}");
        chat.keys(to_end);
        assert_eq!(copied(&mut chat).1, "- line 60", "{to_end}");
        assert!(line_selection::is_extending(&chat.model), "{to_end}");
        assert_eq!(chat.message(), "");
    }
    let mut chat = with_long_answer();
    chat.keys("<Tab><Up>v<Ctrl+Home>");
    assert_eq!(copied(&mut chat), pair("one", "- line 60"));
    chat.keys("<Ctrl+End>");
    assert_eq!(copied(&mut chat), pair("- line 60", "- line 60"));
}

#[test]
fn the_help_keeps_the_selected_lines() {
    let mut chat = with_long_answer();
    chat.keys("<Tab><Up>v<Up><F1>line<Esc><Esc>");
    assert!(chat.model.layer.is_none());
    assert_eq!(copied(&mut chat), pair("- line 59", "- line 60"));
    chat.keys("<Ctrl+p><Esc>");
    assert!(!selection::has_selection(&chat.model));
}

/// The number of the last copied line, such as 7 for `- line 7`.
fn copied_numbers(chat: &mut ChatHarness) -> (usize, usize) {
    let (first, last) = copied(chat);
    let number = |line: String| line.rsplit(' ').next().and_then(|n| n.parse().ok());
    (
        number(first).expect("a number"),
        number(last).expect("a number"),
    )
}

#[test]
fn page_keys_extend_the_lines_by_a_page() {
    let mut chat = with_long_answer();
    chat.keys("<Tab><Up>v<PgUp>");
    let (first, last) = copied_numbers(&mut chat);
    assert!((35..55).contains(&first) && last == 60, "{first} to {last}");
    let page = 60 - first;
    assert!(chat.screen().contains(&format!("line {first}")));
    chat.keys("<PgUp>");
    assert_eq!(copied_numbers(&mut chat), (60 - 2 * page, 60));
    chat.keys("<PgDn>");
    assert_eq!(copied_numbers(&mut chat), (first, 60));
    chat.keys("<PgUp><PgUp><PgUp><PgUp><PgUp><PgUp>");
    assert_eq!(copied(&mut chat), pair("one", "- line 60"));
    chat.keys("<PgDn><PgDn><PgDn><PgDn><PgDn><PgDn><PgDn>");
    assert_eq!(copied_numbers(&mut chat), (60, 60));
}

#[test]
fn the_key_for_lines_selects_the_message_in_view_if_none_is_selected() {
    let mut chat = with_long_answer();
    chat.keys("<Tab>v");
    assert!(line_selection::is_extending(&chat.model));
    assert_eq!(copied(&mut chat), pair("- line 60", "- line 60"));
    chat.keys("<Esc><Esc>");
    chat.keys("<PgUp><Tab>v");
    let (first, last) = copied_numbers(&mut chat);
    assert!(first == last && first < 60, "{first} to {last}");
    assert_eq!(chat.message(), "");
}

#[test]
fn the_key_for_editing_selects_the_message_in_view_and_edits_it_the_second_time() {
    let mut chat = with_long_answer();
    chat.keys("draft<Tab>e");
    assert_eq!(chat.message(), "draft");
    assert_eq!(
        chat.notice(),
        "e edits the selected message. Up/Down select another."
    );
    chat.keys("e");
    assert!(chat.message().starts_with("- line 1\n"));
    chat.keys("<Esc>");
    assert_eq!(chat.message(), "draft");
    let mut chat = super::chat();
    chat.keys("<Tab>ev");
    assert_eq!(chat.message(), "ev", "in an empty chat");
}

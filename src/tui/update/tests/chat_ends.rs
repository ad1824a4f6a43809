//! Ctrl+Home and Ctrl+End go to the ends of the chat, whatever one line the message has.

use crate::tui::update::tests::*;

fn with_long_answer() -> ChatHarness {
    let mut chat = chat();
    let lines: Vec<String> = (1..=60).map(|n| format!("- line {n}")).collect();
    chat.keys("one<Enter>").model_answers(&lines.join("\n"));
    chat.wait(2_000);
    chat
}

/// Whether the view shows the first and the last line of the answer.
fn ends_in_view(chat: &mut ChatHarness) -> (bool, bool) {
    let screen = chat.screen();
    let has_row = |end: &str| screen.lines().any(|row| row.trim().ends_with(end));
    (has_row("line 1"), has_row("line 60"))
}

#[test]
fn a_message_of_one_line_leaves_the_keys_to_the_chat() {
    let wrapped = "word ".repeat(60);
    for typed in [
        "",
        "x",
        "/",
        "/mod",
        "@",
        "see @a",
        "/edit<Enter>",
        "<Ctrl+Up>e",
        "<Ctrl+f>line<Tab>",
        "<Tab>",
        "<Tab><Up>",
        &wrapped,
    ] {
        let mut chat = with_long_answer();
        chat.keys(typed).keys("<Ctrl+Home>");
        assert_eq!(ends_in_view(&mut chat), (true, false), "{typed}");
        chat.keys("<Ctrl+End>");
        assert_eq!(ends_in_view(&mut chat), (false, true), "{typed}");
    }
}

#[test]
fn so_does_a_message_that_is_one_long_paste() {
    let mut chat = with_long_answer();
    chat.input(UiInput::Paste("line\n".repeat(30)));
    chat.keys("<Ctrl+Home>");
    assert_eq!(ends_in_view(&mut chat), (true, false));
    chat.keys("<Ctrl+End>");
    assert_eq!(ends_in_view(&mut chat), (false, true));
}

#[test]
fn so_does_the_message_during_a_turn() {
    for typed in [
        "two",
        "two<Enter>",
        "two<Enter><Up>",
        "two<Enter><Up><Enter>",
    ] {
        let mut chat = with_long_answer();
        chat.keys("next<Enter>").keys(typed).keys("<Ctrl+Home>");
        assert!(ends_in_view(&mut chat).0, "{typed}");
        chat.keys("<Ctrl+End>");
        assert!(!ends_in_view(&mut chat).0, "{typed}");
    }
}

//! Long prompts are folded in the chat: unfolding by key and click, find, copying and editing.

use super::*;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// A log of 5,000 lines.
fn log() -> String {
    let lines: Vec<String> = (1..=5_000).map(|line| format!("log line {line}")).collect();
    lines.join("\n")
}

/// A chat in which `prompt` was pasted, sent and answered.
fn with_prompt(prompt: &str) -> ChatHarness {
    let mut chat = chat();
    chat.input(UiInput::Paste(prompt.into())).keys("<Enter>");
    chat.model_answers("Noted.").wait(2_000);
    chat.sent.clear();
    chat
}

/// The rows of the screen that belong to the prompt, without the bar.
fn prompt_rows(chat: &mut ChatHarness) -> Vec<String> {
    let screen = chat.screen();
    let rows = screen
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('▌'));
    rows.map(|row| row.trim().to_owned()).collect()
}

fn click(chat: &mut ChatHarness, text: &str) {
    let screen = chat.screen();
    let row = screen.lines().position(|line| line.contains(text));
    let row = row.expect("the text is on the screen") as u16;
    for kind in [MouseEventKind::Down, MouseEventKind::Up] {
        chat.input(UiInput::Mouse(MouseEvent {
            kind: kind(MouseButton::Left),
            column: 6,
            row,
            modifiers: KeyModifiers::NONE,
        }));
    }
}

fn search(chat: &mut ChatHarness, text: &str) {
    chat.keys("<Ctrl+f><Ctrl+u>").keys(text);
    while (chat.model.chat.find.as_ref())
        .is_some_and(|find| find.is_searching(&chat.model.chat.transcript))
    {
        chat.input(UiInput::Tick);
    }
}

#[test]
fn a_long_prompt_shows_its_first_rows_and_how_much_more_there_is() {
    let mut chat = with_prompt(&log());
    let rows = prompt_rows(&mut chat);
    assert_eq!(rows.len(), 13, "{rows:?}");
    assert_eq!(
        (rows[0].as_str(), rows[11].as_str()),
        ("log line 1", "log line 12")
    );
    assert_eq!(rows[12], "… 4,988 more lines");
    assert!(chat.screen().contains("Noted."), "{}", chat.screen());
}

#[test]
fn only_long_prompts_are_folded() {
    let lines = |count: usize| "a\n".repeat(count - 1) + "a";
    assert_eq!(
        prompt_rows(&mut with_prompt(&lines(41)))
            .last()
            .map(String::as_str),
        Some("… 29 more lines")
    );
    let mut short = with_prompt(&lines(40));
    assert!(!short.screen().contains("more lines"));
    let mut one_line = with_prompt(&"word ".repeat(1_000));
    let rows = prompt_rows(&mut one_line);
    assert_eq!(rows.len(), 13, "{rows:?}");
    assert!(rows[12].ends_with(" more characters"), "{rows:?}");
}

#[test]
fn a_key_and_a_click_unfold_a_prompt() {
    let mut chat = with_prompt(&log());
    chat.keys("<Ctrl+Up>");
    let screen = chat.screen();
    assert!(screen.contains("Enter unfold"), "{screen}");
    chat.keys("<Space>");
    assert!(!chat.screen().contains("more lines"), "{}", chat.screen());
    assert!(chat.screen().contains("log line 13"), "{}", chat.screen());
    chat.keys("<Space>");
    assert_eq!(prompt_rows(&mut chat).len(), 13, "folded again");
    click(&mut chat, "4,988 more lines");
    assert!(chat.screen().contains("log line 13"), "{}", chat.screen());
}

#[test]
fn find_unfolds_a_prompt_only_for_a_match_in_the_hidden_part() {
    let mut chat = with_prompt(&log());
    search(&mut chat, "log line 7");
    assert!(
        chat.screen().contains("4,988 more lines"),
        "{}",
        chat.screen()
    );
    search(&mut chat, "line 4321");
    let screen = chat.screen();
    assert!(
        screen.contains("log line 4321") && screen.contains("1 of 1"),
        "{screen}"
    );
    chat.keys("<Esc>");
    assert!(
        chat.screen().contains("4,988 more lines"),
        "{}",
        chat.screen()
    );
}

#[test]
fn a_long_prompt_is_copied_and_edited_as_a_whole() {
    let mut chat = with_prompt(&log());
    chat.keys("<Ctrl+Up>y");
    assert_eq!(chat.copied(), Some(log()));
    // Select the first two lines, then all rows with the label.
    chat.keys("v<Down>");
    assert_eq!(chat.copied(), None);
    chat.keys("y");
    assert_eq!(chat.copied().as_deref(), Some("log line 1\nlog line 2"));
    chat.keys("v").keys(&"<Down>".repeat(12)).keys("y");
    assert_eq!(
        chat.copied(),
        Some(log()),
        "the label stands for the hidden part"
    );
    chat.keys("<Ctrl+Up>e");
    assert_eq!(chat.message(), log());
}

#[test]
fn a_line_split_by_the_fold_is_copied_without_a_line_break() {
    let words: Vec<String> = (0..1_000).map(|word| format!("word{word}")).collect();
    let mut chat = with_prompt(&words.join(" "));
    chat.keys("<Ctrl+Up>v<Down>y");
    assert_eq!(chat.copied(), Some(words.join(" ")));
}

#[test]
fn scrolling_in_a_long_text_names_the_line() {
    let mut chat = chat();
    let answer: Vec<String> = (1..=2_000).map(|line| format!("- item {line}")).collect();
    chat.keys("list<Enter>")
        .model_answers(&answer.join("\n"))
        .wait(2_000);
    chat.keys("<PgUp>");
    let screen = chat.screen();
    let row = screen
        .lines()
        .find(|line| line.contains("item "))
        .expect("an item");
    let item: usize = row
        .trim()
        .rsplit(' ')
        .next()
        .expect("a number")
        .parse()
        .expect("a number");
    let number = crate::text::numbers::group_digits(item);
    assert!(
        screen.contains(&format!("line {number} of 2,000 · ↓ ")),
        "{screen}"
    );
    chat.keys("<Ctrl+Home>");
    assert!(chat.screen().contains("↓ 1,9"), "{}", chat.screen());
    assert!(!chat.screen().contains("line 1 of"), "{}", chat.screen());
}

#[test]
fn names_of_attached_files_are_found_below_a_folded_prompt() {
    let mut chat = chat();
    chat.keys("/attach notes.txt<Enter>");
    attachments::answer(&mut chat, Ok(attachments::text_file("notes.txt")));
    chat.input(UiInput::Paste(log())).keys("<Enter>");
    chat.model_answers("Noted.").wait(2_000);
    search(&mut chat, "notes.txt");
    let screen = chat.screen();
    assert!(screen.contains("1 of 1"), "{screen}");
    assert!(
        screen.contains("4,988 more lines"),
        "stays folded: {screen}"
    );
    assert!(screen.contains("@ notes.txt"), "{screen}");
    chat.keys("<Esc><Ctrl+Up> ");
    search(&mut chat, "@ notes");
    let screen = chat.screen();
    assert!(
        screen.contains("1 of 1") && screen.contains("@ notes.txt"),
        "{screen}"
    );
}

#[test]
fn ctrl_up_in_the_middle_of_a_message_goes_to_its_beginning() {
    let mut chat = with_prompt(&log());
    chat.keys("<Ctrl+Up><Enter><PgDn><PgDn><Esc><PgUp>");
    assert!(chat.model.chat.viewport.stop.is_none());
    assert_ne!(prompt_rows(&mut chat)[0], "log line 1");
    chat.keys("<Ctrl+Up>");
    let screen = chat.screen();
    let first = screen.lines().nth(1).map(str::trim);
    assert_eq!(first, Some("▌▌ log line 1"), "{screen}");
}

#[test]
fn the_hint_for_folding_names_a_key_that_folds_while_enter_goes_to_matches() {
    let mut chat = with_prompt(&log());
    search(&mut chat, "line 4321");
    chat.keys("<Enter>");
    let screen = chat.screen();
    assert!(screen.contains("Space fold"), "{screen}");
    chat.keys("<Space>");
    assert!(
        chat.screen().contains("4,988 more lines"),
        "{}",
        chat.screen()
    );
}

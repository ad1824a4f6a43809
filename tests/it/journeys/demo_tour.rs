//! `humble demo`: the seven steps of the tour, and users who depart from them.

use super::*;
use humble::demo::{CONNECT, QUESTION, STORY};
use tempfile::TempDir;

fn demo() -> Chat {
    demo_in(TempDir::new().expect("a temporary folder"))
}

const NONE: KeyModifiers = KeyModifiers::NONE;

/// A demo whose tool dialog is open and accepts keys.
fn with_tool_dialog() -> Chat {
    let mut chat = demo();
    chat.enter()
        .waits_until_sees("Call now? (Y/N)")
        .reads_screen();
    chat
}

fn after_first_answer() -> Chat {
    let mut chat = with_tool_dialog();
    chat.key('y')
        .waits_until_sees("IANA")
        .waits_until_sees("3 of 7  PgUp");
    chat
}

#[test]
fn the_tour_introduces_the_script_and_types_the_first_prompt() {
    demo()
        .sees("demo · scripted")
        .sees("1 of 7  A script answers here, not a model")
        .sees(&format!("› {QUESTION}"))
        .enter()
        .sees("2 of 7  It thinks")
        .waits_until_sees("I am a script")
        .waits_until_sees("2 of 7  The dialog accepts keys in a moment")
        .waits_until_sees("2 of 7  The tool has not run yet. y runs it")
        .sees("  timezone  Asia/Seoul");
}

#[test]
fn every_step_of_the_tour_is_completed_by_its_key() {
    let mut chat = after_first_answer();
    chat.press(KeyCode::F(3), NONE)
        .sees("3 of 7  What it thought")
        .press(KeyCode::Esc, NONE)
        .sees("4 of 7  Now a long story")
        .sees(&format!("› {STORY}"))
        .enter()
        .waits_until_sees("harbor town")
        .sees("4 of 7  Ctrl+C stops")
        .ctrl('c')
        .sees("(stopped)")
        .sees("5 of 7  The conversation was saved")
        .ctrl('o')
        .sees("── Sessions")
        .sees(QUESTION)
        .sees("5 of 7  Each is a JSON file")
        .press(KeyCode::Esc, NONE)
        .sees("6 of 7")
        .ctrl('p')
        .sees("6 of 7  Type a few letters")
        .press(KeyCode::Esc, NONE)
        .sees("7 of 7  F1")
        .press(KeyCode::F(1), NONE)
        .press(KeyCode::Esc, NONE)
        .sees("That was all. Enter asks how to continue with a real model.")
        .sees(&format!("› {CONNECT}"))
        .enter()
        .waits_until_sees("Ctrl+C quits. Then type `humble` and choose a model.")
        .sees("Choose a model with Up and Down, then press Enter.")
        .reads_screen()
        .ctrl('c')
        .assert_exited();
    assert_eq!(session_files(&chat.shut_down()).len(), 1);
}

#[test]
fn a_refusal_ends_the_turn_and_the_question_is_suggested_again() {
    with_tool_dialog()
        .key('n')
        .sees("refused")
        .sees("3 of 7  There was no answer.")
        .sees(&format!("› {QUESTION}"))
        .reads_screen()
        .enter()
        .waits_until_sees("Call now? (Y/N)");
}

#[test]
fn a_denial_is_answered_with_its_reason() {
    with_tool_dialog()
        .key('d')
        .sees("2 of 7  Enter denies, with or without a reason.")
        .says("look **outside**")
        .waits_until_sees("**outside**")
        .waits_until_sees("3 of 7  PgUp");
}

#[test]
fn the_answer_mentions_edited_and_failed_calls() {
    let edit = |zone: &str| {
        let mut chat = with_tool_dialog();
        chat.key('e')
            .sees("2 of 7  Enter keeps the edit, and y then runs the call.");
        chat.ctrl('u').types(zone).enter();
        chat.reads_screen().sees("run as edited").key('y');
        chat
    };
    edit("Europe/Berlin")
        .waits_until_sees("IANA database")
        .press(KeyCode::PageUp, NONE)
        .sees("you edited the call")
        .sees("in Berlin");
    edit("Nowhere/Land")
        .waits_until_sees("did not succeed")
        .waits_until_sees("There is no time zone Nowhere/Land");
}

#[test]
fn ctrl_c_at_the_dialog_decides_nothing() {
    with_tool_dialog()
        .ctrl('c')
        .sees("2 of 7  Ask what time it is")
        .sees(&format!("› {QUESTION}"));
}

#[test]
fn typing_replaces_the_suggested_prompt() {
    demo()
        .types("안녕")
        .sees("› 안녕")
        .does_not_see(QUESTION)
        .enter()
        .waits_until_sees("I am a script, not a model")
        .waits_until_sees("2 of 7  Ask what time it is")
        .sees(&format!("› {QUESTION}"));
}

#[test]
fn typing_after_a_cursor_movement_edits_the_suggestion() {
    demo()
        .press(KeyCode::Home, NONE)
        .types("So, ")
        .sees("› So, What time is it in Seoul?");
}

#[test]
fn a_deleted_suggestion_is_not_typed_again() {
    demo()
        .ctrl('u')
        .does_not_see(QUESTION)
        .reads_screen()
        .does_not_see(QUESTION)
        .sees("1 of 7");
}

#[test]
fn a_step_completed_early_is_not_repeated() {
    demo()
        .ctrl('p')
        .sees("6 of 7")
        .press(KeyCode::Esc, NONE)
        .sees("1 of 7");
    after_first_answer()
        .ctrl('o')
        .press(KeyCode::Esc, NONE)
        .sees("6 of 7  Ctrl+P");
}

#[test]
fn opening_the_help_skips_no_step_of_the_tour() {
    let mut chat = after_first_answer();
    chat.press(KeyCode::F(1), NONE)
        .sees("▸ Type to filter")
        .press(KeyCode::Esc, NONE)
        .sees("3 of 7  PgUp")
        .press(KeyCode::F(3), NONE)
        .press(KeyCode::Esc, NONE)
        .sees("4 of 7  Now a long story")
        .press(KeyCode::F(1), NONE)
        .press(KeyCode::Esc, NONE)
        .sees("4 of 7  Now a long story");
}

#[test]
fn a_story_that_ends_by_itself_completes_the_stop_step() {
    let mut chat = after_first_answer();
    chat.press(KeyCode::F(3), NONE).press(KeyCode::Esc, NONE);
    chat.enter()
        .waits_until_sees("The end.")
        .waits_until_sees("5 of 7  The conversation was saved");
}

#[test]
fn a_disabled_tool_does_not_block_the_tour() {
    let home = TempDir::new().expect("a temporary folder");
    let servers_file = r#"{ "mcpServers": { "humble": { "enabled": false } } }"#;
    std::fs::write(home.path().join("mcp-servers.json"), servers_file).expect("written");
    demo_in(home)
        .enter()
        .waits_until_sees("available: it is switched off")
        .waits_until_sees("3 of 7");
}

#[test]
fn a_suggestion_is_not_saved_as_draft_and_a_draft_replaces_it() {
    let mut first = demo();
    first.ctrl('p').types("exit").enter().assert_exited();
    let mut second = demo_in(first.shut_down());
    second
        .does_not_see("last time")
        .sees(&format!("› {QUESTION}"));
    second.types("my own 생각").ctrl('p');
    second.types("exit").enter().assert_exited();
    demo_in(second.shut_down())
        .sees("› my own 생각")
        .does_not_see(QUESTION);
}

#[test]
fn the_demo_writes_no_settings() {
    let mut chat = demo();
    chat.says("/set-model 1").sees("Using demo.");
    let home = chat.shut_down();
    assert!(!home.path().join("config.json").exists());
}

fn demo_with_file(file: &str, text: &str) -> Chat {
    let home = TempDir::new().expect("a temporary folder");
    std::fs::write(home.path().join(file), text).expect("written");
    demo_in(home)
}

#[test]
fn the_demo_asks_even_if_its_settings_select_auto_mode() {
    demo_with_file("config.json", r#"{ "toolCallMode": "auto" }"#)
        .sees("manual")
        .enter()
        .sees("2 of 7  It thinks, then asks to run a tool. Nothing runs until you agree.")
        .waits_until_sees("Call now? (Y/N)");
}

#[test]
fn in_auto_mode_the_tour_does_not_promise_a_question() {
    let mut chat = demo();
    chat.says("/set-tool-mode auto");
    chat.says("hello")
        .sees("2 of 7  It answers. In auto mode, tools run without asking you.")
        .waits_until_sees("I am a script, not a model")
        .waits_until_sees("2 of 7  Ask what time it is: in auto mode the tool runs without asking.")
        .enter()
        .waits_until_sees("3 of 7  The answer comes word by word, from what the tool returned.")
        .does_not_see("You let")
        .does_not_see("until you agree");
}

#[test]
fn the_tour_announces_no_tool_for_a_prompt_that_needs_none() {
    demo()
        .says(STORY)
        .sees("2 of 7  It answers. A tool would run only after you agree.")
        .waits_until_sees("harbor town")
        .sees("2 of 7  It answers.");
}

#[test]
fn without_tools_the_tour_does_not_promise_a_tool() {
    let home = TempDir::new().expect("a temporary folder");
    let mut chat = demo_with(home, humble::app::demo_options(true));
    chat.enter()
        .sees("2 of 7  It answers by itself: no tool is available.")
        .waits_until_sees("available: it is switched off")
        .waits_until_sees("3 of 7  PgUp and PgDn scroll the answer. F3 shows thinking (none yet).")
        .press(KeyCode::F(3), NONE)
        .sees("3 of 7  No thinking so far. Esc goes back.");
}

#[test]
fn the_tour_does_not_claim_that_an_unsaved_conversation_was_saved() {
    let mut chat = with_tool_dialog();
    chat.key('n')
        .sees("refused")
        .ctrl('o')
        .sees("5 of 7  There are no saved conversations yet.");
    // A file is in the place of the sessions folder, so saving fails.
    let mut chat = demo_with_file("sessions", "");
    chat.enter()
        .waits_until_sees("Call now? (Y/N)")
        .reads_screen();
    chat.key('y').waits_until_sees("3 of 7  PgUp");
    chat.press(KeyCode::F(3), NONE).press(KeyCode::Esc, NONE);
    chat.enter()
        .waits_until_sees("harbor town")
        .ctrl('c')
        .sees("5 of 7  Nothing was saved yet. Ctrl+O lists");
}

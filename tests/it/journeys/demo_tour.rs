//! `humble demo`: the guide's seven steps, and what happens to whoever does
//! something else.

use super::*;
use humble::demo::{CONNECT, QUESTION, STORY};
use tempfile::TempDir;

fn demo() -> Chat {
    demo_in(TempDir::new().expect("a scratch folder"))
}

const NONE: KeyModifiers = KeyModifiers::NONE;

/// As far as the dialog about the tool, which has the keyboard.
fn asked() -> Chat {
    let mut chat = demo();
    chat.enter()
        .waits_until_sees("Call now? (Y/N)")
        .reads_screen();
    chat
}

/// The first question was answered with the tool's result.
fn answered() -> Chat {
    let mut chat = asked();
    chat.key('y')
        .waits_until_sees("IANA")
        .waits_until_sees("3 of 7  PgUp");
    chat
}

#[test]
fn the_first_line_says_that_a_script_answers_and_the_prompt_is_typed() {
    demo()
        .sees("demo · scripted")
        .sees("1 of 7  A script answers here, not a model")
        .sees(&format!("│ {QUESTION}"))
        .enter()
        .sees("2 of 7  It thinks")
        .waits_until_sees("I am a script")
        .waits_until_sees("2 of 7  The dialog takes keys in a moment")
        .waits_until_sees("2 of 7  The tool has not run yet. y runs it")
        .sees("\"timezone\": \"Asia/Seoul\"");
}

#[test]
fn every_step_is_done_by_its_key() {
    let mut chat = answered();
    chat.press(KeyCode::F(3), NONE)
        .sees("3 of 7  What it thought")
        .press(KeyCode::Esc, NONE)
        .sees("4 of 7  Now a long story")
        .sees(&format!("│ {STORY}"))
        .enter()
        .waits_until_sees("harbour town")
        .sees("4 of 7  Ctrl+C stops")
        .ctrl('c')
        .sees("(cancelled)")
        .sees("5 of 7  The conversation was saved")
        .ctrl('o')
        .sees("╭─ Sessions")
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
        .sees("That was all. Enter tells how to connect a model")
        .sees(&format!("│ {CONNECT}"))
        .enter()
        .waits_until_sees("That was all. Ctrl+C leaves")
        .sees("\"provider\": \"ollama\"")
        .reads_screen()
        .ctrl('c')
        .has_exited();
    assert_eq!(session_files(&chat.shut_down()).len(), 1);
}

#[test]
fn a_refusal_ends_the_turn_and_the_question_is_offered_again() {
    asked()
        .key('n')
        .sees("refused")
        .sees("3 of 7  Nothing was answered.")
        .sees(&format!("│ {QUESTION}"))
        .enter()
        .waits_until_sees("Call now? (Y/N)");
}

#[test]
fn a_denial_is_answered_with_the_word() {
    asked()
        .key('d')
        .sees("2 of 7  Enter denies, with your word or without one.")
        .says("look **outside**")
        .waits_until_sees("Your reason: look **outside**")
        .waits_until_sees("3 of 7  PgUp");
}

#[test]
fn an_edited_call_is_noticed_and_one_that_fails_is_told() {
    let edit = |zone: &str| {
        let mut chat = asked();
        chat.key('e')
            .sees("2 of 7  Enter runs the call as it stands here.");
        chat.press(KeyCode::Up, NONE);
        chat.ctrl('k').ctrl('u');
        chat.types(&format!("\"timezone\": \"{zone}\"")).enter();
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
    asked()
        .ctrl('c')
        .sees("2 of 7  Ask what time it is")
        .sees(&format!("│ {QUESTION}"));
}

#[test]
fn typing_replaces_the_suggested_prompt() {
    demo()
        .types("안녕")
        .sees("│ 안녕")
        .does_not_see(QUESTION)
        .enter()
        .waits_until_sees("I am a script, not a model")
        .waits_until_sees("2 of 7  Ask what time it is")
        .sees(&format!("│ {QUESTION}"));
}

#[test]
fn an_edited_suggestion_belongs_to_the_user() {
    demo()
        .press(KeyCode::Home, NONE)
        .types("So, ")
        .sees("│ So, What time is it in Seoul?");
}

#[test]
fn what_was_deleted_is_not_typed_again() {
    demo()
        .ctrl('u')
        .does_not_see(QUESTION)
        .reads_screen()
        .does_not_see(QUESTION)
        .sees("1 of 7");
}

#[test]
fn a_step_done_early_is_not_taught_again() {
    demo()
        .ctrl('p')
        .sees("6 of 7")
        .press(KeyCode::Esc, NONE)
        .sees("1 of 7");
    answered()
        .ctrl('o')
        .press(KeyCode::Esc, NONE)
        .sees("6 of 7  Ctrl+P");
}

#[test]
fn a_story_heard_to_its_end_holds_nobody() {
    let mut chat = answered();
    chat.press(KeyCode::F(3), NONE).press(KeyCode::Esc, NONE);
    chat.enter()
        .waits_until_sees("The end.")
        .waits_until_sees("5 of 7  The conversation was saved");
}

#[test]
fn where_the_tool_is_off_the_guide_goes_on_without_it() {
    let home = TempDir::new().expect("a scratch folder");
    let off = r#"{ "mcpServers": { "humble": { "enabled": false } } }"#;
    std::fs::write(home.path().join("mcp-servers.json"), off).expect("written");
    demo_in(home)
        .enter()
        .waits_until_sees("not available")
        .waits_until_sees("3 of 7");
}

#[test]
fn what_the_guide_typed_is_no_draft_but_a_draft_takes_its_place() {
    let mut first = demo();
    first.ctrl('c').has_exited();
    let mut second = demo_in(first.shut_down());
    second
        .does_not_see("last time")
        .sees(&format!("│ {QUESTION}"));
    second.types("my own 생각").ctrl('c').has_exited();
    demo_in(second.shut_down())
        .sees("│ my own 생각")
        .does_not_see(QUESTION);
}

#[test]
fn the_demo_writes_no_settings() {
    let mut chat = demo();
    chat.says("/set-model 1").sees("Using demo.");
    let home = chat.shut_down();
    assert!(!home.path().join("config.json").exists());
}

/// A demo whose home was left like this by an earlier run.
fn demo_after(file: &str, text: &str) -> Chat {
    let home = TempDir::new().expect("a scratch folder");
    std::fs::write(home.path().join(file), text).expect("written");
    demo_in(home)
}

#[test]
fn the_demo_asks_whatever_mode_was_left_in_its_settings() {
    demo_after("config.json", r#"{ "toolCallMode": "auto" }"#)
        .sees("manual")
        .enter()
        .sees("2 of 7  It thinks, then asks for a tool. Nothing runs before you say yes.")
        .waits_until_sees("Call now? (Y/N)");
}

#[test]
fn in_auto_mode_the_tour_does_not_promise_a_question() {
    let mut chat = demo();
    chat.says("/set-tool-mode auto");
    chat.says("hello")
        .sees("2 of 7  It answers. In the mode auto a tool runs without asking you.")
        .waits_until_sees("I am a script, not a model")
        .waits_until_sees("2 of 7  Ask what time it is: in the mode auto the tool runs unasked.")
        .enter()
        .waits_until_sees("3 of 7  The answer comes word by word, from what the tool really told.")
        .does_not_see("You let")
        .does_not_see("before you say yes");
}

#[test]
fn a_prompt_that_asks_for_no_tool_is_not_said_to_ask_for_one() {
    demo()
        .says(STORY)
        .sees("2 of 7  It answers. A tool would run only after you said yes.")
        .waits_until_sees("harbour town")
        .sees("2 of 7  It answers.");
}

#[test]
fn without_tools_the_guide_speaks_of_none() {
    let home = TempDir::new().expect("a scratch folder");
    let mut chat = demo_with(home, humble::app::demo_options(true));
    chat.enter()
        .sees("2 of 7  It answers by itself: no tool is on offer.")
        .waits_until_sees("not available")
        .waits_until_sees(
            "3 of 7  PgUp and PgDn scroll the answer. F3 is for thinking, none so far.",
        )
        .press(KeyCode::F(3), NONE)
        .sees("3 of 7  Thinking stands here; there was none so far.");
}

#[test]
fn what_was_not_saved_is_not_said_to_be() {
    let mut chat = asked();
    chat.key('n')
        .sees("refused")
        .ctrl('o')
        .sees("5 of 7  No conversation is kept here so far.");
    // Where the folder of conversations should be there is a file.
    let mut chat = demo_after("sessions", "");
    chat.enter()
        .waits_until_sees("Call now? (Y/N)")
        .reads_screen();
    chat.key('y').waits_until_sees("3 of 7  PgUp");
    chat.press(KeyCode::F(3), NONE).press(KeyCode::Esc, NONE);
    chat.enter()
        .waits_until_sees("harbour town")
        .ctrl('c')
        .sees("5 of 7  Nothing was saved so far. Ctrl+O shows");
}

//! Stopped answers, which stay in the conversation.

use super::*;
use humble::provider::FailureCause;
use serde_json::{Value, json};

fn stopped(later: &[&str]) -> Chat {
    let rounds = script().round([ScriptStep::text("The first half"), ScriptStep::Hang]);
    let rounds = later
        .iter()
        .fold(rounds, |rounds, answer| rounds.answer(answer));
    let mut chat = chat(rounds);
    chat.says("question").sees("The first half").ctrl('c');
    chat.sees("(stopped) The model sees it up to here.");
    chat
}

fn file_of(chat: &Chat) -> Value {
    serde_json::from_str(&chat.text_in_folder("sessions")).expect("one session file")
}

fn press_in_chat(chat: &mut Chat, key: char) -> &mut Chat {
    chat.press(KeyCode::Tab, KeyModifiers::NONE).up().key(key)
}

#[test]
fn a_stopped_answer_is_sent_with_the_next_prompt_and_saved() {
    let mut chat = stopped(&["Later."]);
    let messages = json!([
        { "role": "user", "content": "question" },
        { "role": "assistant", "content": "The first half" },
    ]);
    let file = file_of(&chat);
    assert_eq!(file["messages"], messages);
    assert_eq!(file["humble"]["turns"][0]["stopped"], true);
    assert_eq!(file["humble"].get("cancelled"), None);
    chat.says("shorter please")
        .sees("Later.")
        .model_receives("question")
        .model_receives("The first half");
    let home = chat.shut_down();
    chat_in(home, script())
        .says("/sessions")
        .sees("question")
        .enter()
        .sees("The first half")
        .sees("(stopped) The model sees it up to here.")
        .sees("Later.")
        .does_not_see("(cancelled)");
}

#[test]
fn esc_stops_a_turn_when_nothing_is_open() {
    let rounds = script().round([ScriptStep::text("The first half"), ScriptStep::Hang]);
    let mut chat = chat(rounds.answer("Later."));
    chat.says("question").sees("The first half");
    chat.press(KeyCode::F(1), KeyModifiers::NONE)
        .press(KeyCode::Esc, KeyModifiers::NONE)
        .does_not_see("(stopped)")
        .press(KeyCode::Esc, KeyModifiers::NONE)
        .sees("(stopped) The model sees it up to here.")
        .says("next")
        .sees("Later.")
        .model_receives("The first half");
}

#[test]
fn a_stopped_answer_can_be_continued() {
    let mut chat = stopped(&[" and the second."]);
    chat.sees("Alt+C continues")
        .press(KeyCode::Char('c'), KeyModifiers::ALT)
        .sees("The first half and the second.")
        .does_not_see("(stopped)")
        .model_receives("The first half");
    let answer = json!({ "role": "assistant", "content": "The first half and the second." });
    assert_eq!(file_of(&chat)["messages"][1], answer);
}

#[test]
fn a_stopped_answer_can_be_continued_after_a_restart() {
    let home = stopped(&[]).shut_down();
    let mut chat = chat_in(home, script().answer(" and the second."));
    chat.says("/sessions").sees("question").enter();
    chat.sees("The first half").sees("(stopped)");
    chat.says("/continue")
        .sees("The first half and the second.")
        .does_not_see("(stopped)");
    let home = chat.shut_down();
    chat_in(home, script())
        .says("/sessions")
        .sees("question")
        .enter()
        .sees("The first half and the second.")
        .does_not_see("(stopped)")
        .says("/continue")
        .sees("Nothing to continue");
}

#[test]
fn a_stopped_continuation_is_joined_to_its_answer() {
    let rounds = script()
        .round([ScriptStep::text("One,"), ScriptStep::Hang])
        .round([ScriptStep::text(" two,"), ScriptStep::Hang])
        .answer(" three.");
    let mut chat = chat(rounds);
    chat.says("count").sees("One,").ctrl('c').sees("(stopped)");
    chat.says("/continue").sees("two,").ctrl('c');
    chat.sees("One, two,").sees("(stopped)").says("/continue");
    chat.sees("One, two, three.").does_not_see("(stopped)");
    let answer = json!({ "role": "assistant", "content": "One, two, three." });
    assert_eq!(file_of(&chat)["messages"][1], answer);
}

#[test]
fn u_drops_a_stopped_turn_and_branches_restores_it() {
    let mut chat = stopped(&["Later."]);
    chat.sees("u in the chat drops it");
    press_in_chat(&mut chat, 'u')
        .sees("Undone.")
        .does_not_see("The first half")
        .says("next")
        .sees("Later.")
        .model_does_not_receive("The first half")
        .model_does_not_receive("question");
    chat.says("/branches").sees("The first half");
}

#[test]
fn u_drops_no_turn_that_was_not_stopped() {
    let mut chat = chat(script().answer("Whole."));
    chat.says("question").sees("Whole.");
    press_in_chat(&mut chat, 'u')
        .sees("Only the last turn can be dropped, and only if you stopped it.")
        .sees("Whole.");
}

#[test]
fn the_stopped_text_stays_in_a_branch_if_it_is_edited() {
    let mut chat = stopped(&[" and the second."]);
    press_in_chat(&mut chat, 'e')
        .sees("Editing the answer to: question")
        .press(KeyCode::Char('u'), KeyModifiers::CONTROL)
        .types("My own words.")
        .enter()
        .sees("My own words.")
        .does_not_see("The first half")
        .says("/branches")
        .key('1')
        .sees("The first half")
        .sees("(stopped) The model sees it up to here.")
        .does_not_see("My own words.")
        .says("/continue")
        .sees("The first half and the second.");
}

#[test]
fn a_turn_that_is_stopped_while_the_model_thinks_is_left_out() {
    let rounds = script().round([ScriptStep::thinking("Let me think"), ScriptStep::Hang]);
    let mut chat = chat(rounds.answer("Later."));
    chat.says("question").sees("Let me think").ctrl('c');
    chat.sees("(cancelled) The model does not see this turn.")
        .says("next")
        .sees("Later.")
        .model_does_not_receive("question")
        .model_does_not_receive("Let me think");
}

#[test]
fn a_stopped_answer_is_the_text_of_the_last_round() {
    let rounds = script()
        .answer(&format!("Let me look.\n{GET_TIME_CALL}"))
        .round([ScriptStep::text("It is"), ScriptStep::Hang])
        .answer("Later.");
    let mut chat = chat(rounds);
    chat.says("Time?").reads_screen().key('y');
    chat.sees("It is").ctrl('c').sees("(stopped)").says("next");
    chat.sees("Later.")
        .model_receives("It is")
        .model_does_not_receive("Let me look.")
        .model_does_not_receive("get_time succeeded");
    assert_eq!(file_of(&chat)["messages"][1]["content"], "It is");
}

#[test]
fn a_turn_that_is_stopped_at_a_question_keeps_the_text_before_the_call() {
    let rounds = script().answer(&format!("Let me look.\n{GET_TIME_CALL}"));
    let mut chat = chat(rounds.answer("Later."));
    chat.says("Time?").sees("Let me look.").ctrl('c');
    chat.sees("(stopped)").says("next").sees("Later.");
    chat.model_receives("Let me look.");
    let answer = &file_of(&chat)["messages"][1]["content"];
    assert_eq!(answer.as_str().map(str::trim), Some("Let me look."));
}

#[test]
fn a_refused_call_is_not_a_stop() {
    let rounds = script().answer(&format!("Let me look.\n{GET_TIME_CALL}"));
    let mut chat = chat(rounds.answer("Later."));
    chat.says("Time?").reads_screen().key('n');
    chat.does_not_see("(stopped)")
        .says("next")
        .sees("Later.")
        .model_does_not_receive("Let me look.");
}

#[test]
fn a_stopped_retry_keeps_the_earlier_answer_in_a_branch() {
    let rounds = script()
        .answer("Whole.")
        .round([ScriptStep::text("Half"), ScriptStep::Hang])
        .answer("Later.");
    let mut chat = chat(rounds);
    chat.says("question").sees("Whole.").says("/retry");
    chat.sees("Half").ctrl('c').sees("(stopped)");
    chat.sees("Earlier branch kept in /branches.")
        .does_not_see("Whole.");
    chat.says("next").sees("Later.").model_receives("Half");
    chat.says("/branches").sees("Whole.");
}

#[test]
fn a_first_answer_that_the_connection_cuts_makes_a_file_but_is_not_sent() {
    let cut = ScriptStep::Fail(FailureCause::ConnectionReset);
    let rounds = script().round([ScriptStep::text("Half"), cut]);
    let mut chat = chat(rounds.answer("Later."));
    chat.says("question").sees("✗");
    assert_eq!(file_of(&chat)["humble"]["cancelled"][0]["words"], "Half");
    chat.says("next").sees("Later.");
    chat.model_does_not_receive("Half");
}

#[test]
fn a_turn_that_an_earlier_version_stored_as_cancelled_stays_unsent() {
    let mut first = chat(script().answer("One."));
    first.says("one").sees("One.");
    let home = first.shut_down();
    let path = session_files(&home).pop().expect("a session file");
    let mut file: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("a file")).expect("JSON");
    file["humble"]["cancelled"] = json!([
        { "at": "2026-01-01T00:00:00Z", "after": 2, "prompt": "two", "words": "Half" },
    ]);
    std::fs::write(&path, file.to_string()).expect("written");
    let mut chat = chat_in(home, script().answer("Later."));
    chat.says("/sessions").sees("one").enter();
    chat.sees("Half").sees("(cancelled)").says("next");
    chat.sees("Later.").model_does_not_receive("Half");
}

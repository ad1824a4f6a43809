//! Retried and edited turns, continued answers, and turns without an answer, on the screen and
//! in the session file.

use super::*;
use humble::provider::{EndReason, FailureCause, StreamPart};
use serde_json::{Value, json};

fn session_file(chat: &Chat) -> Value {
    serde_json::from_str(&chat.text_in_folder("sessions")).expect("one session file")
}

fn messages(chat: &Chat) -> Value {
    session_file(chat)["messages"].clone()
}

fn expected_messages(turns: &[(&str, &str)]) -> Value {
    let messages = turns.iter().flat_map(|(prompt, answer)| {
        [
            json!({ "role": "user", "content": prompt }),
            json!({ "role": "assistant", "content": answer }),
        ]
    });
    messages.collect()
}

fn server_error() -> ScriptStep {
    ScriptStep::Fail(FailureCause::Status {
        status: 500,
        message: None,
        retry_after: None,
        path: None,
    })
}

fn truncated_answer() -> [ScriptStep; 2] {
    [
        ScriptStep::text("The first half"),
        ScriptStep::Part(StreamPart::End(EndReason::Length)),
    ]
}

/// A chat with one answered turn. The next request to the model gets `round`.
fn with_next_round(round: impl IntoIterator<Item = ScriptStep>) -> Chat {
    let script = script().answer("answer one").round(round);
    let mut chat = chat(script.answer("answer two").answer("answer three"));
    chat.says("q1").sees("answer one");
    chat
}

/// Checks that the first turn is still saved, shown and sent to the model.
fn assert_turn_is_intact(chat: &mut Chat) {
    assert_eq!(messages(chat), expected_messages(&[("q1", "answer one")]));
    chat.sees("answer one").says("q2").sees("answer two");
    chat.model_receives("answer one");
    let expected = expected_messages(&[("q1", "answer one"), ("q2", "answer two")]);
    assert_eq!(messages(chat), expected);
}

#[test]
fn a_failed_retry_leaves_the_conversation_unchanged() {
    for round in [
        vec![server_error()],
        vec![ScriptStep::text("Half"), server_error()],
        vec![
            ScriptStep::text("Half"),
            ScriptStep::Fail(FailureCause::ConnectionReset),
        ],
    ] {
        let mut chat = with_next_round(round);
        chat.says("/retry").sees("✗");
        assert_turn_is_intact(&mut chat);
    }
}

#[test]
fn a_retry_that_is_stopped_before_any_text_leaves_the_conversation_unchanged() {
    let mut chat = with_next_round([ScriptStep::thinking("Hm"), ScriptStep::Hang]);
    chat.says("/retry").sees("Hm").does_not_see("answer one");
    assert_eq!(messages(&chat), expected_messages(&[("q1", "answer one")]));
    chat.ctrl('c').sees("(cancelled)").sees("answer one");
    assert_turn_is_intact(&mut chat);
}

#[test]
fn a_failed_edit_leaves_the_conversation_unchanged() {
    let mut chat = with_next_round([server_error()]);
    chat.says("/edit").types(" anew").enter().sees("✗");
    assert_turn_is_intact(&mut chat);
}

#[test]
fn a_retry_after_a_failed_retry_replaces_the_answered_turn() {
    let mut chat = with_next_round([server_error()]);
    chat.says("/retry").sees("✗").says("/retry");
    chat.sees("answer two")
        .does_not_see("answer one")
        .does_not_see("✗");
    chat.model_does_not_receive("answer one");
    assert_eq!(messages(&chat), expected_messages(&[("q1", "answer two")]));
    let branches = session_file(&chat)["humble"]["branches"].clone();
    assert_eq!(branches.as_array().map(Vec::len), Some(1), "{branches}");
    chat.sees("Earlier branch kept in /branches.");
}

#[test]
fn a_retry_replaces_the_failed_attempt_on_the_screen_and_in_the_file() {
    let failures = [
        vec![ScriptStep::text("Half"), server_error()],
        vec![server_error()],
    ];
    for round in failures {
        let script = script().round(round).round([server_error()]);
        let mut chat = chat(script.answer("answer one"));
        chat.says("q1").sees("✗").says("/retry").sees("✗");
        chat.says("/retry").sees("answer one");
        chat.does_not_see("✗").does_not_see("Half");
        let prompts = chat.screen().matches("▌ q1").count();
        assert_eq!(prompts, 1, "{}", chat.screen());
        assert_eq!(messages(&chat), expected_messages(&[("q1", "answer one")]));
        let cancelled = session_file(&chat)["humble"]["cancelled"].clone();
        assert!(
            cancelled.as_array().is_none_or(Vec::is_empty),
            "{cancelled}"
        );
    }
}

#[test]
fn a_failed_retry_keeps_the_partial_answer_before_it() {
    let script = script().round([ScriptStep::text("Half"), server_error()]);
    let mut chat = chat(script.round([server_error()]));
    chat.says("q1").sees("Half").sees("✗").says("/retry");
    chat.sees("▌ q1").sees("Half");
}

#[test]
fn undo_after_a_failed_retry_removes_only_the_failed_attempt() {
    let mut chat = with_next_round([ScriptStep::text("Half"), server_error()]);
    chat.says("/retry").sees("✗").says("/undo");
    chat.sees("answer one").does_not_see("Half");
    assert_turn_is_intact(&mut chat);
}

#[test]
fn a_kill_during_a_retry_loses_no_turn_and_the_retry_is_offered() {
    let mut first = with_next_round([ScriptStep::text("Half"), ScriptStep::Hang]);
    first.says("/retry").sees("Half");
    branches::wait_until_journaled(&mut first, "Half");
    assert_eq!(messages(&first), expected_messages(&[("q1", "answer one")]));
    let home = first.kill();
    let mut second = chat_in(home, script().answer("answer two"));
    second.sees("Unfinished turn").reads_screen().key('r');
    second
        .sees("answer one")
        .sees("› q1")
        .reads_screen()
        .enter();
    second.sees("answer two").does_not_see("answer one");
    second.model_does_not_receive("answer one");
    assert_eq!(
        messages(&second),
        expected_messages(&[("q1", "answer two")])
    );
}

#[test]
fn a_kill_during_an_edit_of_an_earlier_message_still_replaces_all_later_turns() {
    let scripted = script().answer("first.").answer("second.");
    let mut first = chat(scripted.round([ScriptStep::text("Half"), ScriptStep::Hang]));
    first.says("q1").sees("first.").says("q2").sees("second.");
    first.press(KeyCode::Tab, KeyModifiers::NONE);
    first.up().up().up().up().key('e');
    first.sees("Editing ").types(" anew").enter();
    first.sees("Half");
    branches::wait_until_journaled(&mut first, "Half");
    let home = first.kill();
    let mut second = chat_in(home, script().answer("third."));
    second.sees("Unfinished turn").reads_screen().key('r');
    second.sees("› q1 anew").reads_screen().enter();
    second.sees("third.").does_not_see("first.");
    let expected = expected_messages(&[("q1 anew", "third.")]);
    assert_eq!(messages(&second), expected);
}

#[test]
fn a_prompt_queued_behind_a_failed_retry_is_sent_with_the_whole_history() {
    let mut chat = with_next_round([ScriptStep::Wait(Duration::from_millis(500)), server_error()]);
    chat.says("/retry").says("q2").waits_until_sees("✗").enter();
    chat.sees("answer two").model_receives("answer one");
    let expected = expected_messages(&[("q1", "answer one"), ("q2", "answer two")]);
    assert_eq!(messages(&chat), expected);
}

#[test]
fn a_prompt_queued_behind_a_retry_is_sent_with_the_new_answer_only() {
    let slow_answer = [
        ScriptStep::Wait(Duration::from_millis(500)),
        ScriptStep::text("answer one b"),
        ScriptStep::end(),
    ];
    let mut chat = with_next_round(slow_answer);
    chat.says("/retry")
        .says("q2")
        .waits_until_sees("answer two");
    chat.model_receives("answer one b");
    let expected = expected_messages(&[("q1", "answer one b"), ("q2", "answer two")]);
    assert_eq!(messages(&chat), expected);
}

#[test]
fn undoing_the_only_turn_keeps_it_in_the_session_file() {
    let mut chat = with_next_round([]);
    chat.says("/undo").does_not_see("answer one");
    assert_eq!(messages(&chat), expected_messages(&[("q1", "answer one")]));
    chat.says("/sessions")
        .sees("q1")
        .press(KeyCode::Esc, KeyModifiers::NONE);
    chat.says("/branches")
        .sees("q1 · answer one  1 turn")
        .key('1');
    chat.sees("answer one");
}

#[test]
fn a_continued_answer_is_saved_as_one_answer() {
    let mut chat = chat(
        script()
            .round(truncated_answer())
            .answer(" and the second.")
            .answer("ok"),
    );
    chat.says("Tell me")
        .sees("The answer was cut off at the token limit.")
        .press(KeyCode::Char('c'), KeyModifiers::ALT)
        .sees("The first half and the second.")
        .does_not_see("was cut off at the token limit")
        .model_receives("Continue exactly where your answer was cut off.");
    let whole = "The first half and the second.";
    assert_eq!(messages(&chat), expected_messages(&[("Tell me", whole)]));
    assert_eq!(session_file(&chat)["humble"].get("branches"), None);
    let turns = session_file(&chat)["humble"]["turns"].clone();
    assert_eq!(turns.as_array().map(Vec::len), Some(1), "{turns}");
    assert!(
        !chat.text_in_folder("").contains("Continue exactly"),
        "the continuation prompt is not saved"
    );
    chat.says("next").sees("ok").model_receives(whole);
    chat.model_does_not_receive("Continue exactly");
}

#[test]
fn a_continuation_that_is_stopped_before_any_text_can_be_retried() {
    let mut chat = chat(
        script()
            .round(truncated_answer())
            .round([ScriptStep::thinking("Hm"), ScriptStep::Hang])
            .answer(" and the second."),
    );
    chat.says("Tell me")
        .press(KeyCode::Char('c'), KeyModifiers::ALT)
        .sees("Hm")
        .ctrl('c')
        .sees("(cancelled)");
    assert_eq!(
        messages(&chat),
        expected_messages(&[("Tell me", "The first half")])
    );
    chat.says("/retry").sees("The first half and the second.");
    let whole = "The first half and the second.";
    assert_eq!(messages(&chat), expected_messages(&[("Tell me", whole)]));
    chat.does_not_see("(cancelled)");
}

#[test]
fn a_failed_first_turn_is_not_offered_at_the_next_start() {
    for is_killed in [false, true] {
        let mut first = chat(script().round([ScriptStep::text("Half"), server_error()]));
        first.says("question").sees("✗");
        let home = if is_killed {
            first.waits(Duration::from_secs(1)).kill()
        } else {
            first.shut_down()
        };
        chat_in(home, script()).does_not_see("Unfinished turn");
    }
}

#[test]
fn a_stopped_first_turn_is_not_offered_at_the_next_start() {
    let mut first = chat(script().round([ScriptStep::text("Half"), ScriptStep::Hang]));
    first.says("question").sees("Half").ctrl('c');
    let home = first.sees("(stopped)").shut_down();
    chat_in(home, script()).does_not_see("Unfinished turn");
}

#[test]
fn a_long_title_is_truncated_to_a_thousand_characters_with_a_notice() {
    let mut chat = with_next_round([]);
    let title = "가".repeat(1_000);
    chat.pastes(&format!("/rename {title}")).enter();
    assert_eq!(session_file(&chat)["humble"]["title"], json!(title));
    chat.sees("Renamed to ");
    chat.pastes(&format!("/rename {title}나")).enter();
    assert_eq!(session_file(&chat)["humble"]["title"], json!(title));
    chat.sees("The title was too long: its first 1000 characters are kept.");
}

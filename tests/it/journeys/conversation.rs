//! Prompts, answers, interruptions, conversations and commands.

use super::*;

#[test]
fn a_prompt_is_answered() {
    chat(script().answer("서울은 한국의 수도입니다."))
        .says("한국의 수도는?")
        .sees("You")
        .sees("한국의 수도는?")
        .sees("서울은 한국의 수도입니다.")
        .does_not_see("Waiting for response...");
}

#[test]
fn the_prompt_and_a_sign_of_waiting_are_there_before_the_model_says_anything() {
    chat(script().round([ScriptStep::Hang]))
        .says("hello")
        .sees("hello")
        .sees("Waiting for response...");
}

#[test]
fn ctrl_c_stops_while_waiting() {
    chat(script().round([ScriptStep::Hang]).answer("Again."))
        .says("hello")
        .ctrl('c')
        .sees("(cancelled)")
        .is_running()
        .up()
        .sees("│ hello");
}

#[test]
fn ctrl_c_stops_an_answer_and_keeps_its_words() {
    chat(
        script()
            .round([ScriptStep::text("Half a sen"), ScriptStep::Hang])
            .answer("Fine."),
    )
    .says("Tell me")
    .sees("Half a sen")
    .ctrl('c')
    .sees("Half a sen")
    .sees("(cancelled)")
    .reads_screen()
    .says("next")
    .sees("Fine.")
    .model_does_not_receive("Half a sen");
}

#[test]
fn ctrl_c_stops_thinking() {
    chat(script().round([ScriptStep::thinking("Let me think"), ScriptStep::Hang]))
        .says("hello")
        .sees("<<< Thinking >>>")
        .sees("Let me think")
        .ctrl('c')
        .sees("(cancelled)")
        .is_running();
}

#[test]
fn ctrl_c_at_a_dialog_stops_the_turn_at_once() {
    chat(script().answer(GET_TIME_CALL))
        .says("Time?")
        .ctrl('c')
        .does_not_see("Call now? (Y/N)")
        .model_received_requests(1)
        .is_running();
}

#[test]
fn ctrl_c_at_the_input_leaves_and_what_was_typed_is_offered_again() {
    let mut first = chat(script());
    first.types("unfinished 생각").ctrl('c').has_exited();
    let home = first.shut_down();
    chat_in(home, script()).sees("unfinished 생각");
}

#[test]
fn ctrl_c_right_after_a_turn_asks_again_before_it_leaves() {
    chat(script().answer("Done."))
        .says("hi")
        .ctrl('c')
        .is_running()
        .ctrl('c')
        .has_exited();
}

#[test]
fn a_prompt_sent_during_a_turn_waits_its_turn() {
    chat(
        script()
            .round([
                ScriptStep::text("One"),
                ScriptStep::Wait(Duration::from_millis(1)),
                ScriptStep::Hang,
            ])
            .answer("Two."),
    )
    .says("first")
    .says("second")
    .sees("queued")
    .model_received_requests(1)
    .ctrl('c')
    .reads_screen()
    .model_received_requests(1)
    .enter()
    .sees("Two.")
    .model_received_requests(2);
}

#[test]
fn a_conversation_is_resumed() {
    let mut first = chat(script().answer("Blue."));
    first.says("하늘은 무슨 색?").sees("Blue.");
    let home = first.shut_down();
    assert_eq!(session_files(&home).len(), 1);
    chat_in(home, script().answer("Because of the air."))
        .ctrl('o')
        .sees("하늘은 무슨 색?")
        .enter()
        .sees("Blue.")
        .says("Why?")
        .sees("Because of the air.")
        .model_receives("하늘은 무슨 색?")
        .model_receives("Blue.");
}

#[test]
fn a_conversation_is_deleted_after_asking() {
    let mut first = chat(script().answer("Blue."));
    first.says("sky?").sees("Blue.");
    let home = first.shut_down();
    let mut second = chat_in(home, script());
    second
        .ctrl('o')
        .press(KeyCode::Tab, KeyModifiers::NONE)
        .key('d');
    second.key('y').does_not_see("sky?");
    let home = second.shut_down();
    assert!(session_files(&home).is_empty());
}

#[test]
fn a_failure_says_what_to_do_and_alt_r_asks_again() {
    chat(
        script()
            .round([ScriptStep::text("The first reason is that the")])
            .answer("Because."),
    )
    .says("Why?")
    .sees("The first reason is that the")
    .sees("was cut in the middle")
    .press(KeyCode::Char('r'), KeyModifiers::ALT)
    .sees("Because.")
    .model_received_requests(2);
}

#[test]
fn the_commands_are_completed_as_they_are_typed() {
    chat(script())
        .types("/set-t")
        .sees("/set-tool-mode")
        .press(KeyCode::Tab, KeyModifiers::NONE)
        .types("nonsense")
        .enter()
        .sees("Please enter either auto or manual.")
        .ctrl('u')
        .says("/set-tool-mode auto")
        .sees("auto")
        .says("/sesions")
        .sees("/sessions")
        .model_received_requests(0);
}

#[test]
fn what_was_typed_before_is_searched() {
    chat(script().answer("하나").answer("둘"))
        .says("서울 날씨 알려줘")
        .reads_screen()
        .says("something else")
        .reads_screen()
        .ctrl('r')
        .types("날씨")
        .sees("╭─ Prompt history")
        .enter()
        .does_not_see("╭─ Prompt history")
        .sees("│ 서울 날씨 알려줘")
        .model_received_requests(2);
}

#[test]
fn the_numbered_list_of_models_keeps_the_present_one_with_0() {
    chat(script())
        .says("/set-model")
        .sees("╭─ Models")
        .key('0')
        .does_not_see("╭─ Models");
}

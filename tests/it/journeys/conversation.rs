//! Prompts, answers, interruptions, conversations and commands.

use super::*;

#[test]
fn a_prompt_is_answered() {
    chat(script().answer("서울은 한국의 수도입니다."))
        .says("한국의 수도는?")
        .sees("▌ 한국의 수도는?")
        .sees("서울은 한국의 수도입니다.")
        .does_not_see("Waiting for response...");
}

#[test]
fn the_prompt_and_a_waiting_notice_appear_before_the_model_responds() {
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
        .assert_running()
        .up()
        .sees("› hello");
}

#[test]
fn ctrl_c_stops_an_answer_and_the_model_sees_its_text() {
    chat(
        script()
            .round([ScriptStep::text("Half a sen"), ScriptStep::Hang])
            .answer("Fine."),
    )
    .says("Tell me")
    .sees("Half a sen")
    .ctrl('c')
    .sees("Half a sen")
    .sees("(stopped)")
    .reads_screen()
    .says("next")
    .sees("Fine.")
    .model_receives("Half a sen");
}

#[test]
fn stopped_text_shows_no_unfinished_markup() {
    chat(script().round([ScriptStep::text("so *Half a sen"), ScriptStep::Hang]))
        .says("Tell me")
        .sees("so Half a sen")
        .ctrl('c')
        .sees("so Half a sen")
        .sees("· (stopped)");
}

#[test]
fn a_prompt_with_a_space_before_its_slash_is_sent_as_a_message() {
    chat(script().answer("A path."))
        .says(" /usr/bin")
        .sees("A path.")
        .model_receives("/usr/bin");
}

#[test]
fn a_slash_alone_or_an_unknown_command_points_to_help() {
    chat(script())
        .says("/")
        .sees("Type the name of a command after the slash. /help lists them all.")
        .sees("› /")
        .ctrl('u')
        .says("/qqqqqqqq")
        .sees("Unknown command /qqqqqqqq. /help lists them all.");
}

#[test]
fn ctrl_c_stops_thinking() {
    chat(script().round([ScriptStep::thinking("Let me think"), ScriptStep::Hang]))
        .says("hello")
        .sees("<<< Thinking >>>")
        .sees("Let me think")
        .ctrl('c')
        .sees("(cancelled)")
        .assert_running();
}

#[test]
fn ctrl_c_at_a_dialog_stops_the_turn_at_once() {
    chat(script().answer(GET_TIME_CALL))
        .says("Time?")
        .ctrl('c')
        .does_not_see("Call now? (Y/N)")
        .model_received_requests(1)
        .assert_running();
}

#[test]
fn ctrl_c_clears_the_message_and_up_restores_it_before_ctrl_c_quits() {
    let mut first = chat(script());
    first.types("unfinished 생각").ctrl('c').assert_running();
    first.does_not_see("unfinished 생각").up();
    first.sees("› unfinished 생각").ctrl('c').assert_running();
    first.ctrl('c').assert_exited();
    let home = first.shut_down();
    chat_in(home, script()).does_not_see("unfinished 생각");
}

#[test]
fn quitting_keeps_the_draft_for_the_next_start() {
    let mut first = chat(script());
    first.types("unfinished 생각").ctrl('p');
    first.types("exit").enter().assert_exited();
    let home = first.shut_down();
    chat_in(home, script()).sees("unfinished 생각");
}

#[test]
fn ctrl_c_right_after_a_turn_needs_a_second_press_to_quit() {
    chat(script().answer("Done."))
        .says("hi")
        .ctrl('c')
        .assert_running()
        .ctrl('c')
        .assert_exited();
}

#[test]
fn a_prompt_sent_during_a_turn_is_queued() {
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
fn a_saved_conversation_is_resumed() {
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
fn a_conversation_is_deleted_after_a_confirmation() {
    let mut first = chat(script().answer("Blue."));
    first.says("sky?").sees("Blue.");
    let home = first.shut_down();
    let mut second = chat_in(home, script());
    second
        .ctrl('o')
        .press(KeyCode::Tab, KeyModifiers::NONE)
        .key('d');
    second
        .key('y')
        .sees("Deleted \"sky?\".")
        .does_not_see("▌ sky?");
    let home = second.shut_down();
    assert!(session_files(&home).is_empty());
}

#[test]
fn a_failure_gives_advice_and_alt_r_retries() {
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
fn commands_are_completed_while_typing() {
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
fn the_prompt_history_is_searchable() {
    chat(script().answer("하나").answer("둘"))
        .says("서울 날씨 알려줘")
        .reads_screen()
        .says("something else")
        .reads_screen()
        .ctrl('r')
        .types("날씨")
        .sees("── Prompt history")
        .enter()
        .does_not_see("── Prompt history")
        .sees("› 서울 날씨 알려줘")
        .model_received_requests(2);
}

#[test]
fn zero_in_the_numbered_list_of_models_keeps_the_current_one() {
    chat(script())
        .says("/set-model")
        .sees("── Models")
        .sees("0  Keep the current model")
        .key('0')
        .does_not_see("── Models");
}

#[test]
fn a_file_that_the_prompt_mentions_is_sent_with_it() {
    // Tests run in the folder of the package.
    chat(script().answer("A package.").answer("Hello."))
        .says("What is @Cargo.toml, please?")
        .sees("@ Cargo.toml  text")
        .sees("A package.")
        .model_receives("[Start of attached file Cargo.toml")
        .says("Hello @nobody, how are you?")
        .sees("Hello.")
        .model_received_requests(2);
}

//! The trace of the last answer, in the log layer.

use super::*;
use humble::domain::Arguments;
use humble::provider::StreamPart;

const F12: KeyCode = KeyCode::F(12);
const NONE: KeyModifiers = KeyModifiers::NONE;

#[test]
fn the_trace_shows_the_last_answer_as_received_and_as_parsed() {
    let answer = format!("더해 볼게요.\n<tool_call>\n{GET_TIME_CALL}\n</tool_call>");
    chat(script().answer(&answer).answer("It is late."))
        .says("Time?")
        .reads_screen()
        .key('y')
        .sees("It is late.")
        .press(F12, NONE)
        .sees("No log entries yet.")
        .sees("Tab last answer")
        .press(KeyCode::Tab, NONE)
        .sees("Reply 1 from m")
        .sees("As the server sent it:")
        .sees(" text  더해 볼게요.")
        .sees("end: stop")
        .sees("As it was split:")
        .sees("mark  <tool_call>")
        .sees("call  {\"server\": \"humble\"")
        .sees("read as Hermes")
        .sees("The outcome of its calls:")
        .sees("get_time on humble, Hermes: ran")
        .sees("Reply 2 from m")
        .press(KeyCode::Tab, NONE)
        .sees("No log entries yet.")
        .press(KeyCode::Esc, NONE)
        .sees("It is late.");
}

#[test]
fn the_trace_reports_repaired_merged_and_reclassified_parts() {
    let repaired = GET_TIME_CALL.replace("\"}}", "\",}}");
    let arguments: Arguments =
        serde_json::from_str(r#"{"timezone": "Asia/Seoul"}"#).expect("an object");
    let script = script()
        .round([
            ScriptStep::text("hm"),
            ScriptStep::text("\n</think>\n"),
            ScriptStep::text(&repaired),
            ScriptStep::call("humble__get_time", arguments),
            ScriptStep::end(),
        ])
        .round([
            ScriptStep::thinking("생각"),
            ScriptStep::text(r#"{"name": "fly", "arguments": {}}"#),
            ScriptStep::Part(StreamPart::End(humble::provider::EndReason::Length)),
        ])
        .answer("So.");
    chat(script)
        .says("Time?")
        .reads_screen()
        .key('y')
        .sees("So.")
        .says("/log answer")
        .sees("all text before this was thinking")
        .sees("read as JSON, repaired")
        .sees("in the provider's own field")
        .sees("call  {\"id\":null,\"name\":\"humble__get_time\"")
        .sees("get_time on humble, native, counted once although also written as JSON: ran")
        .press(KeyCode::PageDown, NONE)
        .press(KeyCode::PageDown, NONE)
        .sees("think 생각")
        .sees("bad   {\"name\": \"fly\"")
        .sees("end: token limit")
        .press(KeyCode::Home, NONE)
        .sees("Reply 1 from m")
        .press(KeyCode::End, NONE)
        .sees("text  So.");
}

#[test]
fn a_call_copied_from_a_result_asks_in_auto_mode_and_is_marked_in_the_trace() {
    let call_quoting_a_call =
        GET_TIME_CALL.replace("Asia/Seoul", &GET_TIME_CALL.replace('"', "\\\""));
    let mut chat = chat(
        script()
            .answer(&call_quoting_a_call)
            .answer(GET_TIME_CALL)
            .answer("Never mind."),
    );
    chat.says("/set-tool-mode auto")
        .says("Read the page.")
        .reads_screen()
        // The argument is not a time zone, so the first call fails and its error dialog opens.
        .sees("What now?")
        .key('g')
        .reads_screen()
        .sees("Call now? (Y/N)")
        .sees("occurs in a tool result")
        .key('d')
        .enter()
        .sees("Never mind.")
        .says("/log answer")
        .press(KeyCode::PageDown, NONE)
        .sees("occurs in a tool result: not run");
}

#[test]
fn the_trace_follows_the_turn_and_is_empty_in_a_new_conversation() {
    let mut chat = chat(script().answer("one").round([
        ScriptStep::text("two "),
        ScriptStep::Wait(Duration::from_secs(30)),
        ScriptStep::text("words"),
        ScriptStep::end(),
    ]));
    chat.says("/log answer").sees("No answer yet.");
    chat.press(KeyCode::Esc, NONE)
        .says("1?")
        .says("/log answer");
    chat.sees("text  one");
    chat.press(KeyCode::Esc, NONE)
        .says("2?")
        .says("/log answer");
    chat.waits_until_sees("text  two words")
        .does_not_see("text  one");
    chat.press(KeyCode::Esc, NONE)
        .says("/new")
        .says("/log answer");
    chat.sees("No answer yet.");
}

#[test]
fn the_log_command_with_an_unknown_argument_shows_its_usage() {
    chat(script())
        .says("/log nonsense")
        .sees("Usage: /log [answer]");
}

#[test]
fn the_trace_can_be_copied_raw() {
    let mut chat = chat(script().answer("a\u{1b}[31mb"));
    chat.says("?").says("/log answer").sees("text  a");
    chat.does_not_see("\u{1b}").key('ㅛ').sees("clipboard");
    let copied = chat.clipboard().expect("something was copied");
    assert!(copied.contains("text  a\u{1b}[31mb"), "{copied}");
}

//! `/probe`: its progress, its report, and storing the result.

use super::*;
use humble::domain::{Dialect, Message};
use humble::provider::ChatRequest;

fn answer(text: &str) -> Vec<ScriptStep> {
    vec![ScriptStep::text(text), ScriptStep::end()]
}

/// A model that calls `say_hello` only natively. Without that tool, it greets the user.
fn calls_natively_only(request: &ChatRequest) -> Vec<ScriptStep> {
    let mut offered_tools = request.tools.tools().iter();
    if !offered_tools.any(|tool| tool.tool.name == "say_hello") {
        return answer("반가워요.");
    }
    let result = match request.messages.last() {
        Some(Message::ToolResult(result)) => Some(result.content.clone()),
        _ => None,
    };
    match result {
        _ if request.model.dialect != Dialect::Native => answer("I cannot call tools."),
        Some(result) => answer(&format!("It says: {result}")),
        None => vec![
            ScriptStep::call("humble__say_hello", <_>::default()),
            ScriptStep::end(),
        ],
    }
}

fn chat_with_native_calls() -> Chat {
    chat(Script::responding(calls_natively_only))
}

#[test]
fn a_probe_ends_with_a_table_and_one_key_stores_the_best_dialect() {
    let mut chat = chat_with_native_calls();
    let before = chat.config();
    chat.says("/probe")
        .sees("m works with tools: best in `native`.")
        .sees("dialect  called  well-formed  answered  seconds")
        .sees("native   yes     yes          yes           0.0")
        .sees("xml      no      -            no            0.0")
        .sees("`prompt` is in use, but `native` does better.")
        .sees("Save it?");
    // A user who is still typing has not read the dialog yet.
    chat.key('y');
    assert_eq!(chat.config(), before);
    chat.reads_screen()
        .key('y')
        .reads_screen()
        .sees("m now uses the dialect `native`.");
    let stored = "\"active\": true, \"toolCalls\": \"native\"";
    assert_eq!(chat.config(), before.replace("\"active\": true", stored));
    chat.ctrl('u')
        .says("안녕")
        .sees("반가워요.")
        .does_not_see("say_hello");
}

#[test]
fn declining_the_result_of_a_probe_changes_nothing() {
    let mut chat = chat_with_native_calls();
    let before = chat.config();
    chat.says("/probe")
        .reads_screen()
        .key('ㅜ')
        .does_not_see("Save it?");
    assert_eq!(chat.config(), before);
    chat.assert_running();
}

#[test]
fn a_report_without_a_result_to_store_stays_open() {
    let script = script().answer("Hello.").answer("Hello.").answer("Hello.");
    let mut chat = chat(script);
    chat.says("/probe")
        .reads_screen()
        .waits(Duration::from_secs(60));
    chat.sees("m did not call a tool in any dialect.")
        .sees("Nothing was changed.")
        .sees("Nothing was changed.   n close");
    chat.ctrl('c')
        .does_not_see("Nothing was changed.")
        .assert_running();
}

#[test]
fn a_probe_shows_progress_and_ctrl_c_or_esc_stops_it() {
    for stop in [KeyCode::Char('c'), KeyCode::Esc] {
        let mut chat = chat(script().round([ScriptStep::Hang]));
        chat.says("/probe")
            .sees("Probing m. This may take a few minutes.")
            .sees("probe: native, 1 of 3")
            .sees("Ctrl+C stop")
            .waits(Duration::from_secs(9))
            .sees("9 s");
        let modifiers = match stop {
            KeyCode::Esc => KeyModifiers::NONE,
            _ => KeyModifiers::CONTROL,
        };
        chat.press(stop, modifiers)
            .sees("The probe was stopped before any dialect was fully tried.")
            .does_not_see("probe: native")
            .assert_running();
        chat.model_received_requests(1);
    }
}

#[test]
fn a_stopped_probe_shows_its_partial_results() {
    let mut chat = chat(script().answer("Hello.").round([ScriptStep::Hang]));
    chat.says("/probe").sees("probe: prompt, 2 of 3");
    chat.ctrl('c')
        .sees("m did not call a tool in any tested dialect.")
        .sees("Nothing was changed.");
    // A double key press does not quit.
    chat.ctrl('c').assert_running();
    chat.reads_screen()
        .key('n')
        .does_not_see("Nothing was changed.")
        .assert_running();
}

#[test]
fn a_prompt_waits_until_the_report_of_a_probe_is_closed() {
    let script = script()
        .round([ScriptStep::Hang])
        .answer("Hello.")
        .answer("반가워요.");
    let mut chat = chat(script);
    chat.says("/probe").says("안녕?").sees("queued");
    chat.model_received_requests(1);
    let mut chat = chat_with_native_calls();
    chat.says("/probe")
        .sees("Save it?")
        .says("안녕?")
        .sees("queued");
    chat.does_not_see("반가워요.");
    chat.reads_screen()
        .key('y')
        .sees("반가워요.")
        .does_not_see("queued");
}

#[test]
fn the_palette_lists_probe_and_a_running_turn_blocks_it() {
    let mut chat = chat(script().round([ScriptStep::text("Let me"), ScriptStep::Hang]));
    chat.says("Hi").sees("Let me");
    chat.ctrl('p')
        .types("probe")
        .sees("Detect how the model calls tools");
    chat.enter()
        .sees("A turn is still running. Ctrl+C stops it.")
        .does_not_see("probe: native");
    chat.model_received_requests(1);
}

#[test]
fn commands_are_refused_while_the_model_is_probed() {
    let mut chat = chat(script().answer("Hi.").round([ScriptStep::Hang]));
    chat.says("Hello").sees("Hi.").says("/probe");
    for command in ["/compact", "/retry", "/undo", "/probe"] {
        chat.says(command)
            .sees("A probe is still running. Ctrl+C stops it.");
    }
    chat.model_received_requests(2);
}

#[test]
fn the_demo_refuses_to_probe() {
    let mut chat = demo_in(tempfile::TempDir::new().expect("a temporary folder"));
    chat.ctrl('u')
        .says("/probe")
        .sees("The demo's model follows a script");
}

#[test]
fn say_hello_is_off_in_the_chat_until_the_user_enables_it() {
    let call = r#"{"server": "humble", "name": "say_hello", "arguments": {}}"#;
    let script = script()
        .answer(call)
        .answer("I cannot.")
        .answer(call)
        .answer("안녕!");
    let mut chat = chat(script);
    chat.says("Say hello").sees("I cannot.");
    chat.model_receives("there is no tool `say_hello`");
    // In the servers pane, enable the server's fourth tool.
    chat.press(KeyCode::F(2), KeyModifiers::NONE).enter();
    for _ in 0..4 {
        chat.press(KeyCode::Down, KeyModifiers::NONE);
    }
    chat.key(' ');
    chat.press(KeyCode::Esc, KeyModifiers::NONE);
    chat.says("Say hello").sees("Call now? (Y/N)");
    chat.reads_screen().key('y').sees("안녕!");
    chat.model_receives("secret_word");
    // The choice is saved, and the other tools stay off.
    let home = chat.shut_down();
    let file = std::fs::read_to_string(home.path().join("mcp-servers.json")).expect("written");
    assert!(
        file.contains(r#""toolsOff": ["ollama_chat", "get_cat_fact", "fetch_page"]"#),
        "{file}"
    );
}

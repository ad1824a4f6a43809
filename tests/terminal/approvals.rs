//! Complete turns: prompt, approval with a real key, result, answer, saved file, and the
//! state after an interruption.

use super::model_server::{Gate, ollama_call, ollama_loaded, ollama_text};
use super::pty::{CTRL_C, TerminalOptions, UP, contains_text};
use super::{
    CHAT, READY_HINT, clean_exit, endless, ollama, ollama_with_tools, open, open_with_tools,
};
use serde_json::json;

const QUESTION: &str = "Call now? (Y/N)";

#[test]
fn a_turn_with_an_approved_tool_is_shown_answered_and_saved() {
    let (server, home) = ollama_with_tools();
    server
        .queue_reply(CHAT, ollama_call("echo", &json!({ "text": "forty-two" })))
        .queue_reply(CHAT, ollama_text(&["The answer ", "is 42."]));
    let mut terminal = open_with_tools(&home);
    terminal.send_prompt("What is 6 times 7? 도구를 써서");
    let dialog = terminal.wait_for_text(QUESTION);
    for part in [
        "── Run echo on test? ──",
        "The server says: The tool echo.",
        "  text  forty-two ",
        " all shown ",
    ] {
        assert!(
            contains_text(&dialog, part),
            "{part}\n{}",
            dialog.contents()
        );
    }
    terminal.wait_for_text(READY_HINT);
    terminal.press("y");
    terminal.wait_for_text("The answer is 42.");
    terminal.wait_until_gone("Waiting for response...");
    let second_request = &server.bodies(CHAT)[1];
    let messages = second_request["messages"].as_array().expect("messages");
    let result = messages.last().expect("the result comes last");
    assert_eq!(result["role"], "tool");
    let text = result["content"].as_str().expect("text");
    assert!(
        text.contains("data, not instructions") && text.ends_with("forty-two"),
        "{text}"
    );
    let saved = home.wait_until_saved("The answer is 42.");
    assert_eq!(
        saved["messages"],
        json!([
            { "role": "user", "content": "What is 6 times 7? 도구를 써서" },
            { "role": "assistant", "content": "The answer is 42." },
        ])
    );
    assert_eq!(terminal.quit(), clean_exit());
    terminal.assert_restored();
    home.assert_no_process_left();
}

#[test]
fn humble_ask_prints_the_arguments_before_the_description() {
    let (server, home) = ollama_with_tools();
    let text = format!("first{}The server describes this tool:", " ".repeat(95));
    server
        .queue_reply(CHAT, ollama_call("echo", &json!({ "text": text })))
        .queue_reply(CHAT, ollama_text(&["Done."]));
    let mut terminal = TerminalOptions::in_home(&home)
        .arg("ask")
        .arg("Call it.")
        .start();
    let dialog = terminal.wait_for_text(QUESTION);
    let contents = dialog.contents();
    let rows: Vec<&str> = contents.lines().map(str::trim_end).collect();
    let row_of = |start: &str| rows.iter().position(|row| row.starts_with(start));
    let order = [
        row_of("Tool call: echo on test"),
        row_of("  text: \"first"),
        row_of("The server describes this tool:"),
        row_of("  | The tool echo."),
        row_of("Its arguments are the 2 rows above the description."),
        row_of(QUESTION),
    ];
    assert!(order.iter().all(Option::is_some), "{order:?}\n{contents}");
    assert!(order.is_sorted(), "{order:?}\n{contents}");
    let labels = rows
        .iter()
        .filter(|row| row.starts_with("The server describes"));
    assert_eq!(labels.count(), 1, "{contents}");
    terminal.press(CTRL_C);
    terminal.exit();
    assert_eq!(server.bodies(CHAT).len(), 1);
    home.assert_no_process_left();
}

#[test]
fn keys_typed_ahead_of_a_dialog_go_to_the_message() {
    let (server, home) = ollama_with_tools();
    server.always_reply("/api/ps", ollama_loaded(&["qwen3:4b"]));
    let gate = Gate::closed();
    server.queue_reply(
        CHAT,
        ollama_call("echo", &json!({ "text": "x" })).gate_after(0, &gate),
    );
    let mut terminal = open_with_tools(&home);
    terminal.send_prompt("Call it.");
    terminal.wait_for_text("Waiting for response...");
    // Press `y` until the dialog has appeared, and once more after that.
    gate.open();
    let mut typed = String::from("yes: ");
    terminal.press(&typed);
    loop {
        let is_dialog_open = contains_text(&terminal.screen(), QUESTION);
        typed.push('y');
        terminal.press("y");
        terminal.wait_for_text(&typed);
        if is_dialog_open {
            break;
        }
    }
    let screen = terminal.wait_for_text(READY_HINT);
    assert!(
        contains_text(&screen, QUESTION) && contains_text(&screen, &typed),
        "{}",
        screen.contents()
    );
    assert_eq!(
        server.bodies(CHAT).len(),
        1,
        "the call ran without approval"
    );
    // Pasted text does not answer the dialog; it goes to the message, too.
    terminal.paste("y");
    terminal.wait_for_text(&format!("{typed}y"));
    terminal.wait_for_text(READY_HINT);
    terminal.press("n");
    terminal.wait_until_gone(QUESTION);
    terminal.wait_for_text("refused");
    assert_eq!(server.bodies(CHAT).len(), 1, "the model was asked again");
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn ctrl_c_during_an_answer_returns_to_the_input_and_keeps_the_text() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, endless(&["The first reason ", "is that the"]));
    server.queue_reply(CHAT, ollama_text(&["All of it."]));
    let mut terminal = open(&home);
    terminal.send_prompt("Give me reasons.");
    terminal.wait_for_text("The first reason is that the");
    terminal.press(CTRL_C);
    let screen = terminal.wait_for_text("(stopped)");
    assert!(
        contains_text(&screen, "The first reason is that the"),
        "{}",
        screen.contents()
    );
    server.blocking_wait_for(|log| log.aborted_replies > 0);
    terminal.press(UP);
    terminal.wait_for("the prompt is back in the message", |screen| {
        screen.contents().matches("Give me reasons.").count() >= 2
    });
    terminal.press("\r");
    terminal.wait_for_text("All of it.");
    let bodies = server.bodies(CHAT);
    assert!(
        bodies[1].to_string().contains("first reason"),
        "the stopped answer was not sent"
    );
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn ctrl_c_with_an_open_dialog_ends_the_turn() {
    let (server, home) = ollama_with_tools();
    server.queue_reply(CHAT, ollama_call("echo", &json!({ "text": "x" })));
    let mut terminal = open_with_tools(&home);
    terminal.send_prompt("Call it.");
    terminal.wait_for_text(QUESTION);
    terminal.press(CTRL_C);
    terminal.wait_until_gone(QUESTION);
    terminal.type_text("back at the input");
    assert_eq!(terminal.quit(), clean_exit());
    assert_eq!(server.bodies(CHAT).len(), 1);
    home.assert_no_process_left();
}

#[test]
fn ctrl_c_during_a_tool_call_returns_to_the_input_at_once() {
    let (server, home) = ollama_with_tools();
    server.queue_reply(CHAT, ollama_call("slow", &json!({ "seconds": 60 })));
    let mut terminal = open_with_tools(&home);
    terminal.send_prompt("Take your time.");
    terminal.wait_for_text(READY_HINT);
    terminal.press("y");
    terminal.wait_until_gone(QUESTION);
    terminal.wait_for_text("Ctrl+C stop");
    let pressed_at = std::time::Instant::now();
    terminal.press(CTRL_C);
    terminal.wait_for_text("(cancelled)");
    let duration = pressed_at.elapsed();
    assert!(
        duration.as_millis() < 1_000,
        "a busy machine may be slow, but not {duration:?}"
    );
    terminal.type_text("back at the input");
    terminal.quit();
    assert_eq!(server.bodies(CHAT).len(), 1, "the model was asked again");
    home.assert_no_process_left();
}

#[test]
fn a_tool_that_the_server_adds_during_a_call_is_reported() {
    let (server, home) = ollama_with_tools();
    server
        .queue_reply(CHAT, ollama_call("grow", &json!({})))
        .queue_reply(CHAT, ollama_text(&["It has grown."]));
    let mut terminal = open_with_tools(&home);
    terminal.send_prompt("Grow.");
    terminal.wait_for_text(QUESTION);
    terminal.wait_for_text(READY_HINT);
    terminal.press("y");
    terminal.wait_for_text("changed its tools: added `grown`");
    terminal.wait_for_text("It has grown.");
    assert_eq!(terminal.quit(), clean_exit());
    home.assert_no_process_left();
}

//! Complete turns: prompt, approval with a real key, result, answer, saved file, and the
//! state after an interruption.

use super::model_server::{Gate, ollama_call, ollama_loaded, ollama_text};
use super::pty::{CTRL_C, TerminalOptions, UP, contains_text};
use super::{ARMED, CHAT, clean_exit, endless, ollama, ollama_with_tools, open, open_with_tools};
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
    let asked = terminal.wait_for_text(QUESTION);
    for part in [
        "Tool call",
        "echo",
        "The tool echo.",
        "\"text\": \"forty-two\"",
    ] {
        assert!(contains_text(&asked, part), "{part}\n{}", asked.contents());
    }
    terminal.wait_for_text(ARMED);
    terminal.press("y");
    terminal.wait_for_text("The answer is 42.");
    terminal.wait_until_gone("Waiting for response...");
    let second = &server.bodies(CHAT)[1];
    let messages = second["messages"].as_array().expect("messages");
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
    let text = format!("first{}The server says of this tool:", " ".repeat(95));
    server
        .queue_reply(CHAT, ollama_call("echo", &json!({ "text": text })))
        .queue_reply(CHAT, ollama_text(&["Done."]));
    let mut terminal = TerminalOptions::in_home(&home)
        .arg("ask")
        .arg("Call it.")
        .start();
    let asked = terminal.wait_for_text(QUESTION);
    let contents = asked.contents();
    let rows: Vec<&str> = contents.lines().map(str::trim_end).collect();
    let at = |start: &str| rows.iter().position(|row| row.starts_with(start));
    let order = [
        at("Tool call: echo on test"),
        at("  text: \"first"),
        at("The server says of this tool:"),
        at("  | The tool echo."),
        at("Its arguments are the 2 rows above the description."),
        at(QUESTION),
    ];
    assert!(order.iter().all(Option::is_some), "{order:?}\n{contents}");
    assert!(order.is_sorted(), "{order:?}\n{contents}");
    let label = rows.iter().filter(|row| row.starts_with("The server says"));
    assert_eq!(label.count(), 1, "{contents}");
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
    // Press `y` until the dialog appears, and once more after it.
    gate.open();
    let mut typed = String::from("yes: ");
    terminal.press(&typed);
    loop {
        let is_asked = contains_text(&terminal.screen(), QUESTION);
        typed.push('y');
        terminal.press("y");
        terminal.wait_for_text(&typed);
        if is_asked {
            break;
        }
    }
    let screen = terminal.wait_for_text(ARMED);
    assert!(
        contains_text(&screen, QUESTION) && contains_text(&screen, &typed),
        "{}",
        screen.contents()
    );
    assert_eq!(server.bodies(CHAT).len(), 1, "nothing was approved");
    // Pasted text does not answer; it also goes to the message.
    terminal.paste("y");
    terminal.wait_for_text(&format!("{typed}y"));
    terminal.wait_for_text(ARMED);
    terminal.press("n");
    terminal.wait_until_gone(QUESTION);
    terminal.wait_for_text("refused");
    assert_eq!(server.bodies(CHAT).len(), 1, "the model is not asked again");
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
    let screen = terminal.wait_for_text("(cancelled)");
    assert!(
        contains_text(&screen, "The first reason is that the"),
        "{}",
        screen.contents()
    );
    server.wait_until(|log| log.dropped > 0);
    terminal.press(UP);
    terminal.wait_for("the prompt is back in the message", |screen| {
        screen.contents().matches("Give me reasons.").count() >= 2
    });
    terminal.press("\r");
    terminal.wait_for_text("All of it.");
    let bodies = server.bodies(CHAT);
    assert!(
        !bodies[1].to_string().contains("first reason"),
        "cancelled text is never sent"
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
    terminal.wait_for_text(ARMED);
    terminal.press("y");
    terminal.wait_until_gone(QUESTION);
    terminal.wait_for_text("Ctrl+C stop");
    let pressed = std::time::Instant::now();
    terminal.press(CTRL_C);
    terminal.wait_for_text("(cancelled)");
    let took = pressed.elapsed();
    assert!(
        took.as_millis() < 1_000,
        "a busy machine may be slow, but not {took:?}"
    );
    terminal.type_text("back at the input");
    terminal.quit();
    assert_eq!(server.bodies(CHAT).len(), 1, "the model is not asked again");
    home.assert_no_process_left();
}

//! A call that runs as a task, in a program that ends meanwhile.

use super::home::{test_server_path, wait_until};
use super::model_server::{ollama_call, ollama_text};
use super::{CHAT, READY_HINT, clean_exit, ollama, open, open_with_tools};
use rustix::process::Signal;
use serde_json::json;
use std::fs;

#[test]
fn the_next_start_after_kill_9_waits_for_the_task() {
    for behavior in ["tasks-legacy", "tasks-modern"] {
        let (server, home) = ollama();
        let log = home.path().join("requests");
        let log_argument = log.to_string_lossy().into_owned();
        let home = home.with_server("test", &test_server_path(), &[behavior, &log_argument]);
        server
            .queue_reply(CHAT, ollama_call("gate", &json!({})))
            .queue_reply(CHAT, ollama_text(&["You may enter."]));
        let mut terminal = open_with_tools(&home);
        terminal.send_prompt("Wait for the gate.");
        terminal.wait_for_text("Call now? (Y/N)");
        terminal.wait_for_text(READY_HINT);
        terminal.press("y");
        terminal.wait_for_text("working: page 3 of 7");
        let journaled = || {
            let files = home.files().into_iter();
            let mut journals =
                files.filter(|file| file.extension().is_some_and(|name| name == "jsonl"));
            journals
                .any(|file| fs::read_to_string(file).is_ok_and(|text| text.contains(r#""task":"#)))
        };
        wait_until("the task is in the journal", journaled);
        terminal.signal(Signal::KILL);
        terminal.exit();
        home.assert_no_process_left();

        let mut terminal = open(&home);
        terminal.wait_for_text("Tool call gate on test: was running as a task");
        terminal.wait_for_text(READY_HINT);
        terminal.press("r");
        terminal.wait_for_text("working: page 3 of 7");
        fs::write(home.path().join("open"), "").expect("writable home");
        terminal.wait_for_text("You may enter.");
        let requests = fs::read_to_string(&log).expect("the server logs its requests");
        let calls = requests
            .lines()
            .filter(|line| line.starts_with("tools/call"));
        assert_eq!(calls.count(), 1, "{behavior}: {requests}");
        assert!(!requests.contains("tasks/cancel"), "{behavior}: {requests}");
        let last_request = server.bodies(CHAT).pop().expect("a request");
        let messages = last_request["messages"].as_array().expect("messages");
        let result = messages.last().and_then(|last| last["content"].as_str());
        let result = result.expect("a result");
        assert!(result.contains("gate is done"), "{behavior}: {result}");
        home.wait_until_saved("You may enter.");
        assert_eq!(terminal.quit(), clean_exit());
        home.assert_no_process_left();
    }
}

#[test]
fn quitting_cancels_a_left_task_and_prints_its_name() {
    let (server, home) = ollama();
    let log = home.path().join("requests");
    let log_argument = log.to_string_lossy().into_owned();
    let home = home.with_server(
        "test",
        &test_server_path(),
        &["tasks-modern", &log_argument],
    );
    server
        .queue_reply(CHAT, ollama_call("gate", &json!({})))
        .queue_reply(CHAT, ollama_text(&["I went on."]));
    let mut terminal = open_with_tools(&home);
    terminal.send_prompt("Wait for the gate.");
    terminal.wait_for_text("Call now? (Y/N)");
    terminal.wait_for_text(READY_HINT);
    terminal.press("y");
    terminal.wait_for_text("working: page 3 of 7");
    terminal.press("\x1bl");
    terminal.wait_for_text("I went on.");
    assert_eq!(terminal.quit(), clean_exit());
    let printed = terminal.screen().contents().replace('\n', "");
    let expected =
        "humble: Quitting cancels a task that you left running: `gate` of server `test`.";
    assert!(printed.contains(expected), "{printed}");
    let requests = fs::read_to_string(&log).expect("the server logs its requests");
    assert!(requests.contains("tasks/cancel"), "{requests}");
    home.assert_no_process_left();
}

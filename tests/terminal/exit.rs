//! All ways to exit: the terminal is restored, no process is left, and saved data is
//! complete.

use super::home::{TestHome, wait_until};
use super::model_server::ollama_text;
use super::pty::pty_screen::count_keyboard_mode_changes;
use super::pty::{Exit, PtyTerminal, QUIET_TIME, TerminalOptions, contains_text};
use super::{
    CHAT, ModelServer, clean_exit, endless, ollama, ollama_with_tools, open, open_with_tools,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;

#[test]
fn quitting_restores_the_terminal() {
    let (_server, home) = ollama();
    let mut terminal = open(&home);
    assert_eq!(terminal.quit(), clean_exit());
    terminal.assert_restored();
}

#[test]
fn quitting_disables_enhanced_keys() {
    let (_server, home) = ollama();
    let mut terminal = TerminalOptions::in_home(&home)
        .env("TERM", "xterm-kitty")
        .start();
    terminal.wait_for_text("qwen3:4b");
    assert_eq!(terminal.quit(), clean_exit());
    assert_eq!(
        count_keyboard_mode_changes(&terminal.raw(), b'>'),
        1,
        "enhanced keys were not enabled for a known terminal"
    );
    terminal.assert_restored();
}

#[cfg(debug_assertions)]
#[test]
fn panic_restores_the_terminal_and_prints_the_report_path() {
    let (_server, home) = ollama_with_tools();
    home.edit_json("config.json", |config| {
        // The panic message contains this key.
        let model = json!({ "name": "x", "provider": "openai", "apiKey": "_TEST_PANIC" });
        let models = config["models"].as_array_mut().expect("a list");
        models.push(model);
    });
    let mut terminal = TerminalOptions::in_home(&home)
        .env("HUMBLE_TEST_PANIC", "1")
        .start();
    terminal.wait_for_text("● test");
    terminal.press("x");
    assert_ne!(terminal.exit(), clean_exit());
    terminal.assert_restored();
    let screen = terminal.screen();
    let report = home.path().join("logs").join("panic.txt");
    // The path may be longer than a row.
    let text = screen.contents().replace('\n', "");
    assert!(
        text.contains(&*report.to_string_lossy()),
        "{}",
        screen.contents()
    );
    let report = fs::read_to_string(report).expect("a report");
    assert!(report.contains("HUMBLE[hidden] is set"), "{report}");
    home.assert_no_process_left();
}

/// Starts the program with an MCP server. One answer is saved and a second is streaming.
fn start_second_answer() -> (ModelServer, TestHome, PtyTerminal) {
    let (server, home) = ollama_with_tools();
    server.queue_reply(CHAT, ollama_text(&["An earlier answer."]));
    server.queue_reply(CHAT, endless(&["The words so far"]));
    let terminal = open_with_tools(&home);
    terminal.send_prompt("First.");
    terminal.wait_for_text("An earlier answer.");
    home.wait_until_saved("An earlier answer.");
    terminal.send_prompt("Second.");
    terminal.wait_for_text("The words so far");
    (server, home, terminal)
}

#[test]
fn sigterm_restores_the_terminal_and_leaves_no_process() {
    check_exit_by(Signal::TERM, 143);
}

#[test]
fn sighup_restores_the_terminal_and_leaves_no_process() {
    check_exit_by(Signal::HUP, 129);
}

#[test]
fn the_draft_is_restored_after_a_signal_or_a_kill() {
    let (_server, home) = ollama();
    let mut terminal = open(&home);
    terminal.type_text("half a prompt");
    terminal.wait_for_text("half a prompt");
    terminal.signal(Signal::HUP);
    assert_eq!(terminal.exit().code, 129);
    let mut terminal = open(&home);
    terminal.wait_for_text("half a prompt");
    terminal.signal(Signal::KILL);
    terminal.exit();
    let mut terminal = open(&home);
    terminal.wait_for_text("half a prompt");
    terminal.press("\u{15}");
    terminal.wait_until_gone("half a prompt");
    assert_eq!(terminal.quit(), clean_exit());
    assert!(!home.path().join("draft").exists());
}

#[test]
fn kill_9_loses_no_saved_draft() {
    let (_server, home) = ollama();
    let mut terminal = open(&home);
    terminal.type_text("half a 문장");
    home.wait_until_draft("half a 문장");
    terminal.signal(Signal::KILL);
    terminal.exit();
    let mut terminal = open(&home);
    terminal.wait_for_text("half a 문장");
    terminal.press("\u{15}");
    terminal.wait_until_gone("half a 문장");
    terminal.press("\u{19}");
    terminal.wait_for_text("half a 문장");
    home.wait_until_draft("half a 문장");
    terminal.press("\u{15}");
    terminal.wait_until_gone("half a 문장");
    assert_eq!(terminal.quit(), clean_exit());
    assert!(!home.path().join("draft").exists());
}

fn start_first_answer() -> (ModelServer, TestHome, PtyTerminal) {
    let (server, home) = ollama();
    server.queue_reply(CHAT, endless(&["The words so far"]));
    let terminal = open(&home);
    terminal.send_prompt("First.");
    terminal.wait_for_text("The words so far");
    (server, home, terminal)
}

#[test]
fn turn_interrupted_by_a_hangup_is_offered_at_the_next_start() {
    let (_server, home, mut terminal) = start_first_answer();
    terminal.signal(Signal::HUP);
    assert_eq!(terminal.exit().code, 129);
    let mut restarted = open(&home);
    restarted.wait_for_text("Restore the prompt?");
    restarted.wait_for_text("The words so far");
    restarted.wait_for_text("Press a key to choose");
    restarted.press("k");
    restarted.wait_until_gone("Restore the prompt?");
    assert_eq!(restarted.quit(), clean_exit());
}

#[test]
fn resuming_after_kill_9_keeps_prompt_queue_and_draft_apart() {
    let (server, home, mut terminal) = start_first_answer();
    terminal.send_prompt("second");
    terminal.wait_for_text("queued");
    terminal.send_prompt("third");
    // Text that arrives together with Enter would be taken for a paste.
    home.wait_until_draft(r#"{"message":"","queue":["second","third"]}"#);
    terminal.type_text("half a 문장");
    home.wait_until_draft(r#"{"message":"half a 문장","queue":["second","third"]}"#);
    terminal.signal(Signal::KILL);
    terminal.exit();
    server.queue_reply(CHAT, endless(&["Once more"]));
    let mut restarted = open(&home);
    restarted.wait_for_text("Restore the prompt?");
    restarted.wait_for_text("Press a key to choose");
    // Enter directly after the answer would count as part of it.
    restarted.press_in_pieces(&["y"], QUIET_TIME);
    restarted.wait_for_text("The interrupted prompt is in the message.");
    restarted.wait_for_text("› First.");
    let screen = restarted.screen().contents();
    assert!(
        screen.contains("second") && screen.contains("third"),
        "{screen}"
    );
    // Sending the interrupted prompt does not send the queue with it.
    restarted.press("\r");
    restarted.wait_for_text("Once more");
    let bodies = server.bodies(CHAT);
    let last = bodies.last().expect("a request");
    let message = last["messages"].as_array().and_then(|list| list.last());
    assert_eq!(message.expect("a prompt")["content"], "First.");
    restarted.signal(Signal::KILL);
    restarted.exit();
    // The text that made room for the prompt is in the history.
    let history = fs::read_to_string(home.path().join("history")).expect("a history");
    assert!(history.contains("half a 문장"), "{history}");
}

#[test]
fn turn_ended_by_exit_is_not_offered_at_the_next_start() {
    let (_server, home, mut terminal) = start_first_answer();
    terminal.send_prompt("/exit");
    assert_eq!(terminal.exit(), clean_exit());
    let journals = fs::read_dir(home.path().join("journal")).expect("the journal folder exists");
    assert_eq!(journals.count(), 0);
}

fn check_exit_by(signal: Signal, code: u32) {
    let (server, home, mut terminal) = start_second_answer();
    terminal.signal(signal);
    assert_eq!(terminal.exit(), Exit { code, signal: None });
    terminal.assert_restored();
    home.assert_no_process_left();
    server.blocking_wait_for(|log| log.aborted_replies > 0);
    assert_files_parse(&home);
}

#[test]
fn kill_9_during_an_answer_loses_no_saved_data() {
    let (server, home, mut terminal) = start_second_answer();
    terminal.signal(Signal::KILL);
    assert_eq!(terminal.exit().signal.as_deref(), Some("Killed"));
    // MCP servers end because their input was closed.
    home.assert_no_process_left();
    assert_files_parse(&home);
    let saved = home.wait_until_saved("An earlier answer.");
    assert_eq!(saved["messages"].as_array().map(Vec::len), Some(2));

    server.queue_reply(CHAT, ollama_text(&["A later answer."]));
    let mut restarted = open_with_tools(&home);
    let screen = restarted.screen();
    assert!(
        !contains_text(&screen, "✗") && !contains_text(&screen, "! "),
        "{}",
        screen.contents()
    );
    // The killed turn is offered, but the offer does not prevent other turns.
    restarted.wait_for_text("Restore the prompt?");
    restarted.send_prompt("Third.");
    restarted.wait_until_gone("Restore the prompt?");
    restarted.wait_for_text("A later answer.");
    home.wait_until_saved("A later answer.");
    home.wait_until_saved("An earlier answer.");
    assert_eq!(restarted.quit(), clean_exit());
    restarted.assert_restored();
    open_with_tools(&home).wait_for_text("Restore the prompt?");
}

/// Asserts that every JSON file parses and no temporary file is left.
fn assert_files_parse(home: &TestHome) {
    let files = home.files();
    assert!(files.len() > 3, "{files:?}");
    for path in files {
        let bytes = fs::read(&path).expect("the file is readable");
        let text = String::from_utf8(bytes).unwrap_or_else(|_| panic!("{path:?} is not text"));
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let parsed: Result<Value, _> = serde_json::from_str(&text);
            parsed.unwrap_or_else(|error| panic!("{path:?}: {error}\n{text}"));
        }
        let name = path.file_name().expect("a file").to_string_lossy();
        assert!(!name.contains("tmp"), "a temporary file is left: {name}");
    }
}

#[test]
fn the_draft_is_restored_at_the_next_start() {
    let (_server, home) = ollama();
    let mut terminal = open(&home);
    terminal.type_text("half a 생각");
    assert_eq!(terminal.quit_with_draft(), clean_exit());
    let mut restarted = open(&home);
    restarted.wait_for_text("half a 생각");
    assert_eq!(restarted.quit(), clean_exit());
}

#[test]
fn two_programs_on_one_home_both_save() {
    let (server, home) = ollama();
    let mut one = open(&home);
    let mut two = open(&home);
    server.queue_reply(CHAT, ollama_text(&["Answer of the first."]));
    one.send_prompt("Same words.");
    one.wait_for_text("Answer of the first.");
    server.queue_reply(CHAT, ollama_text(&["Answer of the second."]));
    two.send_prompt("Same words.");
    two.wait_for_text("Answer of the second.");
    wait_until("both are saved", || home.sessions().len() == 2);
    assert_eq!((one.quit(), two.quit()), (clean_exit(), clean_exit()));
    assert_files_parse(&home);
}

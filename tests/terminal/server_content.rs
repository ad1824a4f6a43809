//! Prompts and resources of a real server process: completion of an argument, review, attaching,
//! and the report of a change.

use super::home::{test_server_path, wait_until};
use super::model_server::{ModelServer, Reply, ollama_text};
use super::pty::{PtyTerminal, contains_text};
use super::{CHAT, TestHome, clean_exit, ollama, open};

const TAB: &str = "\t";

fn open_with_library() -> (ModelServer, TestHome, PtyTerminal) {
    let (server, home) = ollama();
    let home = home.with_server("library", &test_server_path(), &["library"]);
    let terminal = open(&home);
    terminal.wait_for("the server is connected", |screen| {
        screen.contents().contains("● library")
    });
    (server, home, terminal)
}

fn last_message(server: &ModelServer) -> String {
    let bodies = server.bodies(CHAT);
    let messages = bodies.last().expect("a request")["messages"].clone();
    let messages = messages.as_array().cloned().unwrap_or_default();
    messages.last().expect("a message")["content"].to_string()
}

fn queue_answer(server: &ModelServer, text: &str) {
    let reply: Reply = ollama_text(&[text]);
    server.queue_reply(CHAT, reply);
}

#[test]
fn a_prompt_with_a_completed_argument_is_reviewed_and_sent() {
    let (server, home, mut terminal) = open_with_library();
    queue_answer(&server, "Sunny.");
    terminal.send_prompt("/prompt");
    terminal.wait_for_text("library:forecast");
    terminal.press("\r");
    let form = terminal.wait_for_text("Where");
    assert!(contains_text(&form, "required"), "{}", form.contents());
    terminal.type_text("Sej");
    terminal.wait_for_text("Sejong");
    terminal.press(TAB);
    terminal.wait_for_text("Sejong");
    terminal.press("\r");
    terminal.wait_for_text("Forecast for \"Sejong\", please.");
    assert!(server.bodies(CHAT).is_empty(), "it is reviewed first");
    // Enter counts once the prompt has been visible for a moment.
    wait_until("the prompt is sent", || {
        terminal.press("\r");
        !server.bodies(CHAT).is_empty()
    });
    terminal.wait_for_text("Sunny.");
    assert!(last_message(&server).contains("Sejong"));
    assert_eq!(terminal.quit(), clean_exit());
    home.assert_no_process_left();
}

#[test]
fn a_resource_is_attached_sent_as_data_and_reported_when_it_changes() {
    let (server, home, mut terminal) = open_with_library();
    queue_answer(&server, "Take an umbrella.");
    terminal.send_prompt("/resource");
    terminal.wait_for_text("library:Rain");
    terminal.press("\r");
    terminal.wait_for_text("@ library:note://rain");
    // The test server reports a change as soon as it is subscribed to.
    terminal.wait_for_text("has changed since you");
    terminal.send_prompt("/resource");
    terminal.wait_for_text("changed since you attached it");
    terminal.press("\x1b");
    terminal.wait_until_gone("── Resources");
    terminal.send_prompt("What now?");
    terminal.wait_for_text("Take an umbrella.");
    assert!(last_message(&server).contains("It rains in Busan."));
    assert_eq!(terminal.quit(), clean_exit());
    home.assert_no_process_left();
}

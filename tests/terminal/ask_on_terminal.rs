//! `humble ask` on a terminal, which takes nothing back.

use super::model_server::{Gate, ModelServer, ollama_text};
use super::pty::TerminalOptions;
use super::{CHAT, left, ollama};
use crate::home::TestHome;
use serde_json::json;

const WORDS: [&str; 3] = [
    "Hm, sky.\n\nRayleigh?\n",
    "</think>\n\nIt is ",
    "scattered.",
];

#[test]
fn the_first_words_of_a_model_that_may_be_thinking_wait() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, ollama_text(&WORDS));
    let mut terminal = TerminalOptions::in_home(&home)
        .arg("ask")
        .arg("Why is it blue?")
        .start();
    let words = terminal.wait_for_text("It is scattered.").contents();
    let (before, rest) = words.split_once("<<< Thinking >>>").expect(&words);
    let (thinking, answer) = rest.split_once("<<< End Thinking >>>").expect(&words);
    assert!(!before.contains("Hm, sky."), "{words}");
    assert!(thinking.contains("Hm, sky."), "{words}");
    assert!(
        !answer.contains("Hm, sky.") && answer.contains("It is scattered."),
        "{words}"
    );
    assert_eq!(terminal.exit(), left());
}

#[test]
fn the_words_of_another_model_come_at_once_and_are_said_to_have_been_thinking() {
    let server = ModelServer::start();
    let model = json!({
        "name": "llama3.2", "provider": "ollama", "baseUrl": server.url(), "active": true,
    });
    let home = TestHome::with_model(&model);
    let gate = Gate::closed();
    server.queue_reply(CHAT, ollama_text(&WORDS).gate_after(1, &gate));
    let mut terminal = TerminalOptions::in_home(&home)
        .arg("ask")
        .arg("Why is it blue?")
        .start();
    terminal.wait_for_text("Hm, sky.");
    gate.open();
    terminal.wait_for_text("(The text above was thinking; the answer follows.)");
    terminal.wait_for_text("It is scattered.");
    assert_eq!(terminal.exit(), left());
}

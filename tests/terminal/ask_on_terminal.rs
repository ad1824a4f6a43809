//! `humble ask` on a terminal, where printed text cannot be retracted.

use super::model_server::{Gate, ModelServer, ollama_text};
use super::pty::TerminalOptions;
use super::{CHAT, clean_exit, ollama};
use crate::home::TestHome;
use serde_json::json;

const PARTS: [&str; 3] = [
    "Hm, sky.\n\nRayleigh?\n",
    "</think>\n\nIt is ",
    "scattered.",
];

#[test]
fn text_of_a_possibly_thinking_model_is_held_back() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, ollama_text(&PARTS));
    let mut terminal = TerminalOptions::in_home(&home)
        .arg("ask")
        .arg("Why is it blue?")
        .start();
    let output = terminal.wait_for_text("It is scattered.").contents();
    let (before, rest) = output.split_once("<<< Thinking >>>").expect(&output);
    let (thinking, answer) = rest.split_once("<<< End Thinking >>>").expect(&output);
    assert!(!before.contains("Hm, sky."), "{output}");
    assert!(thinking.contains("Hm, sky."), "{output}");
    assert!(
        !answer.contains("Hm, sky.") && answer.contains("It is scattered."),
        "{output}"
    );
    assert_eq!(terminal.exit(), clean_exit());
}

#[test]
fn text_of_other_models_is_printed_at_once_and_labeled_as_thinking_later() {
    let server = ModelServer::start();
    let model = json!({
        "name": "llama3.2", "provider": "ollama", "baseUrl": server.url(), "active": true,
    });
    let home = TestHome::with_model(&model);
    let gate = Gate::closed();
    server.queue_reply(CHAT, ollama_text(&PARTS).gate_after(1, &gate));
    let mut terminal = TerminalOptions::in_home(&home)
        .arg("ask")
        .arg("Why is it blue?")
        .start();
    terminal.wait_for_text("Hm, sky.");
    gate.open();
    terminal.wait_for_text("(The text above was thinking; the answer follows.)");
    terminal.wait_for_text("It is scattered.");
    assert_eq!(terminal.exit(), clean_exit());
}

//! Messages when the model server is down, has no such model, or breaks the connection, and an
//! answer with escape sequences.

use super::model_server::{ModelServer, Reply, ollama_error, ollama_line, ollama_text};
use super::pty::contains_text;
use super::{CHAT, TestHome, clean_exit, ollama, open};
use serde_json::json;

/// Waits until the chat shows this sentence, possibly wrapped.
fn wait_until_chat_shows(terminal: &super::PtyTerminal, sentence: &str) {
    let without_spaces = |text: &str| text.split_whitespace().collect::<String>();
    let expected = without_spaces(sentence);
    terminal.wait_for(&format!("`{sentence}` is shown"), |screen| {
        without_spaces(&screen.contents()).contains(&expected)
    });
}

#[test]
fn unreachable_server_is_reported_with_advice() {
    let url = ModelServer::start().url();
    let home = TestHome::with_ollama(&url);
    let mut terminal = open(&home);
    terminal.send_prompt("Are you there?");
    wait_until_chat_shows(&terminal, &format!("Nothing listens at {url}."));
    wait_until_chat_shows(
        &terminal,
        "Start the server with `ollama serve`, or check `baseUrl` in config.json.",
    );
    assert!(!contains_text(
        &terminal.screen(),
        "Waiting for response..."
    ));
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn missing_model_is_reported_with_advice() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, ollama_error(404, "model 'qwen3:4b' not found"));
    let mut terminal = open(&home);
    terminal.send_prompt("Are you there?");
    wait_until_chat_shows(
        &terminal,
        &format!("{} does not have the model `qwen3:4b`.", server.url()),
    );
    wait_until_chat_shows(
        &terminal,
        "Pull it with `ollama pull qwen3:4b`, or choose another model with /set-model.",
    );
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn interrupted_answer_is_kept_and_can_be_retried() {
    let (server, home) = ollama();
    let first_line = ollama_line(&json!({ "role": "assistant", "content": "Half of it" }));
    server.queue_reply(CHAT, Reply::status(200).chunk(first_line).disconnect());
    let mut terminal = open(&home);
    terminal.send_prompt("Tell me all.");
    let failure = format!(
        "The connection to {} was cut in the middle of the answer.",
        server.url()
    );
    wait_until_chat_shows(&terminal, &failure);
    assert!(contains_text(&terminal.screen(), "Half of it"));
    server.queue_reply(CHAT, ollama_text(&["The whole of it."]));
    terminal.send_prompt("/retry");
    terminal.wait_for_text("The whole of it.");
    let saved = home.wait_until_saved("The whole of it.");
    assert_eq!(saved["messages"][0]["content"], "Tell me all.");
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn escape_sequences_of_a_model_never_reach_the_terminal() {
    let (server, home) = ollama();
    let malicious_text = "safe\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}[2Jstill\u{9b}31m here\u{202e}";
    server.queue_reply(CHAT, ollama_text(&[malicious_text]));
    let mut terminal = open(&home);
    terminal.send_prompt("Say it.");
    terminal.wait_for_text("here");
    home.wait_until_saved("still");
    let raw = terminal.raw();
    let was_written = |bytes: &[u8]| raw.windows(bytes.len()).any(|window| window == bytes);
    assert!(
        !was_written(b"]52;")
            && !was_written("\u{9b}".as_bytes())
            && !was_written("\u{202e}".as_bytes())
    );
    assert!(
        contains_text(&terminal.screen(), "safe"),
        "the screen was cleared"
    );
    assert_eq!(terminal.quit(), clean_exit());
}

//! `humble probe` on a terminal: it asks before saving, and ignores a key pressed too early.

use super::home::wait_until;
use super::model_server::dialect_models::follows_native;
use super::model_server::{ModelServer, ollama_loaded};
use super::pty::{CTRL_C, Exit, TerminalOptions};
use super::{CHAT, TestHome, clean_exit};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Longer than the time in which input counts as typed ahead.
const READING_TIME: Duration = Duration::from_millis(700);
const QUESTION: &str = "Save it? (1-2)";

/// Starts a model server whose model works only in a dialect other than the configured one.
fn misconfigured_model() -> (ModelServer, TestHome) {
    let server = ModelServer::start();
    server.always_reply("/api/ps", ollama_loaded(&["qwen3:4b"]));
    server.reply_with(CHAT, follows_native);
    let model = json!({
        "name": "qwen3:4b", "provider": "ollama", "baseUrl": server.url(), "active": true,
    });
    (server, TestHome::with_model(&model))
}

fn saved_tool_calls(home: &TestHome) -> Option<String> {
    let text = std::fs::read_to_string(home.path().join("config.json")).expect("a config file");
    let config: Value = serde_json::from_str(&text).expect("JSON");
    let value = config["models"][0]["toolCalls"].as_str();
    value.map(str::to_owned)
}

#[test]
fn probe_asks_before_saving_its_result() {
    let (_server, home) = misconfigured_model();
    let mut terminal = TerminalOptions::in_home(&home).arg("probe").start();
    terminal.wait_for_text(QUESTION);
    assert_eq!(saved_tool_calls(&home), None);
    // This input counts as typed before the question could be read.
    terminal.press("y\r");
    terminal.wait_for_text("Ignored: typed before the question could be read.");
    let asked_at = Instant::now();
    wait_until("the question was read", || {
        asked_at.elapsed() > READING_TIME
    });
    terminal.type_answer("y");
    // This also waits until all output was read.
    assert_eq!(terminal.exit(), clean_exit());
    terminal.wait_for_text("Saved `native` as `toolCalls` of qwen3:4b in config.json.");
    assert_eq!(saved_tool_calls(&home).as_deref(), Some("native"));
}

#[test]
fn ctrl_c_at_the_question_saves_nothing() {
    let (_server, home) = misconfigured_model();
    let mut terminal = TerminalOptions::in_home(&home).arg("probe").start();
    terminal.wait_for_text(QUESTION);
    terminal.press(CTRL_C);
    let interrupted = Exit {
        code: 130,
        signal: None,
    };
    assert_eq!(terminal.exit(), interrupted);
    assert_eq!(saved_tool_calls(&home), None);
}

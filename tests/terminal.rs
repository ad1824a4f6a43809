//! Runs the real program on a pseudo-terminal with real keys, a model server over real
//! sockets and a real MCP child process. Assertions check the visible screen.

#[path = "terminal/answers.rs"]
mod answers;
#[path = "terminal/approvals.rs"]
mod approvals;
#[path = "terminal/ask_on_terminal.rs"]
mod ask_on_terminal;
#[path = "terminal/attachments.rs"]
mod attachments;
#[path = "support/auth_server.rs"]
mod auth_server;
#[path = "terminal/changed_keys.rs"]
mod changed_keys;
#[path = "terminal/copying.rs"]
mod copying;
#[path = "terminal/demo.rs"]
mod demo;
#[path = "terminal/editor.rs"]
mod editor;
#[path = "terminal/exit.rs"]
mod exit;
#[path = "support/fixtures.rs"]
mod fixtures;
#[path = "terminal/frames.rs"]
mod frames;
#[path = "support/home.rs"]
mod home;
#[path = "terminal/import.rs"]
mod import;
#[path = "terminal/import_in_chat.rs"]
mod import_in_chat;
#[path = "terminal/linear.rs"]
mod linear;
#[path = "support/model_server/mod.rs"]
mod model_server;
#[path = "terminal/notes.rs"]
mod notes;
#[path = "terminal/probe.rs"]
mod probe;
#[path = "support/pty.rs"]
mod pty;
#[path = "support/screen_harness.rs"]
mod screen_harness;
#[path = "terminal/second_kill.rs"]
mod second_kill;
#[path = "terminal/server_content.rs"]
mod server_content;
#[path = "terminal/server_failures.rs"]
mod server_failures;
#[path = "terminal/server_requests.rs"]
mod server_requests;
#[path = "terminal/session_options.rs"]
mod session_options;
#[path = "terminal/sessions.rs"]
mod sessions;
#[path = "terminal/sign_in.rs"]
mod sign_in;
#[path = "terminal/split_input.rs"]
mod split_input;
#[path = "terminal/tasks.rs"]
mod tasks;
#[cfg(debug_assertions)]
#[path = "terminal/unresponsive_engine.rs"]
mod unresponsive_engine;
#[path = "terminal/weather.rs"]
mod weather;

use home::{TestHome, test_server_path};
use model_server::{ModelServer, Reply, ollama_line};
use pty::{Exit, PtyTerminal, TerminalOptions};
use serde_json::json;

const CHAT: &str = "/api/chat";
/// The part of the hint line that appears once a dialog accepts keys.
const READY_HINT: &str = "Press a key to choose";

fn clean_exit() -> Exit {
    Exit {
        code: 0,
        signal: None,
    }
}

/// Starts a model server, and a home that uses its only model.
fn ollama() -> (ModelServer, TestHome) {
    let server = ModelServer::start();
    let home = TestHome::with_ollama(&server.url());
    (server, home)
}

fn ollama_with_tools() -> (ModelServer, TestHome) {
    let (server, home) = ollama();
    (
        server,
        home.with_server("test", &test_server_path(), &["plain"]),
    )
}

fn open(home: &TestHome) -> PtyTerminal {
    let terminal = TerminalOptions::in_home(home).start();
    terminal.wait_for_text("qwen3:4b");
    terminal
}

fn open_with_tools(home: &TestHome) -> PtyTerminal {
    let terminal = open(home);
    terminal.wait_for("the server is connected", |screen| {
        screen
            .contents()
            .lines()
            .any(|line| line.contains("● test"))
    });
    terminal
}

/// A reply that starts an answer and never ends it.
fn endless(parts: &[&str]) -> Reply {
    let line = |part: &&str| ollama_line(&json!({ "role": "assistant", "content": part }));
    parts
        .iter()
        .map(line)
        .fold(Reply::status(200), Reply::chunk)
        .hang()
}

#[test]
fn the_first_frame_has_chat_and_message_and_sends_nothing_to_the_model() {
    let (server, home) = ollama();
    let mut terminal = open(&home);
    // One server that works needs no sidebar.
    let screen = terminal.wait_for_text("tools 2");
    for title in [
        "humble",
        "manual",
        "Type a message below.",
        "─────",
        "›",
        "F1 help",
    ] {
        assert!(
            pty::contains_text(&screen, title),
            "{title}\n{}",
            pty::screen_with_border(&screen)
        );
    }
    assert!(screen.alternate_screen() && screen.bracketed_paste());
    assert_ne!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    assert_eq!(terminal.quit(), clean_exit());
    assert_eq!(server.bodies(CHAT), Vec::<serde_json::Value>::new());
}

#[test]
fn one_more_letter_writes_few_bytes() {
    let (_server, home) = ollama();
    let mut terminal = open(&home);
    terminal.type_text("qq");
    let bytes_before = terminal.bytes_written();
    terminal.press("z");
    terminal.wait_for_text("qqz");
    let bytes_added = terminal.bytes_written() - bytes_before;
    assert!(bytes_added < 200, "{bytes_added} bytes for one letter");
    assert_eq!(terminal.quit(), clean_exit());
}

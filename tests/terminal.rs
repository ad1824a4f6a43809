//! The real program on a pseudo-terminal, with real keys, a model server over real
//! sockets and a real MCP child. What a person would see is what is compared.

#[path = "terminal/asking.rs"]
mod asking;
#[path = "terminal/demo.rs"]
mod demo;
#[path = "terminal/ending.rs"]
mod ending;
#[path = "terminal/faults.rs"]
mod faults;
#[path = "support/home.rs"]
mod home;
#[path = "support/model_server/mod.rs"]
mod model_server;
#[path = "terminal/one_turn.rs"]
mod one_turn;
#[path = "terminal/opening.rs"]
mod opening;
#[path = "terminal/probing.rs"]
mod probing;
#[path = "support/pty.rs"]
mod pty;
#[cfg(debug_assertions)]
#[path = "terminal/stuck.rs"]
mod stuck;
#[path = "terminal/typing.rs"]
mod typing;

use home::{Home, test_server};
use model_server::{ModelServer, Reply, ollama_line};
use pty::{Exit, Start, Terminal};
use serde_json::json;

const CHAT: &str = "/api/chat";
/// The hint line once a dialog has the keyboard.
const ARMED: &str = "letter or number decides";

fn left() -> Exit {
    Exit {
        code: 0,
        signal: None,
    }
}

/// A model server, and a home whose one model is there.
fn ollama() -> (ModelServer, Home) {
    let server = ModelServer::start();
    let home = Home::with_ollama(&server.url());
    (server, home)
}

/// The same with the test's MCP server.
fn ollama_with_tools() -> (ModelServer, Home) {
    let (server, home) = ollama();
    (server, home.with_server("test", &test_server(), &["plain"]))
}

/// Starts the program and waits until it can be talked to.
fn open(home: &Home) -> Terminal {
    let terminal = Start::in_home(home).start();
    terminal.until_shows("qwen3:4b");
    terminal
}

/// The same, and until the test's MCP server has told its tools.
fn open_with_tools(home: &Home) -> Terminal {
    let terminal = open(home);
    terminal.until("the server is connected", |screen| {
        screen
            .contents()
            .lines()
            .any(|line| line.contains("● test"))
    });
    terminal
}

/// Begins an answer and never ends it.
fn endless(words: &[&str]) -> Reply {
    let line = |part: &&str| ollama_line(&json!({ "role": "assistant", "content": part }));
    words
        .iter()
        .map(line)
        .fold(Reply::status(200), Reply::chunk)
        .hang()
}

#[test]
fn the_first_frame_has_its_four_panes_and_asks_nothing_of_the_model() {
    let (server, home) = ollama();
    let mut terminal = open(&home);
    let screen = terminal.screen();
    for title in ["Chat", "Thinking", "Servers", "Message", "humble", "manual"] {
        assert!(
            pty::shows(&screen, title),
            "{title}\n{}",
            pty::framed(&screen)
        );
    }
    assert!(screen.alternate_screen() && screen.bracketed_paste());
    assert_ne!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    assert_eq!(terminal.leave(), left());
    assert_eq!(server.bodies(CHAT), Vec::<serde_json::Value>::new());
}

#[test]
fn one_more_letter_costs_few_bytes() {
    let (_server, home) = ollama();
    let mut terminal = open(&home);
    terminal.type_words("qq");
    let written = terminal.written();
    terminal.press("z");
    terminal.until_shows("qqz");
    let after = terminal.written() - written;
    assert!(after < 200, "{after} bytes for a letter");
    assert_eq!(terminal.leave(), left());
}

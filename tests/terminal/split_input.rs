//! Bytes from the terminal that arrive in pieces or late, and replies of the terminal: none of them
//! is read as other keys than the terminal sent.

use super::model_server::{ModelServer, ollama_call, ollama_text};
use super::pty::{CTRL_C, ESC, PtyTerminal, TerminalOptions, contains_text};
use super::{CHAT, READY_HINT, clean_exit, ollama, open};
use crate::home::TestHome;
use serde_json::json;
use std::time::Duration;

/// Long enough for the program to read the first piece by itself.
const PAUSE: Duration = Duration::from_millis(20);
/// The reply of a terminal that has the flags of the kitty protocol on. A lone ESC is then held for
/// half a second, so that a busy machine does not make these tests fail.
const KITTY_REPLY: &str = "\x1b[?3u";
/// Shows the arguments of a call as JSON.
const F5: &str = "\x1b[15~";
const BACKGROUND_REPLY: &str = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\";

fn open_with_kitty_keys(home: &TestHome) -> PtyTerminal {
    let terminal = TerminalOptions::in_home(home)
        .env("TERM_PROGRAM", "ghostty")
        .start();
    terminal.wait_for_text("qwen3:4b");
    terminal.press(KITTY_REPLY);
    terminal
}

/// Asks for a call and waits until its approval accepts keys.
fn ask_for_call(server: &ModelServer, terminal: &PtyTerminal) {
    server
        .queue_reply(
            CHAT,
            ollama_call("get_time", &json!({ "timezone": "Asia/Seoul" })),
        )
        .queue_reply(CHAT, ollama_text(&["It is done."]));
    terminal.wait_for_text("tools 2");
    terminal.send_prompt("Call it.");
    terminal.wait_for_text(READY_HINT);
}

#[test]
fn an_arrow_key_that_is_split_after_esc_does_not_refuse_a_call() {
    let (server, home) = ollama();
    let mut terminal = open_with_kitty_keys(&home);
    ask_for_call(&server, &terminal);
    terminal.press_in_pieces(&[ESC, "[B", ESC, "[", "A", F5], PAUSE);
    let screen = terminal.wait_for_text("\"timezone\"");
    assert!(!contains_text(&screen, "refused"), "{}", screen.contents());
    terminal.press(CTRL_C);
    terminal.wait_for_text("(cancelled)");
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn esc_alone_refuses_a_call() {
    let (server, home) = ollama();
    let mut terminal = open(&home);
    ask_for_call(&server, &terminal);
    terminal.press(ESC);
    terminal.wait_for_text("refused");
    assert_eq!(server.bodies(CHAT).len(), 1, "the model was asked again");
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn a_short_reply_of_the_terminal_approves_no_call() {
    let (server, home) = ollama();
    let mut terminal = open_with_kitty_keys(&home);
    ask_for_call(&server, &terminal);
    for reply in [
        "\x1b]y\x07",
        "\x1bP>|y\x1b\\",
        "\x1b_y\x1b\\",
        "\x1b^y\x1b\\",
    ] {
        terminal.press(reply);
    }
    terminal.press_in_pieces(&["\x1b]", "y", "\x1b\\"], PAUSE);
    terminal.wait_for_text(READY_HINT);
    terminal.press("n");
    terminal.wait_for_text("refused");
    assert_eq!(server.bodies(CHAT).len(), 1, "the call ran");
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn replies_of_the_terminal_are_never_typed() {
    let (_server, home) = ollama();
    let mut terminal = open_with_kitty_keys(&home);
    // Nothing asked for the second reply and the others.
    for reply in [
        BACKGROUND_REPLY,
        BACKGROUND_REPLY,
        "\x1b[?62;4c",
        "\x1b[4;5R",
    ] {
        terminal.press(reply);
    }
    let pieces: Vec<&str> = BACKGROUND_REPLY.split_inclusive(|_| true).collect();
    terminal.press_in_pieces(&pieces, Duration::from_millis(3));
    terminal.type_text("typed");
    let screen = terminal.screen();
    assert!(!contains_text(&screen, "rgb"), "{}", screen.contents());
    assert!(contains_text(&screen, "› typed"), "{}", screen.contents());
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn alt_enter_and_pastes_that_are_split_send_nothing() {
    let (server, home) = ollama();
    let mut terminal = open_with_kitty_keys(&home);
    terminal.type_text("one");
    terminal.press_in_pieces(&[ESC, "\r"], PAUSE);
    terminal.type_text("two");
    terminal.press_in_pieces(&[ESC, "[200~three\r", "four", ESC, "[201~"], PAUSE);
    terminal.wait_for_text("four");
    assert_eq!(terminal.quit_with_draft(), clean_exit());
    assert_eq!(saved_draft(&home), "one\ntwothree\nfour");
    assert_eq!(server.bodies(CHAT).len(), 0, "the message was sent");
}

#[test]
fn carriage_return_and_line_feed_in_a_paste_are_one_line_break() {
    let (server, home) = ollama();
    let mut terminal = open(&home);
    terminal.press("first line\r\nsecond line\r\n\r\nthe end");
    terminal.wait_for_text("the end");
    terminal.paste("\r\nlast line");
    terminal.wait_for_text("last line");
    assert_eq!(terminal.quit_with_draft(), clean_exit());
    let expected = "first line\nsecond line\n\nthe end\nlast line";
    assert_eq!(saved_draft(&home), expected);
    assert_eq!(server.bodies(CHAT).len(), 0, "the message was sent");
}

/// The draft, as the program saved it when it ended.
fn saved_draft(home: &TestHome) -> String {
    std::fs::read_to_string(home.path().join("draft")).expect("a draft was saved")
}

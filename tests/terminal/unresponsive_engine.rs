//! With an unresponsive engine, signals and Ctrl+C still end the program, restore the terminal and
//! leave no server running. A signal also ends the program while an editor is open.

use super::home::TestHome;
use super::pty::{CTRL_C, PtyTerminal, TerminalOptions};
use super::{ModelServer, ollama_with_tools};
use rustix::process::Signal;
use std::time::{Duration, Instant};

const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Starts the program and a turn during which the engine is blocked forever.
fn start_blocked_turn() -> (ModelServer, TestHome, PtyTerminal) {
    let (server, home) = ollama_with_tools();
    let terminal = TerminalOptions::in_home(&home)
        .env("HUMBLE_TEST_BLOCK", "Block.")
        .start();
    terminal.wait_for_text("● test");
    terminal.send_prompt("Block.");
    terminal.wait_for_text("Waiting for response");
    (server, home, terminal)
}

#[test]
fn signals_end_the_program_within_two_seconds() {
    for (signal, code) in [
        (Signal::TERM, 143),
        (Signal::HUP, 129),
        (Signal::INT, 130),
        (Signal::QUIT, 131),
    ] {
        let (_server, home, mut terminal) = start_blocked_turn();
        let sent_at = Instant::now();
        terminal.signal(signal);
        assert_eq!(terminal.exit().code, code);
        let duration = sent_at.elapsed();
        assert!(duration < EXIT_TIMEOUT, "{signal:?} took {duration:?}");
        terminal.assert_restored();
        home.assert_no_process_left();
    }
}

#[test]
fn second_ctrl_c_quits_after_an_unacknowledged_one() {
    let (_server, home, mut terminal) = start_blocked_turn();
    terminal.press(CTRL_C);
    terminal.wait_for_text("The engine is not responding. Ctrl+C again to quit.");
    let sent_at = Instant::now();
    terminal.press(CTRL_C);
    assert_eq!(terminal.exit().code, 0);
    assert!(sent_at.elapsed() < EXIT_TIMEOUT, "{:?}", sent_at.elapsed());
    terminal.assert_restored();
    home.assert_no_process_left();
}

#[test]
fn one_signal_ends_ask_within_two_seconds() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let (_server, home) = ollama_with_tools();
        let mut terminal = TerminalOptions::in_home(&home)
            .env("HUMBLE_TEST_BLOCK", "Block.")
            .arg("ask")
            .arg("Block.")
            .start();
        terminal.wait_for_text("HUMBLE_TEST_BLOCK is set");
        let sent_at = Instant::now();
        terminal.signal(signal);
        assert_eq!(terminal.exit().code, code);
        let duration = sent_at.elapsed();
        assert!(duration < EXIT_TIMEOUT, "{signal:?} took {duration:?}");
        home.assert_no_process_left();
    }
}

#[test]
fn signal_ends_the_program_while_an_editor_is_open() {
    let (_server, home) = ollama_with_tools();
    let mut terminal = TerminalOptions::in_home(&home)
        .env("VISUAL", "echo in the editor; sleep 60 #")
        .start();
    terminal.wait_for_text("● test");
    terminal.press("\x07");
    terminal.wait_for_text("in the editor");
    let sent_at = Instant::now();
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.exit().code, 143);
    assert!(sent_at.elapsed() < EXIT_TIMEOUT, "{:?}", sent_at.elapsed());
    terminal.assert_restored();
}

//! Selecting with the mouse, as a terminal reports it (SGR), and copying: by OSC 52 and by a
//! clipboard program.

use super::home::{TestHome, wait_until};
use super::model_server::ollama_text;
use super::pty::pty_screen::find_text;
use super::pty::{PtyTerminal, TerminalOptions};
use super::{CHAT, clean_exit, ollama};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const LEFT_BUTTON: u8 = 0;
const LEFT_BUTTON_MOVED: u8 = 32;
const RELEASED: char = 'm';
const HELD: char = 'M';

/// Reports the mouse at a cell, counted from zero.
fn mouse(terminal: &PtyTerminal, button: u8, (row, column): (u16, u16), state: char) {
    let report = format!("\x1b[<{button};{};{}{state}", column + 1, row + 1);
    terminal.press(&report);
}

fn drag(terminal: &PtyTerminal, from: (u16, u16), to: (u16, u16)) {
    mouse(terminal, LEFT_BUTTON, from, HELD);
    mouse(terminal, LEFT_BUTTON_MOVED, to, HELD);
    mouse(terminal, LEFT_BUTTON, to, RELEASED);
}

fn position_of(terminal: &PtyTerminal, text: &str) -> (u16, u16) {
    find_text(&terminal.screen(), text).expect("visible text")
}

fn open_with_answer(home: &TestHome, variables: &[(&str, &str)]) -> PtyTerminal {
    let mut options = TerminalOptions::in_home(home).size(80, 24);
    for name in [
        "SSH_CONNECTION",
        "SSH_CLIENT",
        "SSH_TTY",
        "TMUX",
        "DISPLAY",
        "WAYLAND_DISPLAY",
    ] {
        options = options.env(name, "");
    }
    for (name, value) in variables {
        options = options.env(name, value);
    }
    let terminal = options.start();
    terminal.wait_for_text("Enter send");
    terminal.send_prompt("질문");
    terminal.wait_for_text("the end");
    terminal.wait_for_text("Enter send");
    terminal
}

fn wait_until_copied(terminal: &PtyTerminal, base64: &str) {
    let sequence = format!("\x1b]52;c;{base64}\x1b\\");
    wait_until("the text was sent to the clipboard", || {
        let raw = terminal.raw();
        raw.windows(sequence.len())
            .any(|window| window == sequence.as_bytes())
    });
}

#[test]
fn a_drag_and_a_double_click_copy_through_the_terminal() {
    let (server, home) = ollama();
    server.always_reply(CHAT, ollama_text(&["서울의 **날씨는** 맑음.\n\nthe end"]));
    let mut terminal = open_with_answer(&home, &[]);
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(raw.contains("\x1b[?1002h") && !raw.contains("\x1b[?1003h"));
    let (row, column) = position_of(&terminal, "서울의");
    drag(&terminal, (row, column), (row, column + 5));
    terminal.wait_for_text("Sent the selection (1 line) to the terminal's clipboard (OSC 52).");
    wait_until_copied(&terminal, "7ISc7Jq47J2Y");
    for _ in 0..2 {
        mouse(&terminal, LEFT_BUTTON, (row, column + 8), HELD);
        mouse(&terminal, LEFT_BUTTON, (row, column + 8), RELEASED);
    }
    wait_until_copied(&terminal, "64Kg7JSo64qU");
    assert_eq!(terminal.quit(), clean_exit());
    terminal.assert_restored();
}

#[test]
fn holding_the_button_at_the_edge_scrolls_in_real_time() {
    let (server, home) = ollama();
    let lines: Vec<String> = (0..60).map(|line| format!("line {line}.")).collect();
    server.always_reply(
        CHAT,
        ollama_text(&[&format!("{}\n\nthe end", lines.join("\n"))]),
    );
    let mut terminal = open_with_answer(&home, &[]);
    let (row, column) = position_of(&terminal, "line 55.");
    mouse(&terminal, LEFT_BUTTON, (row, column), HELD);
    mouse(&terminal, LEFT_BUTTON_MOVED, (0, column), HELD);
    terminal.wait_for_text("line 3.");
    mouse(&terminal, LEFT_BUTTON, (0, column), RELEASED);
    terminal.wait_for_text("Sent the selection (");
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn a_clipboard_program_is_preferred_and_a_failing_one_is_named() {
    let (server, home) = ollama();
    server.always_reply(CHAT, ollama_text(&["some words\n\nthe end"]));
    let folder = home.path().join("bin");
    fs::create_dir(&folder).expect("a folder");
    let program = folder.join("wl-copy");
    let copy = home.path().join("clipboard");
    let install = |script: &str| {
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&program, mode).expect("executable");
    };
    install(&format!("cat > '{}'", copy.display()));
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let variables = [("WAYLAND_DISPLAY", "test"), ("PATH", path.as_str())];
    let mut terminal = open_with_answer(&home, &variables);
    let (row, column) = position_of(&terminal, "some words");
    drag(&terminal, (row, column), (row, column + 3));
    terminal.wait_for_text("Copied the selection (1 line) with wl-copy.");
    assert_eq!(fs::read_to_string(&copy).expect("copied"), "some");
    install("exit 3");
    drag(&terminal, (row, column + 5), (row, column + 9));
    terminal.wait_for_text("exit status: 3.");
    wait_until_copied(&terminal, "d29yZHM=");
    assert_eq!(terminal.quit(), clean_exit());
}

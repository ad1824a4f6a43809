//! Message editor and screen sizes: the cursor over wide characters, a paste of one
//! megabyte, and screens of a few cells.

use super::model_server::{ollama_call, ollama_text};
use super::pty::pty_screen::find_text;
use super::pty::{CTRL_L, LEFT, PtyTerminal, TerminalOptions, contains_text};
use super::{CHAT, clean_exit, ollama, ollama_with_tools, open};
use serde_json::json;
use std::time::{Duration, Instant};

/// A key pressed after this time does not count as a repeat of a held key.
const REPEAT_TIMEOUT: Duration = Duration::from_millis(1_000);

fn cursor_column(terminal: &PtyTerminal) -> u16 {
    terminal.screen().cursor_position().1
}

#[test]
fn cursor_moves_over_wide_characters() {
    let (_server, home) = ollama();
    let mut terminal = open(&home);
    let start = cursor_column(&terminal);
    terminal.type_text("한글");
    let wait_for_column = |column: u16| {
        terminal.wait_for(&format!("the cursor is in column {column}"), |screen| {
            screen.cursor_position().1 == column && !screen.hide_cursor()
        });
    };
    wait_for_column(start + 4);
    terminal.press(LEFT);
    wait_for_column(start + 2);
    terminal.press("e\u{301}");
    terminal.wait_for_text("한e\u{301}글");
    wait_for_column(start + 3);
    let screen = terminal.screen();
    let (row, text_column) = find_text(&screen, "한e\u{301}글").expect("visible text");
    assert_eq!((row, text_column), (screen.cursor_position().0, start));
    terminal.press("\x7f");
    terminal.wait_for_text("한글");
    wait_for_column(start + 2);
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn a_pasted_megabyte_is_kept_whole_and_not_sent() {
    let (server, home) = ollama();
    let mut terminal = open(&home);
    let line = "붙여 넣은 글의 한 줄은 이렇게 생겼다: 0123456789 abcdefg\n";
    let mut text = line.repeat((1 << 20) / line.len() + 1);
    text.push_str("the very end");
    terminal.paste(&text);
    terminal.wait_for_text("[Pasted 14,");
    assert_eq!(terminal.quit_with_draft(), clean_exit());
    assert_eq!(
        server.bodies(CHAT).len(),
        0,
        "a pasted newline submitted the message"
    );
    let is_draft_saved = home
        .files()
        .into_iter()
        .any(|path| std::fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes()));
    assert!(is_draft_saved, "the draft was not saved completely");
    let mut restarted = open(&home);
    restarted.wait_for_text("[Pasted 14,");
    assert_eq!(restarted.quit(), clean_exit());
}

#[test]
fn a_long_paste_is_one_chip_that_is_sent_whole() {
    const CTRL_UNDERSCORE: &str = "\x1f";
    let (server, home) = ollama();
    server.queue_reply(CHAT, ollama_text(&["Read it."]));
    let mut terminal = open(&home);
    let text = "줄 하나\n".repeat(240);
    terminal.type_text("see:");
    terminal.paste(&text);
    terminal.wait_for_text("see:[Pasted 240 lines]");
    terminal.wait_for_text("Alt+U unfold the paste");
    terminal.press("\x7f");
    terminal.wait_until_gone("[Pasted");
    terminal.press(CTRL_UNDERSCORE);
    terminal.wait_for_text("see:[Pasted 240 lines]");
    terminal.press("\x1bu");
    terminal.wait_for_text("줄 하나");
    terminal.press(CTRL_UNDERSCORE);
    terminal.wait_for_text("see:[Pasted 240 lines]");
    terminal.send_prompt(" end");
    terminal.wait_for_text("Read it.");
    let body = server.bodies(CHAT).remove(0);
    let messages = body["messages"].as_array().expect("a list of messages");
    let sent = &messages.last().expect("a prompt")["content"];
    assert_eq!(*sent, json!(format!("see:{text} end")));
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn a_turn_with_approval_works_in_a_terminal_of_20_by_6() {
    let (server, home) = ollama_with_tools();
    server
        .queue_reply(CHAT, ollama_call("echo", &json!({ "text": "x\ny\nz" })))
        .queue_reply(CHAT, ollama_text(&["It is done."]));
    let mut terminal = TerminalOptions::in_home(&home).size(20, 6).start();
    terminal.wait_for("the first frame", |screen| screen.alternate_screen());
    terminal.wait_for_text("humble");
    wait_for_server_process(&home);
    terminal.send_prompt("Do it.");
    let dialog = terminal.wait_for_text("y n d e s");
    assert!(
        contains_text(&dialog, "Call now? (Y/N)"),
        "{}",
        dialog.contents()
    );
    let hint_style = |screen: &vt100::Screen| {
        let (row, column) = find_text(screen, "y n d e s")?;
        let cell = screen.cell(row, column)?;
        Some((cell.fgcolor(), cell.dim()))
    };
    let disabled_style = hint_style(&dialog);
    terminal.wait_for("the dialog takes the keyboard", |screen| {
        hint_style(screen) != disabled_style
    });
    // The end of the arguments is below the fold, so the first press scrolls to it.
    assert!(!contains_text(&dialog, "3  z"), "{}", dialog.contents());
    terminal.press("y");
    let scrolled = terminal.wait_for_text("3  z");
    assert!(
        contains_text(&scrolled, "Call now? (Y/N)"),
        "{}",
        scrolled.contents()
    );
    assert_eq!(server.bodies(CHAT).len(), 1);
    let drawn_at = Instant::now();
    super::home::wait_until("the key no longer counts as held", || {
        drawn_at.elapsed() > REPEAT_TIMEOUT
    });
    terminal.press("y");
    terminal.wait_for_text("It is done.");
    assert_eq!(terminal.quit(), clean_exit());
    terminal.assert_restored();
    home.assert_no_process_left();
}

/// Waits for the process of the MCP server, because the servers pane is hidden.
fn wait_for_server_process(home: &super::TestHome) {
    super::home::wait_until("the server's process runs", || home.processes().len() >= 2);
}

#[test]
fn screen_recovers_from_tiny_sizes() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, ollama_text(&["한국어로 된 답 ", "and some English."]));
    let mut terminal = open(&home);
    terminal.send_prompt("Say something.");
    terminal.wait_for_text("한국어로 된 답 and some English.");
    home.wait_until_saved("some English");
    for (columns, rows) in [(1, 1), (0, 0), (2, 50), (200, 1), (3, 3), (0, 24), (61, 11)] {
        terminal.resize(columns, rows);
        // A redraw proves that the program has seen the new size and is alive.
        let bytes_before = terminal.bytes_written();
        terminal.press(CTRL_L);
        terminal.wait_for_output_beyond(bytes_before);
    }
    terminal.resize(110, 32);
    terminal.wait_for_text("한국어로 된 답 and some English.");
    for part in ["▌ Say something.", "tools 2", "›", "F1 help"] {
        terminal.wait_for_text(part);
    }
    terminal.type_text("still here");
    assert_eq!(terminal.quit(), clean_exit());
}

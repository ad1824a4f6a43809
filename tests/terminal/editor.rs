//! Message editor and screen sizes: the cursor over wide characters, a paste of one
//! megabyte, and screens of a few cells.

use super::model_server::{ollama_call, ollama_text};
use super::pty::pty_screen::find_text;
use super::pty::{CTRL_L, LEFT, PtyTerminal, TerminalOptions, contains_text};
use super::{CHAT, clean_exit, ollama, ollama_with_tools, open};
use serde_json::json;
use std::time::{Duration, Instant};

/// A key pressed after this time does not count as a repeat of a held key.
const PRESSED_AGAIN: Duration = Duration::from_millis(1_000);

fn column(terminal: &PtyTerminal) -> u16 {
    terminal.screen().cursor_position().1
}

#[test]
fn cursor_moves_over_wide_characters() {
    let (_server, home) = ollama();
    let mut terminal = open(&home);
    let start = column(&terminal);
    terminal.type_text("한글");
    let column_is = |column: u16| {
        terminal.wait_for(&format!("the cursor is in column {column}"), |screen| {
            screen.cursor_position().1 == column && !screen.hide_cursor()
        });
    };
    column_is(start + 4);
    terminal.press(LEFT);
    column_is(start + 2);
    terminal.press("e\u{301}");
    terminal.wait_for_text("한e\u{301}글");
    column_is(start + 3);
    let screen = terminal.screen();
    let (row, at) = find_text(&screen, "한e\u{301}글").expect("visible text");
    assert_eq!((row, at), (screen.cursor_position().0, start));
    terminal.press("\x7f");
    terminal.wait_for_text("한글");
    column_is(start + 2);
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn a_megabyte_is_pasted_whole_and_not_sent() {
    let (server, home) = ollama();
    let mut terminal = open(&home);
    let line = "붙여 넣은 글의 한 줄은 이렇게 생겼다: 0123456789 abcdefg\n";
    let mut text = line.repeat((1 << 20) / line.len() + 1);
    text.push_str("the very end");
    terminal.paste(&text);
    terminal.wait_for_text("the very end");
    assert_eq!(terminal.quit(), clean_exit());
    assert_eq!(
        server.bodies(CHAT).len(),
        0,
        "a pasted newline does not submit"
    );
    let kept = home
        .files()
        .into_iter()
        .any(|path| std::fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes()));
    assert!(kept, "the whole draft is saved for the next start");
    let mut again = open(&home);
    again.wait_for_text("the very end");
    assert_eq!(again.quit(), clean_exit());
}

#[test]
fn a_turn_with_approval_works_on_twenty_by_six() {
    let (server, home) = ollama_with_tools();
    server
        .queue_reply(CHAT, ollama_call("echo", &json!({ "text": "x" })))
        .queue_reply(CHAT, ollama_text(&["It is done."]));
    let mut terminal = TerminalOptions::in_home(&home).size(20, 6).start();
    terminal.wait_for("the first frame", |screen| screen.alternate_screen());
    terminal.wait_for_text("humble");
    server_is_ready(&home);
    terminal.send_prompt("Do it.");
    let asked = terminal.wait_for_text("y n d e s");
    assert!(
        contains_text(&asked, "Call now? (Y/N)"),
        "{}",
        asked.contents()
    );
    let style = |screen: &vt100::Screen| {
        let (row, column) = find_text(screen, "y n d e s")?;
        let cell = screen.cell(row, column)?;
        Some((cell.fgcolor(), cell.dim()))
    };
    let waiting = style(&asked);
    terminal.wait_for("the dialog takes the keyboard", |screen| {
        style(screen) != waiting
    });
    // The end of the arguments is below the fold, so the first press scrolls to it.
    assert!(!contains_text(&asked, "  }"), "{}", asked.contents());
    terminal.press("y");
    let scrolled = terminal.wait_for_text("  }");
    assert!(
        contains_text(&scrolled, "Call now? (Y/N)"),
        "{}",
        scrolled.contents()
    );
    assert_eq!(server.bodies(CHAT).len(), 1);
    let drawn = Instant::now();
    super::home::wait_until("the key counts as pressed again", || {
        drawn.elapsed() > PRESSED_AGAIN
    });
    terminal.press("y");
    terminal.wait_for_text("It is done.");
    assert_eq!(terminal.quit(), clean_exit());
    terminal.assert_restored();
    home.assert_no_process_left();
}

/// The servers pane is hidden, so check for the server's process.
fn server_is_ready(home: &super::TestHome) {
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
        let written = terminal.bytes_written();
        terminal.press(CTRL_L);
        terminal.wait_for_output_beyond(written);
    }
    terminal.resize(110, 32);
    terminal.wait_for_text("한국어로 된 답 and some English.");
    for title in ["Chat", "Message", "Say something."] {
        terminal.wait_for_text(title);
    }
    terminal.type_text("still here");
    assert_eq!(terminal.quit(), clean_exit());
}

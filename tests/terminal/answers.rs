//! Answers to questions without the screen: typed ones count, pasted ones never do, and the terminal is
//! restored in every case.

use super::model_server::{ModelServer, ollama_call, ollama_text};
use super::pty::{CTRL_C, Exit, PtyTerminal, TerminalOptions};
use super::{CHAT, TestHome, clean_exit, ollama_with_tools};
use rustix::process::Signal;
use serde_json::json;
use std::thread::sleep;
use std::time::Duration;

const QUESTION: &str = "Call now? (Y/N)";
const CTRL_Z: &str = "\u{1a}";
/// Answers count only if they were typed this long after the question.
const READING_TIME: Duration = Duration::from_millis(600);

fn model_that_calls(times: usize) -> (ModelServer, TestHome) {
    let (server, home) = ollama_with_tools();
    for _ in 0..times {
        server.queue_reply(CHAT, ollama_call("echo", &json!({ "text": "x" })));
    }
    server.queue_reply(CHAT, ollama_text(&["Done."]));
    (server, home)
}

fn ask(home: &TestHome) -> TerminalOptions<'_> {
    let options = TerminalOptions::in_home(home).size(120, 100);
    options.arg("ask").arg("Call it.")
}

/// Opens the linear chat and sends a prompt.
fn ask_in_chat(home: &TestHome) -> PtyTerminal {
    let terminal = TerminalOptions::in_home(home)
        .size(120, 100)
        .arg("--linear")
        .start();
    terminal.wait_for_text("You:");
    terminal.press("/mcp test retry\r");
    terminal.wait_for_text("Server `test` is connected");
    terminal.press("Call it.\r");
    terminal
}

fn count(terminal: &PtyTerminal, text: &str) -> usize {
    String::from_utf8_lossy(&terminal.raw())
        .matches(text)
        .count()
}

/// Pastes pieces while the question is open, and waits until it is asked again.
fn paste(terminal: &PtyTerminal, pieces: &[&str], gap: Duration) {
    terminal.wait_for("the question is asked", |screen| {
        screen.contents().trim_end().ends_with(QUESTION)
    });
    let times_asked = count(terminal, QUESTION);
    sleep(READING_TIME);
    for piece in pieces {
        terminal.press(piece);
        sleep(gap);
    }
    super::home::wait_until(&format!("{pieces:?} is ignored"), || {
        count(terminal, QUESTION) > times_asked
    });
}

/// Pastes in every shape into an open approval, and then approves it.
fn assert_only_typing_approves(terminal: PtyTerminal, server: &ModelServer) -> PtyTerminal {
    for text in [
        "y\runfinished",
        "y\r",
        "yes\r",
        "y\ry\r",
        "y\r\n",
        "\ry\r",
        "\u{1b}[200~y\r\u{1b}[201~",
        "\u{1b}[200~y\runfinished\u{1b}[201~",
        "ㅛ\r",
        "ㅛ\rㅛ",
    ] {
        paste(&terminal, &[text], Duration::ZERO);
    }
    let each_byte: Vec<&str> = "y\runfinished".split_inclusive(|_| true).collect();
    paste(&terminal, &each_byte, Duration::from_millis(5));
    paste(
        &terminal,
        &["y\r", "unfin", "ished"],
        Duration::from_millis(30),
    );
    paste(&terminal, &["y", "\rrest"], Duration::from_millis(100));
    assert_eq!(server.bodies(CHAT).len(), 1);
    terminal.answer(QUESTION, "y");
    terminal.wait_for_text("Done.");
    assert_eq!(server.bodies(CHAT).len(), 2);
    terminal
}

#[test]
fn pasted_text_never_runs_a_call_of_humble_ask() {
    let (server, home) = model_that_calls(1);
    let mut terminal = assert_only_typing_approves(ask(&home).start(), &server);
    assert_eq!(terminal.exit(), clean_exit());
    home.assert_no_process_left();
}

#[test]
fn pasted_text_never_runs_a_call_of_the_linear_chat() {
    let (server, home) = model_that_calls(1);
    let mut terminal = assert_only_typing_approves(ask_in_chat(&home), &server);
    terminal.press("/exit\r");
    assert_eq!(terminal.exit(), clean_exit());
    home.assert_no_process_left();
}

#[test]
fn a_paste_answers_neither_of_two_questions_in_a_row() {
    let (server, home) = model_that_calls(2);
    let mut terminal = ask(&home).start();
    terminal.wait_for_text(QUESTION);
    // Typed ahead, before the question could be read.
    terminal.type_answer("y");
    terminal.wait_for_text("(Ignored: typed before the question could be read.)");
    paste(&terminal, &["y\r", "y\r"], Duration::from_millis(20));
    terminal.answer(QUESTION, "y");
    super::home::wait_until("the second question is asked", || {
        server.bodies(CHAT).len() == 2
    });
    paste(&terminal, &["y\ry\r"], Duration::ZERO);
    terminal.answer(QUESTION, "n");
    assert_eq!(terminal.exit().code, 3);
    assert_eq!(server.bodies(CHAT).len(), 2);
}

#[test]
fn a_pasted_yes_deletes_nothing() {
    let (server, home) = ollama_with_tools();
    server.queue_reply(CHAT, ollama_text(&["Hello."]));
    let mut terminal = TerminalOptions::in_home(&home).arg("--linear").start();
    terminal.wait_for_text("You:");
    terminal.press("Hi\r");
    terminal.wait_for_text("Hello.");
    home.wait_until_saved("Hello.");
    terminal.press("/delete\r");
    let question = "Delete \"Hi\"? (y/n)";
    for text in ["y\runfinished", "y\r"] {
        terminal.wait_for("the question is asked", |screen| {
            screen.contents().trim_end().ends_with(question)
        });
        let times_asked = count(&terminal, question);
        sleep(READING_TIME);
        terminal.press(text);
        super::home::wait_until("the question is asked again", || {
            count(&terminal, question) > times_asked
        });
    }
    assert_eq!(home.sessions().len(), 1);
    terminal.answer(question, "y");
    terminal.wait_for_text("Deleted \"Hi\".");
    terminal.press("/exit\r");
    assert_eq!(terminal.exit(), clean_exit());
}

#[test]
fn a_typed_answer_can_be_corrected_and_may_come_from_an_input_method() {
    for (keys, shown) in [
        ("no\u{7f}\u{7f}가\u{8}y", "(Y/N) y"),
        ("nonsense and more\u{17}\u{15}y", "(Y/N) y"),
        ("ㅛ", "(Y/N) ㅛ"),
    ] {
        let (_server, home) = model_that_calls(1);
        let mut terminal = ask(&home).start();
        terminal.wait_for_text(QUESTION);
        sleep(READING_TIME);
        terminal.type_answer(keys);
        let screen = terminal.wait_for_text("Done.").contents();
        assert!(
            screen.lines().any(|line| line.trim_end().ends_with(shown)),
            "{screen}"
        );
        assert_eq!(terminal.exit(), clean_exit());
    }
}

#[test]
fn a_terminal_that_sends_whole_lines_answers_with_the_number_that_it_was_told() {
    let (server, home) = model_that_calls(1);
    let mut terminal = ask(&home).start();
    paste(&terminal, &["y\r"], Duration::ZERO);
    paste(&terminal, &["y 0000\r"], Duration::ZERO);
    let screen = terminal.screen().contents();
    let (_, rest) = screen.rsplit_once("whole lines, add ").expect(&screen);
    sleep(READING_TIME);
    terminal.press(&format!("y {}\r", &rest[..4]));
    terminal.wait_for_text("Done.");
    assert_eq!(server.bodies(CHAT).len(), 2);
    assert_eq!(terminal.exit(), clean_exit());
}

#[test]
fn signals_at_a_question_restore_the_terminal() {
    for (signal, code) in [
        (None, 130),
        (Some(Signal::TERM), 143),
        (Some(Signal::HUP), 129),
    ] {
        let (_server, home) = model_that_calls(1);
        let mut terminal = ask(&home).start();
        terminal.wait_for_text(QUESTION);
        match signal {
            Some(signal) => terminal.signal(signal),
            None => terminal.press(CTRL_C),
        }
        let signal = None;
        // Includes that the settings are the same as before.
        assert_eq!(terminal.exit(), Exit { code, signal });
        let (_server, home) = model_that_calls(1);
        let mut terminal = ask_in_chat(&home);
        terminal.wait_for_text(QUESTION);
        terminal.signal(Signal::TERM);
        assert_eq!(terminal.exit().code, 143);
    }
}

#[test]
fn ctrl_z_at_a_question_stops_the_program_with_the_terminal_restored() {
    let (_server, home) = model_that_calls(1);
    let script = r#""$0" "$@"; stty -a | tr ';' '\n' | grep icanon; echo "now stopped"; fg"#;
    let mut terminal = ask(&home).in_shell(script).start();
    terminal.wait_for_text(QUESTION);
    terminal.press(CTRL_Z);
    let screen = terminal.wait_for_text("now stopped").contents();
    assert!(!screen.contains("-icanon"), "{screen}");
    assert!(
        screen.contains(" icanon") || screen.contains("\nicanon"),
        "{screen}"
    );
    super::home::wait_until("the question is asked again", || {
        count(&terminal, QUESTION) == 2
    });
    terminal.answer(QUESTION, "y");
    terminal.wait_for_text("Done.");
    assert_eq!(terminal.exit(), clean_exit());
}

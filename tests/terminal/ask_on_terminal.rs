//! `humble ask` on a terminal, where printed text cannot be retracted.

use super::model_server::{Gate, ModelServer, ollama_call, ollama_text};
use super::pty::{Exit, PtyTerminal, TerminalOptions};
use super::{CHAT, clean_exit, ollama, ollama_with_tools};
use crate::home::{TestHome, test_server_path};
use serde_json::json;
use std::thread::sleep;
use std::time::Duration;

const PARTS: [&str; 3] = [
    "Hm, sky.\n\nRayleigh?\n",
    "</think>\n\nIt is ",
    "scattered.",
];

#[test]
fn text_of_a_possibly_thinking_model_is_held_back() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, ollama_text(&PARTS));
    let mut terminal = TerminalOptions::in_home(&home)
        .arg("ask")
        .arg("Why is it blue?")
        .start();
    let output = terminal.wait_for_text("It is scattered.").contents();
    let (before, rest) = output.split_once("<<< Thinking >>>").expect(&output);
    let (thinking, answer) = rest.split_once("<<< End Thinking >>>").expect(&output);
    assert!(!before.contains("Hm, sky."), "{output}");
    assert!(thinking.contains("Hm, sky."), "{output}");
    assert!(
        !answer.contains("Hm, sky.") && answer.contains("It is scattered."),
        "{output}"
    );
    assert_eq!(terminal.exit(), clean_exit());
}

#[test]
fn text_of_other_models_is_printed_at_once_and_labeled_as_thinking_later() {
    let server = ModelServer::start();
    let model = json!({
        "name": "llama3.2", "provider": "ollama", "baseUrl": server.url(), "active": true,
    });
    let home = TestHome::with_model(&model);
    let gate = Gate::closed();
    server.queue_reply(CHAT, ollama_text(&PARTS).gate_after(1, &gate));
    let mut terminal = TerminalOptions::in_home(&home)
        .arg("ask")
        .arg("Why is it blue?")
        .start();
    terminal.wait_for_text("Hm, sky.");
    gate.open();
    terminal.wait_for_text("(The text above was thinking; the answer follows.)");
    terminal.wait_for_text("It is scattered.");
    assert_eq!(terminal.exit(), clean_exit());
}

/// An answer counts only if it is typed this long after its question.
const AFTER_TYPE_AHEAD: Duration = Duration::from_millis(600);
const CTRL_D: &str = "\u{4}";

#[test]
fn ctrl_d_refuses_only_the_question_that_it_answers() {
    let (server, home) = ollama_with_tools();
    let gate = Gate::closed();
    let call = ollama_call("echo", &json!({ "text": "x" })).gate_after(0, &gate);
    server
        .queue_reply(CHAT, call)
        .queue_reply(CHAT, ollama_text(&["Done."]));
    let ask = || TerminalOptions::in_home(&home).arg("ask").arg("Call it.");
    let mut terminal = ask().start();
    terminal.wait_for_text("Waiting for response...");
    terminal.press(CTRL_D);
    sleep(AFTER_TYPE_AHEAD);
    gate.open();
    terminal.wait_for_text("Call now? (Y/N)");
    sleep(AFTER_TYPE_AHEAD);
    terminal.type_answer("y");
    terminal.wait_for_text("Done.");
    assert_eq!(terminal.exit(), clean_exit());

    server.queue_reply(CHAT, ollama_call("echo", &json!({ "text": "x" })));
    let mut terminal = ask().start();
    terminal.wait_for_text("Call now? (Y/N)");
    sleep(AFTER_TYPE_AHEAD);
    terminal.press(CTRL_D);
    terminal.wait_for_text("\nTool echo: refused");
    let (code, signal) = (3, None);
    assert_eq!(terminal.exit(), Exit { code, signal });
    home.assert_no_process_left();
}

#[test]
fn a_long_call_is_shown_page_by_page() {
    let (server, home) = ollama_with_tools();
    let text: String = (0..80)
        .map(|row| format!("row {row:03} {}", "-".repeat(70)))
        .collect();
    server
        .queue_reply(CHAT, ollama_call("echo", &json!({ "text": text })))
        .queue_reply(CHAT, ollama_text(&["Done."]));
    let mut terminal = TerminalOptions::in_home(&home)
        .size(80, 24)
        .arg("ask")
        .arg("Call it.")
        .start();
    let mut page = terminal.wait_for_text("(Enter: next page");
    let seen = |contents: &str| {
        let rows = (0..80).filter(|row| contents.contains(&format!("row {row:03}")));
        rows.collect::<Vec<_>>()
    };
    let first = seen(&page.contents());
    assert_eq!(first.first(), Some(&0), "{}", page.contents());
    assert!(page.contents().contains("Tool call: echo"));
    // Typed before the page could be read.
    terminal.press("\ry\r");
    terminal.wait_for_text("(Ignored: typed before");
    sleep(AFTER_TYPE_AHEAD);
    terminal.press("\r");
    page = terminal.wait_for("another page", |screen| {
        seen(&screen.contents()).last() > first.last()
    });
    let second = seen(&page.contents());
    let are_all_seen = second[0] <= first[first.len() - 1] + 1;
    assert!(are_all_seen, "{first:?} {}", page.contents());
    assert!(!page.contents().contains("Call now?"));
    sleep(AFTER_TYPE_AHEAD);
    terminal.type_answer("a");
    terminal.wait_for_text("Call now? (Y/N)");
    sleep(AFTER_TYPE_AHEAD);
    terminal.type_answer("y");
    terminal.wait_for_text("Done.");
    assert_eq!(terminal.exit(), clean_exit());
    home.assert_no_process_left();
}

/// Runs `humble ask` and approves a call of this tool, which then asks the user something.
fn ask_through(tool: &str, (columns, rows): (u16, u16)) -> (ModelServer, TestHome, PtyTerminal) {
    let (server, home) = ollama();
    let home = home.with_server("test", &test_server_path(), &["asks-legacy"]);
    server
        .queue_reply(CHAT, ollama_call(tool, &json!({})))
        .queue_reply(CHAT, ollama_text(&["Declined, then."]));
    let terminal = TerminalOptions::in_home(&home)
        .size(columns, rows)
        .arg("ask")
        .arg("Call it.")
        .start();
    terminal.wait_for_text("Call now? (Y/N)");
    sleep(AFTER_TYPE_AHEAD);
    terminal.type_answer("y");
    (server, home, terminal)
}

#[test]
fn a_long_request_of_a_server_is_shown_page_by_page() {
    for (tool, last_question) in [("page", "Open it?"), ("sample", "Ask the model?")] {
        let (_server, _home, mut terminal) = ask_through(tool, (40, 6));
        let page = terminal.wait_for_text("(Enter: next page");
        assert!(!page.contents().contains(last_question), "{tool}");
        sleep(AFTER_TYPE_AHEAD);
        terminal.type_answer("a");
        terminal.wait_for_text(last_question);
        sleep(AFTER_TYPE_AHEAD);
        terminal.type_answer("n");
        terminal.wait_for_text("Declined, then.");
        terminal.exit();
    }
}

#[test]
fn the_choices_of_a_question_do_not_push_its_text_out_of_sight() {
    let (_server, _home, mut terminal) = ask_through("page", (80, 12));
    // Without the choices, the text would fit.
    let page = terminal.wait_for_text("(Enter: next page");
    let contents = page.contents();
    assert!(
        contents.contains("test asks you to open a page"),
        "{contents}"
    );
    sleep(AFTER_TYPE_AHEAD);
    terminal.press("\r");
    terminal.wait_for_text("Open it? (1-5)");
    // One Enter too many chooses nothing.
    sleep(AFTER_TYPE_AHEAD);
    terminal.press("\r");
    terminal.wait_for("the question again", |screen| {
        screen.contents().matches("Open it? (1-5)").count() == 2
    });
    sleep(AFTER_TYPE_AHEAD);
    terminal.type_answer("n");
    terminal.wait_for_text("Declined, then.");
    terminal.exit();
}

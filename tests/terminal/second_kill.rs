//! A second crash, while the user resumes a turn that the first crash interrupted: nothing typed is
//! lost, and nothing is offered twice. Also the files of unsent prompts after one crash.

use super::model_server::ollama_text;
use super::pty::{PtyTerminal, QUIET_TIME, UP};
use super::{CHAT, TestHome, clean_exit, endless, ollama, open};
use rustix::process::Signal;
use std::fs;

fn kill(mut terminal: PtyTerminal) {
    terminal.signal(Signal::KILL);
    terminal.exit();
}

fn resume(terminal: &PtyTerminal) {
    terminal.wait_for_text("Restore the prompt?");
    terminal.wait_for_text("Press a key to choose");
    // Enter directly after the answer would count as part of it.
    terminal.press_in_pieces(&["y"], QUIET_TIME);
    terminal.wait_for_text("The interrupted prompt is in the message.");
}

fn journal_count(home: &TestHome) -> usize {
    let journals = fs::read_dir(home.path().join("journal")).expect("the journal folder exists");
    journals.count()
}

#[test]
fn a_resumed_edit_of_an_earlier_message_survives_a_second_kill() {
    let (server, home) = ollama();
    let terminal = open(&home);
    for (prompt, answer) in [("one", "The first answer."), ("two", "The second answer.")] {
        server.queue_reply(CHAT, ollama_text(&[answer]));
        terminal.send_prompt(prompt);
        terminal.wait_for_text(answer);
        home.wait_until_saved(answer);
        // The turn ends after it is saved, and until then no message can be edited.
        terminal.wait_until_gone("Ctrl+C stop");
    }
    // Edit the first message.
    server.queue_reply(CHAT, endless(&["Words so far"]));
    terminal.press("\t");
    for _ in 0..4 {
        terminal.press(UP);
    }
    terminal.press("e");
    terminal.wait_for_text("Editing the message before your last one: one");
    terminal.type_text(" again");
    terminal.press("\r");
    terminal.wait_for_text("Words so far");
    kill(terminal);

    let terminal = open(&home);
    resume(&terminal);
    terminal.wait_for_text("› one again");
    home.wait_until_draft_contains("edit_of");
    kill(terminal);

    let terminal = open(&home);
    terminal.wait_for_text("› one again");
    terminal.wait_for_text("Restored your edit of an earlier message.");
    kill(terminal);

    // In the open conversation, sending the restored edit still replaces the first prompt.
    let terminal = open(&home);
    terminal.wait_for_text("› one again");
    terminal.press("\x1bOS");
    terminal.wait_for_text("The second answer.");
    terminal.press("\r");
    terminal.wait_for_text("Editing the message before your last one: one");
    server.queue_reply(CHAT, ollama_text(&["A better answer."]));
    terminal.press("\r");
    terminal.wait_for_text("A better answer.");
    let saved = home.wait_until_saved("A better answer.");
    assert_eq!(saved["messages"].as_array().map(Vec::len), Some(2));
    assert_eq!(saved["messages"][0]["content"], "one again");
    kill(terminal);
}

#[test]
fn the_first_turn_of_a_conversation_is_offered_once_after_a_second_kill() {
    let (server, home) = ollama();
    server.queue_reply(CHAT, endless(&["Words so far"]));
    let terminal = open(&home);
    terminal.send_prompt("First.");
    terminal.wait_for_text("Words so far");
    kill(terminal);

    server.queue_reply(CHAT, endless(&["Once more"]));
    let terminal = open(&home);
    resume(&terminal);
    terminal.wait_for_text("› First.");
    terminal.press("\r");
    terminal.wait_for_text("Once more");
    kill(terminal);
    assert_eq!(journal_count(&home), 1, "both attempts are in one journal");

    server.queue_reply(CHAT, ollama_text(&["At last."]));
    let mut terminal = open(&home);
    resume(&terminal);
    terminal.wait_for_text("› First.");
    let screen = terminal.screen().contents();
    assert!(!screen.contains("Restore the prompt?"), "{screen}");
    terminal.press("\r");
    terminal.wait_for_text("At last.");
    home.wait_until_saved("At last.");
    assert_eq!(terminal.quit(), clean_exit());
    assert_eq!((journal_count(&home), home.sessions().len()), (0, 1));
}

#[test]
fn files_of_the_message_and_of_queued_prompts_survive_a_kill() {
    let (server, home) = ollama();
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    for name in ["one.txt", "two.txt", "gone.txt"] {
        fs::write(path(name), "text\n").expect("written");
    }
    server.queue_reply(CHAT, endless(&["Words so far"]));
    let terminal = open(&home);
    terminal.send_prompt("First.");
    terminal.wait_for_text("Words so far");
    for name in ["one.txt", "gone.txt"] {
        terminal.paste(&path(name));
        terminal.wait_for_text("tokens");
    }
    terminal.send_prompt("queued prompt");
    terminal.wait_for_text("[2 files]");
    terminal.paste(&path("two.txt"));
    terminal.wait_for_text("tokens");
    terminal.type_text("half a 문장");
    home.wait_until_draft_contains("half a 문장");
    home.wait_until_draft_contains("two.txt");
    kill(terminal);
    fs::remove_file(path("gone.txt")).expect("removed");

    let terminal = open(&home);
    terminal.wait_for_text("Restore the prompt?");
    terminal.wait_for_text("Press a key to choose");
    // Enter directly after the answer would count as part of it.
    terminal.press_in_pieces(&["k"], QUIET_TIME);
    terminal.wait_until_gone("Restore the prompt?");
    terminal.wait_for_text("two.txt");
    terminal.wait_for_text("[1 file]");
    terminal.wait_for_text("gone.txt missing]");
    server.queue_reply(CHAT, ollama_text(&["Both read."]));
    terminal.press("\r");
    terminal.wait_for_text("Both read.");
    let body = &server.bodies(CHAT)[1];
    let message = body["messages"].as_array().and_then(|list| list.last());
    let text = message.expect("a prompt")["content"].to_string();
    assert!(
        text.contains("half a 문장") && text.contains("two.txt"),
        "{text}"
    );
    kill(terminal);
}

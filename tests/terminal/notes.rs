//! Notes: created, found, summarized and undone in the chat, and answers based on notes.

use super::model_server::{ModelServer, ollama_text};
use super::pty::contains_text;
use super::{CHAT, TerminalOptions, TestHome, clean_exit, ollama};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn ollama_with_vault() -> (ModelServer, TestHome, PathBuf) {
    let (server, home) = ollama();
    let vault = home.path().join("vault");
    fs::create_dir(&vault).expect("created");
    let note = "# 공유기\n\n공유기 비밀번호는 서랍에 있다.\n";
    fs::write(vault.join("공유기.md"), note).expect("written");
    home.edit_json("config.json", |config| {
        config["notes"] = json!({ "vault": vault });
    });
    (server, home, vault)
}

fn last_message(server: &ModelServer) -> String {
    let bodies = server.bodies(CHAT);
    let body = bodies.last().expect("a request");
    let messages = body["messages"].as_array().and_then(|all| all.last());
    let content = messages.map(|message: &Value| message["content"].clone());
    content
        .expect("a message")
        .as_str()
        .expect("a text")
        .to_owned()
}

#[test]
fn notes_are_created_found_summarized_undone_and_consulted() {
    let (server, home, vault) = ollama_with_vault();
    let mut terminal = TerminalOptions::in_home(&home).size(80, 24).start();
    terminal.wait_for_text("qwen3:4b");

    server.queue_reply(CHAT, ollama_text(&["# 양자 역학\n\n", "입자와 파동."]));
    terminal.send_prompt("양자 역학에 대한 노트 만들어줘");
    terminal.wait_for_text("✓ note created  양자-역학.md  /undo removes it");
    let note = vault.join("양자-역학.md");
    let text = fs::read_to_string(&note).expect("a note");
    assert_eq!(text, "# 양자 역학\n\n입자와 파동.\n");

    terminal.send_prompt("파동 노트 찾아줘");
    terminal.wait_for_text("1 note matches \"파동\":");
    terminal.wait_for_text("✓ 1 note found  /note PATH opens one");
    assert_eq!(server.bodies(CHAT).len(), 1, "a search asks no model");

    terminal.send_prompt("/note 양자-역학.md");
    terminal.wait_for_text("The open note is \"양자 역학\"");
    server.queue_reply(CHAT, ollama_text(&["모든 것은 파동이다."]));
    terminal.send_prompt("이 노트 요약해줘");
    terminal.wait_for_text("모든 것은 파동이다.");
    terminal.wait_for_text("✓ note summarized  양자-역학.md");
    assert!(last_message(&server).starts_with("Summarize the following note.\n\n# 양자 역학"));

    server.queue_reply(CHAT, ollama_text(&["# 녹차\n\n칠십오 도."]));
    terminal.send_prompt("녹차에 대한 노트 써줘");
    terminal.wait_for_text("✓ note created  녹차.md  /undo removes it");
    assert!(vault.join("녹차.md").exists());
    terminal.send_prompt("/undo");
    terminal.wait_for_text("Undone. The note 녹차.md was removed.");
    assert!(!vault.join("녹차.md").exists());

    terminal.send_prompt("/notes on");
    terminal.wait_for_text("(2 notes in");
    server.queue_reply(CHAT, ollama_text(&["서랍을 여세요."]));
    terminal.send_prompt("공유기 비밀번호는 어디에 있어?");
    terminal.wait_for_text("서랍을 여세요.");
    terminal.wait_for_text("✓ note consulted  공유기.md");
    let sent = last_message(&server);
    assert!(
        sent.contains("> [공유기.md] 공유기\n> 공유기 비밀번호는 서랍에 있다."),
        "{sent}"
    );
    assert!(sent.ends_with("공유기 비밀번호는 어디에 있어?"), "{sent}");
    let saved = home.wait_until_saved("서랍을 여세요.").to_string();
    assert!(!saved.contains("Excerpts"), "{saved}");
    assert_eq!(terminal.quit(), clean_exit());
}

#[test]
fn a_vault_that_vanished_leaves_the_prompt_to_the_model() {
    let (server, home, vault) = ollama_with_vault();
    let mut terminal = TerminalOptions::in_home(&home).size(80, 24).start();
    terminal.wait_for_text("qwen3:4b");
    fs::remove_dir_all(&vault).expect("removed");
    server.queue_reply(CHAT, ollama_text(&["I cannot write files."]));
    terminal.send_prompt("write a note on tea");
    let screen = terminal.wait_for_text("I cannot write files.");
    assert!(
        contains_text(&screen, "The note was not saved."),
        "{}",
        screen.contents()
    );
    assert_eq!(last_message(&server), "write a note on tea");
    assert!(!vault.exists());
    assert_eq!(terminal.quit(), clean_exit());
}

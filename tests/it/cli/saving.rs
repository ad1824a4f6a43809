//! `humble ask` with `--save`, `--continue` and `--persona`.

use super::{AskFixture, CHAT, ask_fixture, err, out};
use crate::cli::model_server::ollama_text;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Conversation files, sorted by name.
fn files(case: &AskFixture) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(case.home.path().join("sessions"));
    let mut files: Vec<PathBuf> = folder
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    files
}

/// The messages of every saved conversation.
fn saved_messages(case: &AskFixture) -> Vec<Value> {
    let read = |path: &PathBuf| std::fs::read(path).expect("a file");
    let json = |bytes: Vec<u8>| serde_json::from_slice::<Value>(&bytes).expect("JSON");
    files(case)
        .iter()
        .map(|path| json(read(path))["messages"].take())
        .collect()
}

/// The messages of a request, without the system message.
fn sent_messages(case: &AskFixture, request: usize) -> Vec<Value> {
    let sent = case.server.bodies(CHAT);
    let messages = sent[request]["messages"].as_array().expect("a list");
    messages
        .iter()
        .filter(|message| message["role"] != "system")
        .cloned()
        .collect()
}

#[test]
fn a_question_is_saved_only_with_save() {
    let case = ask_fixture();
    case.on(ollama_text(&["일"])).on(ollama_text(&["이"]));
    let output = case.run(&["ask", "하나?"]);
    assert_eq!(
        (out(&output), saved_messages(&case)),
        ("일\n".to_owned(), Vec::new())
    );
    let output = case.run(&["ask", "--save", "둘?"]);
    assert_eq!(out(&output), "이\n");
    let expected = json!([
        { "role": "user", "content": "둘?" },
        { "role": "assistant", "content": "이" },
    ]);
    assert_eq!(saved_messages(&case), [expected]);
}

/// The events of `--json`.
fn events(output: &std::process::Output) -> Vec<Value> {
    out(output)
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .expect("JSON")
}

/// The events after the end of the turn.
fn after_the_end(output: &std::process::Output) -> Vec<Value> {
    let mut events = events(output);
    let end = events.iter().position(|event| event["type"] == "ended");
    events.split_off(end.expect("the turn ended") + 1)
}

#[test]
fn json_names_the_file_of_the_saved_conversation() {
    let case = ask_fixture();
    case.on(ollama_text(&["일"])).on(ollama_text(&["이"]));
    let output = case.run(&["ask", "--json", "--save", "하나?"]);
    let path = files(&case).remove(0);
    let name = path.file_name().expect("a name").to_string_lossy();
    let saved = json!({ "type": "session_saved", "session": name });
    assert_eq!(after_the_end(&output), [saved]);
    assert_eq!(output.status.code(), Some(0));
    let output = case.run(&["ask", "--json", "둘?"]);
    assert_eq!(after_the_end(&output), Vec::<Value>::new());
}

#[test]
fn json_explains_why_a_conversation_was_not_saved() {
    let case = ask_fixture();
    case.write("sessions", "a file in the way");
    case.on(ollama_text(&["일"]));
    let output = case.run(&["ask", "--json", "--save", "하나?"]);
    assert_eq!(output.status.code(), Some(1));
    let after = after_the_end(&output);
    let notice = after
        .iter()
        .find(|event| event["type"] == "noticed")
        .map(|event| event["notice"].clone());
    let notice = notice.unwrap_or_else(|| panic!("{after:#?}"));
    assert_eq!(notice["severity"], "failure");
    assert_eq!(notice["what"], "The last conversation could not be saved.");
    let why = notice["why"].as_str().unwrap_or_default();
    assert!(
        why.contains("a file of this name is in the way"),
        "{notice}"
    );
    let others: Vec<_> = after
        .iter()
        .map(|event| event["type"].as_str())
        .filter(|name| *name != Some("noticed"))
        .collect();
    assert!(
        others.iter().all(|name| *name == Some("banners_changed")),
        "{after:#?}"
    );
}

#[test]
fn continue_appends_to_the_latest_conversation() {
    let case = ask_fixture();
    for answer in ["one", "two", "three"] {
        case.on(ollama_text(&[answer]));
    }
    case.run(&["ask", "--save", "first?"]);
    let before = files(&case);
    let output = case.run(&["ask", "--continue", "second?"]);
    assert_eq!(
        (out(&output), output.status.code()),
        ("two\n".to_owned(), Some(0))
    );
    assert_eq!(files(&case), before, "no new file");
    let user = |text: &str| json!({ "role": "user", "content": text });
    let assistant = |text: &str| json!({ "role": "assistant", "content": text });
    let expected = [user("first?"), assistant("one"), user("second?")];
    assert_eq!(sent_messages(&case, 1), expected);
    let mut all = expected.to_vec();
    all.push(assistant("two"));
    assert_eq!(saved_messages(&case), [json!(all)]);
}

#[test]
fn continue_without_a_conversation_starts_a_new_one() {
    let case = ask_fixture();
    case.on(ollama_text(&["yes"]));
    let output = case.run(&["ask", "-c", "there?"]);
    assert_eq!(
        (out(&output), output.status.code()),
        ("yes\n".to_owned(), Some(0))
    );
    assert_eq!(
        err(&output),
        "There is no conversation to continue. A new one was started.\nWaiting for response...\n"
    );
    let expected = json!([
        { "role": "user", "content": "there?" },
        { "role": "assistant", "content": "yes" },
    ]);
    assert_eq!(saved_messages(&case), [expected]);
}

#[test]
fn screen_options_are_rejected_with_ask() {
    let case = ask_fixture();
    for arguments in [
        &["--continue", "ask", "x"][..],
        &["--session", "y", "ask", "x"],
    ] {
        let output = case.run(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            err(&output),
            "--continue and --session open the chat: `humble --continue`, without a command.\n\
             To ask one question in the latest conversation: humble ask --continue \"…\"\n"
        );
    }
    let output = case.run(&["ask", "--save", "--continue", "x"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(case.server.bodies(CHAT), Vec::<Value>::new());
}

#[test]
fn a_persona_replaces_the_system_prompt_and_limits_the_tools() {
    let case = ask_fixture();
    let folder = case.home.path().join("personas");
    std::fs::create_dir_all(&folder).expect("created");
    case.write("system_prompt.txt", "You are usual.");
    case.write(
        "personas/pirate.md",
        "---\ntools: no/such\n---\nYou are a pirate.",
    );
    case.on(ollama_text(&["Arr"]));
    let output = case.run(&["ask", "--persona", "pirate", "Who?"]);
    assert_eq!(
        (out(&output), output.status.code()),
        ("Arr\n".to_owned(), Some(0))
    );
    let sent = &case.server.bodies(CHAT)[0]["messages"];
    let system =
        "You are a pirate.\n\nFUNCTIONS:\n\n# Connected MCP Servers\n\n**NO TOOL CONNECTED**\n";
    let expected = json!([
        { "role": "system", "content": system },
        { "role": "user", "content": "Who?" },
    ]);
    assert_eq!(*sent, expected);
}

#[test]
fn an_unknown_persona_sends_nothing_to_the_model() {
    let case = ask_fixture();
    let output = case.run(&["ask", "--persona", "wether", "Rain?"]);
    assert_eq!(
        (out(&output), output.status.code()),
        (String::new(), Some(2))
    );
    assert_eq!(
        err(&output),
        "There is no persona `wether`. Did you mean `weather`?\n"
    );
    assert_eq!(case.server.bodies(CHAT), Vec::<Value>::new());
}

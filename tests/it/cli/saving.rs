//! `humble ask` with `--save`, `--continue` and `--persona`.

use super::{AskFixture, CHAT, ask_fixture, stderr_of, stdout_of};
use crate::cli::model_server::ollama_text;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Sorted by name.
fn session_files(fixture: &AskFixture) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(fixture.home.path().join("sessions"));
    let mut files: Vec<PathBuf> = folder
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("readable").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    files
}

fn saved_messages(fixture: &AskFixture) -> Vec<Value> {
    let read_file = |path: &PathBuf| std::fs::read(path).expect("a file");
    let json = |bytes: Vec<u8>| serde_json::from_slice::<Value>(&bytes).expect("JSON");
    session_files(fixture)
        .iter()
        .map(|path| json(read_file(path))["messages"].take())
        .collect()
}

/// The messages of a request, without the system message.
fn sent_messages(fixture: &AskFixture, request: usize) -> Vec<Value> {
    let bodies = fixture.server.bodies(CHAT);
    let messages = bodies[request]["messages"].as_array().expect("a list");
    messages
        .iter()
        .filter(|message| message["role"] != "system")
        .cloned()
        .collect()
}

#[test]
fn a_question_is_saved_only_with_the_save_option() {
    let fixture = ask_fixture();
    fixture
        .queue_reply(ollama_text(&["일"]))
        .queue_reply(ollama_text(&["이"]));
    let output = fixture.run(&["ask", "하나?"]);
    assert_eq!(
        (stdout_of(&output), saved_messages(&fixture)),
        ("일\n".to_owned(), Vec::new())
    );
    let output = fixture.run(&["ask", "--save", "둘?"]);
    assert_eq!(stdout_of(&output), "이\n");
    let expected = json!([
        { "role": "user", "content": "둘?" },
        { "role": "assistant", "content": "이" },
    ]);
    assert_eq!(saved_messages(&fixture), [expected]);
}

fn events(output: &std::process::Output) -> Vec<Value> {
    stdout_of(output)
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .expect("JSON")
}

fn events_after_the_end(output: &std::process::Output) -> Vec<Value> {
    let mut events = events(output);
    let end = events.iter().position(|event| event["type"] == "ended");
    events.split_off(end.expect("the turn ended") + 1)
}

#[test]
fn json_events_name_the_file_of_the_saved_conversation() {
    let fixture = ask_fixture();
    fixture
        .queue_reply(ollama_text(&["일"]))
        .queue_reply(ollama_text(&["이"]));
    let output = fixture.run(&["ask", "--json", "--save", "하나?"]);
    let path = session_files(&fixture).remove(0);
    let name = path.file_name().expect("a name").to_string_lossy();
    let saved = json!({ "type": "session_saved", "session": name });
    assert_eq!(events_after_the_end(&output), [saved]);
    assert_eq!(output.status.code(), Some(0));
    let output = fixture.run(&["ask", "--json", "둘?"]);
    assert_eq!(events_after_the_end(&output), Vec::<Value>::new());
}

#[test]
fn json_events_explain_why_a_conversation_was_not_saved() {
    let fixture = ask_fixture();
    fixture.write("sessions", "a file in the way");
    fixture.queue_reply(ollama_text(&["일"]));
    let output = fixture.run(&["ask", "--json", "--save", "하나?"]);
    assert_eq!(output.status.code(), Some(1));
    let events = events_after_the_end(&output);
    let notice = events
        .iter()
        .find(|event| event["type"] == "noticed")
        .map(|event| event["notice"].clone());
    let notice = notice.unwrap_or_else(|| panic!("{events:#?}"));
    assert_eq!(notice["severity"], "failure");
    assert_eq!(notice["what"], "The last conversation could not be saved.");
    let why = notice["why"].as_str().unwrap_or_default();
    assert!(
        why.contains("a file with this name already exists"),
        "{notice}"
    );
    let other_types: Vec<_> = events
        .iter()
        .map(|event| event["type"].as_str())
        .filter(|name| *name != Some("noticed"))
        .collect();
    assert!(
        other_types
            .iter()
            .all(|name| *name == Some("banners_changed")),
        "{events:#?}"
    );
}

#[test]
fn without_a_writable_home_the_copy_of_the_conversation_is_named() {
    let fixture = ask_fixture();
    for folder in ["sessions", "journal"] {
        fixture.write(folder, "a file in the way");
    }
    fixture.queue_reply(ollama_text(&["일"]));
    let copies = TempDir::new().expect("a temporary folder");
    let output = fixture
        .command(&["ask", "--save", "하나?"])
        .env("TMPDIR", copies.path())
        .output()
        .expect("the program runs");
    let errors = stderr_of(&output);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let copy = fs::read_dir(copies.path()).expect("readable").next();
    let copy = copy.expect("a copy").expect("readable").path();
    assert!(errors.contains(&*copy.to_string_lossy()), "{errors}");
    let text = fs::read_to_string(&copy).expect("readable");
    assert!(text.contains("하나?") && text.contains("일"), "{text}");
}

#[test]
fn the_continue_option_appends_to_the_latest_conversation() {
    let fixture = ask_fixture();
    for answer in ["one", "two", "three"] {
        fixture.queue_reply(ollama_text(&[answer]));
    }
    fixture.run(&["ask", "--save", "first?"]);
    let before = session_files(&fixture);
    let output = fixture.run(&["ask", "--continue", "second?"]);
    assert_eq!(
        (stdout_of(&output), output.status.code()),
        ("two\n".to_owned(), Some(0))
    );
    assert_eq!(session_files(&fixture), before, "no new file");
    let user = |text: &str| json!({ "role": "user", "content": text });
    let assistant = |text: &str| json!({ "role": "assistant", "content": text });
    let expected = [user("first?"), assistant("one"), user("second?")];
    assert_eq!(sent_messages(&fixture, 1), expected);
    let mut messages = expected.to_vec();
    messages.push(assistant("two"));
    assert_eq!(saved_messages(&fixture), [json!(messages)]);
}

#[test]
fn the_continue_option_without_a_conversation_starts_a_new_one() {
    let fixture = ask_fixture();
    fixture.queue_reply(ollama_text(&["yes"]));
    let output = fixture.run(&["ask", "-c", "there?"]);
    assert_eq!(
        (stdout_of(&output), output.status.code()),
        ("yes\n".to_owned(), Some(0))
    );
    assert_eq!(
        stderr_of(&output),
        "There is no conversation to continue. A new one was started.\nWaiting for response...\n"
    );
    let expected = json!([
        { "role": "user", "content": "there?" },
        { "role": "assistant", "content": "yes" },
    ]);
    assert_eq!(saved_messages(&fixture), [expected]);
}

#[test]
fn chat_options_before_the_ask_command_are_rejected() {
    let fixture = ask_fixture();
    for arguments in [
        &["--continue", "ask", "x"][..],
        &["--session", "y", "ask", "x"],
    ] {
        let output = fixture.run(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            stderr_of(&output),
            "--continue and --session open the chat: `humble --continue`, without a command.\n\
             To ask one question in the latest conversation: humble ask --continue \"…\"\n"
        );
    }
    let output = fixture.run(&["ask", "--save", "--continue", "x"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fixture.server.bodies(CHAT), Vec::<Value>::new());
}

#[test]
fn a_persona_replaces_the_system_prompt_and_limits_the_tools() {
    let fixture = ask_fixture();
    let folder = fixture.home.path().join("personas");
    std::fs::create_dir_all(&folder).expect("created");
    fixture.write("system_prompt.txt", "You are usual.");
    fixture.write(
        "personas/pirate.md",
        "---\ntools: no/such\n---\nYou are a pirate.",
    );
    fixture.queue_reply(ollama_text(&["Arr"]));
    let output = fixture.run(&["ask", "--persona", "pirate", "Who?"]);
    assert_eq!(
        (stdout_of(&output), output.status.code()),
        ("Arr\n".to_owned(), Some(0))
    );
    let messages = &fixture.server.bodies(CHAT)[0]["messages"];
    let system =
        "You are a pirate.\n\nFUNCTIONS:\n\n# Connected MCP Servers\n\n**NO TOOL CONNECTED**\n";
    let expected = json!([
        { "role": "system", "content": system },
        { "role": "user", "content": "Who?" },
    ]);
    assert_eq!(*messages, expected);
}

#[test]
fn an_unknown_persona_sends_nothing_to_the_model() {
    let fixture = ask_fixture();
    let output = fixture.run(&["ask", "--persona", "wether", "Rain?"]);
    assert_eq!(
        (stdout_of(&output), output.status.code()),
        (String::new(), Some(2))
    );
    assert_eq!(
        stderr_of(&output),
        "There is no persona `wether`. Did you mean `weather`?\n"
    );
    assert_eq!(fixture.server.bodies(CHAT), Vec::<Value>::new());
}

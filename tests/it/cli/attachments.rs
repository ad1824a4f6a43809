//! `humble ask --attach`.

use super::*;
use crate::support::attachment_files::{PNG_BASE64, png};

#[test]
fn attached_files_are_sent_with_the_prompt() {
    let fixture = ask_fixture();
    let vision_reply = Reply::json(200, &json!({ "capabilities": ["completion", "vision"] }));
    fixture.server.always_reply("/api/show", vision_reply);
    fixture.queue_reply(ollama_text(&["A dot."]));
    std::fs::write(fixture.home.path().join("a.png"), png()).expect("written");
    fixture.write("n.txt", "one\n");
    let image = fixture.home.path().join("a.png").display().to_string();
    let text = fixture.home.path().join("n.txt").display().to_string();
    let output = fixture.run(&["ask", "--attach", &image, "--attach", &text, "What is it?"]);
    assert_eq!(stdout_of(&output), "A dot.\n", "{}", stderr_of(&output));
    let requests = fixture.server.bodies(CHAT);
    let message = requests[0]["messages"].as_array().expect("messages");
    let message = message.last().expect("a prompt");
    assert_eq!(message["images"], json!([PNG_BASE64]));
    let content = message["content"].as_str().expect("text");
    assert!(
        content.starts_with("What is it?\n\n[Start of attached file "),
        "{content}"
    );
    assert!(
        content.contains("\none\n[End of attached file "),
        "{content}"
    );
}

#[test]
fn a_file_that_cannot_be_attached_is_a_usage_error() {
    let fixture = ask_fixture();
    let output = fixture.run(&["ask", "--attach", "/no/such/file", "What is it?"]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = stderr_of(&output);
    assert!(
        stderr.contains("There is no file /no/such/file."),
        "{stderr}"
    );
    assert!(fixture.server.bodies(CHAT).is_empty());
    let too_many = ["--attach", "x"].repeat(11);
    let output = fixture.run(&[&["ask"], &too_many[..], &["q"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_of(&output).contains("At most 10 files"));
}

#[test]
fn json_events_show_attachments_without_their_contents() {
    let fixture = ask_fixture();
    fixture.queue_reply(ollama_text(&["ok"]));
    fixture.write(".env", "KEY=hunter2\n");
    let path = fixture.home.path().join(".env").display().to_string();
    let output = fixture.run(&["ask", "--json", "--attach", &path, "Read."]);
    let stdout = stdout_of(&output);
    let events = stdout.lines().map(serde_json::from_str::<Value>);
    let started = events
        .map(|event| event.expect("JSON"))
        .find(|event| event["type"] == "started")
        .expect("a turn");
    let attachment = &started["prompt"]["attachments"][0];
    assert_eq!(attachment["kind"], "text");
    assert_eq!(attachment["bytes"], 12);
    assert!(!stdout.contains("hunter2"), "{stdout}");
    let stderr = stderr_of(&output);
    assert!(stderr.contains(".env may hold secrets"), "{stderr}");
}

//! Note agents in `humble ask`.

use super::*;

fn create_vault(fixture: &AskFixture, notes: &[(&str, &str)]) -> std::path::PathBuf {
    let vault = fixture.home.path().join("vault");
    std::fs::create_dir(&vault).expect("created");
    for (name, text) in notes {
        std::fs::write(vault.join(name), text).expect("written");
    }
    let path = fixture.home.path().join("config.json");
    let config = std::fs::read_to_string(path).expect("a file");
    let mut config: Value = serde_json::from_str(&config).expect("JSON");
    config["notes"] = json!({ "vault": vault });
    fixture.write("config.json", &config.to_string());
    vault
}

#[test]
fn a_note_is_created_and_its_path_goes_to_standard_error() {
    let fixture = ask_fixture();
    let vault = create_vault(&fixture, &[]);
    fixture.queue_reply(ollama_text(&["# 홍차\n\n", "따뜻하다."]));
    let output = fixture.run(&["ask", "홍차에 대한 노트 써줄 수 있어?"]);
    let path = std::fs::canonicalize(vault)
        .expect("a path")
        .join("홍차.md");
    let text = std::fs::read_to_string(&path).expect("a note");
    assert_eq!(text, "# 홍차\n\n따뜻하다.\n");
    assert_eq!(stdout_of(&output), "# 홍차\n\n따뜻하다.\n");
    let stderr = stderr_of(&output);
    let created = format!("note created  {}", path.display());
    assert!(stderr.contains(&created), "{stderr}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn found_notes_are_printed_without_a_request_to_the_model() {
    let fixture = ask_fixture();
    create_vault(&fixture, &[("tea.md", "# Tea\nGreen tea.")]);
    let output = fixture.run(&["ask", "Search my notes for tea?"]);
    let stdout = stdout_of(&output);
    assert!(stdout.starts_with("1 note matches \"tea\":"), "{stdout}");
    let stderr = stderr_of(&output);
    assert!(stderr.contains("1 note found"), "{stderr}");
    assert_eq!(fixture.server.bodies(CHAT).len(), 0);
}

#[test]
fn found_notes_are_printed_without_any_model() {
    let fixture = ask_fixture();
    let vault = create_vault(&fixture, &[("tea.md", "# Tea\nGreen tea.")]);
    let config = json!({ "notes": { "vault": vault } });
    fixture.write("config.json", &config.to_string());
    let output = fixture.run(&["ask", "find notes about tea"]);
    let stdout = stdout_of(&output);
    assert!(stdout.starts_with("1 note matches \"tea\":"), "{stdout}");
    assert_eq!(output.status.code(), Some(0));
    let output = fixture.run(&["ask", "make a note about tea"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_unusable_notes_folder_is_reported_at_the_start() {
    let fixture = ask_fixture();
    let vault = create_vault(&fixture, &[]);
    std::fs::remove_dir(&vault).expect("removed");
    fixture.queue_reply(ollama_text(&["Hi."]));
    let stderr = stderr_of(&fixture.run(&["ask", "hi"]));
    let missing = format!(
        "The notes folder {} cannot be used: the folder does not exist.",
        vault.display()
    );
    assert!(stderr.contains(&missing), "{stderr}");
    std::fs::write(&vault, "a file").expect("written");
    fixture.queue_reply(ollama_text(&["Hi."]));
    let stderr = stderr_of(&fixture.run(&["ask", "hi"]));
    assert!(stderr.contains("it is not a folder."), "{stderr}");
}

#[test]
fn a_prompt_read_with_a_dash_may_be_a_request_but_other_piped_input_never_is() {
    let fixture = ask_fixture();
    create_vault(&fixture, &[("tea.md", "# Tea\nGreen tea.")]);
    let output = fixture.run_with_pipe(&["ask", "-"], "find notes about tea\n");
    assert!(stdout_of(&output).starts_with("1 note matches \"tea\":"));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(fixture.server.bodies(CHAT).len(), 0);

    fixture.queue_reply(ollama_text(&["A list."]));
    let output = fixture.run_with_pipe(&["ask", "find notes about tea"], "milk, eggs\n");
    assert_eq!(stdout_of(&output), "A list.\n");
    let stderr = stderr_of(&output);
    let why = "The notes were not used: the prompt has piped input or files.";
    assert!(stderr.contains(why), "{stderr}");
    assert_eq!(output.status.code(), Some(0));

    fixture.queue_reply(ollama_text(&["A summary."]));
    let output = fixture.run_with_pipe(&["ask", "summarize"], "find notes about tea\n");
    assert_eq!(stdout_of(&output), "A summary.\n");
    assert!(!stderr_of(&output).contains("notes were not used"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_byte_order_mark_before_a_piped_or_typed_request_is_ignored() {
    let fixture = ask_fixture();
    create_vault(&fixture, &[("tea.md", "# Tea\nGreen tea.")]);
    let piped = fixture.run_with_pipe(&["ask", "-"], "\u{feff}find notes about tea\r\n");
    let typed = fixture.run(&["ask", "\u{feff}find notes about tea"]);
    for output in [piped, typed] {
        assert!(stdout_of(&output).starts_with("1 note matches \"tea\":"));
        assert_eq!(output.status.code(), Some(0));
    }
    assert_eq!(fixture.server.bodies(CHAT).len(), 0);
}

/// Runs `humble ask` with these arguments while the model answers `Hm.`. Asserts that the status is 1
/// and that standard error contains `why`.
fn assert_fails(fixture: &AskFixture, arguments: &[&str], why: &str) {
    fixture.queue_reply(ollama_text(&["Hm."]));
    let output = fixture.run(&[&["ask"], arguments].concat());
    let stderr = stderr_of(&output);
    assert!(stderr.contains(why), "{stderr}");
    assert_eq!(stdout_of(&output), "Hm.\n");
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
}

#[test]
fn a_notes_request_that_cannot_be_carried_out_fails_with_a_reason() {
    let fixture = ask_fixture();
    let vault = create_vault(&fixture, &[("tea.md", "# Tea\nGreen tea.")]);
    assert_fails(&fixture, &["find notes about dragons"], "No note matches");
    assert_fails(
        &fixture,
        &["summarize my notes about dragons"],
        "mentions \"dragons\".",
    );
    assert_fails(&fixture, &["summarize this note"], "No note is open.");
    std::fs::create_dir(vault.join("plan.md")).expect("created");
    let folder = "The note plan.md cannot be read: it is a folder";
    assert_fails(&fixture, &["summarize plan.md"], folder);
    std::fs::remove_dir_all(&vault).expect("removed");
    let missing = "the folder does not exist.";
    assert_fails(&fixture, &["find notes about tea"], missing);
    assert_fails(&fixture, &["make a note about tea"], missing);
    assert_fails(&fixture, &["summarize my notes on tea"], missing);
    // With `/chat`, the prompt is sent without using the notes.
    fixture.queue_reply(ollama_text(&["Hm."]));
    let output = fixture.run(&["ask", "/chat find notes about tea"]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn if_an_answer_cannot_be_saved_as_a_note_it_is_printed_and_the_status_is_1() {
    let fixture = ask_fixture();
    let vault = create_vault(&fixture, &[]);
    let truncated = ollama_done(20, 10).replace("\"stop\"", "\"length\"");
    let text = json!({ "role": "assistant", "content": "# Tea" });
    let reply = Reply::status(200).header("content-type", "application/x-ndjson");
    fixture.queue_reply(reply.chunk(ollama_line(&text)).chunk(truncated));
    let output = fixture.run(&["ask", "make a note about tea"]);
    let stderr = stderr_of(&output);
    assert!(stderr.contains("was not saved."), "{stderr}");
    assert_eq!(stdout_of(&output), "# Tea\n");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(std::fs::read_dir(vault).expect("a folder").count(), 0);
}

#[test]
fn a_failed_notes_request_is_reported_as_a_json_event() {
    let fixture = ask_fixture();
    create_vault(&fixture, &[("milk.md", "# Milk")]);
    fixture.queue_reply(ollama_text(&["Hm."]));
    let output = fixture.run(&["ask", "--json", "find notes about tea"]);
    let events = stdout_of(&output);
    let mut events = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let failed = events.find(|event| event["type"] == "agent_failed");
    let failed = failed.expect("an event");
    assert_eq!(failed["what"], "No note matches \"tea\".");
    assert_eq!(output.status.code(), Some(1));
}

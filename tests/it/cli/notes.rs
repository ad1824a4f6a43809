//! Note agents in `humble ask`.

use super::*;

/// A vault in the home of the fixture, with these notes.
fn with_vault(fixture: &AskFixture, notes: &[(&str, &str)]) -> std::path::PathBuf {
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
    let vault = with_vault(&fixture, &[]);
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
fn found_notes_are_printed_without_a_request() {
    let fixture = ask_fixture();
    with_vault(&fixture, &[("tea.md", "# Tea\nGreen tea.")]);
    let output = fixture.run(&["ask", "please search for tea in my notes"]);
    let stdout = stdout_of(&output);
    assert!(stdout.starts_with("1 note matches \"tea\":"), "{stdout}");
    let stderr = stderr_of(&output);
    assert!(stderr.contains("1 note found"), "{stderr}");
    assert_eq!(fixture.server.bodies(CHAT).len(), 0);
}

#[test]
fn a_missing_notes_folder_is_reported_at_the_start() {
    let fixture = ask_fixture();
    let vault = with_vault(&fixture, &[]);
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

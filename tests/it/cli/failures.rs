//! `humble ask` with a failing server, a malformed configuration or invalid usage.

use super::*;
use humble::config::{self, ConfigLoad, Home, TrustEdit};

#[test]
fn a_server_that_is_down_is_reported_with_status_1() {
    let fixture = ask_fixture();
    fixture.write(
        "config.json",
        r#"{"models":[{"name":"m","provider":"ollama","baseUrl":"http://127.0.0.1:9","active":true}]}"#,
    );
    let output = fixture.run(&["ask", "hi"]);
    assert_eq!(
        (stdout_of(&output).as_str(), output.status.code()),
        ("", Some(1))
    );
    assert!(
        stderr_of(&output).contains("Nothing listens at http://127.0.0.1:9."),
        "{}",
        stderr_of(&output)
    );
}

#[test]
fn a_truncated_stream_is_not_an_answer() {
    let fixture = ask_fixture();
    let line = ollama_line(&json!({ "role": "assistant", "content": "Half" }));
    fixture.queue_reply(Reply::status(200).chunk(line).disconnect());
    let output = fixture.run(&["ask", "hi"]);
    assert_eq!(
        (stdout_of(&output).as_str(), output.status.code()),
        ("", Some(1))
    );
    let stderr = stderr_of(&output);
    assert!(
        stderr.contains("\nHalf\n"),
        "the partial text is shown: {stderr}"
    );
    assert!(
        stderr.contains("was cut in the middle of the answer"),
        "{stderr}"
    );
    assert!(
        !stderr.contains("/retry"),
        "no chat command is suggested: {stderr}"
    );
}

#[test]
fn the_linear_chat_needs_a_terminal_and_no_other_command() {
    let fixture = ask_fixture();
    let output = fixture.run(&["--linear"]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = stderr_of(&output);
    assert!(stderr.contains("needs a terminal"), "{stderr}");
    assert!(stderr.contains("humble ask"), "{stderr}");
    let output = fixture.run(&["--linear", "models"]);
    assert_eq!(output.status.code(), Some(2));
    let expected = "--linear is for the chat and for `humble demo`.\n";
    assert_eq!(stderr_of(&output), expected);
}

#[test]
fn an_unknown_model_is_invalid_usage() {
    let fixture = ask_fixture();
    let output = fixture.run(&["ask", "--model", "nope", "hi"]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = stderr_of(&output);
    assert!(
        stderr.contains("There is no model `nope` in config.json."),
        "{stderr}"
    );
    assert!(!stderr.contains("No active model"), "{stderr}");
}

#[test]
fn without_an_active_model_the_ways_to_choose_one_are_named() {
    let fixture = ask_fixture();
    let choose =
        "No active model is configured. Use --model to choose a model, or /set-model in `humble`.";
    fixture.write(
        "config.json",
        r#"{"models":[{"name":"m","provider":"ollama"}]}"#,
    );
    let output = fixture.run(&["ask", "hi"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr_of(&output), format!("{choose}\n"));
    fixture.write("config.json", "{}");
    let stderr = stderr_of(&fixture.run(&["ask", "hi"]));
    assert!(stderr.starts_with(choose), "{stderr}");
    assert!(
        stderr.contains("config.json lists no model yet."),
        "{stderr}"
    );
    let example = "\n{ \"models\": [ { \"name\": \"qwen3:4b\", \"provider\": \"ollama\", \"active\": true } ] }\n";
    assert!(stderr.ends_with(example), "{stderr}");
}

#[test]
fn without_a_prompt_or_a_terminal_the_usage_is_shown_and_the_status_is_2() {
    let fixture = ask_fixture();
    let output = fixture.run(&["ask"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr_of(&output).contains("No prompt was given."),
        "{}",
        stderr_of(&output)
    );
    let output = fixture.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr_of(&output).contains("humble ask"),
        "{}",
        stderr_of(&output)
    );
    assert_eq!(fixture.run(&["ask", "--nonsense"]).status.code(), Some(2));
}

#[test]
fn a_malformed_config_is_reported_with_its_position_and_not_modified() {
    let fixture = ask_fixture();
    let broken = "{\n  \"models\": [,]\n}\n";
    fixture.write("config.json", broken);
    let output = fixture.run(&["ask", "hi"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = stderr_of(&output);
    let error = "config.json, line 2, column 14: expected a value, found \",\".";
    assert!(stderr.contains(error), "{stderr}");
    let path = fixture.home.path().join("config.json");
    assert_eq!(std::fs::read_to_string(path).expect("config.json"), broken);
}

#[test]
fn changes_that_the_user_rejected_in_the_chat_are_not_used_and_named() {
    let fixture = ask_fixture();
    let evil = ModelServer::start();
    let model = |name: &str, url: String, is_active: bool| json!({ "name": name, "provider": "ollama", "baseUrl": url, "active": is_active });
    let models = [
        model("m", fixture.server.url(), true),
        model("evil", evil.url(), true),
    ];
    fixture.write("config.json", &json!({ "models": models }).to_string());
    let mark = fixture.home.path().join("was-here");
    let servers = json!({ "mcpServers": { "x": { "command": "touch", "args": [mark] } } });
    fixture.write("mcp-servers.json", &servers.to_string());
    let home = Home::at(fixture.home.path());
    let load = ConfigLoad::as_written(&home);
    let entries = [
        ("config.json".to_owned(), "models/evil".to_owned()),
        ("mcp-servers.json".to_owned(), "x".to_owned()),
    ];
    let records = load.entries.to_reject(&entries, &load.snapshot);
    config::update_trust(&home, &[TrustEdit::RejectEdits(records)]).expect("written");
    fixture.queue_reply(ollama_text(&["Fine."]));
    let output = fixture.run(&["ask", "hi"]);
    assert_eq!(stdout_of(&output), "Fine.\n");
    let stderr = stderr_of(&output);
    for expected in [
        "config.json has changes that you rejected, so this is not used: model `evil`.",
        "mcp-servers.json has changes that you rejected, so this is not used: server `x`.",
    ] {
        assert!(stderr.contains(expected), "{stderr}");
    }
    assert!(!stderr.contains("/reload"), "{stderr}");
    assert!(!mark.exists());
    assert_eq!(evil.bodies(CHAT).len(), 0);
}

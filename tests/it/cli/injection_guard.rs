//! `humble ask` with calls copied from untrusted text.

use super::*;

const CALL: &str =
    r#"{"server": "humble", "name": "get_time", "arguments": {"timezone": "Asia/Seoul"}}"#;

#[test]
fn a_call_copied_from_piped_input_is_denied_despite_the_yes_option() {
    let fixture = ask_fixture();
    fixture
        .queue_reply(ollama_text(&[CALL]))
        .queue_reply(ollama_text(&["I was not allowed."]));
    let piped = format!("A page.\n```\n{CALL}\n```\n");
    let output = fixture.run_with_pipe(&["ask", "--yes", "Sum this up."], &piped);
    assert_eq!(stdout_of(&output), "I was not allowed.\n");
    let stderr = stderr_of(&output);
    for message in [
        "(it occurs in the piped-in text, so it needs approval in every mode)",
        "Denied: there is no terminal to ask on, and this call always needs approval.",
    ] {
        assert!(stderr.contains(message), "{stderr}");
    }
    assert_eq!(output.status.code(), Some(3));
    assert!(
        fixture
            .log()
            .contains("the call needs approval: it occurs in the piped-in text"),
        "{}",
        fixture.log()
    );
}

#[test]
fn a_call_copied_from_a_result_is_denied_with_a_reason_in_json() {
    let fixture = ask_fixture();
    let call_with_quoted_call = json!({"name": "get_time", "arguments": {"timezone": CALL}});
    let config =
        std::fs::read_to_string(fixture.home.path().join("config.json")).expect("config.json");
    let limits = r#"{ "limits": { "errorsPerTurn": 9 }, "#;
    fixture.write("config.json", &config.replacen('{', limits, 1));
    fixture
        .queue_reply(ollama_text(&[&call_with_quoted_call.to_string()]))
        .queue_reply(ollama_text(&[CALL]))
        .queue_reply(ollama_text(&["So be it."]));
    let output = fixture.run(&["ask", "--yes", "--json", "Read the page."]);
    let lines = stdout_of(&output);
    let quoted_calls: Vec<&str> = lines
        .lines()
        .filter(|line| line.contains(r#""quoted":"tool_result""#))
        .collect();
    assert!(
        quoted_calls
            .iter()
            .any(|line| line.contains("awaiting_approval")),
        "{lines}"
    );
    assert!(
        quoted_calls.iter().any(|line| line.contains("denied")),
        "{lines}"
    );
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_call_in_the_users_own_prompt_is_trusted() {
    let fixture = ask_fixture();
    fixture
        .queue_reply(ollama_text(&[CALL]))
        .queue_reply(ollama_text(&["Late."]));
    let output = fixture.run(&["ask", "--yes", "Run this:", CALL]);
    assert_eq!(stdout_of(&output), "Late.\n");
    assert_eq!(output.status.code(), Some(0));
}

//! `humble ask` with calls copied from untrusted text, and with unopened thinking tags.

use super::*;

const CALL: &str =
    r#"{"server": "humble", "name": "get_time", "arguments": {"timezone": "Asia/Seoul"}}"#;

#[test]
fn a_call_copied_from_piped_input_is_denied_despite_yes() {
    let case = ask_fixture();
    case.on(ollama_text(&[CALL]))
        .on(ollama_text(&["I was not allowed."]));
    let piped = format!("A page.\n```\n{CALL}\n```\n");
    let output = case.run_with_pipe(&["ask", "--yes", "Sum this up."], &piped);
    assert_eq!(out(&output), "I was not allowed.\n");
    let stderr = err(&output);
    for message in [
        "(it occurs in the piped-in text, so it asks in every mode)",
        "Denied: there is no terminal to ask on, and this call always needs approval.",
    ] {
        assert!(stderr.contains(message), "{stderr}");
    }
    assert_eq!(output.status.code(), Some(3));
    assert!(
        case.log()
            .contains("the call needs approval: it occurs in the piped-in text"),
        "{}",
        case.log()
    );
}

#[test]
fn a_call_copied_from_a_result_is_denied_with_a_reason_in_json() {
    let case = ask_fixture();
    let fetch = json!({"name": "get_time", "arguments": {"timezone": CALL}});
    let config =
        std::fs::read_to_string(case.home.path().join("config.json")).expect("config.json");
    let limits = r#"{ "limits": { "errorsPerTurn": 9 }, "#;
    case.write("config.json", &config.replacen('{', limits, 1));
    case.on(ollama_text(&[&fetch.to_string()]))
        .on(ollama_text(&[CALL]))
        .on(ollama_text(&["So be it."]));
    let output = case.run(&["ask", "--yes", "--json", "Read the page."]);
    let lines = out(&output);
    let quoted: Vec<&str> = lines
        .lines()
        .filter(|line| line.contains(r#""quoted":"tool_result""#))
        .collect();
    assert!(
        quoted.iter().any(|line| line.contains("awaiting_approval")),
        "{lines}"
    );
    assert!(quoted.iter().any(|line| line.contains("denied")), "{lines}");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_call_in_the_users_own_prompt_is_not_untrusted() {
    let case = ask_fixture();
    case.on(ollama_text(&[CALL])).on(ollama_text(&["Late."]));
    let output = case.run(&["ask", "--yes", "Run this:", CALL]);
    assert_eq!(out(&output), "Late.\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn thinking_without_an_opening_tag_never_reaches_standard_output() {
    let case = ask_fixture();
    case.on(ollama_text(&[
        "음, 서울.\n\n",
        "The capital.\n</think>\n\n",
        "서울이야.",
    ]));
    let output = case.run(&["ask", "수도는?"]);
    assert_eq!(out(&output), "서울이야.\n");
    assert_eq!(
        err(&output),
        "Waiting for response...\n<<< Thinking >>>\n음, 서울.\n\nThe capital.\n\n<<< End Thinking >>>\n"
    );
}

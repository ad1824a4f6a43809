//! Nothing that comes from outside reaches a terminal with characters that control it, hide text or
//! reorder it, in whatever form it is printed. A pipe gets JSON as it is.

use crate::fixture::{AttackFixture, text_result, tool};
use serde_json::{Value, json};

/// A control character of each kind, and invisible ones.
const HOSTILE: [char; 14] = [
    '\u{1b}',
    '\u{7}',
    '\r',
    '\u{8}',
    '\u{7f}',
    '\u{90}',
    '\u{9b}',
    '\u{9d}',
    '\u{202e}',
    '\u{2066}',
    '\u{200b}',
    '\u{2060}',
    '\u{e0041}',
    '\u{feff}',
];

fn hostile_text() -> String {
    let sequences = "\u{1b}]0;owned\u{7}\u{9b}2J\u{90}q\u{9c}\u{1b}[31mred";
    format!("safe 한글 {sequences} {}", String::from_iter(HOSTILE))
}

/// What a terminal gets from the program itself: its line ends, and the sequences that switch
/// keyboard modes for questions.
fn without_own_sequences(output: &str) -> String {
    output.replace("\r\n", "\n")
}

fn assert_harmless(command: &str, output: &str) {
    let output = without_own_sequences(output);
    for character in HOSTILE {
        let places = output.match_indices(character);
        let near: Vec<String> = places
            .map(|(at, _)| output[at..].chars().take(12).collect())
            .collect();
        assert!(
            near.is_empty(),
            "{command}: {character:?} in {near:?}\n{output:?}"
        );
    }
}

/// A server and a model that send hostile text in every place.
fn hostile_fixture() -> AttackFixture {
    let mut fixture = AttackFixture::new();
    let text = hostile_text();
    let mut odd = tool("odd", &text);
    odd["title"] = json!(text);
    odd["inputSchema"]["properties"][&text] = json!({ "type": "string", "description": text });
    let mut result = text_result(&text);
    result["structuredContent"] = json!({ text.clone(): [text] });
    let script = json!({
        "result": { "instructions": text, "serverInfo": { "name": text, "version": text } },
        "stderr": text,
        "log": text,
        "progress": text,
        "tools": [odd, tool("fails", "Fails."), tool(&text, "Has an odd name.")],
        "calls": { "odd": result, "fails": { "error": { "code": -1, "message": text } } },
    });
    fixture.add_server("hostile", &script, json!({ "description": text }));
    fixture
}

#[test]
fn a_terminal_gets_no_character_that_controls_it() {
    let fixture = hostile_fixture();
    let text = hostile_text();
    for is_json in [false, true] {
        fixture
            .reply_call(
                "hostile__odd",
                &json!({ &text: format!("zebra {}", String::from_iter(HOSTILE)) }),
            )
            .reply_call("hostile__fails", &json!({}))
            .reply_text(&text);
        let prompt = format!("Say {text}");
        let mut arguments = vec!["ask", "--yes", "--save", &prompt];
        arguments.extend(is_json.then_some("--json"));
        let output = fixture.run_on_terminal(&arguments);
        assert!(output.contains("safe 한글"), "{output}");
        assert_harmless("ask", &output);
    }
    assert_eq!(
        fixture.called_tools("hostile"),
        ["odd", "fails", "odd", "fails"]
    );
    for arguments in [
        &["sessions", "list"][..],
        &["sessions", "list", "--json"],
        &["sessions", "search", "safe"],
        &["sessions", "search", "safe", "--json"],
        &["mcp", "list"],
        &["mcp", "tools"],
        &["mcp", "tools", "--json"],
        &["mcp", "call", "hostile", "odd"],
        &["mcp", "call", "--json", "hostile", "odd"],
        &["mcp", "call", "hostile", "fails"],
        &["doctor"],
        &["doctor", "--json"],
    ] {
        let command = arguments.join(" ");
        let output = fixture.run_on_terminal(arguments);
        assert!(!output.trim().is_empty(), "{command}");
        assert_harmless(&command, &output);
    }
}

#[test]
fn a_pipe_gets_json_with_every_character() {
    let fixture = hostile_fixture();
    fixture.reply_text(&hostile_text());
    let output = fixture.ask(&["--json", "Say it."]);
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    let events = lines.lines().map(serde_json::from_str::<Value>);
    let events: Vec<Value> = events.collect::<Result<_, _>>().expect("lines of JSON");
    let all = Value::from(events).to_string();
    for character in HOSTILE.into_iter().filter(|c| *c > '\u{7f}') {
        assert!(all.contains(character), "{character:?} in {all}");
    }
}

//! End-to-end tests of tool calls written as text, one form of each family: a real model server
//! streams the call, and a real MCP server runs the tool. A grammar forces the model to write
//! exactly the given text.

use crate::servers::{from_npm, node};
use crate::{CommandOutput, ask, grammar_for, home_with_llama};
use serde_json::{Value, json};

/// Runs `humble ask` with a model that can only write `text` and with the server `everything`
/// connected. `dialect` is the value of `toolCalls`. Returns the events.
fn ask_model_limited_to(text: &str, dialect: &str) -> Vec<Value> {
    let mut options = grammar_for(text);
    options["max_tokens"] = json!(256);
    let home = home_with_llama(&options).with_server(
        "everything",
        &node(),
        &[&from_npm("everything"), "stdio"],
    );
    // Limit the turn to one round, because a model that can only write this call would repeat it
    // forever.
    home.edit_json("config.json", |config| {
        config["limits"] = json!({ "toolRounds": 1 });
        config["models"][0]["toolCalls"] = json!(dialect);
    });
    // The persona limits the tools, because a slow CPU takes seconds to process each definition.
    std::fs::create_dir(home.path().join("personas")).expect("the home is writable");
    let persona = "---\ntools: everything/get-sum, everything/echo\n---\nBe brief.\n";
    std::fs::write(home.path().join("personas/brief.md"), persona).expect("the home is writable");
    let CommandOutput { stdout, stderr, .. } = ask(
        &home,
        &["--json", "--persona", "brief", "--yes", "What is 17 + 25?"],
    );
    let events: Vec<Value> = stdout
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("{error}: {stdout}\n{stderr}"));
    assert!(!events.is_empty(), "{stderr}");
    events
}

fn text_of_kind(events: &[Value], kind: &str) -> String {
    let deltas = events
        .iter()
        .filter(|event| event["type"] == "delta" && event["kind"] == kind);
    deltas.filter_map(|event| event["text"].as_str()).collect()
}

/// The first finished call: its form, its arguments and its result.
fn first_finished_call(events: &[Value]) -> (String, Value, String) {
    let call = events
        .iter()
        .find(|event| event["type"] == "tool" && event["state"]["done"].is_object())
        .unwrap_or_else(|| panic!("no call finished: {events:#?}"));
    let result = call["state"]["done"]["text"].as_str();
    (
        call["origin"]["form"].as_str().unwrap_or("none").to_owned(),
        call["arguments"].clone(),
        result.unwrap_or_default().to_owned(),
    )
}

#[test]
#[ignore = "needs a llama.cpp server and the MCP server `everything`: .ci/run has both"]
fn one_form_per_family_calls_a_real_tool_and_is_hidden_from_the_answer() {
    let sum = json!({ "a": 17, "b": 25 });
    let result = "The sum of 17 and 25 is 42.";
    for (form, text) in [
        (
            "JSON",
            "```json\n{\"server\": \"everything\", \"name\": \"get-sum\", \"arguments\": {\"a\": 17, \"b\": 25}}\n```",
        ),
        (
            "Hermes",
            "<tool_call>\n{\"name\": \"get-sum\", \"arguments\": {\"a\": 17, \"b\": 25}}\n</tool_call>",
        ),
        (
            "function tag",
            "<function=get-sum>\n<parameter=a>\n17\n</parameter>\n<parameter=b>\n25\n</parameter>\n</function>",
        ),
        ("Mistral", "[TOOL_CALLS]get-sum[ARGS]{\"a\": 17, \"b\": 25}"),
        (
            "LFM2",
            "<|tool_call_start|>[get-sum(a=17, b=25)]<|tool_call_end|>",
        ),
    ] {
        let events = ask_model_limited_to(text, "prompt");
        assert_eq!(text_of_kind(&events, "text"), "", "{text}");
        let expected = (form.to_owned(), sum.clone(), result.to_owned());
        assert_eq!(first_finished_call(&events), expected, "{text}");
    }
}

#[test]
#[ignore = "needs a llama.cpp server and the MCP server `everything`: .ci/run has both"]
fn a_korean_call_and_the_thinking_before_it_arrive_intact() {
    let events = ask_model_limited_to(
        "<think>그대로 돌려주면 {\"name\": \"echo\"} 된다</think>메아리: {\"name\": \"echo\", \"arguments\": {\"message\": \"서울 {날씨}\"}}",
        "prompt",
    );
    // The text arrives once per request: with the first call, with its repetition, and with the
    // call written instead of the final answer.
    assert_eq!(text_of_kind(&events, "text"), "메아리: ".repeat(3));
    let thinking = "그대로 돌려주면 {\"name\": \"echo\"} 된다";
    assert!(text_of_kind(&events, "thinking").starts_with(thinking));
    let expected = (
        "JSON".to_owned(),
        json!({ "message": "서울 {날씨}" }),
        "Echo: 서울 {날씨}".to_owned(),
    );
    assert_eq!(first_finished_call(&events), expected);
}

#[test]
#[ignore = "needs a llama.cpp server and the MCP server `everything`: .ci/run has both"]
fn a_call_in_the_xml_dialect_is_parsed_and_its_values_are_unescaped() {
    let events = ask_model_limited_to(
        "<mcp-request>\n  <tool name=\"echo\" />\n  <param name=\"message\">a &lt; b &amp; 東京</param>\n</mcp-request>",
        "xml",
    );
    assert_eq!(text_of_kind(&events, "text"), "");
    let expected = (
        "mcp-request".to_owned(),
        json!({ "message": "a < b & 東京" }),
        "Echo: a < b & 東京".to_owned(),
    );
    assert_eq!(first_finished_call(&events), expected);
}

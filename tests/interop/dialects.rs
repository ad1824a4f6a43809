//! Calls that a real model server streams as text, a form of each family, and a tool of
//! a real MCP server: the whole program between them. A grammar makes the model write
//! the text word for word.

use crate::servers::{from_npm, node};
use crate::{CommandOutput, ask, llama, only};
use serde_json::{Value, json};

/// Asks a model that can only write `text`, with the server `everything` at hand;
/// `taught` is how it is told to call tools.
fn say(text: &str, taught: &str) -> Vec<Value> {
    let mut options = only(text);
    options["max_tokens"] = json!(256);
    let home =
        llama(&options).with_server("everything", &node(), &[&from_npm("everything"), "stdio"]);
    // A model that can say one thing alone would go on asking for the tool.
    home.edit_json("config.json", |config| {
        config["limits"] = json!({ "toolRounds": 1 });
        config["models"][0]["toolCalls"] = json!(taught);
    });
    // Few tools: a slow processor reads each of their definitions in seconds.
    std::fs::create_dir(home.path().join("personas")).expect("the home is ours");
    let persona = "---\ntools: everything/get-sum, everything/echo\n---\nBe brief.\n";
    std::fs::write(home.path().join("personas/brief.md"), persona).expect("the home is ours");
    let CommandOutput { out, err, .. } = ask(
        &home,
        &["--json", "--persona", "brief", "--yes", "What is 17 + 25?"],
    );
    let events: Result<Vec<Value>, _> = out.lines().map(serde_json::from_str).collect();
    let events = events.unwrap_or_else(|fault| panic!("{fault}: {out}\n{err}"));
    assert!(!events.is_empty(), "{err}");
    events
}

/// The text of all pieces of this kind.
fn shown(events: &[Value], kind: &str) -> String {
    let deltas = events
        .iter()
        .filter(|event| event["type"] == "delta" && event["kind"] == kind);
    deltas.filter_map(|event| event["text"].as_str()).collect()
}

/// The first call that ended: how it was read, with what it ran, what came of it.
fn called(events: &[Value]) -> (String, Value, String) {
    let done = events
        .iter()
        .find(|event| event["type"] == "tool" && event["state"]["done"].is_object());
    let done = done.unwrap_or_else(|| panic!("no call ended: {events:#?}"));
    let result = done["state"]["done"]["text"].as_str();
    (
        done["origin"]["form"].as_str().unwrap_or("none").to_owned(),
        done["arguments"].clone(),
        result.unwrap_or_default().to_owned(),
    )
}

#[test]
#[ignore = "needs a llama.cpp server and the MCP server `everything`: .ci/run has both"]
fn a_form_of_each_family_reaches_a_real_tool_and_shows_nothing_of_itself() {
    let sum = json!({ "a": 17, "b": 25 });
    let said = "The sum of 17 and 25 is 42.";
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
        let events = say(text, "prompt");
        assert_eq!(shown(&events, "text"), "", "{text}");
        let expected = (form.to_owned(), sum.clone(), said.to_owned());
        assert_eq!(called(&events), expected, "{text}");
    }
}

#[test]
#[ignore = "needs a llama.cpp server and the MCP server `everything`: .ci/run has both"]
fn korean_in_a_call_and_thinking_before_it_arrive_whole() {
    let events = say(
        "<think>그대로 돌려주면 {\"name\": \"echo\"} 된다</think>메아리: {\"name\": \"echo\", \"arguments\": {\"message\": \"서울 {날씨}\"}}",
        "prompt",
    );
    // Once in each round: the call, the call again, and the call instead of an answer.
    assert_eq!(shown(&events, "text"), "메아리: ".repeat(3));
    let thought = "그대로 돌려주면 {\"name\": \"echo\"} 된다";
    assert!(shown(&events, "thinking").starts_with(thought));
    let expected = (
        "JSON".to_owned(),
        json!({ "message": "서울 {날씨}" }),
        "Echo: 서울 {날씨}".to_owned(),
    );
    assert_eq!(called(&events), expected);
}

#[test]
#[ignore = "needs a llama.cpp server and the MCP server `everything`: .ci/run has both"]
fn the_form_that_xml_teaches_is_read_and_its_values_are_unescaped() {
    let events = say(
        "<mcp-request>\n  <tool name=\"echo\" />\n  <param name=\"message\">a &lt; b &amp; 東京</param>\n</mcp-request>",
        "xml",
    );
    assert_eq!(shown(&events, "text"), "");
    let expected = (
        "mcp-request".to_owned(),
        json!({ "message": "a < b & 東京" }),
        "Echo: a < b & 東京".to_owned(),
    );
    assert_eq!(called(&events), expected);
}

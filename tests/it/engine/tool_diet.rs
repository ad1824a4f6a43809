//! Quality of the tool diet, which offers a model only the tools likely to fit the prompt: 120 tools
//! of ten servers, and 40 prompts in English and Korean whose right tool is known. The figures are
//! in docs/performance.md.

use crate::support::fixtures;
use humble::domain::{Server, Toolset};
use humble::engine::tool_offer::{OfferRequest, ToolOffer};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

const FIXTURE: &str = include_str!("../../support/tool_diet.json");
const TOKENS_MAX: u64 = 8_192 * 15 / 100;
/// Tokens per 100 bytes of a definition, as the engine estimates them.
const TOKENS_PER_100_BYTES: usize = 32;

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn toolset(fixture: &Value) -> Arc<Toolset> {
    let server = |server: &Value| -> Server {
        let tools = list(&server["tools"]).iter().map(fixtures::tool_from);
        fixtures::server(text(&server["name"]), tools.collect())
    };
    let servers: Vec<Server> = list(&fixture["servers"]).iter().map(server).collect();
    Arc::new(Toolset::from_servers(&servers))
}

fn tokens(toolset: &Toolset) -> usize {
    let bytes: usize = toolset.tools().iter().map(|tool| tool.tool.bytes).sum();
    bytes * TOKENS_PER_100_BYTES / 100
}

/// Whether the toolset has the tool `right`, written as `server/tool`.
fn offers(toolset: &Toolset, right: &str) -> bool {
    let (server, tool) = right.split_once('/').expect("server/tool");
    toolset.get(&server.into(), tool).is_some()
}

#[test]
fn the_right_tool_is_offered_for_a_tenth_of_the_tokens() {
    let fixture: Value = serde_json::from_str(FIXTURE).expect("JSON");
    let all = toolset(&fixture);
    assert_eq!(all.tools().len(), 120);
    let prompts = list(&fixture["prompts"]);
    assert_eq!(prompts.len(), 40);
    let (mut offered_tokens, mut offered_at_once, mut found) = (0, 0, 0);
    let mut missed = Vec::new();
    for entry in prompts {
        let (prompt, right) = (text(&entry["prompt"]), text(&entry["tool"]));
        let mut offer = ToolOffer::default();
        let request = OfferRequest {
            prompt,
            tokens_max: Some(TOKENS_MAX),
            always_offered: &BTreeSet::new(),
        };
        let first = offer.for_turn(&all, request);
        offered_tokens += tokens(&first);
        if offers(&first, right) {
            offered_at_once += 1;
            found += 1;
            continue;
        }
        let arguments = fixtures::object(json!({ "query": entry["keywords"] }));
        let (_, extended) = offer.find_tools(&all, &arguments);
        match offers(&extended, right) {
            true => found += 1,
            false => missed.push(prompt),
        }
    }
    let mean = offered_tokens / prompts.len();
    eprintln!(
        "{} tokens of {}, {offered_at_once} of 40 at once, {found} found",
        mean,
        tokens(&all)
    );
    assert!(
        mean * 10 <= tokens(&all) * 11 / 10,
        "{mean} of {}",
        tokens(&all)
    );
    assert!(offered_at_once >= 36, "{offered_at_once} of 40 at once");
    assert_eq!(missed, Vec::<&str>::new());
}

#[test]
fn the_offer_of_tools_only_grows_and_keeps_its_order() {
    let fixture: Value = serde_json::from_str(FIXTURE).expect("JSON");
    let all = toolset(&fixture);
    let mut offer = ToolOffer::default();
    let mut before: Vec<String> = Vec::new();
    for entry in list(&fixture["prompts"]) {
        let request = OfferRequest {
            prompt: text(&entry["prompt"]),
            tokens_max: Some(TOKENS_MAX),
            always_offered: &BTreeSet::new(),
        };
        let offered = offer.for_turn(&all, request);
        let tools = offered.tools().iter();
        let names: Vec<String> = tools.map(|tool| tool.native_name.clone()).collect();
        assert_eq!(names[..before.len()], before);
        assert_eq!(names[0], "humble__find_tools");
        before = names;
    }
    // Only the best match of a prompt may exceed the maximum.
    let tokens = tokens(&offer.current(&all)) as u64;
    assert!(tokens <= TOKENS_MAX + 200, "{tokens}");
}

#[test]
fn pinned_and_used_tools_are_offered_and_a_small_toolset_is_not_reduced() {
    let fixture: Value = serde_json::from_str(FIXTURE).expect("JSON");
    let all = toolset(&fixture);
    let pinned = BTreeSet::from([("weather".into(), "get_tides".to_owned())]);
    let request = |tokens_max| OfferRequest {
        prompt: "Hello!",
        tokens_max,
        always_offered: &pinned,
    };
    let mut offer = ToolOffer::default();
    let offered = offer.for_turn(&all, request(Some(TOKENS_MAX)));
    let names: Vec<&str> = offered
        .tools()
        .iter()
        .map(|tool| &*tool.native_name)
        .collect();
    assert_eq!(names, ["humble__find_tools", "weather__get_tides"]);
    assert!(offer.holds_back(&"files".into(), "read_file"));
    // The model calls a tool that it was not offered, by its name.
    let extended = offer.record_use(&all, &"files".into(), "read_file");
    assert!(offers(&extended.expect("a new offer"), "files/read_file"));
    assert!(
        offer
            .record_use(&all, &"files".into(), "read_file")
            .is_none()
    );
    assert!(!offer.holds_back(&"files".into(), "read_file"));
    // The next conversation offers it too, because it was used recently.
    offer.reset();
    let offered = offer.for_turn(&all, request(Some(TOKENS_MAX)));
    assert!(offers(&offered, "files/read_file"));
    let nothing = fixtures::object(json!({ "query": "xyzzy" }));
    let (answer, _) = offer.find_tools(&all, &nothing);
    assert!(
        answer.starts_with("No tool matches these words."),
        "{answer}"
    );
    // Without a maximum, all are offered, and `find_tools` is not.
    let mut offer = ToolOffer::default();
    let offered = offer.for_turn(&all, request(None));
    assert_eq!(offered.tools().len(), 120);
    assert!(!offers(&offered, "humble/find_tools"));
}

//! The built-in tools through their public interface, against scripted services on this machine.

use crate::support::model_server;
mod chat_models;
mod fetch_page;
mod weather;

use humble::app::built_in_tools;
use humble::config::{Home, Settings, read_settings_with};
use humble::provider::Provider;
use humble::serve::{BuiltInTools, ProgressReporter, ToolFailure};
use model_server::{ModelServer, Reply};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

fn settings(config: &Value) -> Settings {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let home = Home::at(folder.path());
    std::fs::write(home.config(), config.to_string()).expect("written");
    let loaded = read_settings_with(&home, &|_| None);
    assert_eq!(loaded.banners, []);
    loaded.value
}

fn tools_of(settings: &Settings) -> BuiltInTools {
    // Tests of notes have homes of their own.
    let home = Home::at("/nonexistent");
    built_in_tools(&home, settings.built_in_tools(), Provider::new())
}

fn tools_at(server: &ModelServer) -> BuiltInTools {
    let url = server.url();
    let port = url.trim_start_matches("http://");
    let config = json!({ "builtIn": {
        "geocodingUrl": format!("{url}/v1/search"),
        "forecastUrl": format!("{url}/v1/forecast"),
        "catFactUrl": format!("{url}/fact"),
        "fetchHosts": [port],
    }});
    tools_of(&settings(&config))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("not an object: {other}"),
    }
}

async fn call(tools: &BuiltInTools, name: &str, arguments: Value) -> Result<Value, ToolFailure> {
    let (progress, cancelled) = (ProgressReporter::ignored(), CancellationToken::new());
    let result = tools
        .call(name, &object(arguments), progress, cancelled)
        .await;
    if let Ok(content) = &result {
        assert_matches_output_schema(tools, name, content);
    }
    result
}

async fn failure(tools: &BuiltInTools, name: &str, arguments: Value) -> String {
    match call(tools, name, arguments).await {
        Err(ToolFailure::Failed(why)) => why,
        other => panic!("not a failure: {other:?}"),
    }
}

fn assert_matches_output_schema(tools: &BuiltInTools, name: &str, content: &Value) {
    let definition = tools
        .definitions()
        .into_iter()
        .find(|tool| tool.name == name);
    let schema = definition
        .and_then(|tool| tool.output_schema)
        .expect("an output schema");
    let schema = Value::Object((*schema).clone());
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let errors: Vec<String> = validator
        .iter_errors(content)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [""; 0], "{content}");
}

#[test]
fn definitions_come_in_a_fixed_order_with_annotations_and_schemas() {
    let tools = tools_of(&Settings::default());
    let definitions = tools.definitions();
    let names: Vec<&str> = definitions.iter().map(|tool| tool.name.as_ref()).collect();
    let expected = [
        "get_time",
        "get_weather",
        "ollama_chat",
        "say_hello",
        "get_cat_fact",
        "fetch_page",
        "create_note",
        "search_notes",
        "summarize_notes",
    ];
    assert_eq!(names, expected);
    for tool in &definitions {
        let annotations = tool.annotations.as_ref().expect("annotations");
        let is_local = tool.name.ends_with("_note") || tool.name.ends_with("_notes");
        let is_open = !is_local && !matches!(&*tool.name, "get_time" | "say_hello");
        let is_read_only = tool.name != "create_note";
        assert_eq!(
            annotations.read_only_hint,
            Some(is_read_only),
            "{}",
            tool.name
        );
        assert_eq!(annotations.destructive_hint, Some(false), "{}", tool.name);
        assert_eq!(annotations.open_world_hint, Some(is_open), "{}", tool.name);
        assert!(annotations.idempotent_hint.is_some(), "{}", tool.name);
        assert!(
            tool.title.is_some() && tool.description.is_some(),
            "{}",
            tool.name
        );
        assert!(tool.output_schema.is_some(), "{}", tool.name);
        assert_eq!(
            tool.input_schema["additionalProperties"], false,
            "{}",
            tool.name
        );
    }
    assert_eq!(definitions, tools.clone().definitions());
}

/// Stored permissions are bound to the whole definition.
#[test]
fn definitions_of_get_time_and_say_hello_have_not_changed() {
    use sha2::{Digest, Sha256};
    let tools = tools_of(&Settings::default());
    let hashes: Vec<String> = tools
        .definitions()
        .iter()
        .filter(|tool| matches!(&*tool.name, "get_time" | "say_hello"))
        .map(|tool| {
            let json = serde_json::to_string(tool).expect("JSON");
            let hash = Sha256::digest(json.as_bytes());
            hash.iter()
                .take(8)
                .map(|byte| format!("{byte:02x}"))
                .collect()
        })
        .collect();
    assert_eq!(hashes, ["b8d6ba225078f031", "088b6dcd9d667b45"]);
}

#[tokio::test]
async fn unknown_and_excluded_tools_are_distinguished_from_failures() {
    let tools = tools_of(&Settings::default());
    assert_eq!(
        call(&tools, "nothing", json!({})).await,
        Err(ToolFailure::UnknownTool)
    );
    let remaining = tools.clone().without(|name| name == "fetch_page");
    let arguments = json!({ "url": "http://127.0.0.1/" });
    assert_eq!(
        call(&remaining, "fetch_page", arguments.clone()).await,
        Err(ToolFailure::UnknownTool)
    );
    assert_eq!(remaining.definitions().len(), tools.definitions().len() - 1);
    assert!(
        failure(&tools, "fetch_page", arguments)
            .await
            .contains("loopback")
    );
}

#[tokio::test]
async fn every_tool_names_an_unknown_argument_in_its_error() {
    let tools = tools_of(&Settings::default());
    for tool in tools.definitions() {
        let why = failure(&tools, &tool.name, json!({ "bogus": 1 })).await;
        assert!(
            why.contains("There is no argument `bogus`"),
            "{}: {why}",
            tool.name
        );
    }
}

#[tokio::test]
async fn no_error_repeats_a_long_argument_whole() {
    let tools = tools_of(&Settings::default());
    let long = "x".repeat(100_000);
    for tool in tools.definitions() {
        let properties = tool.input_schema["properties"].as_object().unwrap().keys();
        for key in properties.map(String::as_str).chain([&*long]) {
            for value in [json!(long), json!([long])] {
                let why = match call(&tools, &tool.name, json!({ key: value })).await {
                    Err(ToolFailure::Failed(why)) => why,
                    other => panic!("{}: {other:?}", tool.name),
                };
                assert!(why.chars().count() < 1_000, "{}: {key:.20}", tool.name);
            }
        }
    }
}

#[tokio::test]
async fn changed_settings_take_effect_in_all_clones() {
    let (first, second) = (ModelServer::start(), ModelServer::start());
    second.always_reply(
        "/fact",
        Reply::json(200, &json!({ "fact": "Cats purr.", "length": 10 })),
    );
    let tools = tools_at(&first);
    let clone = tools.clone();
    let url = format!("{}/fact", second.url());
    tools.configure(settings(&json!({ "builtIn": { "catFactUrl": url } })).built_in_tools());
    let fact = call(&clone, "get_cat_fact", json!({})).await;
    assert_eq!(fact, Ok(json!({ "fact": "Cats purr." })));
    assert_eq!(first.requests().len(), 0);
}

#[tokio::test]
async fn cat_fact_service_may_fail_in_many_ways() {
    let server = ModelServer::start();
    let tools = tools_at(&server);
    let elsewhere = Reply::status(302).header("location", "http://other.example/fact");
    for (reply, expected) in [
        (Reply::json(200, &json!({})), "an answer without a fact"),
        (
            Reply::json(200, &json!({ "fact": " " })),
            "an answer without a fact",
        ),
        (
            Reply::status(200).chunk("<html>"),
            "something that is not JSON",
        ),
        (
            Reply::status(200).chunk("\"x".repeat(1 << 20)),
            "more than 1 MiB",
        ),
        (elsewhere, "a redirect to a different address"),
        (
            Reply::json(404, &json!({ "message": "gone\nfor good." })),
            "HTTP 404: gone for good.",
        ),
    ] {
        server.queue_reply("/fact", reply);
        let why = failure(&tools, "get_cat_fact", json!({})).await;
        assert!(why.contains(expected), "{expected}: {why}");
        assert!(why.contains("`builtIn.catFactUrl`"), "{why}");
    }
    assert_eq!(server.requests().len(), 6, "none of these is retried");
}

/// The definitions as clients see them. Users' grants and pins depend on every byte: after a
/// change, each user is asked again.
#[test]
fn the_tool_definitions_equal_the_stored_ones_byte_for_byte() {
    let tools = tools_of(&Settings::default());
    let found = serde_json::to_string(&json!({ "tools": tools.definitions() }));
    let expected = include_str!("definitions.json");
    assert_eq!(found.expect("JSON"), expected.trim_end());
}

#[test]
fn every_tool_is_known_to_the_settings() {
    let tools = tools_of(&Settings::default());
    let definitions = tools.definitions();
    let names: Vec<&str> = definitions.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, humble::domain::built_in::BUILT_IN_TOOLS);
}

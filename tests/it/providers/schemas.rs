//! The total size of the schemas in a request: `$ref`s are expanded within a limit, and an
//! oversized set of tools loses schemas with a notice.

use super::notice_text::notice_text;
use crate::providers::hosted_request_bodies;
use crate::providers::model_server::*;
use crate::providers::request_bodies::{request, toolset_of};
use crate::providers::requests::{collect_parts, ollama, openai};
use crate::support::fixtures::{model_config, tool_with};
use humble::domain::{Dialect, ModelConfig, ProviderKind, Tool, Toolset};
use humble::provider::parameter_fallback::ParameterFallback;
use humble::provider::{ChatRequest, Provider, StreamPart};
use serde_json::{Value, json};
use std::sync::Arc;

const MEGABYTE: usize = 1 << 20;

/// A schema that grows to about 250 kB when its references are expanded.
fn growing_schema() -> Value {
    let mut definitions = json!({ "a0": { "type": "string", "description": "x".repeat(200) } });
    for n in 1..8 {
        let next = json!({ "$ref": format!("#/$defs/a{}", n - 1) });
        definitions[format!("a{n}")] =
            json!({ "allOf": [next, next, next], "title": "one of a few" });
    }
    json!({
        "type": "object",
        "properties": { "x": { "$ref": "#/$defs/a6" } },
        "$defs": definitions,
    })
}

fn native_request(mut model: ModelConfig, tools: Vec<Tool>) -> ChatRequest {
    model.dialect = Dialect::Native;
    ChatRequest {
        tools: Arc::new(toolset_of(tools)),
        ..request(model)
    }
}

fn body(request: &ChatRequest) -> Value {
    hosted_request_bodies::body(request, ParameterFallback::default())
}

fn schemas(body: &Value) -> Vec<Value> {
    let tools = body["tools"].as_array().expect("tools");
    let schema = |tool: &Value| {
        let parameters = tool.pointer("/function/parameters");
        parameters.unwrap_or(&tool["input_schema"]).clone()
    };
    tools.iter().map(schema).collect()
}

#[test]
fn references_of_many_tools_are_expanded_within_the_size_limit() {
    let alone = schemas(&body(&native_request(
        model_config(ProviderKind::OpenAi, "http://x"),
        vec![tool_with("t", growing_schema())],
    )));
    assert_eq!(alone[0].get("$defs"), None, "single schema is expanded");
    assert!(alone[0].to_string().len() > 150_000);
    for provider in [
        ProviderKind::Ollama,
        ProviderKind::OpenAi,
        ProviderKind::Mistral,
        ProviderKind::Anthropic,
    ] {
        let tools = (0..200).map(|n| tool_with(&format!("t{n}"), growing_schema()));
        let request = native_request(model_config(provider, "http://x"), tools.collect());
        let body = body(&request);
        let bytes = body.to_string().len();
        assert!(bytes < 2 * MEGABYTE + 100_000, "{provider}: {bytes}");
        let schemas = schemas(&body);
        assert_eq!(schemas[0], alone[0], "first schema is expanded");
        let last = schemas.last().expect("200 schemas");
        assert_eq!(last["$defs"], growing_schema()["$defs"], "{provider}");
        assert_eq!(
            last["properties"],
            growing_schema()["properties"],
            "{provider}"
        );
    }
}

/// Tools whose schemas together exceed 2 MB unexpanded; the last one is small.
fn oversized_tools() -> Vec<Tool> {
    let schema = json!({
        "type": "object",
        "properties": { "x": { "description": "y".repeat(100_000) } },
    });
    let mut tools: Vec<_> = (0..30)
        .map(|n| tool_with(&format!("t{n}"), schema.clone()))
        .collect();
    tools.push(tool_with(
        "small",
        json!({ "type": "object", "properties": { "city": {} } }),
    ));
    tools
}

#[test]
fn schemas_beyond_two_megabytes_are_omitted_largest_first() {
    let request = native_request(
        model_config(ProviderKind::OpenAi, "http://x"),
        oversized_tools(),
    );
    let body = body(&request);
    assert!(body.to_string().len() < 2 * MEGABYTE + 100_000);
    let schemas = schemas(&body);
    let empty = json!({ "type": "object", "properties": {} });
    let omitted = schemas.iter().filter(|schema| **schema == empty).count();
    assert_eq!((schemas.len(), omitted), (31, 31 - 20 - 1));
    assert_eq!(schemas[30]["properties"], json!({ "city": {} }));
}

#[tokio::test]
async fn omitted_schemas_are_reported_once() {
    let server = ModelServer::start();
    server.always_reply("/v1/chat/completions", openai_text(&["hi"]));
    server.always_reply("/api/chat", ollama_text(&["hi"]));
    let provider = Provider::new();
    let request = native_request(openai(&server), oversized_tools());
    let notices = async |request: &ChatRequest| {
        let parts = collect_parts(provider.stream(request.clone()))
            .await
            .into_iter();
        let notices = parts.filter_map(|part| match part {
            Ok(StreamPart::Notice(notice)) => Some(notice_text(&notice)),
            _ => None,
        });
        notices.collect::<Vec<_>>()
    };
    let expected = "10 of 31 tools are sent to the model without their input schemas. All schemas \
        together exceed 2 MB. Switch off servers or tools that you do not need.";
    assert_eq!(notices(&request).await, [expected]);
    assert_eq!(notices(&request).await, [""; 0]);
    // Text dialects do not send schemas.
    let prompt = ChatRequest {
        model: Arc::new(ollama(&server)),
        tools: Arc::new(Toolset::clone(&request.tools)),
        ..request.clone()
    };
    assert_eq!(notices(&prompt).await, [""; 0]);
}

//! What is sent to the servers, compared whole.

use crate::support::fixtures::{self, model_config, object};
use humble::domain::model::ToolRole;
use humble::domain::{
    CallMessage, Dialect, Message, ModelConfig, Offered, ProviderKind, ResultMessage, ServerId,
    Think, Tool,
};
use humble::provider::parameter_fallback::{Adapted, Effort};
use humble::provider::{Request, mistral, ollama, openai, schema};
use serde_json::{Value, json};
use std::sync::Arc;

pub fn weather() -> Offered {
    let tool = fixtures::tool_from(&json!({
        "name": "get weather",
        "description": "Weather of a city.",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }));
    offered(vec![tool])
}

pub fn offered(tools: Vec<Tool>) -> Offered {
    Offered::from_servers([&fixtures::server("humble", tools)])
}

pub fn conversation() -> Vec<Message> {
    let call = CallMessage {
        wire_id: "call_7".into(),
        server: ServerId::new("humble"),
        tool: "get weather".into(),
        native_name: "humble__get_weather_1".into(),
        taught_name: "get weather".into(),
        arguments: object(json!({"city": "서울", "a": 1})),
    };
    let result = ResultMessage {
        wire_id: "call_7".into(),
        tool: "get weather".into(),
        native_name: "humble__get_weather_1".into(),
        content: "Result of get weather".into(),
        is_error: false,
    };
    vec![
        Message::System("be brief".into()),
        Message::User("hello".into()),
        Message::Assistant("hi".into()),
        Message::User("weather?".into()),
        Message::Calls {
            calls: vec![call.clone(), call],
            carry: None,
        },
        Message::Result(result),
    ]
}

pub fn request(model: ModelConfig) -> Request {
    Request {
        model: Arc::new(model),
        messages: conversation(),
        tools: Arc::new(weather()),
        num_ctx: 8192,
    }
}

pub const CALL_LINES: &str = concat!(
    r#"{"server":"humble","name":"get weather","arguments":{"city":"서울","a":1}}"#,
    "\n",
    r#"{"server":"humble","name":"get weather","arguments":{"city":"서울","a":1}}"#,
);

/// The same in the form of the `xml` dialect.
const CALL_BLOCKS: &str = "<mcp-request>
  <tool name=\"get weather\" />
  <param name=\"city\">서울</param>
  <param name=\"a\">1</param>
</mcp-request>
<mcp-request>
  <tool name=\"get weather\" />
  <param name=\"city\">서울</param>
  <param name=\"a\">1</param>
</mcp-request>";

fn spoken() -> Vec<Value> {
    vec![
        json!({"role": "system", "content": "be brief"}),
        json!({"role": "user", "content": "hello"}),
        json!({"role": "assistant", "content": "hi"}),
        json!({"role": "user", "content": "weather?"}),
    ]
}

fn spoken_and(more: impl IntoIterator<Item = Value>) -> Value {
    spoken().into_iter().chain(more).collect()
}

fn tools_field() -> Value {
    let name = weather().tools()[0].native_name.clone();
    json!([{
        "type": "function",
        "function": {
            "name": name,
            "description": "Weather of a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }])
}

#[test]
fn ollama_in_the_prompt_dialect_gets_no_tools_and_calls_as_text() {
    let mut model = model_config(ProviderKind::Ollama, "http://localhost:11434");
    model.think = Some(Think::Off);
    model.keep_alive = Some(json!("5m"));
    model.options = object(json!({"temperature": 1, "num_ctx": 2048, "top_k": 20}));
    let expected = json!({
        "model": "qwen3:4b",
        "messages": spoken_and([
            json!({"role": "assistant", "content": CALL_LINES}),
            json!({"role": "tool", "tool_name": "get weather", "content": "Result of get weather"}),
        ]),
        "stream": true,
        "options": {"temperature": 0.1, "num_ctx": 8192, "top_k": 20},
        "keep_alive": "5m",
        "think": false,
    });
    assert_eq!(ollama::body(&request(model), Adapted::default()), expected);
}

#[test]
fn ollama_in_the_native_dialect_gets_tools_and_calls_in_their_field() {
    let mut model = model_config(ProviderKind::Ollama, "http://localhost:11434");
    model.dialect = Dialect::Native;
    model.tool_role = Some(ToolRole::User);
    model.think = Some(Think::High);
    let call = json!({
        "id": "call_7",
        "function": {"name": "humble__get_weather_1", "arguments": {"city": "서울", "a": 1}},
    });
    let expected = json!({
        "model": "qwen3:4b",
        "messages": spoken_and([
            json!({"role": "assistant", "content": "", "tool_calls": [call, call]}),
            json!({"role": "tool", "tool_name": "humble__get_weather_1", "content": "Result of get weather"}),
        ]),
        "stream": true,
        "options": {"temperature": 0.1, "num_ctx": 8192},
        "think": "high",
        "tools": tools_field(),
    });
    assert_eq!(ollama::body(&request(model), Adapted::default()), expected);
}

#[test]
fn openai_in_the_native_dialect_gets_arguments_as_a_text_of_json() {
    let mut model = model_config(ProviderKind::OpenAi, "http://localhost:8080/v1");
    model.dialect = Dialect::Native;
    model.think = Some(Think::Medium);
    model.options = object(json!({
        "temperature": 1, "stream": false, "model": "other", "messages": [],
        "top_p": 0.9, "max_tokens": 100,
    }));
    let call = json!({
        "id": "call_7",
        "type": "function",
        "function": {"name": "humble__get_weather_1", "arguments": "{\"city\":\"서울\",\"a\":1}"},
    });
    let expected = json!({
        "model": "qwen3:4b",
        "messages": spoken_and([
            json!({"role": "assistant", "content": null, "tool_calls": [call, call]}),
            json!({"role": "tool", "tool_call_id": "call_7", "content": "Result of get weather"}),
        ]),
        "stream": true,
        "stream_options": {"include_usage": true},
        "temperature": 0.1,
        "reasoning_effort": "medium",
        "top_p": 0.9,
        "max_tokens": 100,
        "tools": tools_field(),
    });
    assert_eq!(openai::body(&request(model), Adapted::default()), expected);
}

#[test]
fn openai_in_a_text_dialect_gets_no_tools() {
    let mut model = model_config(ProviderKind::OpenAi, "http://localhost:8080/v1");
    model.dialect = Dialect::Xml;
    let result =
        json!({"role": "tool", "tool_call_id": "call_7", "content": "Result of get weather"});
    let expected = json!({
        "model": "qwen3:4b",
        "messages": spoken_and([json!({"role": "assistant", "content": CALL_BLOCKS}), result]),
        "stream": true,
        "stream_options": {"include_usage": true},
        "temperature": 0.1,
    });
    assert_eq!(openai::body(&request(model), Adapted::default()), expected);
}

#[test]
fn a_model_whose_template_knows_no_tools_gets_results_from_the_user() {
    let expected = json!({"role": "user", "content": "Result of get weather"});
    for (provider, body) in [
        (
            ProviderKind::Ollama,
            ollama::body as fn(&Request, Adapted) -> Value,
        ),
        (ProviderKind::OpenAi, openai::body),
        (ProviderKind::Mistral, mistral::body),
    ] {
        let mut model = model_config(provider, "http://localhost:8080/v1");
        model.tool_role = Some(ToolRole::User);
        let body = body(&request(model), Adapted::default());
        assert_eq!(body["messages"][5], expected, "{provider}");
    }
}

#[test]
fn refused_parameters_are_left_out_or_renamed() {
    let mut model = model_config(ProviderKind::OpenAi, "http://localhost:8080/v1");
    model.think = Some(Think::Low);
    model.options = object(json!({"max_tokens": 100}));
    let request = request(model);
    let adapted = Adapted {
        omits_temperature: true,
        renames_max_tokens: true,
        effort: Effort::Omitted,
        ..Adapted::default()
    };
    let body = openai::body(&request, adapted);
    assert_eq!(body.get("temperature"), None);
    assert_eq!(body.get("max_tokens"), None);
    assert_eq!(body.get("reasoning_effort"), None);
    assert_eq!(body["max_completion_tokens"], 100);
    let none = Adapted {
        effort: Effort::None,
        ..adapted
    };
    assert_eq!(openai::body(&request, none)["reasoning_effort"], "none");
    let options = &ollama::body(&request, adapted)["options"];
    assert_eq!(options, &json!({"num_ctx": 8192, "max_tokens": 100}));
}

#[test]
fn a_schema_is_made_acceptable() {
    let schema = |value| schema::acceptable(&object(value));
    let empty = json!({"type": "object", "properties": {}});
    assert_eq!(schema(json!({})), empty);
    assert_eq!(
        schema(json!({"type": "string", "anyOf": [], "$schema": "x"})),
        empty
    );
    let inlined = schema(json!({
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/city", "description": "where"},
            "b": {"$ref": "https://example.com/schema.json"},
            "$ref": {"type": "string"},
            "required": {"type": "boolean"},
            "definitions": {"properties": {"x": {}}, "required": ["y"]},
        },
        "required": ["a", "gone"],
        "$defs": {"city": {"type": "string"}},
    }));
    let expected = json!({
        "properties": {
            "a": {"type": "string", "description": "where"},
            "b": {},
            "$ref": {"type": "string"},
            "required": {"type": "boolean"},
            "definitions": {"properties": {"x": {}}, "required": []},
        },
        "required": ["a"],
        "type": "object",
    });
    assert_eq!(inlined, expected);
}

#[test]
fn a_schema_that_refers_to_itself_stays_small() {
    let doubled = json!({"type": "object", "properties": {"l": {"$ref": "#"}, "r": {"$ref": "#"}}});
    let text = schema::acceptable(&object(doubled)).to_string();
    assert!(text.len() < 2_000_000, "{} bytes", text.len());
    let wide: Vec<_> = (0..50).map(|_| json!({"$ref": "#/properties/x"})).collect();
    let wide = json!({"properties": {"x": {"anyOf": wide}}});
    let text = schema::acceptable(&object(wide)).to_string();
    assert!(text.len() < 2_000_000, "{} bytes", text.len());
}

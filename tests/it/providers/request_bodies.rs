//! Complete request bodies for Ollama and OpenAI, and rewritten schemas.

use crate::providers::hosted_request_bodies::body;
use crate::support::fixtures::{self, model_config, object};
use humble::domain::model::ToolRole;
use humble::domain::{
    Dialect, Message, ModelConfig, ProviderKind, ServerId, Think, Tool, ToolCallMessage,
    ToolResultMessage, Toolset,
};
use humble::provider::parameter_fallback::{EffortFallback, ParameterFallback};
use humble::provider::registry::adapter_for;
use humble::provider::{ChatRequest, schema};
use serde_json::{Value, json};
use std::sync::Arc;

pub fn weather_toolset() -> Toolset {
    let tool = fixtures::tool_from(&json!({
        "name": "get weather",
        "description": "Weather of a city.",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }));
    toolset_of(vec![tool])
}

pub fn toolset_of(tools: Vec<Tool>) -> Toolset {
    Toolset::from_servers([&fixtures::server("humble", tools)])
}

/// Two exchanges; the second contains two calls and the result of one.
pub fn conversation() -> Vec<Message> {
    let call = ToolCallMessage {
        wire_id: "call_7".into(),
        server: ServerId::new("humble"),
        tool: "get weather".into(),
        native_name: "humble__get_weather_1".into(),
        xml_name: "get weather".into(),
        arguments: object(json!({"city": "서울", "a": 1})),
    };
    let result = ToolResultMessage {
        wire_id: "call_7".into(),
        tool: "get weather".into(),
        native_name: "humble__get_weather_1".into(),
        content: "Result of get weather".into(),
        images: Vec::new(),
        is_error: false,
    };
    vec![
        Message::System("be brief".into()),
        Message::User("hello".into()),
        Message::Assistant("hi".into()),
        Message::User("weather?".into()),
        Message::ToolCalls {
            calls: vec![call.clone(), call],
            reasoning_echo: None,
        },
        Message::ToolResult(result),
    ]
}

/// The default request: [`conversation`] with [`weather_toolset`].
pub fn request(model: ModelConfig) -> ChatRequest {
    ChatRequest {
        model: Arc::new(model),
        messages: conversation(),
        tools: Arc::new(weather_toolset()),
        num_ctx: 8192,
        temperature: None,
    }
}

/// The calls of [`conversation`] in the form of the `prompt` dialect.
pub const CALL_LINES: &str = concat!(
    r#"{"server":"humble","name":"get weather","arguments":{"city":"서울","a":1}}"#,
    "\n",
    r#"{"server":"humble","name":"get weather","arguments":{"city":"서울","a":1}}"#,
);

/// The calls of [`CALL_LINES`] in the form of the `xml` dialect.
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

fn earlier_messages() -> Vec<Value> {
    vec![
        json!({"role": "system", "content": "be brief"}),
        json!({"role": "user", "content": "hello"}),
        json!({"role": "assistant", "content": "hi"}),
        json!({"role": "user", "content": "weather?"}),
    ]
}

fn earlier_messages_followed_by(messages: impl IntoIterator<Item = Value>) -> Value {
    earlier_messages().into_iter().chain(messages).collect()
}

fn tools_field() -> Value {
    let name = weather_toolset().tools()[0].native_name.clone();
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
fn ollama_in_the_prompt_dialect_receives_calls_as_text_and_no_tools() {
    let mut model = model_config(ProviderKind::Ollama, "http://localhost:11434");
    model.think = Some(Think::Off);
    model.keep_alive = Some(json!("5m"));
    model.options = object(json!({"temperature": 1, "num_ctx": 2048, "top_k": 20}));
    let expected = json!({
        "model": "qwen3:4b",
        "messages": earlier_messages_followed_by([
            json!({"role": "assistant", "content": CALL_LINES}),
            json!({"role": "tool", "tool_name": "get weather", "content": "Result of get weather"}),
        ]),
        "stream": true,
        "options": {"temperature": 0.1, "num_ctx": 8192, "top_k": 20},
        "keep_alive": "5m",
        "think": false,
    });
    assert_eq!(
        body(&request(model), ParameterFallback::default()),
        expected
    );
}

#[test]
fn ollama_in_the_native_dialect_receives_tools_and_calls_in_their_fields() {
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
        "messages": earlier_messages_followed_by([
            json!({"role": "assistant", "content": "", "tool_calls": [call, call]}),
            json!({"role": "tool", "tool_name": "humble__get_weather_1", "content": "Result of get weather"}),
        ]),
        "stream": true,
        "options": {"temperature": 0.1, "num_ctx": 8192},
        "think": "high",
        "tools": tools_field(),
    });
    assert_eq!(
        body(&request(model), ParameterFallback::default()),
        expected
    );
}

#[test]
fn openai_in_the_native_dialect_receives_arguments_as_a_json_string() {
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
        "messages": earlier_messages_followed_by([
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
    assert_eq!(
        body(&request(model), ParameterFallback::default()),
        expected
    );
}

#[test]
fn openai_in_a_text_dialect_receives_no_tools() {
    let mut model = model_config(ProviderKind::OpenAi, "http://localhost:8080/v1");
    model.dialect = Dialect::Xml;
    let result =
        json!({"role": "tool", "tool_call_id": "call_7", "content": "Result of get weather"});
    let expected = json!({
        "model": "qwen3:4b",
        "messages": earlier_messages_followed_by([json!({"role": "assistant", "content": CALL_BLOCKS}), result]),
        "stream": true,
        "stream_options": {"include_usage": true},
        "temperature": 0.1,
    });
    assert_eq!(
        body(&request(model), ParameterFallback::default()),
        expected
    );
}

#[test]
fn model_without_tool_template_receives_results_as_user_messages() {
    let expected = json!({"role": "user", "content": "Result of get weather"});
    for provider in [
        ProviderKind::Ollama,
        ProviderKind::OpenAi,
        ProviderKind::Mistral,
    ] {
        let mut model = model_config(provider, "http://localhost:8080/v1");
        model.tool_role = Some(ToolRole::User);
        let body = body(&request(model), ParameterFallback::default());
        assert_eq!(body["messages"][5], expected, "{provider}");
    }
}

#[test]
fn rejected_parameters_are_omitted_or_renamed() {
    let mut model = model_config(ProviderKind::OpenAi, "http://localhost:8080/v1");
    model.think = Some(Think::Low);
    model.options = object(json!({"max_tokens": 100}));
    let request = request(model);
    let fallback = ParameterFallback {
        omits_temperature: true,
        renames_max_tokens: true,
        effort: EffortFallback::Omitted,
        ..ParameterFallback::default()
    };
    let adjusted = body(&request, fallback);
    assert_eq!(adjusted.get("temperature"), None);
    assert_eq!(adjusted.get("max_tokens"), None);
    assert_eq!(adjusted.get("reasoning_effort"), None);
    assert_eq!(adjusted["max_completion_tokens"], 100);
    let effort_none = ParameterFallback {
        effort: EffortFallback::None,
        ..fallback
    };
    assert_eq!(body(&request, effort_none)["reasoning_effort"], "none");
    let ollama = adapter_for(ProviderKind::Ollama).expect("provider has an adapter");
    let options = &ollama.chat_body(&request, fallback)["options"];
    assert_eq!(options, &json!({"num_ctx": 8192, "max_tokens": 100}));
}

#[test]
fn schema_is_rewritten_into_an_accepted_form() {
    let schema = |value| schema::rewrite_schema(&object(value));
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
fn recursive_schema_stays_small() {
    let doubled = json!({"type": "object", "properties": {"l": {"$ref": "#"}, "r": {"$ref": "#"}}});
    let text = schema::rewrite_schema(&object(doubled)).to_string();
    assert!(text.len() < 2_000_000, "{} bytes", text.len());
    let wide: Vec<_> = (0..50).map(|_| json!({"$ref": "#/properties/x"})).collect();
    let wide = json!({"properties": {"x": {"anyOf": wide}}});
    let text = schema::rewrite_schema(&object(wide)).to_string();
    assert!(text.len() < 2_000_000, "{} bytes", text.len());
}

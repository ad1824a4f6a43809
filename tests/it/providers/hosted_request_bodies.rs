//! Complete request bodies for Mistral and Anthropic, and the reasoning that is sent back.

use crate::providers::request_bodies::{CALL_LINES, request, weather_toolset};
use crate::support::fixtures::{model_config, object};
use humble::domain::ProviderKind::{self, Anthropic, Mistral, Ollama, OpenAi};
use humble::domain::{Dialect, Message, ModelConfig, ReasoningEcho, Think, Toolset};
use humble::provider::parameter_fallback::ParameterFallback;
use humble::provider::registry::adapter_for;
use humble::provider::{ChatRequest, mistral};
use serde_json::{Value, json};
use std::sync::Arc;

pub fn body(request: &ChatRequest, fallback: ParameterFallback) -> Value {
    let adapter = adapter_for(request.model.provider).expect("provider has an adapter");
    adapter.chat_body(request, fallback)
}

pub fn native_model(provider: ProviderKind) -> ModelConfig {
    let mut model = model_config(provider, "http://localhost:8080/v1");
    model.dialect = Dialect::Native;
    model
}

/// The body of the default request, without any fallback.
pub fn default_body(model: ModelConfig) -> Value {
    body(&request(model), ParameterFallback::default())
}

/// The default request, with one call whose reasoning is sent back as `value`.
pub fn request_with_echo(model: ModelConfig, value: Value) -> ChatRequest {
    let provider = model.provider;
    let mut request = request(model);
    for message in &mut request.messages {
        if let Message::ToolCalls {
            calls,
            reasoning_echo,
        } = message
        {
            calls.truncate(1);
            let value = value.clone();
            *reasoning_echo = Some(ReasoningEcho { provider, value });
        }
    }
    request
}

const ARGUMENTS: &str = "{\"city\":\"서울\",\"a\":1}";

#[test]
fn mistral_in_the_native_dialect_receives_valid_ids() {
    let mut model = native_model(Mistral);
    model.think = Some(Think::On);
    model.options = object(json!({"temperature": 1, "stream": false, "max_tokens": 100}));
    let id = mistral::call_id("call_7");
    let call = json!({
        "id": id,
        "type": "function",
        "function": {"name": "humble__get_weather_1", "arguments": ARGUMENTS},
    });
    let tool = &weather_toolset().tools()[0].native_name.clone();
    let expected = json!({
        "model": "qwen3:4b",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "hi"},
            {"role": "user", "content": "weather?"},
            {"role": "assistant", "content": "", "tool_calls": [call, call]},
            {"role": "tool", "tool_call_id": id, "name": "humble__get_weather_1",
                "content": "Result of get weather"},
        ],
        "stream": true,
        "temperature": 0.1,
        "reasoning_effort": "high",
        "max_tokens": 100,
        "tools": [{"type": "function", "function": {
            "name": tool,
            "description": "Weather of a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        }}],
    });
    assert_eq!(default_body(model), expected);
}

#[test]
fn call_id_has_nine_letters_and_digits_and_is_deterministic() {
    assert_eq!(mistral::call_id("gSIMJiOkT"), "gSIMJiOkT");
    let ids = [
        "",
        "call_7",
        "chatcmpl-tool-9f149c74c42f265b",
        "가나다",
        "abc_12345",
    ];
    for id in ids {
        let call_id = mistral::call_id(id);
        assert!(
            call_id.len() == 9 && call_id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            "{call_id}"
        );
        assert_eq!(call_id, mistral::call_id(id));
    }
    assert_ne!(mistral::call_id("call_7"), mistral::call_id("call_8"));
}

#[test]
fn mistral_receives_an_assistant_message_between_a_result_and_the_user() {
    let mut request = request(native_model(Mistral));
    request.messages.push(Message::User("go on".into()));
    let messages = &body(&request, ParameterFallback::default())["messages"];
    let expected = json!([
        {"role": "assistant", "content": "OK."},
        {"role": "user", "content": "go on"},
    ]);
    assert_eq!(json!(messages.as_array().unwrap()[6..]), expected);
}

#[test]
fn mistral_in_a_text_dialect_receives_calls_as_text() {
    let body = default_body(model_config(Mistral, "http://localhost:8080/v1"));
    assert_eq!(body.get("tools"), None);
    let expected = json!([
        {"role": "assistant", "content": CALL_LINES},
        {"role": "tool", "tool_call_id": mistral::call_id("call_7"), "name": "get weather",
            "content": "Result of get weather"},
    ]);
    assert_eq!(json!(body["messages"].as_array().unwrap()[4..]), expected);
}

#[test]
fn anthropic_in_the_native_dialect_receives_content_blocks() {
    let mut model = native_model(Anthropic);
    model.options = object(json!({"temperature": 1, "top_k": 5, "system": "x", "max_tokens": 100}));
    let mut request = request(model);
    let second_result = request.messages.last().cloned();
    request
        .messages
        .extend(second_result.map(|message| match message {
            Message::ToolResult(mut result) => {
                result.is_error = true;
                Message::ToolResult(result)
            }
            other => other,
        }));
    request.messages.push(Message::User("go on".into()));
    let call = json!({"type": "tool_use", "id": "call_7", "name": "humble__get_weather_1",
        "input": {"city": "서울", "a": 1}});
    let tool = weather_toolset().tools()[0].native_name.clone();
    let expected = json!({
        "model": "qwen3:4b",
        "max_tokens": 100,
        "system": "be brief",
        "messages": [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "hi"},
            {"role": "user", "content": "weather?"},
            {"role": "assistant", "content": [call, call]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_7", "content": "Result of get weather"},
                {"type": "tool_result", "tool_use_id": "call_7", "content": "Result of get weather",
                    "is_error": true},
                {"type": "text", "text": "go on"},
            ]},
        ],
        "stream": true,
        "cache_control": {"type": "ephemeral"},
        "top_k": 5,
        "temperature": 0.1,
        "tools": [{
            "name": tool,
            "description": "Weather of a city.",
            "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        }],
    });
    assert_eq!(body(&request, ParameterFallback::default()), expected);
}

#[test]
fn anthropic_in_a_text_dialect_receives_results_as_user_messages() {
    let mut model = model_config(Anthropic, "http://localhost:8080/v1");
    model.think = Some(Think::Low);
    let body = body(
        &request_with_echo(model, json!([{"type": "thinking", "thinking": "x"}])),
        ParameterFallback::default(),
    );
    let line = CALL_LINES.lines().next().unwrap();
    let expected = json!({
        "model": "qwen3:4b",
        "max_tokens": 10240,
        "system": "be brief",
        "messages": [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "hi"},
            {"role": "user", "content": "weather?"},
            {"role": "assistant", "content": line},
            {"role": "user", "content": "Result of get weather"},
        ],
        "stream": true,
        "cache_control": {"type": "ephemeral"},
        "thinking": {"type": "enabled", "budget_tokens": 2048},
    });
    assert_eq!(
        body, expected,
        "no temperature with thinking, and no reasoning is sent back"
    );
}

#[test]
fn anthropic_messages_alternate_and_start_with_the_user() {
    let mut request = request(native_model(Anthropic));
    request.messages = vec![
        Message::Assistant("welcome".into()),
        Message::User("a".into()),
        Message::User("b".into()),
        Message::Assistant(" \n".into()),
        Message::User("c".into()),
    ];
    let text = |text: &str| json!({"type": "text", "text": text});
    let expected = json!([
        {"role": "user", "content": "(The conversation begins here.)"},
        {"role": "assistant", "content": "welcome"},
        {"role": "user", "content": [text("a"), text("b"), text("c")]},
    ]);
    let body = body(&request, ParameterFallback::default());
    assert_eq!(body["messages"], expected);
    assert_eq!(body.get("system"), None);
}

#[test]
fn anthropic_receives_declarations_of_tools_called_earlier_but_no_longer_offered() {
    let mut request = request(native_model(Anthropic));
    request.tools = Arc::new(Toolset::default());
    let body = body(&request, ParameterFallback::default());
    let expected = json!([{"name": "humble__get_weather_1", "input_schema": {"type": "object"}}]);
    assert_eq!(body["tools"], expected);
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

#[test]
fn blocks_are_sent_back_in_order_with_the_approved_arguments() {
    let thinking = json!({"type": "thinking", "thinking": "음", "signature": "c2ln"});
    let echo = json!([
        thinking,
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "gone"},
        {"type": "tool_use", "id": "call_7"},
        {"type": "redacted_thinking", "data": "b3Bh"},
    ]);
    let body = body(
        &request_with_echo(native_model(Anthropic), echo),
        ParameterFallback::default(),
    );
    let expected = json!([
        thinking,
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "call_7", "name": "humble__get_weather_1",
            "input": {"city": "서울", "a": 1}},
        {"type": "redacted_thinking", "data": "b3Bh"},
    ]);
    assert_eq!(body["messages"][3]["content"], expected);
}

#[test]
fn thinking_is_sent_back_only_to_the_provider_it_came_from() {
    let cases = [
        (
            Ollama,
            json!("음"),
            json!({"role": "assistant", "content": "", "thinking": "음"}),
        ),
        (
            OpenAi,
            json!({"reasoning_content": "음", "reasoning_details": [{"text": "음"}], "role": "system"}),
            json!({"role": "assistant", "content": null, "reasoning_content": "음",
                "reasoning_details": [{"text": "음"}]}),
        ),
        (
            Mistral,
            json!({"content": [{"type": "thinking", "thinking": []}]}),
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": []}]}),
        ),
    ];
    for (provider, value, expected) in cases {
        let request = request_with_echo(native_model(provider), value);
        let mut message = body(&request, ParameterFallback::default())["messages"][4].clone();
        message.as_object_mut().unwrap().shift_remove("tool_calls");
        assert_eq!(message, expected);
        let mut foreign = request.clone();
        for message in &mut foreign.messages {
            if let Message::ToolCalls {
                reasoning_echo: Some(echo),
                ..
            } = message
            {
                echo.provider = Anthropic;
            }
        }
        let plain = body(&foreign, ParameterFallback::default())["messages"][4].clone();
        assert!(plain.get("thinking").is_none() && plain.get("reasoning_content").is_none());
        assert!(!plain["content"].is_array());
        let fallback = ParameterFallback {
            omits_reasoning: true,
            ..ParameterFallback::default()
        };
        if provider != Ollama {
            assert_eq!(body(&request, fallback)["messages"][4], plain);
        }
    }
}

//! What is sent to Mistral and Anthropic, compared whole, and how each provider is
//! asked to think.

use crate::bodies::{CALL_LINES, object, request, weather};
use crate::reading::model;
use humble::domain::ProviderKind::{self, Anthropic, Mistral, Ollama, OpenAi};
use humble::domain::{Carry, Dialect, Message, ModelConfig, Offered, Think};
use humble::provider::adapt::{Adapted, Effort, Form};
use humble::provider::{Request, anthropic, mistral, ollama, openai};
use serde_json::{Value, json};
use std::sync::Arc;

fn body(request: &Request, adapted: Adapted) -> Value {
    match request.model.provider {
        Ollama => ollama::body(request, adapted),
        Mistral => mistral::body(request, adapted),
        Anthropic => anthropic::body(request, adapted),
        _ => openai::body(request, adapted),
    }
}

fn native(provider: ProviderKind) -> ModelConfig {
    let mut model = model(provider, "http://localhost:8080/v1");
    model.dialect = Dialect::Native;
    model
}

fn sent(model: ModelConfig) -> Value {
    body(&request(model), Adapted::default())
}

/// A turn whose calls come with this.
fn carrying(model: ModelConfig, value: Value) -> Request {
    let provider = model.provider;
    let mut request = request(model);
    for message in &mut request.messages {
        if let Message::Calls { calls, carry } = message {
            calls.truncate(1);
            let value = value.clone();
            *carry = Some(Carry { provider, value });
        }
    }
    request
}

const ARGUMENTS: &str = "{\"city\":\"서울\",\"a\":1}";

#[test]
fn mistral_in_the_native_dialect_gets_ids_that_it_takes() {
    let mut model = native(Mistral);
    model.think = Some(Think::On);
    model.options = object(json!({"temperature": 1, "stream": false, "max_tokens": 100}));
    let id = mistral::call_id("call_7");
    let call = json!({
        "id": id,
        "type": "function",
        "function": {"name": "humble__get_weather_1", "arguments": ARGUMENTS},
    });
    let tool = &weather().tools()[0].native_name.clone();
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
    assert_eq!(sent(model), expected);
}

#[test]
fn an_id_of_a_call_is_nine_letters_and_digits_and_always_the_same() {
    assert_eq!(mistral::call_id("gSIMJiOkT"), "gSIMJiOkT");
    let ids = [
        "",
        "call_7",
        "chatcmpl-tool-9f149c74c42f265b",
        "가나다",
        "abc_12345",
    ];
    for id in ids {
        let made = mistral::call_id(id);
        assert!(
            made.len() == 9 && made.bytes().all(|b| b.is_ascii_alphanumeric()),
            "{made}"
        );
        assert_eq!(made, mistral::call_id(id));
    }
    assert_ne!(mistral::call_id("call_7"), mistral::call_id("call_8"));
}

#[test]
fn mistral_hears_a_word_of_its_own_between_a_result_and_the_user() {
    let mut request = request(native(Mistral));
    request.messages.push(Message::User("go on".into()));
    let messages = &body(&request, Adapted::default())["messages"];
    let expected = json!([
        {"role": "assistant", "content": "OK."},
        {"role": "user", "content": "go on"},
    ]);
    assert_eq!(json!(messages.as_array().unwrap()[6..]), expected);
}

#[test]
fn mistral_in_a_text_dialect_gets_calls_as_text() {
    let body = sent(model(Mistral, "http://localhost:8080/v1"));
    assert_eq!(body.get("tools"), None);
    let expected = json!([
        {"role": "assistant", "content": CALL_LINES},
        {"role": "tool", "tool_call_id": mistral::call_id("call_7"), "name": "get weather",
            "content": "Result of get weather"},
    ]);
    assert_eq!(json!(body["messages"].as_array().unwrap()[4..]), expected);
}

#[test]
fn anthropic_in_the_native_dialect_gets_blocks() {
    let mut model = native(Anthropic);
    model.options = object(json!({"temperature": 1, "top_k": 5, "system": "x", "max_tokens": 100}));
    let mut request = request(model);
    let again = request.messages.last().cloned();
    request.messages.extend(again.map(|message| match message {
        Message::Result(mut result) => {
            result.is_error = true;
            Message::Result(result)
        }
        other => other,
    }));
    request.messages.push(Message::User("go on".into()));
    let call = json!({"type": "tool_use", "id": "call_7", "name": "humble__get_weather_1",
        "input": {"city": "서울", "a": 1}});
    let tool = weather().tools()[0].native_name.clone();
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
        "top_k": 5,
        "temperature": 0.1,
        "tools": [{
            "name": tool,
            "description": "Weather of a city.",
            "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        }],
    });
    assert_eq!(body(&request, Adapted::default()), expected);
}

#[test]
fn anthropic_in_a_text_dialect_gets_results_from_the_user() {
    let mut model = model(Anthropic, "http://localhost:8080/v1");
    model.think = Some(Think::Low);
    let body = body(
        &carrying(model, json!([{"type": "thinking", "thinking": "x"}])),
        Adapted::default(),
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
        "thinking": {"type": "enabled", "budget_tokens": 2048},
    });
    assert_eq!(
        body, expected,
        "no temperature beside thinking, and nothing is carried"
    );
}

#[test]
fn messages_to_anthropic_alternate_and_begin_with_the_user() {
    let mut request = request(native(Anthropic));
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
    let body = body(&request, Adapted::default());
    assert_eq!(body["messages"], expected);
    assert_eq!(body.get("system"), None);
}

#[test]
fn anthropic_is_told_of_tools_that_only_the_conversation_knows() {
    let mut request = request(native(Anthropic));
    request.tools = Arc::new(Offered::default());
    let body = body(&request, Adapted::default());
    let expected = json!([{"name": "humble__get_weather_1", "input_schema": {"type": "object"}}]);
    assert_eq!(body["tools"], expected);
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

#[test]
fn blocks_go_back_in_their_order_with_the_arguments_that_were_decided_on() {
    let thinking = json!({"type": "thinking", "thinking": "음", "signature": "c2ln"});
    let carried = json!([
        thinking,
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "gone"},
        {"type": "tool_use", "id": "call_7"},
        {"type": "redacted_thinking", "data": "b3Bh"},
    ]);
    let body = body(&carrying(native(Anthropic), carried), Adapted::default());
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
fn thinking_goes_back_only_to_the_provider_that_read_it() {
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
        let request = carrying(native(provider), value);
        let mut message = body(&request, Adapted::default())["messages"][4].clone();
        message.as_object_mut().unwrap().shift_remove("tool_calls");
        assert_eq!(message, expected);
        let mut others = request.clone();
        for message in &mut others.messages {
            if let Message::Calls {
                carry: Some(carry), ..
            } = message
            {
                carry.provider = Anthropic;
            }
        }
        let plain = body(&others, Adapted::default())["messages"][4].clone();
        assert!(plain.get("thinking").is_none() && plain.get("reasoning_content").is_none());
        assert!(!plain["content"].is_array());
        let adapted = Adapted {
            omits_carry: true,
            ..Adapted::default()
        };
        if provider != Ollama {
            assert_eq!(body(&request, adapted)["messages"][4], plain);
        }
    }
}

#[test]
fn each_provider_is_asked_to_think_in_its_own_words() {
    let settings = [
        Think::Off,
        Think::On,
        Think::Low,
        Think::Medium,
        Think::High,
    ];
    let asked = |provider, name: &str, keys: &[&str]| -> Vec<Value> {
        let of = |think| {
            let mut model = native(provider);
            model.think = Some(think);
            model.model = name.into();
            // Without calls nothing stands in the way of a budget.
            let mut request = request(model);
            request.messages.truncate(4);
            let body = body(&request, Adapted::default());
            let found = keys
                .iter()
                .map(|key| body.get(*key).cloned().unwrap_or_default());
            Value::Array(found.collect())
        };
        settings.into_iter().map(of).collect()
    };
    assert_eq!(
        asked(Ollama, "m", &["think"]),
        [
            json!([false]),
            json!([true]),
            json!(["low"]),
            json!(["medium"]),
            json!(["high"])
        ]
    );
    assert_eq!(
        asked(OpenAi, "m", &["reasoning_effort"]),
        ["none", "medium", "low", "medium", "high"].map(|word| json!([word]))
    );
    assert_eq!(
        asked(Mistral, "m", &["reasoning_effort"]),
        ["none", "high", "low", "medium", "high"].map(|word| json!([word]))
    );
    let keys = ["thinking", "output_config", "max_tokens", "temperature"];
    let budget = |budget: u64, max: u64| json!([{"type": "enabled", "budget_tokens": budget}, null, max, null]);
    assert_eq!(
        asked(Anthropic, "claude-sonnet-4-5", &keys),
        [
            json!([{"type": "disabled"}, null, 8192, 0.1]),
            budget(8192, 16384),
            budget(2048, 10240),
            budget(8192, 16384),
            budget(24576, 32768),
        ]
    );
    let effort = |effort: &str| json!([{"type": "adaptive", "display": "summarized"}, {"effort": effort}, 32000, null]);
    assert_eq!(
        asked(Anthropic, "claude-opus-4-7", &keys),
        [
            json!([{"type": "disabled"}, null, 32000, 0.1]),
            json!([{"type": "adaptive", "display": "summarized"}, null, 32000, null]),
            effort("low"),
            effort("medium"),
            effort("high"),
        ]
    );
}

#[test]
fn a_budget_of_thinking_fits_into_what_may_be_said() {
    let of = |max_tokens: u64, limit: Option<u64>| {
        let mut model = native(Anthropic);
        model.think = Some(Think::High);
        model.options = object(json!({"max_tokens": max_tokens}));
        let mut request = request(model);
        request.messages.truncate(4);
        let adapted = Adapted {
            max_tokens: limit,
            ..Adapted::default()
        };
        let body = body(&request, adapted);
        let budget = body.pointer("/thinking/budget_tokens").cloned();
        (body["max_tokens"].clone(), budget)
    };
    assert_eq!(of(4096, None), (json!(4096), Some(json!(2048))));
    assert_eq!(of(1500, None), (json!(1500), Some(json!(1024))));
    assert_eq!(
        of(1024, None),
        (json!(1024), None),
        "too little to think in"
    );
    assert_eq!(of(90_000, Some(8192)), (json!(8192), Some(json!(4096))));
}

#[test]
fn no_budget_is_given_where_the_first_calls_lack_their_thinking() {
    let mut model = native(Anthropic);
    model.think = Some(Think::On);
    let without = sent(model.clone());
    assert_eq!(without.get("thinking"), None);
    assert_eq!(without["temperature"], 0.1);
    let thinking = json!([{"type": "thinking", "thinking": "", "signature": "c2ln"}]);
    let with = body(&carrying(model, thinking), Adapted::default());
    assert_eq!(with["thinking"]["type"], "enabled");
}

#[test]
fn what_was_refused_takes_its_other_form() {
    let of = |provider, name: &str, think, adapted: Adapted| {
        let mut model = native(provider);
        model.think = Some(think);
        model.model = name.into();
        let mut request = request(model);
        request.messages.truncate(4);
        body(&request, adapted)
    };
    let form = |form| Adapted {
        form,
        ..Adapted::default()
    };
    let old = of(Anthropic, "claude-opus-4-7", Think::Low, form(Form::Other));
    assert_eq!(old["thinking"]["type"], "enabled");
    assert_eq!(old.get("output_config"), None);
    let new = of(
        Anthropic,
        "claude-sonnet-4-5",
        Think::Low,
        form(Form::Other),
    );
    assert_eq!(new["thinking"]["type"], "adaptive");
    let none = of(
        Anthropic,
        "claude-opus-4-7",
        Think::Low,
        form(Form::Omitted),
    );
    assert_eq!(
        (none.get("thinking"), none.get("output_config")),
        (None, None)
    );
    assert_eq!(
        of(Ollama, "m", Think::High, form(Form::Other))["think"],
        true
    );
    assert_eq!(
        of(Ollama, "m", Think::High, form(Form::Omitted)).get("think"),
        None
    );
    let high = Adapted {
        effort: Effort::High,
        ..Adapted::default()
    };
    assert_eq!(
        of(Mistral, "m", Think::Low, high)["reasoning_effort"],
        "high"
    );
}

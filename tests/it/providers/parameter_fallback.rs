//! A parameter that the server rejects is omitted or replaced. The fallback applies to later
//! requests too, and is reported once.

use super::notice_text::notice_text;
use crate::providers::model_server::*;
use crate::providers::requests::*;
use crate::support::fixtures::model_config;
use futures::StreamExt;
use humble::domain::{Dialect, Message, ModelConfig, ProviderKind, ReasoningEcho, Think};
use humble::provider::{ChatRequest, FailureCause, Provider, StreamPart};
use serde_json::{Value, json};

const MESSAGES: &str = "/v1/messages";

/// Sends the request twice; returns the notices of the first attempt and all bodies sent. Panics if
/// the second attempt gives a notice.
async fn ask_twice(
    server: &ModelServer,
    request: ChatRequest,
    path: &str,
) -> (Vec<String>, Vec<Value>) {
    let provider = Provider::new();
    let mut notices = Vec::new();
    for round in 0..2 {
        let mut stream = provider.stream(request.clone());
        while let Some(part) = stream.next().await {
            match part.expect("request succeeds eventually") {
                StreamPart::Notice(notice) if round == 0 => notices.push(notice_text(&notice)),
                StreamPart::Notice(notice) => panic!("repeated notice: {notice:?}"),
                _ => {}
            }
        }
    }
    (notices, server.bodies(path))
}

fn model_at(server: &ModelServer, provider: ProviderKind, name: &str) -> ModelConfig {
    let mut model = model_config(provider, &format!("{}/v1", server.url()));
    model.model = name.to_owned();
    model.dialect = Dialect::Native;
    model
}

fn fallback_notice(server: &ModelServer, name: &str, rejected: &str, instead: &str) -> String {
    let url = server.url();
    format!(
        "`{name}` at {url} does not accept {rejected}. The request was sent again {instead}. This applies to later requests too, until humble exits."
    )
}

/// The value of `key` in each body; null where it is missing.
fn values(bodies: &[Value], key: &str) -> Vec<Value> {
    let values = bodies
        .iter()
        .map(|body| body.get(key).cloned().unwrap_or_default());
    values.collect()
}

#[tokio::test]
async fn rejected_thinking_budget_is_replaced_by_an_effort() {
    let server = ModelServer::start();
    let message = "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.";
    server.queue_reply(
        MESSAGES,
        anthropic_error(400, "invalid_request_error", message),
    );
    server.always_reply(
        MESSAGES,
        anthropic_reply(&[anthropic_text(0, &["x"])], "end_turn"),
    );
    let mut model = model_at(&server, ProviderKind::Anthropic, "claude-sonnet-4-5");
    model.think = Some(Think::Medium);
    let (notices, bodies) = ask_twice(&server, request(&model), MESSAGES).await;
    let rejected = "the think setting in this form";
    let expected = fallback_notice(&server, "claude-sonnet-4-5", rejected, "in another form");
    assert_eq!(notices, [expected]);
    let budget = json!({"type": "enabled", "budget_tokens": 8192});
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    assert_eq!(
        values(&bodies, "thinking"),
        [budget, adaptive.clone(), adaptive]
    );
    let effort = json!({"effort": "medium"});
    assert_eq!(
        values(&bodies, "output_config"),
        [Value::Null, effort.clone(), effort]
    );
}

#[tokio::test]
async fn thinking_rejected_in_both_forms_is_omitted() {
    let server = ModelServer::start();
    let rejection = |message| anthropic_error(400, "invalid_request_error", message);
    server.queue_reply(
        MESSAGES,
        rejection("adaptive thinking is not supported on this model"),
    );
    server.queue_reply(
        MESSAGES,
        rejection("thinking: Extra inputs are not permitted"),
    );
    server.always_reply(MESSAGES, anthropic_reply(&[], "end_turn"));
    let mut model = model_at(&server, ProviderKind::Anthropic, "claude-next");
    model.think = Some(Think::On);
    let (notices, bodies) = ask_twice(&server, request(&model), MESSAGES).await;
    let rejected = "the think setting in this form";
    assert_eq!(
        notices,
        [fallback_notice(
            &server,
            "claude-next",
            rejected,
            "without it"
        )]
    );
    let kinds = bodies
        .iter()
        .map(|body| body.pointer("/thinking/type").cloned());
    let expected = [Some(json!("adaptive")), Some(json!("enabled")), None, None];
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
    assert_eq!(
        bodies[3]["temperature"], 0.1,
        "temperature is allowed without thinking"
    );
}

#[tokio::test]
async fn excessive_max_tokens_is_lowered_to_the_server_limit() {
    let server = ModelServer::start();
    let message = "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-opus-20240229";
    server.queue_reply(
        MESSAGES,
        anthropic_error(400, "invalid_request_error", message),
    );
    server.always_reply(MESSAGES, anthropic_reply(&[], "end_turn"));
    let name = "claude-3-opus-20240229";
    let model = model_at(&server, ProviderKind::Anthropic, name);
    let (notices, bodies) = ask_twice(&server, request(&model), MESSAGES).await;
    let rejected = "answers of more than 4096 tokens";
    assert_eq!(
        notices,
        [fallback_notice(&server, name, rejected, "with that limit")]
    );
    assert_eq!(
        values(&bodies, "max_tokens"),
        [8192, 4096, 4096].map(|n| json!(n))
    );
}

#[tokio::test]
async fn temperature_forbidden_by_thinking_is_omitted() {
    let server = ModelServer::start();
    let message =
        "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.";
    server.queue_reply(
        MESSAGES,
        anthropic_error(400, "invalid_request_error", message),
    );
    server.always_reply(MESSAGES, anthropic_reply(&[], "end_turn"));
    let model = model_at(&server, ProviderKind::Anthropic, "claude-opus-5");
    let (notices, bodies) = ask_twice(&server, request(&model), MESSAGES).await;
    let rejected = "the temperature 0.1";
    assert_eq!(
        notices,
        [fallback_notice(
            &server,
            "claude-opus-5",
            rejected,
            "without it"
        )]
    );
    assert_eq!(
        values(&bodies, "temperature"),
        [json!(0.1), Value::Null, Value::Null]
    );
}

#[tokio::test]
async fn ollama_is_retried_without_a_thinking_level_and_then_without_thinking() {
    let server = ModelServer::start();
    let mut model = ollama(&server);
    model.think = Some(Think::High);
    server.queue_reply(
        CHAT,
        ollama_error(400, "think value \"high\" is not supported for this model"),
    );
    server.queue_reply(
        CHAT,
        ollama_error(400, "\"qwen3:4b\" does not support thinking"),
    );
    server.always_reply(CHAT, ollama_text(&["x"]));
    let (notices, bodies) = ask_twice(&server, request(&model), CHAT).await;
    let rejected = "the think setting in this form";
    assert_eq!(
        notices,
        [fallback_notice(&server, "qwen3:4b", rejected, "without it")]
    );
    let expected = [json!("high"), json!(true), Value::Null, Value::Null];
    assert_eq!(values(&bodies, "think"), expected);
}

#[tokio::test]
async fn mistral_receives_a_thinking_level_it_accepts() {
    let server = ModelServer::start();
    let detail = json!({"detail": [{"type": "literal_error", "loc": ["body", "reasoning_effort"],
        "msg": "Input should be 'high' or 'none'", "input": "low"}]});
    let rejection = json!({"object": "error", "message": detail, "type": "invalid_request_error",
        "param": null, "code": null});
    server.queue_reply(COMPLETIONS, Reply::json(422, &rejection));
    server.always_reply(COMPLETIONS, openai_text(&["x"]));
    let mut model = model_at(&server, ProviderKind::Mistral, "mistral-small-latest");
    model.think = Some(Think::Low);
    let (notices, bodies) = ask_twice(&server, request(&model), COMPLETIONS).await;
    let rejected = "this reasoning_effort";
    let expected = fallback_notice(&server, "mistral-small-latest", rejected, "with \"high\"");
    assert_eq!(notices, [expected]);
    let expected = ["low", "high", "high"].map(|word| json!(word));
    assert_eq!(values(&bodies, "reasoning_effort"), expected);
}

#[tokio::test]
async fn model_that_rejects_the_effort_is_asked_without_it() {
    let server = ModelServer::start();
    let message = "Unrecognized request argument supplied: reasoning_effort";
    server.queue_reply(COMPLETIONS, openai_error(400, message, None));
    server.always_reply(COMPLETIONS, openai_text(&["x"]));
    let mut model = openai(&server);
    model.think = Some(Think::Off);
    let (notices, bodies) = ask_twice(&server, request(&model), COMPLETIONS).await;
    let expected = fallback_notice(&server, "qwen3:4b", "this reasoning_effort", "without it");
    assert_eq!(notices, [expected]);
    let efforts = values(&bodies, "reasoning_effort");
    assert_eq!(efforts, [json!("none"), Value::Null, Value::Null]);
}

#[tokio::test]
async fn unknown_options_are_omitted() {
    let server = ModelServer::start();
    let mut model = openai(&server);
    model.options = json!({"parallel_tool_calls": false})
        .as_object()
        .unwrap()
        .clone();
    server.queue_reply(
        COMPLETIONS,
        openai_error(400, "stream_options is not allowed", None),
    );
    server.queue_reply(
        COMPLETIONS,
        openai_error(400, "Unknown parameter", Some("parallel_tool_calls")),
    );
    server.always_reply(COMPLETIONS, openai_text(&["x"]));
    let (notices, bodies) = ask_twice(&server, request(&model), COMPLETIONS).await;
    let without = |rejected| fallback_notice(&server, "qwen3:4b", rejected, "without it");
    assert_eq!(
        notices,
        [without("stream_options"), without("parallel_tool_calls")]
    );
    let options = json!({"include_usage": true});
    let expected = [options, Value::Null, Value::Null, Value::Null];
    assert_eq!(values(&bodies, "stream_options"), expected);
    let calls = values(&bodies, "parallel_tool_calls");
    assert_eq!(
        calls,
        [json!(false), json!(false), Value::Null, Value::Null]
    );
}

/// A request that ends with a tool call and its result. The call may carry reasoning to send back.
fn request_after_call(model: &ModelConfig, reasoning: Option<Value>) -> ChatRequest {
    let mut request = request(model);
    let mut messages = crate::providers::request_bodies::conversation().split_off(4);
    if let Message::ToolCalls {
        calls,
        reasoning_echo,
    } = &mut messages[0]
    {
        calls.truncate(1);
        let provider = model.provider;
        *reasoning_echo = reasoning.map(|value| ReasoningEcho { provider, value });
    }
    request.messages.extend(messages);
    request
}

#[tokio::test]
async fn rejected_reasoning_is_no_longer_sent_back() {
    let server = ModelServer::start();
    let detail = json!([{"type": "extra_forbidden", "msg": "Extra inputs are not permitted",
        "loc": ["body", "messages", 1, "assistant", "reasoning_content"]}]);
    server.queue_reply(COMPLETIONS, Reply::json(422, &json!({ "detail": detail })));
    server.always_reply(COMPLETIONS, openai_text(&["x"]));
    let model = model_at(&server, ProviderKind::OpenAi, "m");
    let request = request_after_call(&model, Some(json!({"reasoning_content": "음"})));
    let (notices, bodies) = ask_twice(&server, request, COMPLETIONS).await;
    let expected = fallback_notice(&server, "m", "its own earlier reasoning", "without it");
    assert_eq!(notices, [expected]);
    let reasoning = bodies
        .iter()
        .map(|body| body.pointer("/messages/1/reasoning_content").cloned());
    assert_eq!(
        reasoning.collect::<Vec<_>>(),
        [Some(json!("음")), None, None]
    );
}

#[tokio::test]
async fn tool_results_are_sent_as_user_messages_if_the_tool_role_is_rejected() {
    let server = ModelServer::start();
    let message = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
    server.queue_reply(
        COMPLETIONS,
        openai_error(400, message, Some("messages.[2].role")),
    );
    server.always_reply(COMPLETIONS, openai_text(&["x"]));
    let mut model = model_at(&server, ProviderKind::OpenAi, "m");
    model.dialect = Dialect::Prompt;
    let (notices, bodies) = ask_twice(&server, request_after_call(&model, None), COMPLETIONS).await;
    let instead = "with the results as user messages";
    assert_eq!(
        notices,
        [fallback_notice(
            &server,
            "m",
            "tool results in the role `tool`",
            instead
        )]
    );
    let roles = bodies
        .iter()
        .map(|body| body["messages"][2]["role"].clone());
    assert_eq!(
        roles.collect::<Vec<_>>(),
        ["tool", "user", "user"].map(|role| json!(role))
    );
}

#[tokio::test]
async fn parameter_name_inside_another_word_triggers_no_fallback() {
    let server = ModelServer::start();
    let message = "messages.1: `redacted_thinking` and low_temperature are not understood";
    server.always_reply(
        MESSAGES,
        anthropic_error(400, "invalid_request_error", message),
    );
    let mut model = model_at(&server, ProviderKind::Anthropic, "m");
    model.think = Some(Think::On);
    let decoded = ask(&model).await;
    assert_eq!(decoded.failed, Some(status_failure(400, message)));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn number_in_an_error_about_an_unsupported_parameter_is_not_taken_as_a_limit() {
    let server = ModelServer::start();
    let message = "Unsupported parameter: 'max_tokens' is not supported with o3 of 2025. Use 'max_completion_tokens' instead.";
    let path = "/v1/chat/completions";
    server.queue_reply(path, openai_error(400, message, Some("max_tokens")));
    server.always_reply(path, openai_text(&["x"]));
    let mut model = model_at(&server, ProviderKind::OpenAi, "o3");
    model.options.insert("max_tokens".into(), json!(9000));
    let (notices, bodies) = ask_twice(&server, request(&model), path).await;
    let instead = "with max_completion_tokens";
    assert_eq!(
        notices,
        [fallback_notice(&server, "o3", "max_tokens", instead)]
    );
    let expected = [Value::Null, json!(9000), json!(9000)];
    assert_eq!(values(&bodies, "max_completion_tokens"), expected);
}

#[tokio::test]
async fn statuses_other_than_400_and_422_trigger_no_fallback() {
    for code in [401, 404, 413, 500, 503] {
        let server = ModelServer::start();
        let message = "something about the temperature";
        server.always_reply(MESSAGES, anthropic_error(code, "api_error", message));
        let decoded = ask(&model_at(&server, ProviderKind::Anthropic, "m")).await;
        let expected = FailureCause::Status {
            status: code,
            message: Some(message.to_owned()),
            retry_after: None,
            path: (code == 404).then(|| MESSAGES.to_owned()),
        };
        assert_eq!(decoded.failed, Some(expected));
        assert_eq!(server.requests().len(), 1, "{code}");
    }
}

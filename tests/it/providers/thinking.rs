//! Requests for thinking in the form of each provider, and the fallbacks if the server or a rule of
//! its API rejects it.

use crate::providers::hosted_request_bodies::{
    body, default_body, native_model, request_with_echo,
};
use crate::providers::request_bodies::request;
use crate::support::fixtures::object;
use humble::domain::ProviderKind::{Anthropic, Mistral, Ollama, OpenAi};
use humble::domain::{ProviderKind, Think};
use humble::provider::error_body::ServerError;
use humble::provider::parameter_fallback::{EffortFallback, ParameterFallback, ThinkingForm};
use serde_json::{Value, json};

/// These fields of a request, for each value of `think` that the provider takes.
fn requested(provider: ProviderKind, name: &str, keys: &[&str]) -> Vec<Value> {
    let fields_for = |think: &Think| {
        let mut model = native_model(provider);
        model.think = Some(*think);
        model.model = name.into();
        // Without calls, no API rule forbids a budget.
        let mut request = request(model);
        request.messages.truncate(4);
        let body = body(&request, ParameterFallback::default());
        let fields = keys
            .iter()
            .map(|key| body.get(*key).cloned().unwrap_or_default());
        Value::Array(fields.collect())
    };
    provider.think_values().iter().map(fields_for).collect()
}

#[test]
fn thinking_is_requested_in_the_form_of_each_provider() {
    assert_eq!(
        requested(Ollama, "m", &["think"]),
        [
            json!([true]),
            json!([false]),
            json!(["low"]),
            json!(["medium"]),
            json!(["high"]),
            json!(["max"])
        ]
    );
    let efforts = [
        "medium", "none", "minimal", "low", "medium", "high", "xhigh", "max",
    ];
    assert_eq!(
        requested(OpenAi, "m", &["reasoning_effort"]),
        efforts.map(|word| json!([word]))
    );
    assert_eq!(
        requested(Mistral, "m", &["reasoning_effort"]),
        ["high", "none", "low", "medium", "high"].map(|word| json!([word]))
    );
}

#[test]
fn thinking_is_requested_from_anthropic_as_an_effort_or_a_budget() {
    let keys = ["thinking", "output_config", "max_tokens", "temperature"];
    let budget = |budget: u64, max: u64| json!([{"type": "enabled", "budget_tokens": budget}, null, max, null]);
    assert_eq!(
        requested(Anthropic, "claude-sonnet-4-5", &keys),
        [
            budget(8192, 16384),
            json!([{"type": "disabled"}, null, 8192, 0.1]),
            budget(2048, 10240),
            budget(8192, 16384),
            budget(24576, 32768),
            budget(24576, 32768),
            budget(24576, 32768),
        ]
    );
    let effort = |effort: &str| json!([{"type": "adaptive", "display": "summarized"}, {"effort": effort}, 32000, null]);
    assert_eq!(
        requested(Anthropic, "claude-opus-4-7", &keys),
        [
            json!([{"type": "adaptive", "display": "summarized"}, null, 32000, null]),
            json!([{"type": "disabled"}, null, 32000, 0.1]),
            effort("low"),
            effort("medium"),
            effort("high"),
            effort("xhigh"),
            effort("max"),
        ]
    );
}

#[test]
fn thinking_budget_fits_within_max_tokens() {
    let limits = |max_tokens: u64, limit: Option<u64>| {
        let mut model = native_model(Anthropic);
        model.think = Some(Think::High);
        model.options = object(json!({"max_tokens": max_tokens}));
        let mut request = request(model);
        request.messages.truncate(4);
        let fallback = ParameterFallback {
            max_tokens: limit,
            ..ParameterFallback::default()
        };
        let body = body(&request, fallback);
        let budget = body.pointer("/thinking/budget_tokens").cloned();
        (body["max_tokens"].clone(), budget)
    };
    assert_eq!(limits(4096, None), (json!(4096), Some(json!(2048))));
    assert_eq!(limits(1500, None), (json!(1500), Some(json!(1024))));
    assert_eq!(
        limits(1024, None),
        (json!(1024), None),
        "too few tokens for thinking"
    );
    assert_eq!(limits(90_000, Some(8192)), (json!(8192), Some(json!(4096))));
}

#[test]
fn no_budget_is_set_if_the_first_calls_lack_their_thinking() {
    let mut model = native_model(Anthropic);
    model.think = Some(Think::On);
    let without = default_body(model.clone());
    assert_eq!(without.get("thinking"), None);
    assert_eq!(without["temperature"], 0.1);
    let thinking = json!([{"type": "thinking", "thinking": "", "signature": "c2ln"}]);
    let with = body(
        &request_with_echo(model, thinking),
        ParameterFallback::default(),
    );
    assert_eq!(with["thinking"]["type"], "enabled");
}

#[test]
fn rejected_thinking_takes_the_other_form_or_is_omitted() {
    let body_for = |provider, name: &str, think, fallback: ParameterFallback| {
        let mut model = native_model(provider);
        model.think = Some(think);
        model.model = name.into();
        let mut request = request(model);
        request.messages.truncate(4);
        body(&request, fallback)
    };
    let fallback = |thinking_form| ParameterFallback {
        thinking_form,
        ..ParameterFallback::default()
    };
    let with_budget = body_for(
        Anthropic,
        "claude-opus-4-7",
        Think::Low,
        fallback(ThinkingForm::Other),
    );
    assert_eq!(with_budget["thinking"]["type"], "enabled");
    assert_eq!(with_budget.get("output_config"), None);
    let with_effort = body_for(
        Anthropic,
        "claude-sonnet-4-5",
        Think::Low,
        fallback(ThinkingForm::Other),
    );
    assert_eq!(with_effort["thinking"]["type"], "adaptive");
    let omitted = body_for(
        Anthropic,
        "claude-opus-4-7",
        Think::Low,
        fallback(ThinkingForm::Omitted),
    );
    assert_eq!(
        (omitted.get("thinking"), omitted.get("output_config")),
        (None, None)
    );
    assert_eq!(
        body_for(Ollama, "m", Think::High, fallback(ThinkingForm::Other))["think"],
        true
    );
    assert_eq!(
        body_for(Ollama, "m", Think::High, fallback(ThinkingForm::Omitted)).get("think"),
        None
    );
    let high = ParameterFallback {
        effort: EffortFallback::High,
        ..ParameterFallback::default()
    };
    assert_eq!(
        body_for(Mistral, "m", Think::Low, high)["reasoning_effort"],
        "high"
    );
}

#[test]
fn a_level_above_high_is_replaced_by_high_if_the_model_does_not_take_it() {
    let message = "Unsupported value: 'max' is not supported with the 'm' model. Supported values are: 'none', 'low', 'medium', and 'high'.";
    let error = json!({"error": {"message": message, "param": "reasoning_effort"}});
    let error = ServerError::from_body(error.to_string().as_bytes()).unwrap();
    for (level, expected) in [
        ("max", EffortFallback::High),
        ("xhigh", EffortFallback::High),
        ("minimal", EffortFallback::None),
    ] {
        let body = json!({ "reasoning_effort": level });
        let fallback = ParameterFallback::default().after_rejection(&error, &body);
        let effort = fallback.map(|fallback| fallback.effort);
        assert_eq!(effort, Some(expected), "{level}");
    }
}

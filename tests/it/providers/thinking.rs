//! How each provider is asked to think, and what is asked instead where a server
//! refuses or where a rule of its API stands in the way.

use crate::providers::hosted_request_bodies::{body, carrying, native, sent};
use crate::providers::request_bodies::request;
use crate::support::fixtures::object;
use humble::domain::ProviderKind::{Anthropic, Mistral, Ollama, OpenAi};
use humble::domain::Think;
use humble::provider::parameter_fallback::{Adapted, Effort, Form};
use serde_json::{Value, json};

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

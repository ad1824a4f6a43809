//! Settings of models that are valid but have no effect, and the values of `think` that each provider
//! takes.

use super::*;
use humble::domain::Think;

/// The problems in the only banner about a model with these fields; empty without a banner.
fn problems(fields: &Value) -> String {
    let mut entry = json!({ "name": "m" });
    entry
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    let banners = one_model(entry).banners();
    let Some((_, text)) = banners.first() else {
        return String::new();
    };
    assert_eq!(banners.len(), 1, "{banners:?}");
    let (_, problems) = text.split_once("model 1 (`m`): ").unwrap();
    let (problems, advice) = problems.split_once(" Correct it in the file;").unwrap();
    assert!(advice.contains("the model is used without"), "{advice}");
    problems.to_owned()
}

#[test]
fn settings_without_effect_are_named_with_the_reason() {
    let cases = [
        (
            json!({ "provider": "ollama", "options": { "temperature": 1, "num_ctx": 8192, "model": "x" } }),
            "`options.temperature` has no effect, because requests use 0.1.",
        ),
        (
            json!({ "provider": "openai", "options": { "stream": false, "temperature": 0, "top_p": 1 } }),
            "`options.stream` has no effect, because each request sets it. \
             `options.temperature` has no effect, because requests use 0.1.",
        ),
        (
            json!({ "provider": "anthropic", "options": { "system": "x", "max_tokens": 5 } }),
            "`options.system` has no effect, because each request sets it.",
        ),
        (
            json!({ "provider": "mistral", "keepAlive": "5m" }),
            "`keepAlive` has no effect, because only `ollama` takes it.",
        ),
        (
            json!({ "provider": "openai", "toolRole": "user" }),
            "`toolRole` has no effect, because `toolCalls` is `native`.",
        ),
        (
            json!({ "provider": "openai", "toolRole": "user", "toolCalls": "xml" }),
            "",
        ),
        (
            json!({ "provider": "ollama", "toolRole": "user", "keepAlive": 5, "options": { "stop": "x" } }),
            "",
        ),
    ];
    for (fields, expected) in cases {
        assert_eq!(problems(&fields), expected, "{fields}");
    }
}

#[test]
fn think_takes_the_levels_that_its_provider_knows() {
    let levels = ["minimal", "low", "medium", "high", "xhigh", "max"];
    for (provider, unknown) in [
        ("ollama", &["minimal", "xhigh"][..]),
        ("openai", &[]),
        ("mistral", &["minimal", "xhigh", "max"]),
        ("anthropic", &["minimal"]),
    ] {
        for level in levels {
            let fields = json!({ "provider": provider, "think": level });
            let rejected =
                format!("`think` is `{level}`, which `{provider}` does not take; it takes `true`,");
            let is_rejected = problems(&fields).starts_with(&rejected);
            assert_eq!(is_rejected, unknown.contains(&level), "{fields}");
        }
    }
    let think = |value: Value| {
        let entry = json!({ "name": "m", "provider": "anthropic", "think": value });
        one_model(entry).settings().models[0].think
    };
    assert_eq!(think(json!("XHigh")), Some(Think::XHigh));
    assert_eq!(think(json!("max")), Some(Think::Max));
    assert_eq!(think(json!(true)), Some(Think::On));
    assert_eq!(think(json!("false")), Some(Think::Off));
    assert_eq!(think(json!("minimal")), None);
}

//! Keys and conversations go only to the configured server, and nothing secret is logged. Also
//! rejected parameters, loaded models and scripted providers.

use super::notice_text::notice_text;
use crate::providers::model_server::*;
use crate::providers::requests::*;
use crate::scoped_subscriber::set_scoped_subscriber;
use crate::support::fixtures::model_config;
use futures::StreamExt;
use humble::domain::model::{ApiKey, Secret};
use humble::domain::{Message, ProviderKind, SecretRegistry};
use humble::log::TracingLayer;
use humble::provider::{EndReason, FailureCause, Provider, Script, ScriptStep, StreamPart};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;
use tracing_subscriber::layer::SubscriberExt;

#[tokio::test]
async fn redirect_to_a_different_origin_is_not_followed() {
    let (server, other) = (ModelServer::start(), ModelServer::start());
    let target = format!("{}{CHAT}?x=1", other.url().replace("//", "//user:secret@"));
    server.queue_reply(CHAT, Reply::status(307).header("location", &target));
    let expected = FailureCause::Redirected {
        to: format!("{}{CHAT}", other.url()),
    };
    let model = with_key(ollama(&server), "sk-12345");
    assert_eq!(failure_cause(&model).await, expected);
    assert!(
        other.requests().is_empty(),
        "neither the key nor the conversation was sent there"
    );
}

#[tokio::test]
async fn redirect_within_the_origin_keeps_body_and_key() {
    let server = ModelServer::start();
    server.queue_reply(
        CHAT,
        Reply::status(308).header("location", "/moved/api/chat"),
    );
    server.queue_reply("/moved/api/chat", ollama_text(&["안녕"]));
    let decoded = ask(&with_key(ollama(&server), "sk-12345")).await;
    assert_eq!(decoded.text, "안녕");
    let moved = &server.requests()[1];
    assert_eq!(moved.header("authorization"), Some("Bearer sk-12345"));
    assert_eq!(moved.body["messages"][0]["content"], "안녕");
    // Status 302 would turn the POST into a GET, so it is not followed.
    server.queue_reply(
        CHAT,
        Reply::status(302).header("location", "/moved/api/chat"),
    );
    let redirected = failure_cause(&ollama(&server)).await;
    assert!(matches!(redirected, FailureCause::Redirected { .. }));
}

#[tokio::test]
async fn rejected_temperature_is_omitted_from_then_on() {
    let server = ModelServer::start();
    let message = "Unsupported value: 'temperature' does not support 0.1 with this model.";
    server.queue_reply(COMPLETIONS, openai_error(400, message, Some("temperature")));
    server.always_reply(COMPLETIONS, openai_text(&["x"]));
    let provider = Provider::new();
    let model = openai(&server);
    let first = collect_parts(provider.stream(request(&model))).await;
    let Ok(StreamPart::Notice(notice)) = &first[0] else {
        panic!("{first:?}");
    };
    let expected = format!(
        "`qwen3:4b` at {} does not accept the temperature 0.1. The request was sent again without it. This applies to later requests too, until humble exits.",
        server.url()
    );
    assert_eq!(notice_text(notice), expected);
    let second = collect_parts(provider.clone().stream(request(&model))).await;
    assert_eq!(second[0], Ok(StreamPart::Text("x".into())), "reported once");
    let mut other_model = model.clone();
    other_model.model = "other".into();
    collect_parts(provider.stream(request(&other_model))).await;
    let bodies = server.bodies(COMPLETIONS).into_iter();
    let temperatures: Vec<_> = bodies
        .map(|body| body.get("temperature").cloned())
        .collect();
    let usual = Some(Value::from(0.1));
    assert_eq!(temperatures, [usual.clone(), None, None, usual]);
}

#[tokio::test]
async fn parameter_is_omitted_only_once_and_only_if_it_was_rejected() {
    let server = ModelServer::start();
    let rejection = openai_error(400, "temperature is wrong", None);
    server.always_reply(COMPLETIONS, rejection);
    let failure = status_failure(400, "temperature is wrong");
    let provider = Provider::new();
    let decoded = ask_with(&provider, &openai(&server)).await;
    assert_eq!(decoded.failed, Some(failure.clone()));
    assert_eq!(server.requests().len(), 2);
    // A fallback that did not help is not remembered.
    ask_with(&provider, &openai(&server)).await;
    assert_eq!(server.bodies(COMPLETIONS)[2]["temperature"], 0.1);
    let unrelated = openai_error(400, "no temperature here", Some("messages"));
    server.always_reply(COMPLETIONS, unrelated);
    ask_with(&provider, &openai(&server)).await;
    assert_eq!(
        server.requests().len(),
        5,
        "error is about another parameter"
    );
}

#[tokio::test]
async fn several_rejected_parameters_are_replaced_one_by_one() {
    let server = ModelServer::start();
    let mut model = openai(&server);
    model.options = json!({"max_tokens": 9}).as_object().unwrap().clone();
    let rejection = |message, param| openai_error(400, message, Some(param));
    server.queue_reply(
        COMPLETIONS,
        rejection("Unsupported parameter", "max_tokens"),
    );
    server.queue_reply(COMPLETIONS, rejection("Unsupported value", "temperature"));
    server.queue_reply(
        COMPLETIONS,
        rejection("With tools, set it to 'none'.", "reasoning_effort"),
    );
    server.queue_reply(COMPLETIONS, openai_text(&["x"]));
    assert_eq!(ask(&model).await.text, "x");
    let last = server.bodies(COMPLETIONS).remove(3);
    let expected = json!({
        "model": "qwen3:4b",
        "messages": [{"role": "user", "content": "안녕"}],
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_completion_tokens": 9,
        "reasoning_effort": "none",
    });
    assert_eq!(last, expected);
}

#[tokio::test]
async fn invalid_model_settings_are_reported_before_anything_is_sent() {
    let server = ModelServer::start();
    let mut model = openai(&server);
    model.api_key = ApiKey::MissingVariable("MY_KEY".into());
    let variable = "MY_KEY".into();
    assert_eq!(
        failure_cause(&model).await,
        FailureCause::MissingKey { variable }
    );
    model.api_key = ApiKey::Known(Secret::new("two\nlines"));
    assert!(matches!(
        failure_cause(&model).await,
        FailureCause::UnusableKey { .. }
    ));
    model.api_key = ApiKey::NotNeeded;
    model.provider = ProviderKind::Scripted;
    assert_eq!(failure_cause(&model).await, FailureCause::Unsupported);
    model.provider = ProviderKind::OpenAi;
    for url in ["localhost:11434", "ftp://localhost", "nonsense", ""] {
        model.base_url = url.into();
        assert!(
            matches!(
                failure_cause(&model).await,
                FailureCause::InvalidBaseUrl { why, .. } if why.starts_with("start the address with http")
            ),
            "{url}"
        );
    }
    model.base_url = server.url().replace("http:", "https:");
    model.ca_file = Some("/nonexistent/ca.pem".into());
    assert!(matches!(
        failure_cause(&model).await,
        FailureCause::InvalidCaFile { .. }
    ));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn loaded_model_is_found_with_and_without_its_tag() {
    let server = ModelServer::start();
    let provider = Provider::new();
    let mut model = ollama(&server);
    assert_eq!(provider.is_loaded(&model).await, Some(false));
    server.always_reply("/api/ps", ollama_loaded(&["qwen3:4b", "llama3:latest"]));
    assert_eq!(provider.is_loaded(&model).await, Some(true));
    model.model = "llama3".into();
    assert_eq!(provider.is_loaded(&model).await, Some(true));
    model.model = "qwen3".into();
    assert_eq!(provider.is_loaded(&model).await, Some(false));
    server.queue_reply("/api/ps", Reply::status(500));
    assert_eq!(provider.is_loaded(&model).await, None);
    server.queue_reply("/api/ps", Reply::status(200).hang());
    assert_eq!(provider.is_loaded(&model).await, None, "a hanging answer");
    assert_eq!(provider.is_loaded(&openai(&server)).await, None);
}

#[tokio::test(start_paused = true)]
async fn the_scripted_provider_replays_its_script_and_records_requests() {
    let model = model_config(ProviderKind::Ollama, "http://localhost:11434");
    let script = Script::default()
        .round([
            ScriptStep::text("안"),
            ScriptStep::Wait(Duration::from_secs(5)),
            ScriptStep::end(),
        ])
        .round([ScriptStep::text("녕")])
        .round([
            ScriptStep::Fail(FailureCause::ConnectionRefused),
            ScriptStep::text("never"),
        ]);
    let requests = script.requests();
    let provider = Provider::scripted(script);
    let decoded = ask_with(&provider, &model).await;
    assert_eq!(
        (decoded.text.as_str(), decoded.end),
        ("안", Some(EndReason::Stop))
    );
    let decoded = ask_with(&provider, &model).await;
    assert_eq!(
        (decoded.text.as_str(), decoded.failed),
        ("녕", Some(FailureCause::ReplyCutOff))
    );
    assert_eq!(
        ask_with(&provider, &model).await.failed,
        Some(FailureCause::ConnectionRefused)
    );
    let exhausted = Some(FailureCause::ScriptExhausted { rounds: 3 });
    assert_eq!(ask_with(&provider, &model).await.failed, exhausted);
    assert_eq!(requests.count(), 4);
    assert_eq!(requests.all()[0].messages, [Message::User("안녕".into())]);
    let hanging = Provider::scripted(Script::new([vec![ScriptStep::Hang]]));
    let mut stream = hanging.stream(request(&model));
    let hour = Duration::from_secs(3600);
    let result = tokio::time::timeout(hour, stream.next()).await;
    assert!(result.is_err(), "stream hangs");
}

#[test]
fn loopback_addresses_bypass_the_proxy() {
    let server = ModelServer::start();
    server.queue_reply(CHAT, ollama_text(&["안녕"]));
    let nowhere = "http://127.0.0.1:1";
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "providers::request_privacy::server_started_by_another_process_answers",
        ])
        .env("HUMBLE_TEST_SERVER", server.url())
        .envs(["http_proxy", "HTTP_PROXY", "ALL_PROXY"].map(|name| (name, nowhere)))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(server.requests().len(), 1);
}

/// The child process of the test above. Does nothing in a normal run.
#[tokio::test]
async fn server_started_by_another_process_answers() {
    let Ok(url) = std::env::var("HUMBLE_TEST_SERVER") else {
        return;
    };
    let decoded = ask(&model_config(ProviderKind::Ollama, &url)).await;
    assert_eq!(decoded.text, "안녕", "{decoded:?}");
}

#[tokio::test]
async fn debug_log_contains_request_and_reply_but_never_the_key() {
    let server = ModelServer::start();
    server.queue_reply(COMPLETIONS, openai_text(&["your key is sk-12345"]));
    server.queue_reply(COMPLETIONS, openai_error(401, "wrong: sk-12345", None));
    let (folder, secrets) = (tempfile::tempdir().unwrap(), SecretRegistry::default());
    let level = tracing::Level::TRACE;
    let (layer, _) = TracingLayer::new(folder.path(), level, secrets.clone(), |_| {});
    let guard = set_scoped_subscriber(tracing_subscriber::registry().with(layer));
    let provider = Provider::with_secrets(secrets);
    let mut model = with_key(openai(&server), "sk-12345");
    model.options = json!({"user": "sk-12345"}).as_object().unwrap().clone();
    ask_with(&provider, &model).await;
    ask_with(&provider, &model).await;
    drop(guard);
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap();
    let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
    assert!(text.contains(r#""content":"안녕""#), "{text}");
    assert!(text.contains("your key is [hidden]"), "{text}");
    assert!(text.contains("wrong: [hidden]"), "{text}");
    assert!(!text.contains("sk-12345"), "{text}");
}

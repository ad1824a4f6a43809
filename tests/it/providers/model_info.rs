//! Information about one model, from the responses of each kind of server.

use crate::providers::model_server::*;
use crate::providers::requests::*;
use crate::support::fixtures::model_config;
use humble::domain::{ModelConfig, ModelInfo, ProviderKind};
use humble::provider::{FailureCause, Provider, ProviderError, Script};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SHOW: &str = "/api/show";
const PS: &str = "/api/ps";
const MODELS: &str = "/v1/models";

async fn model_info(model: &ModelConfig) -> Result<ModelInfo, ProviderError> {
    let provider = Provider::new();
    let answer = tokio::time::timeout(Duration::from_secs(8), provider.model_info(model)).await;
    answer.expect("call ends before its deadline")
}

fn strings(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

fn queue_show_reply(server: &ModelServer, answer: Value) {
    server.queue_reply(SHOW, Reply::json(200, &answer));
}

#[tokio::test]
async fn ollama_reports_context_sizes_capabilities_and_details() {
    let server = ModelServer::start();
    queue_show_reply(
        &server,
        json!({
            "parameters": "stop                           \"<|im_end|>\"\nnum_ctx                        8192",
            "template": "{{ .Prompt }}",
            "details": {"family": "qwen3", "parameter_size": "4.0B", "quantization_level": "Q4_K_M"},
            "model_info": {
                "general.architecture": "qwen3",
                "clip.context_length": 77,
                "qwen3.context_length": 40960,
            },
            "capabilities": ["completion", "tools", "thinking"],
        }),
    );
    let loaded = json!({"models": [
        {"name": "other:latest", "model": "other:latest", "context_length": 1024},
        {"name": "qwen3:4b", "model": "qwen3:4b", "context_length": 16384},
    ]});
    server.queue_reply(PS, Reply::json(200, &loaded));
    let expected = ModelInfo {
        context_length: Some(40960),
        num_ctx: Some(8192),
        loaded_context: Some(16384),
        template_supports_tools: Some(true),
        capabilities: strings(&["completion", "tools", "thinking"]),
        family: Some("qwen3".into()),
        parameter_size: Some("4.0B".into()),
        quantization: Some("Q4_K_M".into()),
    };
    assert_eq!(model_info(&ollama(&server)).await, Ok(expected));
    assert_eq!(server.bodies(SHOW), [json!({"model": "qwen3:4b"})]);
}

#[tokio::test]
async fn tool_support_of_an_older_ollama_is_read_from_the_template() {
    let server = ModelServer::start();
    let cases = [
        ("{{ if .Tools }}x{{ end }}", Some(true)),
        ("{% if message.role == 'tool' %}", Some(true)),
        ("{{ .System }} {{ .Prompt }}", Some(false)),
        (" ", None),
    ];
    for (template, expected) in cases {
        queue_show_reply(&server, json!({"template": template, "model_info": {}}));
        let info = model_info(&ollama(&server)).await.expect("server answers");
        assert_eq!(info.template_supports_tools, expected, "{template}");
        assert_eq!(info.has_capability("tools"), None, "nothing is listed");
    }
}

#[tokio::test]
async fn listed_capabilities_take_precedence_over_the_template() {
    let server = ModelServer::start();
    queue_show_reply(
        &server,
        json!({"template": "{{ .Tools }}", "capabilities": ["completion"]}),
    );
    let info = model_info(&ollama(&server)).await.expect("server answers");
    assert_eq!(info.template_supports_tools, Some(false));
    assert_eq!(info.has_capability("tools"), Some(false));
    assert_eq!(info.has_capability("completion"), Some(true));
}

#[tokio::test]
async fn malformed_fields_are_skipped_and_the_rest_is_read() {
    let server = ModelServer::start();
    let many: Vec<_> = (0..100).map(|n| format!("ability {n}")).collect();
    queue_show_reply(
        &server,
        json!({
            "parameters": "num_ctx many\nnum_ctx 2048\nnum_ctx 0\nnum_ctx",
            "details": {"family": ["x"], "parameter_size": "y".repeat(500)},
            "model_info": {"a.context_length": "long", "b.context_length": -1},
            "capabilities": many,
        }),
    );
    server.queue_reply(PS, ollama_error(500, "no"));
    let info = model_info(&ollama(&server)).await.expect("server answers");
    let expected = ModelInfo {
        num_ctx: Some(2048),
        template_supports_tools: Some(false),
        capabilities: many[..16].to_vec(),
        ..ModelInfo::default()
    };
    assert_eq!(info, expected);
}

#[tokio::test]
async fn missing_ollama_model_is_an_error_with_pull_advice() {
    let server = ModelServer::start();
    server.queue_reply(SHOW, ollama_error(404, "model 'qwen3:4b' not found"));
    let error = model_info(&ollama(&server))
        .await
        .expect_err("model is missing");
    assert_eq!(
        error.cause,
        status_failure(404, "model 'qwen3:4b' not found")
    );
    assert!(error.to_string().contains("qwen3:4b"), "{error}");
}

#[tokio::test]
async fn silent_server_times_out_after_three_seconds() {
    let server = ModelServer::start();
    server.queue_reply(SHOW, Reply::status(200).chunk("{").hang());
    let started = Instant::now();
    let error = model_info(&ollama(&server))
        .await
        .expect_err("server hangs");
    assert_eq!(error.cause, FailureCause::Timeout { seconds: 3 });
    assert!(started.elapsed() < Duration::from_secs(5));
    let text = format!(
        "{} did not answer within 3 s. Check the network and the server's log, then try again.",
        server.url()
    );
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn hanging_query_for_loaded_models_does_not_affect_other_information() {
    let server = ModelServer::start();
    server.queue_reply(PS, Reply::status(200).hang());
    let info = model_info(&ollama(&server)).await.expect("server answers");
    assert_eq!(info.context_length, Some(40960));
    assert_eq!(info.loaded_context, None);
}

#[tokio::test]
async fn llama_cpp_reports_both_the_model_context_and_the_loaded_one() {
    let server = ModelServer::start();
    let list = json!({"object": "list", "data": [{
        "id": "/models/qwen3.gguf", "object": "model", "owned_by": "llamacpp",
        "meta": {"n_ctx_train": 40960, "n_params": 4, "size": 2600},
    }]});
    server.queue_reply(MODELS, Reply::json(200, &list));
    let props = json!({"default_generation_settings": {"n_ctx": 8192}});
    server.queue_reply("/props", Reply::json(200, &props));
    let expected = ModelInfo {
        context_length: Some(40960),
        loaded_context: Some(8192),
        ..ModelInfo::default()
    };
    assert_eq!(model_info(&openai(&server)).await, Ok(expected));
}

#[tokio::test]
async fn list_of_several_models_is_searched_by_name_without_further_requests() {
    let server = ModelServer::start();
    let list = json!({"data": [
        {"id": "other", "max_model_len": 1},
        {"id": "qwen3:4b", "max_model_len": 32768},
    ]});
    server.queue_reply(MODELS, Reply::json(200, &list));
    let info = model_info(&openai(&server)).await.expect("server answers");
    assert_eq!(info.context_length, Some(32768));
    server.queue_reply(
        MODELS,
        Reply::json(200, &json!({"data": [{"id": "a"}, {"id": "b"}]})),
    );
    assert_eq!(model_info(&openai(&server)).await, Ok(ModelInfo::default()));
    assert_eq!(server.requests().len(), 2, "`/props` is not requested");
}

#[tokio::test]
async fn mistral_reports_context_length_and_capabilities() {
    let server = ModelServer::start();
    let list = json!({"object": "list", "data": [{
        "id": "qwen3:4b", "object": "model", "max_context_length": 131072,
        "capabilities": {"completion_chat": true, "function_calling": true, "vision": false},
    }]});
    server.queue_reply(MODELS, Reply::json(200, &list));
    let mistral = model_config(ProviderKind::Mistral, &format!("{}/v1", server.url()));
    let expected = ModelInfo {
        context_length: Some(131072),
        capabilities: strings(&["completion", "tools"]),
        ..ModelInfo::default()
    };
    assert_eq!(model_info(&mistral).await, Ok(expected));
}

#[tokio::test]
async fn scripted_provider_has_no_model_info() {
    let scripted = Provider::scripted(Script::new([]));
    let model = model_config(ProviderKind::Scripted, "http://localhost:1");
    assert_eq!(scripted.model_info(&model).await, Ok(ModelInfo::default()));
}

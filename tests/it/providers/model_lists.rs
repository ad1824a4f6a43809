//! Model lists of each kind of server.

use crate::providers::model_server::*;
use crate::providers::requests::*;
use crate::support::fixtures::model_config;
use humble::domain::{ListedModel, ModelConfig, ModelInfo, ModelList, ProviderKind};
use humble::provider::{FailureCause, Provider, ProviderError, error::MalformedReply};
use serde_json::json;
use std::time::Duration;

const TAGS: &str = "/api/tags";
const MODELS: &str = "/v1/models";

async fn list_models(model: &ModelConfig) -> Result<ModelList, ProviderError> {
    let provider = Provider::new();
    let request = provider.list_models(model, Duration::from_secs(5));
    let answer = tokio::time::timeout(Duration::from_secs(9), request).await;
    answer.expect("call ends before its deadline")
}

fn named(name: &str) -> ListedModel {
    ListedModel {
        name: name.to_owned(),
        ..ListedModel::default()
    }
}

#[tokio::test]
async fn ollama_lists_names_sizes_capabilities_and_loaded_models() {
    let server = ModelServer::start();
    let tags = json!({"models": [
        {"name": "qwen3:4b", "size": 2497293931u64, "details": {"family": "qwen3", "parameter_size": "4.0B", "quantization_level": "Q4_K_M"}},
        {"model": "gone:latest", "size": 1},
        {"name": "  "}, {"size": 5}, 7,
    ]});
    server.queue_reply(TAGS, Reply::json(200, &tags));
    let show = json!({
        "capabilities": ["completion", "tools"],
        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
    });
    // The details of both models are requested at once, in either order.
    server.always_reply("/api/show", Reply::json(200, &show));
    server.queue_reply("/api/ps", ollama_loaded(&["gone"]));
    let listed = list_models(&ollama(&server)).await.expect("server answers");
    let details = ModelInfo {
        context_length: Some(40960),
        template_supports_tools: Some(true),
        capabilities: vec!["completion".into(), "tools".into()],
        ..ModelInfo::default()
    };
    let qwen = ListedModel {
        name: "qwen3:4b".into(),
        bytes: Some(2497293931),
        is_loaded: Some(false),
        info: ModelInfo {
            family: Some("qwen3".into()),
            parameter_size: Some("4.0B".into()),
            quantization: Some("Q4_K_M".into()),
            ..details.clone()
        },
    };
    let gone = ListedModel {
        name: "gone:latest".into(),
        bytes: Some(1),
        is_loaded: Some(true),
        info: ModelInfo {
            loaded_context: Some(4096),
            ..details
        },
    };
    assert_eq!(listed.models, [qwen, gone]);
    assert!(!listed.is_truncated);
}

#[tokio::test]
async fn models_are_listed_even_if_ollama_hangs_on_their_details() {
    let server = ModelServer::start();
    let models: Vec<_> = (0..30).map(|n| json!({"name": format!("m{n}")})).collect();
    server.queue_reply(TAGS, Reply::json(200, &json!({"models": models})));
    server.always_reply("/api/show", Reply::status(200).hang());
    server.always_reply("/api/ps", Reply::status(200).hang());
    let listed = list_models(&ollama(&server))
        .await
        .expect("list is complete");
    let expected: Vec<_> = (0..30).map(|n| named(&format!("m{n}"))).collect();
    assert_eq!(listed.models, expected);
    let requests = server.bodies("/api/show").len();
    assert_eq!(requests, 4, "at most four requests are open at once");
}

#[tokio::test]
async fn an_overlong_list_of_models_is_truncated_and_marked() {
    let server = ModelServer::start();
    let models: Vec<_> = (0..501).map(|n| json!({"id": format!("m{n}")})).collect();
    server.queue_reply(MODELS, Reply::json(200, &json!({"data": models})));
    let listed = list_models(&openai(&server)).await.expect("server answers");
    assert_eq!((listed.models.len(), listed.is_truncated), (500, true));
}

#[tokio::test]
async fn anthropic_pages_are_joined() {
    let server = ModelServer::start();
    let page = json!({"data": [{"id": "claude-a", "type": "model"}], "has_more": true, "last_id": "claude-a"});
    server.queue_reply(MODELS, Reply::json(200, &page));
    let page = json!({"data": [{"id": "claude-b", "max_input_tokens": 200000}], "has_more": false, "last_id": "claude-b"});
    server.queue_reply(MODELS, Reply::json(200, &page));
    let anthropic = model_config(ProviderKind::Anthropic, &format!("{}/v1", server.url()));
    let listed = list_models(&anthropic).await.expect("server answers");
    let mut second = named("claude-b");
    second.info.context_length = Some(200000);
    assert_eq!(listed.models, [named("claude-a"), second]);
    assert!(!listed.is_truncated);
}

#[tokio::test]
async fn endless_pages_of_models_are_abandoned() {
    let server = ModelServer::start();
    let page = json!({"data": [{"id": "again"}], "has_more": true, "last_id": "again"});
    server.always_reply(MODELS, Reply::json(200, &page));
    let anthropic = model_config(ProviderKind::Anthropic, &format!("{}/v1", server.url()));
    let listed = list_models(&anthropic).await.expect("server answers");
    assert!(listed.is_truncated);
    assert_eq!(server.requests().len(), 10);
}

#[tokio::test]
async fn response_that_is_not_a_list_is_an_error() {
    let server = ModelServer::start();
    server.queue_reply(TAGS, Reply::json(200, &json!({"models": null})));
    assert_eq!(
        list_models(&ollama(&server)).await,
        Ok(ModelList::default())
    );
    let no_list = FailureCause::Malformed(MalformedReply::NotAModelList);
    server.queue_reply(TAGS, Reply::json(200, &json!({"data": []})));
    let error = list_models(&ollama(&server))
        .await
        .expect_err("not an Ollama list");
    assert_eq!(error.cause, no_list);
    server.queue_reply(MODELS, Reply::json(200, &json!({"models": []})));
    let error = list_models(&openai(&server))
        .await
        .expect_err("not an OpenAI list");
    assert_eq!(error.cause, no_list);
    assert!(
        error.to_string().contains("not a list of models"),
        "{error}"
    );
    server.queue_reply(TAGS, Reply::status(200).chunk("<html>"));
    let error = list_models(&ollama(&server)).await.expect_err("a web page");
    assert_eq!(
        error.cause,
        FailureCause::Malformed(MalformedReply::WebPage)
    );
}

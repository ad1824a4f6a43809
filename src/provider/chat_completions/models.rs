//! Lists the models of a server with `/v1/models`. llama.cpp reports the context size in use only
//! at `/props`, which is outside `/v1`.

use crate::domain::{ListedModel, ModelInfo, ModelList};
use crate::provider::error::FailureCause;
use crate::provider::model_list::{NOT_A_MODEL_LIST, parse_model_list, token_count};
use crate::provider::server_client::ServerClient;
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// `/props` is abandoned this long before the overall deadline.
const PROPS_RESERVE: Duration = Duration::from_millis(500);

pub(in crate::provider) async fn list(
    server: &ServerClient,
    deadline: Instant,
) -> Result<ModelList, FailureCause> {
    let models = listed_models(server, deadline).await?;
    Ok(ModelList {
        models,
        is_truncated: false,
    })
}

pub(in crate::provider) async fn model_info(
    server: &ServerClient,
    deadline: Instant,
) -> Result<ModelInfo, FailureCause> {
    let models = listed_models(server, deadline).await?;
    // A server with a single model uses it for any requested name.
    let is_only_model = models.len() == 1;
    let listed = models
        .into_iter()
        .find(|listed| is_only_model || listed.name == server.model.model);
    Ok(listed.map(|listed| listed.info).unwrap_or_default())
}

async fn listed_models(
    server: &ServerClient,
    deadline: Instant,
) -> Result<Vec<ListedModel>, FailureCause> {
    let list = server.get_json("models").await?;
    let mut models = parse_model_list(&list).ok_or(NOT_A_MODEL_LIST)?;
    if let [only] = models.as_mut_slice()
        && is_llama_cpp(&list)
        && only.info.loaded_context.is_none()
    {
        only.info.loaded_context = llama_cpp_context(server, deadline).await;
    }
    Ok(models)
}

async fn llama_cpp_context(server: &ServerClient, deadline: Instant) -> Option<u32> {
    let (root, _) = server.model.base_url.rsplit_once('/')?;
    let root = server.with_base_url(root);
    let props = timeout_at(deadline - PROPS_RESERVE, root.get_json("props")).await;
    let props = props.ok()?.ok()?;
    let n_ctx = "/default_generation_settings/n_ctx";
    token_count(props.pointer(n_ctx).or_else(|| props.get("n_ctx")))
}

fn is_llama_cpp(list: &Value) -> bool {
    list.pointer("/data/0/owned_by").and_then(Value::as_str) == Some("llamacpp")
        || list.pointer("/data/0/meta/n_ctx_train").is_some()
}

//! Asks an Ollama server for its models, for their details, and for the models in memory.

use super::model_info::{loaded_from_ps, model_info_from_show, models_from_tags};
use crate::domain::model_info::is_same_model;
use crate::domain::{ModelInfo, ModelList};
use crate::provider::error::FailureCause;
use crate::provider::model_list::{MODELS_MAX, NOT_A_MODEL_LIST};
use crate::provider::server_client::ServerClient;
use futures::stream::{self, StreamExt};
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Concurrent requests.
const DETAIL_REQUESTS_MAX: usize = 4;

/// Optional requests are abandoned this long before the overall deadline: `/api/ps` for one
/// model, `/api/ps` for a list, and `/api/show` for each model of a list.
const LOADED_CONTEXT_RESERVE: Duration = Duration::from_millis(500);
const LOADED_MODELS_RESERVE: Duration = Duration::from_secs(1);
const DETAILS_RESERVE: Duration = Duration::from_millis(250);

pub(super) async fn model_info(
    server: &ServerClient,
    deadline: Instant,
) -> Result<ModelInfo, FailureCause> {
    let name = &server.model.model;
    let body = json!({"model": name});
    let show = server.post_json("api/show", &body);
    let loaded = timeout_at(deadline - LOADED_CONTEXT_RESERVE, loaded_models(server));
    let (show, loaded) = tokio::join!(show, loaded);
    let mut info = model_info_from_show(&show?);
    let loaded = loaded.ok().flatten().unwrap_or_default();
    info.loaded_context = loaded
        .iter()
        .find(|(loaded_name, _)| is_same_model(loaded_name, name))
        .and_then(|(_, context)| *context);
    Ok(info)
}

pub(super) async fn list(
    server: &ServerClient,
    deadline: Instant,
) -> Result<ModelList, FailureCause> {
    let tags = server.get_json("api/tags");
    let loaded = timeout_at(deadline - LOADED_MODELS_RESERVE, loaded_models(server));
    let (tags, loaded) = tokio::join!(tags, loaded);
    let mut models = models_from_tags(&tags?).ok_or(NOT_A_MODEL_LIST)?;
    let is_truncated = models.len() > MODELS_MAX;
    models.truncate(MODELS_MAX);
    let details_deadline = deadline - DETAILS_RESERVE;
    let loaded = loaded.ok().flatten();
    let detailed = models.into_iter().map(|mut model| async {
        let body = json!({"model": model.name});
        let show = server.post_json("api/show", &body);
        if Instant::now() < details_deadline
            && let Ok(Ok(show)) = timeout_at(details_deadline, show).await
        {
            let listed = std::mem::replace(&mut model.info, model_info_from_show(&show));
            let info = &mut model.info;
            info.family = info.family.take().or(listed.family);
            info.parameter_size = info.parameter_size.take().or(listed.parameter_size);
            info.quantization = info.quantization.take().or(listed.quantization);
        }
        if let Some(loaded) = &loaded {
            let mut loaded = loaded.iter();
            let in_memory = loaded.find(|(name, _)| is_same_model(name, &model.name));
            model.is_loaded = Some(in_memory.is_some());
            model.info.loaded_context = in_memory.and_then(|(_, context)| *context);
        }
        model
    });
    let models = stream::iter(detailed)
        .buffered(DETAIL_REQUESTS_MAX)
        .collect()
        .await;
    Ok(ModelList {
        models,
        is_truncated,
    })
}

pub(super) async fn is_loaded(server: &ServerClient) -> Option<bool> {
    let loaded = loaded_models(server).await?;
    let is_requested = |(name, _): &(String, _)| is_same_model(name, &server.model.model);
    Some(loaded.iter().any(is_requested))
}

/// The models in memory, each with its context size. `None` if the server does not report them.
async fn loaded_models(server: &ServerClient) -> Option<Vec<(String, Option<u32>)>> {
    let ps = server.get_json("api/ps").await.ok()?;
    loaded_from_ps(&ps)
}

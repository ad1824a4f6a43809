//! Asks an Ollama server for its models: the list, the details of each model, and which
//! ones are in memory.

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

/// How many models' details are requested at once.
const OPEN_MAX: usize = 4;

/// How long before the overall deadline optional details are abandoned.
const FACTS_RESERVE: Duration = Duration::from_millis(500);
const LOADED_RESERVE: Duration = Duration::from_secs(1);
const DETAILS_RESERVE: Duration = Duration::from_millis(250);

pub(super) async fn model_info(
    server: &ServerClient,
    deadline: Instant,
) -> Result<ModelInfo, FailureCause> {
    let name = &server.model.model;
    let body = json!({"model": name});
    let show = server.post_json("api/show", &body);
    let loaded = timeout_at(deadline - FACTS_RESERVE, loaded(server));
    let (show, loaded) = tokio::join!(show, loaded);
    let mut facts = model_info_from_show(&show?);
    let loaded = loaded.ok().flatten().unwrap_or_default();
    facts.loaded_context = loaded
        .iter()
        .find(|(loaded, _)| is_same_model(loaded, name))
        .and_then(|(_, context)| *context);
    Ok(facts)
}

pub(super) async fn list(
    server: &ServerClient,
    deadline: Instant,
) -> Result<ModelList, FailureCause> {
    let tags = server.get_json("api/tags");
    let loaded = timeout_at(deadline - LOADED_RESERVE, loaded(server));
    let (tags, loaded) = tokio::join!(tags, loaded);
    let mut models = models_from_tags(&tags?).ok_or(NOT_A_MODEL_LIST)?;
    let is_cut = models.len() > MODELS_MAX;
    models.truncate(MODELS_MAX);
    let details_until = deadline - DETAILS_RESERVE;
    let loaded = loaded.ok().flatten();
    let detailed = models.into_iter().map(|mut model| async {
        let body = json!({"model": model.name});
        let show = server.post_json("api/show", &body);
        if Instant::now() < details_until
            && let Ok(Ok(show)) = timeout_at(details_until, show).await
        {
            let listed = std::mem::replace(&mut model.info, model_info_from_show(&show));
            let facts = &mut model.info;
            facts.family = facts.family.take().or(listed.family);
            facts.parameter_size = facts.parameter_size.take().or(listed.parameter_size);
            facts.quantization = facts.quantization.take().or(listed.quantization);
        }
        if let Some(loaded) = &loaded {
            let mut loaded = loaded.iter();
            let found = loaded.find(|(name, _)| is_same_model(name, &model.name));
            model.is_loaded = Some(found.is_some());
            model.info.loaded_context = found.and_then(|(_, context)| *context);
        }
        model
    });
    let models = stream::iter(detailed).buffered(OPEN_MAX).collect().await;
    Ok(ModelList {
        models,
        is_truncated: is_cut,
    })
}

pub(super) async fn is_loaded(server: &ServerClient) -> Option<bool> {
    let loaded = loaded(server).await?;
    let is_this = |(name, _): &(String, _)| is_same_model(name, &server.model.model);
    Some(loaded.iter().any(is_this))
}

/// The models in memory, each with its context size. None if the server does not report them.
async fn loaded(server: &ServerClient) -> Option<Vec<(String, Option<u32>)>> {
    let ps = server.get_json("api/ps").await.ok()?;
    loaded_from_ps(&ps)
}

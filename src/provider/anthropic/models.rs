//! Anthropic's paged model list.

use crate::domain::ModelList;
use crate::provider::error::FailureCause;
use crate::provider::model_list::{MODELS_MAX, NOT_A_MODEL_LIST, parse_model_list};
use crate::provider::server_client::ServerClient;
use serde_json::Value;

/// Bounds the list of a server that repeats itself.
const PAGES_MAX: usize = 10;

/// Each page begins after the last model of the page before.
pub(super) async fn list(server: &ServerClient) -> Result<ModelList, FailureCause> {
    let mut models = Vec::new();
    let mut path = "models?limit=1000".to_owned();
    for _ in 0..PAGES_MAX {
        let page = server.get_json(&path).await?;
        models.extend(parse_model_list(&page).ok_or(NOT_A_MODEL_LIST)?);
        let is_cut = page.get("has_more").and_then(Value::as_bool) == Some(true);
        let last = page.get("last_id").and_then(Value::as_str);
        let Some(last) = last.filter(|_| is_cut && models.len() < MODELS_MAX) else {
            return Ok(ModelList {
                models,
                is_truncated: is_cut,
            });
        };
        let last: String = url::form_urlencoded::byte_serialize(last.as_bytes()).collect();
        path = format!("models?limit=1000&after_id={last}");
    }
    let is_cut = true;
    Ok(ModelList {
        models,
        is_truncated: is_cut,
    })
}

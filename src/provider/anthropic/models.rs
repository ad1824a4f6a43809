//! Anthropic's paginated model list.

use crate::domain::ModelList;
use crate::provider::error::FailureCause;
use crate::provider::model_list::{MODELS_MAX, NOT_A_MODEL_LIST, parse_model_list};
use crate::provider::server_client::ServerClient;
use serde_json::Value;

/// Bounds the number of requests if a server sends the same page again and again.
const PAGES_MAX: usize = 10;

/// Each page begins after the last model of the previous one.
pub(super) async fn list(server: &ServerClient) -> Result<ModelList, FailureCause> {
    let mut models = Vec::new();
    let mut path = "models?limit=1000".to_owned();
    for _ in 0..PAGES_MAX {
        let page = server.get_json(&path).await?;
        models.extend(parse_model_list(&page).ok_or(NOT_A_MODEL_LIST)?);
        let has_more = page.get("has_more").and_then(Value::as_bool) == Some(true);
        let last_id = page.get("last_id").and_then(Value::as_str);
        let Some(last_id) = last_id.filter(|_| has_more && models.len() < MODELS_MAX) else {
            return Ok(ModelList {
                models,
                is_truncated: has_more,
            });
        };
        let last_id: String = url::form_urlencoded::byte_serialize(last_id.as_bytes()).collect();
        path = format!("models?limit=1000&after_id={last_id}");
    }
    Ok(ModelList {
        models,
        is_truncated: true,
    })
}

//! Parses model lists in the format of `/v1/models`, and the names, capabilities and token counts
//! in any provider's model information. Pure.

use super::error::{FailureCause, MalformedReply};
use crate::domain::{ListedModel, ModelInfo};
use serde_json::Value;

/// Longer model lists are truncated.
pub(super) const MODELS_MAX: usize = 500;
pub(super) const NOT_A_MODEL_LIST: FailureCause =
    FailureCause::Malformed(MalformedReply::NotAModelList);
/// Models with longer names are ignored.
const NAME_BYTES_MAX: usize = 256;
const WORD_BYTES_MAX: usize = 64;
const CAPABILITIES_MAX: usize = 16;

/// The entries of `/v1/models` as sent by OpenAI-compatible servers, Mistral and Anthropic.
/// `None` if this is not a model list.
pub(super) fn parse_model_list(list: &Value) -> Option<Vec<ListedModel>> {
    // Some servers send the bare list.
    let entries = list.get("data").unwrap_or(list).as_array()?;
    Some(entries.iter().filter_map(parse_model).collect())
}

fn parse_model(entry: &Value) -> Option<ListedModel> {
    let first_count = |pointers: &str| {
        let mut pointers = pointers.split(' ');
        pointers.find_map(|pointer| token_count(entry.pointer(pointer)))
    };
    Some(ListedModel {
        name: bounded_name(entry.get("id"))?,
        bytes: entry.pointer("/meta/size").and_then(Value::as_u64),
        is_loaded: None,
        info: ModelInfo {
            context_length: first_count(
                "/max_context_length /max_model_len /meta/n_ctx_train /context_length \
                 /context_window /max_input_tokens",
            ),
            loaded_context: first_count("/meta/n_ctx /loaded_context_length"),
            capabilities: capabilities(entry.get("capabilities")),
            ..ModelInfo::default()
        },
    })
}

/// Reads a list of words, or an object whose values are `true` or `{"supported": true}`. Mistral's
/// names are translated to Ollama's.
fn capabilities(value: Option<&Value>) -> Vec<String> {
    let Some(Value::Object(capabilities)) = value else {
        return bounded_words(value);
    };
    let is_supported = |value: &Value| {
        let supported = value.get("supported").unwrap_or(value);
        supported.as_bool() == Some(true)
    };
    capabilities
        .iter()
        .filter(|(key, value)| is_supported(value) && key.len() <= WORD_BYTES_MAX)
        .map(|(key, _)| match key.as_str() {
            "function_calling" => "tools".to_owned(),
            "completion_chat" => "completion".to_owned(),
            "reasoning" => "thinking".to_owned(),
            other => other.to_owned(),
        })
        .take(CAPABILITIES_MAX)
        .collect()
}

pub(super) fn bounded_name(value: Option<&Value>) -> Option<String> {
    let name = value?.as_str()?;
    let is_valid = !name.trim().is_empty() && name.len() <= NAME_BYTES_MAX;
    is_valid.then(|| name.to_owned())
}

pub(super) fn bounded_word(value: Option<&Value>) -> Option<String> {
    bounded_name(value).filter(|word| word.len() <= WORD_BYTES_MAX)
}

pub(super) fn bounded_words(value: Option<&Value>) -> Vec<String> {
    let words = value.and_then(Value::as_array).into_iter().flatten();
    words
        .filter_map(|word| bounded_word(Some(word)))
        .take(CAPABILITIES_MAX)
        .collect()
}

/// `None` if it is zero, which means unknown.
pub(super) fn token_count(value: Option<&Value>) -> Option<u32> {
    let tokens = value?.as_u64().filter(|tokens| *tokens > 0)?;
    Some(u32::try_from(tokens).unwrap_or(u32::MAX))
}

//! Parses Ollama's information about models (`/api/show`, `/api/tags`, `/api/ps`). Pure.

use crate::domain::{ListedModel, ModelInfo};
use crate::provider::model_list::{bounded_name, bounded_word, bounded_words, token_count};
use serde_json::Value;

pub(super) fn model_info_from_show(show: &Value) -> ModelInfo {
    let capabilities = bounded_words(show.get("capabilities"));
    let reports_capabilities = show.get("capabilities").is_some_and(Value::is_array);
    let template = text(show, "/template").filter(|template| !template.trim().is_empty());
    let detail = |key: &str| bounded_word(show.pointer(&format!("/details/{key}")));
    ModelInfo {
        context_length: context_length(show),
        num_ctx: parameter(text(show, "/parameters").unwrap_or_default(), "num_ctx"),
        loaded_context: None,
        template_supports_tools: if reports_capabilities {
            Some(capabilities.iter().any(|capability| capability == "tools"))
        } else {
            template.map(mentions_tools)
        },
        capabilities,
        family: detail("family"),
        parameter_size: detail("parameter_size"),
        quantization: detail("quantization_level"),
    }
}

/// `model_info["<architecture>.context_length"]`. If the architecture is missing, the first key
/// that ends in `.context_length` is used.
fn context_length(show: &Value) -> Option<u32> {
    let info = show.get("model_info")?.as_object()?;
    let for_architecture = info
        .get("general.architecture")
        .and_then(Value::as_str)
        .and_then(|architecture| info.get(&format!("{architecture}.context_length")));
    let first_length = || {
        let mut entries = info.iter();
        let length = entries.find(|(key, _)| key.ends_with(".context_length"));
        length.map(|(_, value)| value)
    };
    token_count(for_architecture.or_else(first_length))
}

/// A number from a model file's parameters. If a parameter is repeated, its last value is used.
fn parameter(parameters: &str, name: &str) -> Option<u32> {
    let mut lines = parameters.lines().rev();
    lines.find_map(|line| {
        let mut words = line.split_whitespace();
        let value = words
            .next()
            .filter(|first| *first == name)
            .and(words.next())?;
        value.trim_matches('"').parse().ok().filter(|n| *n > 0)
    })
}

fn mentions_tools(template: &str) -> bool {
    [".Tools", "tools", "\"tool\"", "'tool'"]
        .iter()
        .any(|mention| template.contains(mention))
}

/// The entries of `/api/tags`: name, size and details. `None` if this is not a model list. A server
/// without models may send null instead of a list.
pub(super) fn models_from_tags(tags: &Value) -> Option<Vec<ListedModel>> {
    let models = match tags.get("models")? {
        Value::Array(models) => models.as_slice(),
        Value::Null => &[],
        _ => return None,
    };
    let models = models
        .iter()
        .filter_map(|entry| {
            let detail = |key: &str| bounded_word(entry.pointer(&format!("/details/{key}")));
            Some(ListedModel {
                name: bounded_name(entry.get("name"))
                    .or_else(|| bounded_name(entry.get("model")))?,
                bytes: entry.get("size").and_then(Value::as_u64),
                is_loaded: None,
                info: ModelInfo {
                    capabilities: bounded_words(entry.get("capabilities")),
                    family: detail("family"),
                    parameter_size: detail("parameter_size"),
                    quantization: detail("quantization_level"),
                    ..ModelInfo::default()
                },
            })
        })
        .collect();
    Some(models)
}

/// The names and the context size of each model in memory, from `/api/ps`: one item for each name.
/// `None` if this is not a model list.
pub(super) fn loaded_from_ps(ps: &Value) -> Option<Vec<(String, Option<u32>)>> {
    let models = ps.get("models")?.as_array()?;
    let loaded = models.iter().flat_map(|entry| {
        let context = token_count(entry.get("context_length"));
        ["name", "model"]
            .into_iter()
            .filter_map(|key| bounded_name(entry.get(key)))
            .map(move |name| (name, context))
    });
    Some(loaded.collect())
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

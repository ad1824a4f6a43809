//! Model lists in the form of `/v1/models`, and bounded readers for what servers report about
//! models. Pure.

use super::error::{Cause, Garbled};
use crate::domain::{ModelFacts, ServerModel};
use serde_json::Value;

/// Models of one server that are listed.
pub(super) const MODELS_MAX: usize = 500;
pub(super) const NO_LIST: Cause = Cause::Garbled(Garbled::NoList);
/// Longer names are ignored.
const NAME_BYTES_MAX: usize = 256;
const WORD_BYTES_MAX: usize = 64;
const CAPABILITIES_MAX: usize = 16;

/// The entries of `/v1/models`, in whichever dialect of it: OpenAI's and those of
/// servers that add to it, Mistral's, Anthropic's. None where it is no such answer.
pub(super) fn from_list(list: &Value) -> Option<Vec<ServerModel>> {
    // Some servers answer with the bare list.
    let entries = list.get("data").unwrap_or(list).as_array()?;
    Some(entries.iter().filter_map(from_entry).collect())
}

fn from_entry(entry: &Value) -> Option<ServerModel> {
    let first = |pointers: &[&str]| {
        let mut pointers = pointers.iter();
        pointers.find_map(|pointer| tokens(entry.pointer(pointer)))
    };
    Some(ServerModel {
        name: name(entry.get("id"))?,
        bytes: entry.pointer("/meta/size").and_then(Value::as_u64),
        is_loaded: None,
        facts: ModelFacts {
            context_length: first(&[
                "/max_context_length",
                "/max_model_len",
                "/meta/n_ctx_train",
                "/context_length",
                "/context_window",
                "/max_input_tokens",
            ]),
            loaded_context: first(&["/meta/n_ctx", "/loaded_context_length"]),
            capabilities: capabilities(entry.get("capabilities")),
            ..ModelFacts::default()
        },
    })
}

/// A list of words, or an object whose values are true or `{"supported": true}`;
/// the names that others have for what Ollama calls `tools` become that.
fn capabilities(given: Option<&Value>) -> Vec<String> {
    let Some(Value::Object(given)) = given else {
        return words(given);
    };
    let is_on = |value: &Value| {
        let supported = value.get("supported").unwrap_or(value);
        supported.as_bool() == Some(true)
    };
    given
        .iter()
        .filter(|(key, value)| is_on(value) && key.len() <= WORD_BYTES_MAX)
        .map(|(key, _)| match key.as_str() {
            "function_calling" => "tools".to_owned(),
            "completion_chat" => "completion".to_owned(),
            "reasoning" => "thinking".to_owned(),
            other => other.to_owned(),
        })
        .take(CAPABILITIES_MAX)
        .collect()
}

pub(super) fn name(value: Option<&Value>) -> Option<String> {
    let name = value?.as_str()?;
    let is_name = !name.trim().is_empty() && name.len() <= NAME_BYTES_MAX;
    is_name.then(|| name.to_owned())
}

pub(super) fn word(value: Option<&Value>) -> Option<String> {
    name(value).filter(|word| word.len() <= WORD_BYTES_MAX)
}

pub(super) fn words(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|one| word(Some(one)))
        .take(CAPABILITIES_MAX)
        .collect()
}

/// A number of tokens; zero means that nothing is known.
pub(super) fn tokens(value: Option<&Value>) -> Option<u32> {
    let number = value?.as_u64().filter(|tokens| *tokens > 0)?;
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}

//! What servers answer about their models, read into [`ModelFacts`]. Pure; every
//! text and list is bounded here.

use crate::domain::{ModelFacts, ServerModel};
use serde_json::Value;

/// A name longer than this is no name.
const NAME_BYTES_MAX: usize = 256;
const WORD_BYTES_MAX: usize = 64;
const CAPABILITIES_MAX: usize = 16;

/// Ollama's answer to `POST /api/show`.
pub(super) fn from_show(show: &Value) -> ModelFacts {
    let capabilities = words(show.get("capabilities"));
    let knows_capabilities = show.get("capabilities").is_some_and(Value::is_array);
    let template = text(show, "/template").filter(|template| !template.trim().is_empty());
    let detail = |key: &str| word(show.pointer(&format!("/details/{key}")));
    ModelFacts {
        context_length: context_length(show),
        num_ctx: parameter(text(show, "/parameters").unwrap_or_default(), "num_ctx"),
        loaded_context: None,
        template_takes_tools: if knows_capabilities {
            Some(capabilities.iter().any(|one| one == "tools"))
        } else {
            template.map(names_tools)
        },
        capabilities,
        family: detail("family"),
        parameter_size: detail("parameter_size"),
        quantization: detail("quantization_level"),
    }
}

/// `model_info["<architecture>.context_length"]`; the architecture is named beside
/// it, and where it is not, the only key with that ending is the one.
fn context_length(show: &Value) -> Option<u32> {
    let info = show.get("model_info")?.as_object()?;
    let named = info
        .get("general.architecture")
        .and_then(Value::as_str)
        .and_then(|architecture| info.get(&format!("{architecture}.context_length")));
    let ending = || {
        let mut found = info
            .iter()
            .filter(|(key, _)| key.ends_with(".context_length"))
            .map(|(_, value)| value);
        found.next()
    };
    tokens(named.or_else(ending))
}

/// A number in the lines of a model file's parameters, the last one that is given.
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

/// Does a template speak of tools, in the language of Go or of Jinja?
fn names_tools(template: &str) -> bool {
    [".Tools", "tools", "\"tool\"", "'tool'"]
        .iter()
        .any(|sign| template.contains(sign))
}

/// The entries of Ollama's `/api/tags`: name, size and details, no more. None where
/// it is no such answer; an Ollama with nothing in it may say null.
pub(super) fn from_tags(tags: &Value) -> Option<Vec<ServerModel>> {
    let models = match tags.get("models")? {
        Value::Array(models) => models.as_slice(),
        Value::Null => &[],
        _ => return None,
    };
    let models = models
        .iter()
        .filter_map(|entry| {
            let detail = |key: &str| word(entry.pointer(&format!("/details/{key}")));
            Some(ServerModel {
                name: name(entry.get("name")).or_else(|| name(entry.get("model")))?,
                bytes: entry.get("size").and_then(Value::as_u64),
                is_loaded: None,
                facts: ModelFacts {
                    capabilities: words(entry.get("capabilities")),
                    family: detail("family"),
                    parameter_size: detail("parameter_size"),
                    quantization: detail("quantization_level"),
                    ..ModelFacts::default()
                },
            })
        })
        .collect();
    Some(models)
}

/// Name and context in use of each model in memory, from Ollama's `/api/ps`. None
/// where it is no such answer.
pub(super) fn from_ps(ps: &Value) -> Option<Vec<(String, Option<u32>)>> {
    let models = ps.get("models")?.as_array()?;
    let loaded = models.iter().flat_map(|entry| {
        let context = tokens(entry.get("context_length"));
        ["name", "model"]
            .into_iter()
            .filter_map(|key| name(entry.get(key)))
            .map(move |name| (name, context))
    });
    Some(loaded.collect())
}

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

/// Tokens in use by llama.cpp, from `/props`.
pub(super) fn from_props(props: &Value) -> Option<u32> {
    let settings = "/default_generation_settings/n_ctx";
    tokens(props.pointer(settings).or_else(|| props.get("n_ctx")))
}

/// Is this list llama.cpp's, so that `/props` is worth a question?
pub(super) fn is_llama_cpp(list: &Value) -> bool {
    list.pointer("/data/0/owned_by").and_then(Value::as_str) == Some("llamacpp")
        || list.pointer("/data/0/meta/n_ctx_train").is_some()
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

fn name(value: Option<&Value>) -> Option<String> {
    let name = value?.as_str()?;
    let is_name = !name.trim().is_empty() && name.len() <= NAME_BYTES_MAX;
    is_name.then(|| name.to_owned())
}

fn word(value: Option<&Value>) -> Option<String> {
    name(value).filter(|word| word.len() <= WORD_BYTES_MAX)
}

fn words(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|one| word(Some(one)))
        .take(CAPABILITIES_MAX)
        .collect()
}

/// A number of tokens; zero means that nothing is known.
fn tokens(value: Option<&Value>) -> Option<u32> {
    let number = value?.as_u64().filter(|tokens| *tokens > 0)?;
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}

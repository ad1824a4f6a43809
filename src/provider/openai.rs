//! OpenAI-compatible `/chat/completions`: the body of a request. Its stream is
//! read by `chat_completions`. Pure.

pub use super::chat_completions::Decoder;

use super::parameter_fallback::{Adapted, TEMPERATURE};
use super::render_call::written;
use super::types::Request;
use super::{reasoning_assembler, schema};
use crate::domain::model::ToolRole;
use crate::domain::{CallMessage, Carry, Dialect, Message, ProviderKind, Think};
use serde_json::{Map, Value, json};

/// Keys of `options` that would change what every request promises.
const KEPT_KEYS: [&str; 4] = ["model", "messages", "stream", "temperature"];

/// The body of `POST /chat/completions`.
pub fn body(request: &Request, adapted: Adapted) -> Value {
    let model = &request.model;
    let messages: Vec<_> = request
        .messages
        .iter()
        .map(|message| {
            let tool_role = adapted.tool_role(model.tool_role);
            wire_message(message, model.dialect, tool_role, adapted)
        })
        .collect();
    let mut body = assemble(request, adapted, messages, effort);
    body.entry("stream_options")
        .or_insert(json!({"include_usage": true}));
    adapted.apply(&mut body);
    Value::Object(body)
}

/// What a body of `/chat/completions` holds whoever takes it, before it is adapted.
pub(super) fn assemble(
    request: &Request,
    adapted: Adapted,
    messages: Vec<Value>,
    effort: fn(Think) -> &'static str,
) -> Map<String, Value> {
    let model = &request.model;
    let mut body = Map::new();
    body.insert("model".into(), json!(model.model));
    body.insert("messages".into(), messages.into());
    body.insert("stream".into(), json!(true));
    if !adapted.omits_temperature {
        body.insert("temperature".into(), json!(TEMPERATURE));
    }
    if let Some(think) = model.think {
        body.insert("reasoning_effort".into(), json!(effort(think)));
    }
    for (key, value) in &model.options {
        if !KEPT_KEYS.contains(&key.as_str()) {
            body.insert(key.clone(), value.clone());
        }
    }
    if model.dialect == Dialect::Native && !request.tools.is_empty() {
        body.insert("tools".into(), schema::tools(&request.tools));
    }
    body
}

/// `medium` is what OpenAI's models do where nothing is said; `none` is refused by
/// models that always think, and left out then (S2.6).
fn effort(think: Think) -> &'static str {
    match think {
        Think::Off => "none",
        Think::Low => "low",
        Think::On | Think::Medium => "medium",
        Think::High => "high",
    }
}

fn wire_message(
    message: &Message,
    dialect: Dialect,
    tool_role: ToolRole,
    adapted: Adapted,
) -> Value {
    let is_native = dialect == Dialect::Native;
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant(text) => json!({"role": "assistant", "content": text}),
        Message::Calls { calls, carry } if is_native => {
            let mut message = json!({"role": "assistant", "content": null});
            let carry = carry.as_ref().filter(|_| !adapted.omits_carry);
            give_back(&mut message, carry, ProviderKind::OpenAi);
            message["tool_calls"] = calls.iter().map(native_call).collect();
            message
        }
        Message::Calls { calls, .. } => text_calls(calls, dialect),
        Message::Result(result) if !is_native && tool_role == ToolRole::User => {
            json!({"role": "user", "content": result.content})
        }
        Message::Result(result) => json!({
            "role": "tool",
            "tool_call_id": result.wire_id,
            "content": result.content,
        }),
    }
}

/// Puts thinking back under the names that it came under.
pub(super) fn give_back(message: &mut Value, carry: Option<&Carry>, provider: ProviderKind) {
    let carry = carry.filter(|carry| carry.provider == provider);
    if let Some(Value::Object(fields)) = carry.map(|carry| &carry.value) {
        let known = |key: &str| {
            key == "content"
                || key == reasoning_assembler::DETAILS
                || reasoning_assembler::TEXTS.contains(&key)
        };
        for (key, value) in fields.iter().filter(|(key, _)| known(key)) {
            message[key] = value.clone();
        }
    }
}

/// Calls in the words in which the model was taught to write them.
pub(super) fn text_calls(calls: &[CallMessage], dialect: Dialect) -> Value {
    json!({"role": "assistant", "content": written(calls, dialect)})
}

fn native_call(call: &CallMessage) -> Value {
    json!({
        "id": call.wire_id,
        "type": "function",
        "function": {
            "name": call.native_name,
            "arguments": Value::Object(call.arguments.clone()).to_string(),
        },
    })
}

//! Mistral's `/chat/completions`: the body of a request, where it differs from
//! OpenAI's. Its stream is read by `chat_completions`. Pure.

pub use super::chat_completions::Decoder;

use super::openai::{assemble, give_back, text_calls};
use super::parameter_fallback::Adapted;
use super::types::Request;
use crate::domain::model::ToolRole;
use crate::domain::{CallMessage, Dialect, Message, ModelConfig, ProviderKind, Think};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The API refuses an id of a call that is not exactly so many letters and digits.
const ID_CHARS: usize = 9;
const ID_ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// Stands between a tool's result and a user's message: the API refuses the one
/// right after the other (`Unexpected role 'user' after role 'tool'`).
const BRIDGE: &str = "OK.";

/// The body of `POST /chat/completions`.
pub fn body(request: &Request, adapted: Adapted) -> Value {
    let mut body = assemble(request, adapted, messages(request, adapted), effort);
    adapted.apply(&mut body);
    Value::Object(body)
}

/// Every model with adjustable thinking knows `high` and `none`, some know more:
/// a level that is refused goes as `high` (S2.6).
fn effort(think: Think) -> &'static str {
    match think {
        Think::Off => "none",
        Think::Low => "low",
        Think::Medium => "medium",
        Think::On | Think::High => "high",
    }
}

fn messages(request: &Request, adapted: Adapted) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::with_capacity(request.messages.len());
    for message in &request.messages {
        let message = wire_message(message, &request.model, adapted);
        let after_tool = messages.last().is_some_and(|last| last["role"] == "tool");
        if after_tool && message["role"] == "user" {
            messages.push(json!({"role": "assistant", "content": BRIDGE}));
        }
        messages.push(message);
    }
    messages
}

fn wire_message(message: &Message, model: &ModelConfig, adapted: Adapted) -> Value {
    let is_native = model.dialect == Dialect::Native;
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant(text) => json!({"role": "assistant", "content": text}),
        Message::Calls { calls, carry } if is_native => {
            let mut message = json!({"role": "assistant", "content": ""});
            let carry = carry.as_ref().filter(|_| !adapted.omits_carry);
            give_back(&mut message, carry, ProviderKind::Mistral);
            message["tool_calls"] = calls.iter().map(native_call).collect();
            message
        }
        Message::Calls { calls, .. } => text_calls(calls, model.dialect),
        Message::Result(result) => {
            if !is_native && adapted.tool_role(model.tool_role) == ToolRole::User {
                return json!({"role": "user", "content": result.content});
            }
            let name = if is_native {
                &result.native_name
            } else {
                &result.tool
            };
            json!({
                "role": "tool",
                "tool_call_id": call_id(&result.wire_id),
                "name": name,
                "content": result.content,
            })
        }
    }
}

fn native_call(call: &CallMessage) -> Value {
    json!({
        "id": call_id(&call.wire_id),
        "type": "function",
        "function": {
            "name": call.native_name,
            "arguments": Value::Object(call.arguments.clone()).to_string(),
        },
    })
}

/// An id that the API takes: the same for the same id, so that call and result
/// stay together.
pub fn call_id(id: &str) -> String {
    if id.len() == ID_CHARS && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    let digest = Sha256::digest(id.as_bytes());
    let letters = digest.iter().take(ID_CHARS);
    letters
        .map(|byte| char::from(ID_ALPHABET[usize::from(*byte) % ID_ALPHABET.len()]))
        .collect()
}

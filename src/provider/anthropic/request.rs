//! The body of Anthropic's `/v1/messages`. Thinking goes back unchanged within a turn. Pure.

use super::thinking;
use crate::domain::{
    Dialect, Message, ProviderKind, ReasoningEcho, ToolCallMessage, ToolResultMessage,
};
use crate::provider::parameter_fallback::{ParameterFallback, TEMPERATURE};
use crate::provider::render_call::render_calls;
use crate::provider::schema;
use crate::provider::types::ChatRequest;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Keys of `options` that are ignored because every request sets them itself.
const KEPT_KEYS: [&str; 5] = ["model", "messages", "system", "stream", "temperature"];
/// The API requires a user message first; imported sessions may start otherwise.
const BEGINNING: &str = "(The conversation begins here.)";

pub(super) fn body(request: &ChatRequest, fallback: ParameterFallback) -> Value {
    let model = &request.model;
    let is_native = model.dialect == Dialect::Native;
    let mut body = Map::new();
    body.insert("model".into(), json!(model.model));
    let thinking = thinking::parameters(request, fallback);
    body.insert("max_tokens".into(), json!(thinking.max_tokens));
    if let Some(system) = system(&request.messages) {
        body.insert("system".into(), json!(system));
    }
    body.insert("messages".into(), messages(request).into());
    body.insert("stream".into(), json!(true));
    if let Some(form) = thinking.form {
        body.insert("thinking".into(), form);
    }
    if let Some(effort) = thinking.effort {
        body.insert("output_config".into(), json!({"effort": effort}));
    }
    for (key, value) in &model.options {
        if !KEPT_KEYS.contains(&key.as_str()) && key != "max_tokens" {
            body.insert(key.clone(), value.clone());
        }
    }
    // The API rejects any temperature while thinking.
    let thinks = matches!(
        body.get("thinking").and_then(|form| form["type"].as_str()),
        Some("enabled" | "adaptive")
    );
    if !thinks && !fallback.omits_temperature {
        body.insert("temperature".into(), json!(TEMPERATURE));
    }
    if is_native {
        tools(request, &mut body);
    }
    fallback.apply(&mut body);
    Value::Object(body)
}

/// The offered tools. If there are none, the tools that earlier messages call are declared but
/// forbidden, because the API rejects calls of undeclared tools.
fn tools(request: &ChatRequest, body: &mut Map<String, Value>) {
    if !request.tools.is_empty() {
        let schemas = schema::tool_schemas(&request.tools);
        let offered = request.tools.tools().iter().zip(schemas.iter());
        let tools = offered.map(|(offered, schema)| {
            json!({
                "name": offered.native_name,
                "description": offered.tool.description.as_deref().unwrap_or_default(),
                "input_schema": schema,
            })
        });
        body.insert("tools".into(), tools.collect());
        return;
    }
    let calls = request.messages.iter().filter_map(|message| match message {
        Message::ToolCalls { calls, .. } => Some(calls),
        _ => None,
    });
    let names: BTreeSet<&str> = calls
        .flatten()
        .map(|call| call.native_name.as_str())
        .collect();
    if names.is_empty() {
        return;
    }
    let tool = |name| json!({"name": name, "input_schema": {"type": "object"}});
    body.insert("tools".into(), names.into_iter().map(tool).collect());
    body.insert("tool_choice".into(), json!({"type": "none"}));
}

fn system(messages: &[Message]) -> Option<String> {
    let texts = messages.iter().filter_map(|message| match message {
        Message::System(text) if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    });
    let texts: Vec<_> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn messages(request: &ChatRequest) -> Vec<Value> {
    let is_native = request.model.dialect == Dialect::Native;
    let mut messages = AlternatingMessages::default();
    for message in &request.messages {
        match message {
            Message::System(_) => {}
            Message::User(text) => messages.say("user", text_block(text)),
            Message::Assistant(text) => messages.say("assistant", text_block(text)),
            Message::ToolCalls {
                calls,
                reasoning_echo: carry,
            } if is_native => {
                for block in call_blocks(calls, carry.as_ref()) {
                    messages.say("assistant", Some(block));
                }
            }
            Message::ToolCalls { calls, .. } => {
                let written = render_calls(calls, request.model.dialect);
                messages.say("assistant", text_block(&written));
            }
            Message::ToolResult(result) if is_native => {
                messages.say("user", Some(result_block(result)));
            }
            // Anthropic has no role for tool results.
            Message::ToolResult(result) => messages.say("user", text_block(&result.content)),
        }
    }
    messages.finish()
}

/// Merges adjacent messages of one role, because the API requires alternating roles.
#[derive(Default)]
struct AlternatingMessages(Vec<(&'static str, Vec<Value>)>);

impl AlternatingMessages {
    fn say(&mut self, role: &'static str, block: Option<Value>) {
        let Some(block) = block else { return };
        if self.0.is_empty() && role == "assistant" {
            self.0
                .extend([("user", vec![json!({"type": "text", "text": BEGINNING})])]);
        }
        match self.0.last_mut() {
            Some((last, blocks)) if *last == role => blocks.push(block),
            _ => self.0.push((role, vec![block])),
        }
    }

    fn finish(self) -> Vec<Value> {
        let message = |(role, blocks): (&str, Vec<Value>)| match &blocks[..] {
            [only] if only["type"] == "text" => json!({"role": role, "content": only["text"]}),
            _ => json!({"role": role, "content": blocks}),
        };
        self.0.into_iter().map(message).collect()
    }
}

/// None for blank text, which the API rejects.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// The blocks of that round, unchanged and in order, except that calls are inserted as they were
/// approved. Calls that the model wrote as text come last.
fn call_blocks(calls: &[ToolCallMessage], carry: Option<&ReasoningEcho>) -> Vec<Value> {
    let carry = carry.filter(|carry| carry.provider == ProviderKind::Anthropic);
    let carried = carry.and_then(|carry| carry.value.as_array());
    let mut left: Vec<&ToolCallMessage> = calls.iter().collect();
    let mut blocks = Vec::new();
    for block in carried.into_iter().flatten() {
        if block["type"] != "tool_use" {
            blocks.push(block.clone());
            continue;
        }
        let id = block["id"].as_str().unwrap_or_default();
        if let Some(at) = left.iter().position(|call| call.wire_id == id) {
            blocks.push(call_block(left.remove(at)));
        }
    }
    blocks.extend(left.into_iter().map(call_block));
    blocks
}

fn call_block(call: &ToolCallMessage) -> Value {
    json!({
        "type": "tool_use",
        "id": call_id(&call.wire_id),
        "name": call.native_name,
        "input": call.arguments,
    })
}

fn result_block(result: &ToolResultMessage) -> Value {
    let mut block = json!({
        "type": "tool_result",
        "tool_use_id": call_id(&result.wire_id),
        "content": result.content,
    });
    if result.is_error {
        block["is_error"] = json!(true);
    }
    block
}

/// The API accepts only letters, digits, `_` and `-`.
fn call_id(id: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let allowed = |c: char| if allowed(c) { c } else { '_' };
    id.chars().map(allowed).collect()
}

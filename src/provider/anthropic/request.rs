//! The request body of Anthropic's `/v1/messages`. Within a turn, thinking is sent back unchanged.
//! Pure.

use super::thinking;
use crate::domain::model::TEMPERATURE;
use crate::domain::{
    AttachedImage, Dialect, Message, ProviderKind, ReasoningEcho, ToolCallMessage,
    ToolResultMessage,
};
use crate::provider::parameter_fallback::ParameterFallback;
use crate::provider::render_call::render_calls;
use crate::provider::schema;
use crate::provider::types::ChatRequest;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A user message for conversations that begin with a different role, which the API rejects.
const FIRST_USER_TEXT: &str = "(The conversation begins here.)";

pub(super) fn body(request: &ChatRequest, fallback: ParameterFallback) -> Value {
    let model = &request.model;
    let is_native = model.dialect == Dialect::Native;
    let mut body = Map::new();
    body.insert("model".into(), json!(model.model));
    let thinking = thinking::parameters(request, fallback);
    body.insert("max_tokens".into(), json!(thinking.max_tokens));
    if let Some(system) = system_text(&request.messages) {
        body.insert("system".into(), json!(system));
    }
    body.insert("messages".into(), messages(request).into());
    body.insert("stream".into(), json!(true));
    if !fallback.omits_cache_control {
        // The API caches the whole prompt, and reuses the longest prefix that it has cached.
        body.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
    if let Some(thinking) = thinking.thinking {
        body.insert("thinking".into(), thinking);
    }
    if let Some(effort) = thinking.effort {
        body.insert("output_config".into(), json!({"effort": effort}));
    }
    for (key, value) in &model.options {
        let is_reserved = ProviderKind::Anthropic
            .reserved_options()
            .contains(&key.as_str());
        if !is_reserved && key != "max_tokens" {
            body.insert(key.clone(), value.clone());
        }
    }
    // The API rejects any temperature while thinking.
    let thinking_type = body
        .get("thinking")
        .and_then(|thinking| thinking["type"].as_str());
    let is_thinking = matches!(thinking_type, Some("enabled" | "adaptive"));
    if !is_thinking && !fallback.omits_temperature {
        body.insert(
            "temperature".into(),
            json!(request.temperature.unwrap_or(TEMPERATURE)),
        );
    }
    if is_native {
        add_tools(request, &mut body);
    }
    fallback.apply(&mut body);
    Value::Object(body)
}

/// Adds the offered tools. If there are none, the tools that earlier messages call are declared
/// but forbidden, because the API rejects calls to undeclared tools.
fn add_tools(request: &ChatRequest, body: &mut Map<String, Value>) {
    if !request.tools.is_empty() {
        let schemas = schema::tool_schemas(&request.tools);
        let offered_tools = request.tools.tools().iter().zip(schemas.iter());
        let tools = offered_tools.map(|(offered, schema)| {
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

fn system_text(messages: &[Message]) -> Option<String> {
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
            Message::User(text) => messages.push("user", text_block(text)),
            Message::UserWithImages { text, images } => {
                // Anthropic recommends images before the text about them.
                for image in images {
                    messages.push("user", Some(image_block(image)));
                }
                messages.push("user", text_block(text));
            }
            Message::Assistant(text) => messages.push("assistant", text_block(text)),
            Message::ToolCalls {
                calls,
                reasoning_echo: echo,
            } if is_native => {
                for block in call_blocks(calls, echo.as_ref()) {
                    messages.push("assistant", Some(block));
                }
            }
            Message::ToolCalls { calls, .. } => {
                let rendered = render_calls(calls, request.model.dialect);
                messages.push("assistant", text_block(&rendered));
            }
            Message::ToolResult(result) if is_native => {
                messages.push("user", Some(result_block(result)));
            }
            // Anthropic has no role for tool results.
            Message::ToolResult(result) => {
                messages.push("user", text_block(&result.content));
                for image in &result.images {
                    messages.push("user", Some(image_block(image)));
                }
            }
        }
    }
    messages.finish()
}

/// Merges adjacent messages with the same role, because the API requires alternating roles.
#[derive(Default)]
struct AlternatingMessages(Vec<(&'static str, Vec<Value>)>);

impl AlternatingMessages {
    fn push(&mut self, role: &'static str, block: Option<Value>) {
        let Some(block) = block else { return };
        if self.0.is_empty() && role == "assistant" {
            self.0.extend([(
                "user",
                vec![json!({"type": "text", "text": FIRST_USER_TEXT})],
            )]);
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

/// `None` for blank text, which the API rejects.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn image_block(image: &AttachedImage) -> Value {
    json!({
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": image.format.media_type(),
            "data": &*image.base64,
        },
    })
}

/// The blocks of the reply that made these calls, unchanged and in order, except that calls have
/// the approved arguments. Calls that the model wrote as text come last.
fn call_blocks(calls: &[ToolCallMessage], echo: Option<&ReasoningEcho>) -> Vec<Value> {
    let echo = echo.filter(|echo| echo.provider == ProviderKind::Anthropic);
    let echoed_blocks = echo.and_then(|echo| echo.value.as_array());
    let mut remaining_calls: Vec<&ToolCallMessage> = calls.iter().collect();
    let mut blocks = Vec::new();
    for block in echoed_blocks.into_iter().flatten() {
        if block["type"] != "tool_use" {
            blocks.push(block.clone());
            continue;
        }
        let id = block["id"].as_str().unwrap_or_default();
        let mut ids = remaining_calls.iter().map(|call| &call.wire_id);
        if let Some(index) = ids.position(|wire_id| wire_id == id) {
            blocks.push(call_block(remaining_calls.remove(index)));
        }
    }
    blocks.extend(remaining_calls.into_iter().map(call_block));
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
    let content = match &result.images[..] {
        [] => json!(result.content),
        images => {
            let images = images.iter().map(image_block);
            text_block(&result.content)
                .into_iter()
                .chain(images)
                .collect()
        }
    };
    let mut block = json!({
        "type": "tool_result",
        "tool_use_id": call_id(&result.wire_id),
        "content": content,
    });
    if result.is_error {
        block["is_error"] = json!(true);
    }
    block
}

/// Replaces the characters that the API does not accept in a call id.
fn call_id(id: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    id.chars()
        .map(|c| if is_allowed(c) { c } else { '_' })
        .collect()
}

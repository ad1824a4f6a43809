//! The request body of Ollama's `/api/chat`. Pure.

use crate::domain::model::{TEMPERATURE, ToolRole};
use crate::domain::{AttachedImage, Dialect, Message, ProviderKind, Think, ToolCallMessage};
use crate::provider::parameter_fallback::{ParameterFallback, ThinkingForm};
use crate::provider::render_call::render_calls;
use crate::provider::schema;
use crate::provider::types::ChatRequest;
use serde_json::{Map, Value, json};

pub(super) fn body(request: &ChatRequest, fallback: ParameterFallback) -> Value {
    let model = &request.model;
    let mut options = Map::new();
    if !fallback.omits_temperature {
        options.insert(
            "temperature".into(),
            json!(request.temperature.unwrap_or(TEMPERATURE)),
        );
    }
    options.insert("num_ctx".into(), json!(request.num_ctx));
    for (key, value) in &model.options {
        if !model.provider.reserved_options().contains(&key.as_str()) && key != "num_ctx" {
            options.insert(key.clone(), value.clone());
        }
    }
    let is_native = model.dialect == Dialect::Native;
    let messages: Vec<_> = request
        .messages
        .iter()
        .map(|message| message_json(message, model.dialect, fallback.tool_role(model.tool_role)))
        .collect();
    let mut body = json!({
        "model": model.model,
        "messages": messages,
        "stream": true,
        "options": options,
    });
    if let Some(keep_alive) = &model.keep_alive {
        body["keep_alive"] = keep_alive.clone();
    }
    if let Some(think) = model
        .think
        .filter(|_| fallback.thinking_form != ThinkingForm::Omitted)
    {
        body["think"] = match think {
            Think::Off => json!(false),
            Think::On => json!(true),
            // Only some models accept levels.
            _ if fallback.thinking_form == ThinkingForm::Other => json!(true),
            level => json!(level.word()),
        };
    }
    if is_native && !request.tools.is_empty() {
        body["tools"] = schema::tools_field(&request.tools);
    }
    body
}

fn message_json(message: &Message, dialect: Dialect, tool_role: ToolRole) -> Value {
    let is_native = dialect == Dialect::Native;
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::UserWithImages { text, images } => {
            with_images(json!({"role": "user", "content": text}), images)
        }
        Message::Assistant(text) => json!({"role": "assistant", "content": text}),
        Message::ToolCalls {
            calls,
            reasoning_echo: echo,
        } if is_native => {
            let mut message = json!({"role": "assistant", "content": ""});
            let echo = echo.as_ref();
            let echo = echo.filter(|echo| echo.provider == ProviderKind::Ollama);
            if let Some(thinking) = echo.map(|echo| &echo.value) {
                message["thinking"] = thinking.clone();
            }
            message["tool_calls"] = calls.iter().map(native_call_json).collect();
            message
        }
        Message::ToolCalls { calls, .. } => {
            json!({"role": "assistant", "content": render_calls(calls, dialect)})
        }
        Message::ToolResult(result) => {
            let message = match (is_native, tool_role) {
                (true, _) => json!({
                    "role": "tool",
                    "tool_name": result.native_name,
                    "content": result.content,
                }),
                (false, ToolRole::Tool) => json!({
                    "role": "tool",
                    "tool_name": result.tool,
                    "content": result.content,
                }),
                (false, ToolRole::User) => json!({"role": "user", "content": result.content}),
            };
            with_images(message, &result.images)
        }
    }
}

/// Ollama takes images in messages of any role.
fn with_images(mut message: Value, images: &[AttachedImage]) -> Value {
    if !images.is_empty() {
        message["images"] = images.iter().map(|image| &*image.base64).collect();
    }
    message
}

fn native_call_json(call: &ToolCallMessage) -> Value {
    json!({
        "id": call.wire_id,
        "function": {"name": call.native_name, "arguments": call.arguments},
    })
}

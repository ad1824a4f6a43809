//! The request body of `/chat/completions`. Pure.

use super::reasoning_assembler::REASONING_KEYS;
use crate::domain::model::{TEMPERATURE, ToolRole};
use crate::domain::{
    AttachedImage, Dialect, Message, ProviderKind, ReasoningEcho, Think, ToolCallMessage,
    ToolResultMessage,
};
use crate::provider::parameter_fallback::ParameterFallback;
use crate::provider::render_call::render_calls;
use crate::provider::schema;
use crate::provider::types::ChatRequest;
use serde_json::{Map, Value, json};

/// The differences between the providers that use this protocol.
#[derive(Debug)]
pub(in crate::provider) struct ChatCompletionsFlavor {
    pub provider: ProviderKind,
    /// The `reasoning_effort` for thinking without a level.
    pub default_effort: &'static str,
    /// Converts a call id to one that the API accepts. Deterministic, because a call and its
    /// result must have the same id.
    pub call_id: fn(&str) -> String,
    /// `content` of a message that contains only calls.
    pub no_content: Value,
    /// Whether tool results include the tool's name.
    pub results_have_names: bool,
    /// Changes the body before the fallback is applied.
    pub adjust_body: fn(&mut Map<String, Value>),
}

/// The caller must still apply the fallback to the top-level parameters.
pub(super) fn body(
    request: &ChatRequest,
    fallback: ParameterFallback,
    flavor: &ChatCompletionsFlavor,
) -> Map<String, Value> {
    let model = &request.model;
    let messages = flavor.messages(request, fallback);
    let mut body = Map::new();
    body.insert("model".into(), json!(model.model));
    body.insert("messages".into(), messages.into());
    body.insert("stream".into(), json!(true));
    if !fallback.omits_temperature {
        body.insert(
            "temperature".into(),
            json!(request.temperature.unwrap_or(TEMPERATURE)),
        );
    }
    if let Some(think) = model.think {
        body.insert("reasoning_effort".into(), json!(flavor.effort(think)));
    }
    for (key, value) in &model.options {
        if !flavor.provider.reserved_options().contains(&key.as_str()) {
            body.insert(key.clone(), value.clone());
        }
    }
    if model.dialect == Dialect::Native && !request.tools.is_empty() {
        body.insert("tools".into(), schema::tools_field(&request.tools));
    }
    body
}

fn content_parts(text: &str, images: &[AttachedImage]) -> Vec<Value> {
    let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    let images = images.iter().map(|image| {
        let url = format!("data:{};base64,{}", image.format.media_type(), image.base64);
        json!({"type": "image_url", "image_url": {"url": url}})
    });
    text.into_iter().chain(images).collect()
}

fn result_image_parts(message: &Message) -> Vec<Value> {
    match message {
        Message::ToolResult(result) if !result.images.is_empty() => {
            content_parts(&result.image_caption(), &result.images)
        }
        _ => Vec::new(),
    }
}

impl ChatCompletionsFlavor {
    /// If a server rejects the value, a fallback replaces or omits it.
    fn effort(&self, think: Think) -> &'static str {
        match think {
            Think::Off => "none",
            Think::On => self.default_effort,
            level => level.word(),
        }
    }

    /// The API takes images only in user messages, so those of tool results follow in one, after
    /// the last result of the round: nothing may come between calls and results.
    fn messages(&self, request: &ChatRequest, fallback: ParameterFallback) -> Vec<Value> {
        let mut messages = Vec::with_capacity(request.messages.len());
        let is_result = |message: &Message| matches!(message, Message::ToolResult(_));
        for group in request
            .messages
            .chunk_by(|a, b| is_result(a) && is_result(b))
        {
            messages.extend(
                group
                    .iter()
                    .map(|message| self.message(message, request, fallback)),
            );
            let images: Vec<Value> = group.iter().flat_map(result_image_parts).collect();
            if !images.is_empty() {
                messages.push(json!({"role": "user", "content": images}));
            }
        }
        messages
    }

    fn message(
        &self,
        message: &Message,
        request: &ChatRequest,
        fallback: ParameterFallback,
    ) -> Value {
        let model = &request.model;
        let is_native = model.dialect == Dialect::Native;
        match message {
            Message::System(text) => json!({"role": "system", "content": text}),
            Message::User(text) => json!({"role": "user", "content": text}),
            Message::UserWithImages { text, images } => {
                json!({"role": "user", "content": content_parts(text, images)})
            }
            Message::Assistant(text) => json!({"role": "assistant", "content": text}),
            Message::ToolCalls {
                calls,
                reasoning_echo: echo,
            } if is_native => {
                let echo = echo.as_ref().filter(|_| !fallback.omits_reasoning);
                self.native_calls(calls, echo)
            }
            Message::ToolCalls { calls, .. } => {
                json!({"role": "assistant", "content": render_calls(calls, model.dialect)})
            }
            Message::ToolResult(result)
                if !is_native && fallback.tool_role(model.tool_role) == ToolRole::User =>
            {
                json!({"role": "user", "content": result.content})
            }
            Message::ToolResult(result) => self.result(result, is_native),
        }
    }

    /// A message with `tool_calls`, and with the reasoning under its original keys.
    fn native_calls(&self, calls: &[ToolCallMessage], echo: Option<&ReasoningEcho>) -> Value {
        let mut message = json!({"role": "assistant", "content": self.no_content});
        let echo = echo.filter(|echo| echo.provider == self.provider);
        if let Some(Value::Object(fields)) = echo.map(|echo| &echo.value) {
            let is_reasoning_key = |key: &str| key == "content" || REASONING_KEYS.contains(&key);
            for (key, value) in fields.iter().filter(|(key, _)| is_reasoning_key(key)) {
                message[key] = value.clone();
            }
        }
        let call = |call: &ToolCallMessage| {
            json!({
                "id": (self.call_id)(&call.wire_id),
                "type": "function",
                "function": {
                    "name": call.native_name,
                    "arguments": call.arguments.to_json(),
                },
            })
        };
        message["tool_calls"] = calls.iter().map(call).collect();
        message
    }

    fn result(&self, result: &ToolResultMessage, is_native: bool) -> Value {
        let mut message = json!({
            "role": "tool",
            "tool_call_id": (self.call_id)(&result.wire_id),
        });
        if self.results_have_names {
            let name = match is_native {
                true => &result.native_name,
                false => &result.tool,
            };
            message["name"] = json!(name);
        }
        message["content"] = json!(result.content);
        message
    }
}

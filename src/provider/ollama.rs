//! Ollama's `/api/chat`: the body of a request, and the decoder of its stream of
//! JSON lines (WIRE.md). Pure; a reply is complete only with `done: true`.

use super::error::{Cause, Garbled};
use super::error_body::Complaint;
use super::ndjson::Lines;
use super::parameter_fallback::{Adapted, Form, TEMPERATURE};
use super::render_call::written;
use super::reply_builder::{EVENT_BYTES_MAX, Piece, Reply, foreign, parse, read_arguments};
use super::schema;
use super::types::{EndReason, NativeCall, Request};
use crate::domain::model::ToolRole;
use crate::domain::{CallMessage, Carry, Dialect, Message, ProviderKind, Think, Usage};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The body of `POST /api/chat`.
pub fn body(request: &Request, adapted: Adapted) -> Value {
    let model = &request.model;
    let mut options = Map::new();
    if !adapted.omits_temperature {
        options.insert("temperature".into(), json!(TEMPERATURE));
    }
    options.insert("num_ctx".into(), json!(request.num_ctx));
    for (key, value) in &model.options {
        if key != "temperature" && key != "num_ctx" {
            options.insert(key.clone(), value.clone());
        }
    }
    let is_native = model.dialect == Dialect::Native;
    let messages: Vec<_> = request
        .messages
        .iter()
        .map(|m| message(m, model.dialect, adapted.tool_role(model.tool_role)))
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
    if let Some(think) = model.think.filter(|_| adapted.form != Form::Omitted) {
        body["think"] = match think {
            Think::Off => json!(false),
            Think::On => json!(true),
            // Only some models know levels.
            _ if adapted.form == Form::Other => json!(true),
            Think::Low => json!("low"),
            Think::Medium => json!("medium"),
            Think::High => json!("high"),
        };
    }
    if is_native && !request.tools.is_empty() {
        body["tools"] = schema::tools(&request.tools);
    }
    body
}

fn message(message: &Message, dialect: Dialect, tool_role: ToolRole) -> Value {
    let is_native = dialect == Dialect::Native;
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant(text) => json!({"role": "assistant", "content": text}),
        Message::Calls { calls, carry } if is_native => {
            let mut message = json!({"role": "assistant", "content": ""});
            let carry = carry.as_ref();
            let carry = carry.filter(|carry| carry.provider == ProviderKind::Ollama);
            if let Some(thinking) = carry.map(|carry| &carry.value) {
                message["thinking"] = thinking.clone();
            }
            message["tool_calls"] = calls.iter().map(native_call).collect();
            message
        }
        Message::Calls { calls, .. } => {
            json!({"role": "assistant", "content": written(calls, dialect)})
        }
        Message::Result(result) if is_native => json!({
            "role": "tool",
            "tool_name": result.native_name,
            "content": result.content,
        }),
        Message::Result(result) => match tool_role {
            ToolRole::Tool => json!({
                "role": "tool",
                "tool_name": result.tool,
                "content": result.content,
            }),
            ToolRole::User => json!({"role": "user", "content": result.content}),
        },
    }
}

fn native_call(call: &CallMessage) -> Value {
    json!({
        "id": call.wire_id,
        "function": {"name": call.native_name, "arguments": call.arguments},
    })
}

/// Reads the stream of `/api/chat`.
#[derive(Debug, Default)]
pub struct Decoder {
    lines: Lines,
    reply: Reply,
    /// All thinking so far, to go back with the calls.
    thinking: String,
    /// The first line was only the beginning of a JSON text: a server or a proxy
    /// that pretty-prints. All of it is one event then.
    spread: Option<Vec<u8>>,
    has_begun: bool,
    /// Some line was one of an answer.
    has_answered: bool,
    /// The first line that was none.
    foreign: Option<Garbled>,
}

impl Decoder {
    /// Takes bytes in and gives what they completed.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Piece> {
        if self.reply.is_over() {
            return Vec::new();
        }
        for line in self.lines.push(bytes) {
            match line {
                Ok(line) => self.line(&line),
                Err(garbled) => self.reply.fail(Cause::Garbled(garbled)),
            }
        }
        self.reply.take()
    }

    /// Gives what is left when the connection has ended: a last line without its
    /// line end, or the cut.
    pub fn finish(mut self) -> Vec<Piece> {
        if self.reply.is_over() {
            return Vec::new();
        }
        let rest = std::mem::take(&mut self.lines).finish();
        if let Some(spread) = &mut self.spread {
            spread.extend(rest.unwrap_or_default());
        } else {
            self.spread = rest;
        }
        match self.spread.take() {
            Some(rest) => match parse(&rest) {
                Ok(event) => self.event(&event),
                // What is cut may be the beginning of an answer.
                Err(_) if rest.starts_with(b"{") => self.foreign = None,
                Err(garbled) => self.reply.fail(Cause::Garbled(garbled)),
            },
            None if !self.has_begun => self.reply.fail(Cause::Empty),
            None => {}
        }
        let foreign = self.foreign.take().filter(|_| !self.has_answered);
        self.reply.fail(foreign.map_or(Cause::Cut, Cause::Garbled));
        self.reply.take()
    }

    fn line(&mut self, line: &[u8]) {
        if self.reply.is_over() {
            return;
        }
        if let Some(spread) = &mut self.spread {
            spread.extend_from_slice(line);
            if spread.len() > EVENT_BYTES_MAX {
                self.reply.fail(Cause::Garbled(Garbled::TooLong {
                    bytes_max: EVENT_BYTES_MAX,
                }));
            }
            return;
        }
        if let Some(words) = Words::read(line) {
            (self.has_begun, self.has_answered) = (true, true);
            self.thinking.push_str(&words.message.thinking);
            self.reply.thinking(&words.message.thinking);
            return self.reply.text(&words.message.content);
        }
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        match parse(line) {
            Ok(event) => self.event(&event),
            Err(Garbled::NotJson { .. }) if is_first && matches!(line, b"{" | b"[") => {
                self.spread = Some(line.to_vec());
            }
            Err(garbled) => self.reply.fail(Cause::Garbled(garbled)),
        }
    }

    fn event(&mut self, event: &Value) {
        if let Some(complaint) = Complaint::in_event(event) {
            return self.reply.fail(complaint.in_stream());
        }
        let message = event.get("message");
        if message.is_some_and(Value::is_object) || event.get("done").is_some_and(Value::is_boolean)
        {
            self.has_answered = true;
        } else {
            self.foreign.get_or_insert_with(|| foreign(event));
        }
        let text = |key: &str| {
            let text = message.and_then(|message| message.get(key)?.as_str());
            text.unwrap_or_default()
        };
        self.thinking.push_str(text("thinking"));
        self.reply.thinking(text("thinking"));
        self.reply.text(text("content"));
        let calls = event.pointer("/message/tool_calls");
        for call in calls.and_then(Value::as_array).into_iter().flatten() {
            self.reply.call(read_call(call));
        }
        if event.get("done").and_then(Value::as_bool) == Some(true) {
            let reason = event.get("done_reason").and_then(Value::as_str);
            if !self.thinking.is_empty() {
                self.reply.carry(Carry {
                    provider: ProviderKind::Ollama,
                    value: std::mem::take(&mut self.thinking).into(),
                });
            }
            self.reply.end(read_usage(event), read_reason(reason));
        }
    }
}

/// A line that says words and nothing else, as nearly all do: read without a tree
/// of values.
#[derive(Deserialize)]
struct Words<'a> {
    #[serde(borrow)]
    message: Said<'a>,
    done: bool,
    error: Option<IgnoredAny>,
    object: Option<IgnoredAny>,
    r#type: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow, default)]
    content: Cow<'a, str>,
    #[serde(borrow, default)]
    thinking: Cow<'a, str>,
    tool_calls: Option<IgnoredAny>,
}

impl<'a> Words<'a> {
    /// None for every line that needs a closer look.
    fn read(line: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?;
        let words: Self = serde_json::from_str(text).ok()?;
        let more = [&words.error, &words.object, &words.r#type];
        let is_plain = !words.done
            && words.message.tool_calls.is_none()
            && more.iter().all(|field| field.is_none());
        is_plain.then_some(words)
    }
}

fn read_call(call: &Value) -> NativeCall {
    let text = |pointer: &str| call.pointer(pointer).and_then(Value::as_str);
    let arguments = match call.pointer("/function/arguments") {
        Some(Value::Object(arguments)) => Ok(arguments.clone()),
        Some(Value::String(raw)) => read_arguments(raw),
        Some(Value::Null) | None => Ok(Map::new()),
        Some(other) => Err(other.to_string()),
    };
    NativeCall {
        id: text("/id").filter(|id| !id.is_empty()).map(str::to_owned),
        name: text("/function/name").unwrap_or_default().to_owned(),
        arguments,
    }
}

/// A count that is 0 is left out by the server.
fn read_usage(event: &Value) -> Usage {
    let count = |key: &str| event.get(key).and_then(Value::as_u64);
    let input = count("prompt_eval_count");
    Usage {
        input,
        output: count("eval_count").or(input.map(|_| 0)),
    }
}

fn read_reason(reason: Option<&str>) -> EndReason {
    match reason {
        Some("stop" | "") | None => EndReason::Stop,
        Some("length") => EndReason::Length,
        Some(other) => EndReason::named(other),
    }
}

//! OpenAI-compatible `/chat/completions`: the body of a request, and the decoder
//! of its server-sent events (WIRE.md). Pure; a reply is complete only with a
//! `finish_reason`, and what comes after that (the counts) is still taken in.

use super::adapt::{Adapted, Effort, TEMPERATURE};
use super::calls::Calls;
use super::complaint::Complaint;
use super::error::{Cause, Garbled};
use super::part::{EndReason, Request};
use super::reply::{EVENT_BYTES_MAX, Piece, Reply, not_json, parse};
use super::sse::{Event, Events};
use super::{call_line, schema};
use crate::domain::model::ToolRole;
use crate::domain::{CallMessage, Dialect, Message, Think, Usage};
use serde_json::{Value, json};

/// Keys of `options` that would change what every request promises.
const KEPT_KEYS: [&str; 4] = ["model", "messages", "stream", "temperature"];

/// The body of `POST /chat/completions`.
pub fn body(request: &Request, adapted: Adapted) -> Value {
    let model = &request.model;
    let is_native = model.dialect == Dialect::Native;
    let messages: Vec<_> = request
        .messages
        .iter()
        .map(|m| message(m, is_native, model.tool_role.unwrap_or(ToolRole::Tool)))
        .collect();
    let mut body = json!({
        "model": model.model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if !adapted.omits_temperature {
        body["temperature"] = json!(TEMPERATURE);
    }
    match model.think {
        Some(Think::Low) => body["reasoning_effort"] = json!("low"),
        Some(Think::Medium) => body["reasoning_effort"] = json!("medium"),
        Some(Think::High) => body["reasoning_effort"] = json!("high"),
        Some(Think::On | Think::Off) | None => {}
    }
    for (key, value) in &model.options {
        if !KEPT_KEYS.contains(&key.as_str()) {
            body[key] = value.clone();
        }
    }
    if is_native && !request.tools.is_empty() {
        body["tools"] = schema::tools(&request.tools);
    }
    if let Some(object) = body.as_object_mut() {
        if adapted.renames_max_tokens
            && let Some(limit) = object.shift_remove("max_tokens")
        {
            object.insert("max_completion_tokens".into(), limit);
        }
        match adapted.effort {
            Effort::AsConfigured => {}
            Effort::Omitted => {
                object.shift_remove("reasoning_effort");
            }
            Effort::None => {
                object.insert("reasoning_effort".into(), json!("none"));
            }
        }
    }
    body
}

fn message(message: &Message, is_native: bool, tool_role: ToolRole) -> Value {
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant(text) => json!({"role": "assistant", "content": text}),
        Message::Calls(calls) if is_native => json!({
            "role": "assistant",
            "content": null,
            "tool_calls": calls.iter().map(native_call).collect::<Vec<_>>(),
        }),
        Message::Calls(calls) => {
            let lines: Vec<_> = calls.iter().map(call_line).collect();
            json!({"role": "assistant", "content": lines.join("\n")})
        }
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

/// Reads the stream of `/chat/completions`, or an answer that was not streamed.
#[derive(Debug, Default)]
pub struct Decoder {
    form: Form,
    reply: Reply,
    calls: Calls,
    usage: Usage,
    reason: Option<EndReason>,
}

/// What the body turned out to be.
#[derive(Debug)]
enum Form {
    /// Nothing but white space so far.
    Unknown(Vec<u8>),
    Events(Events),
    /// One JSON text: an error with status 200, or a server that does not stream.
    Whole(Vec<u8>),
}

impl Default for Form {
    fn default() -> Self {
        Self::Unknown(Vec::new())
    }
}

impl Decoder {
    /// Takes bytes in and gives what they completed.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Piece> {
        if self.reply.is_over() {
            return Vec::new();
        }
        match &mut self.form {
            Form::Unknown(head) => {
                head.extend_from_slice(bytes);
                self.decide();
            }
            Form::Events(events) => {
                let events = events.push(bytes);
                self.events(events);
            }
            Form::Whole(body) => body.extend_from_slice(bytes),
        }
        if let Form::Unknown(held) | Form::Whole(held) = &self.form
            && held.len() > EVENT_BYTES_MAX
        {
            self.reply.fail(Cause::Garbled(Garbled::TooLong {
                bytes_max: EVENT_BYTES_MAX,
            }));
        }
        self.reply.take()
    }

    /// Has the end been seen, so that only counts may follow?
    pub fn is_settled(&self) -> bool {
        self.reason.is_some()
    }

    /// Gives what is left when the connection has ended: the end, or the cut.
    pub fn finish(mut self) -> Vec<Piece> {
        if self.reply.is_over() {
            return Vec::new();
        }
        match std::mem::take(&mut self.form) {
            Form::Unknown(_) => self.reply.fail(Cause::Empty),
            Form::Events(events) => {
                if let Some(event) = events.finish() {
                    self.last_event(&event);
                }
            }
            Form::Whole(body) => match serde_json::from_slice(&body) {
                Ok(answer) => self.value(&answer),
                Err(fault) if fault.is_eof() => {}
                Err(_) => self.event(&Event {
                    data: body,
                    ..Event::default()
                }),
            },
        }
        self.close();
        self.reply.take()
    }

    /// The first byte that means something tells what the body is.
    fn decide(&mut self) {
        let Form::Unknown(head) = &mut self.form else {
            return;
        };
        let ignored = b"\xEF\xBB\xBF \t\r\n";
        let first = head.iter().find(|byte| !ignored.contains(byte));
        match first {
            None => {}
            Some(b'{' | b'[') => {
                let head = std::mem::take(head);
                let start = head.iter().position(|byte| matches!(byte, b'{' | b'['));
                self.form = Form::Whole(head[start.unwrap_or(0)..].to_vec());
            }
            Some(b'<') => self.reply.fail(Cause::Garbled(Garbled::WebPage)),
            Some(_) => {
                let head = std::mem::take(head);
                let mut events = Events::default();
                let whole = events.push(&head);
                self.form = Form::Events(events);
                self.events(whole);
            }
        }
    }

    fn events(&mut self, events: Vec<Result<Event, Garbled>>) {
        for event in events {
            match event {
                Ok(event) => self.event(&event),
                Err(garbled) => self.reply.fail(Cause::Garbled(garbled)),
            }
        }
    }

    fn event(&mut self, event: &Event) {
        if self.reply.is_over() {
            return;
        }
        if event.data.trim_ascii() == b"[DONE]" {
            return self.close();
        }
        match parse(&event.data) {
            Ok(value) if event.name == b"error" => {
                let complaint = Complaint::in_body(value.to_string().as_bytes());
                self.reply.fail(complaint.unwrap_or_default().in_stream());
            }
            Ok(value) => self.value(&value),
            Err(garbled) => self.reply.fail(Cause::Garbled(garbled)),
        }
    }

    /// The event at the end of the stream may be cut: then it says nothing.
    fn last_event(&mut self, event: &Event) {
        let is_whole = parse(&event.data).is_ok() || event.data.trim_ascii() == b"[DONE]";
        let is_json = event.data.trim_ascii_start().starts_with(b"{");
        if is_whole {
            self.event(event);
        } else if !is_json && !b"[DONE]".starts_with(event.data.trim_ascii()) && !self.is_settled()
        {
            let text = String::from_utf8_lossy(&event.data);
            self.reply.fail(Cause::Garbled(not_json(&text)));
        }
    }

    fn value(&mut self, value: &Value) {
        // A list with one error in it is what some servers answer.
        let value = value.get(0).unwrap_or(value);
        if let Some(complaint) = Complaint::in_event(value) {
            return self.reply.fail(complaint.in_stream());
        }
        self.read_usage(value);
        let choices = value.get("choices").and_then(Value::as_array);
        for choice in choices.into_iter().flatten() {
            let index = choice.get("index").and_then(Value::as_u64);
            if index.unwrap_or(0) == 0 {
                self.choice(choice);
            }
        }
    }

    fn choice(&mut self, choice: &Value) {
        // An answer that was not streamed has `message` in the place of `delta`.
        let delta = choice.get("delta").filter(|delta| delta.is_object());
        if let Some(delta) = delta.or_else(|| choice.get("message")) {
            let thinking = ["reasoning_content", "reasoning"]
                .into_iter()
                .map(|key| text_of(delta.get(key)))
                .find(|text| !text.is_empty());
            self.reply.thinking(&thinking.unwrap_or_default());
            self.reply.text(&text_of(delta.get("content")));
            self.reply.text(&text_of(delta.get("refusal")));
            let entries = delta.get("tool_calls").and_then(Value::as_array);
            for entry in entries.into_iter().flatten() {
                let taken = self.calls.push(entry);
                if taken.is_too_many {
                    self.reply.fail_for_calls();
                }
                if !self.reply.has_room(taken.bytes) {
                    return;
                }
            }
        }
        let reason = choice.get("finish_reason").and_then(Value::as_str);
        if let Some(reason) = reason.filter(|reason| !reason.is_empty())
            && self.reason.is_none()
        {
            self.reason = Some(read_reason(reason));
        }
    }

    /// Some servers send counts with every event, each replacing the one before.
    fn read_usage(&mut self, value: &Value) {
        let count = |key: &str| value.get("usage")?.get(key)?.as_u64();
        self.usage.input = count("prompt_tokens").or(self.usage.input);
        self.usage.output = count("completion_tokens").or(self.usage.output);
    }

    fn close(&mut self) {
        let Some(reason) = self.reason.take() else {
            return self.reply.fail(Cause::Cut);
        };
        if self.reply.is_over() {
            return;
        }
        for call in std::mem::take(&mut self.calls).finish() {
            self.reply.call(call);
        }
        self.reply.end(self.usage, reason);
    }
}

/// `content` is a text, null, or a list of parts of which the texts count.
fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect(),
        _ => String::new(),
    }
}

fn read_reason(reason: &str) -> EndReason {
    match reason {
        "stop" => EndReason::Stop,
        "tool_calls" | "function_call" => EndReason::ToolCalls,
        "length" => EndReason::Length,
        other => EndReason::Other(other.to_owned()),
    }
}

//! Decodes the JSON lines of Ollama's `/api/chat`. Pure. A reply is complete only with
//! `done: true`.

use super::ndjson::Lines;
use crate::domain::{Carry, ProviderKind, Usage};
use crate::provider::adapter::ReplyDecoder;
use crate::provider::error::{Cause, Garbled};
use crate::provider::error_body::Complaint;
use crate::provider::reply_builder::{
    EVENT_BYTES_MAX, Piece, Reply, foreign, parse, read_arguments,
};
use crate::provider::types::{EndReason, NativeCall};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Reads the stream of `/api/chat`.
#[derive(Debug, Default)]
pub(super) struct Decoder {
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

impl ReplyDecoder for Decoder {
    fn push(&mut self, bytes: &[u8]) -> Vec<Piece> {
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

    /// The last line may lack its line end.
    fn finish(mut self: Box<Self>) -> Vec<Piece> {
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
}

impl Decoder {
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

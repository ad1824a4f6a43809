//! Decodes the JSON lines of Ollama's `/api/chat`. Pure. Only a line with `done: true` completes a
//! reply.

use super::ndjson::JsonLines;
use crate::domain::{Arguments, PrefixUsage, ProviderKind, ReasoningEcho, Usage};
use crate::provider::adapter::ReplyDecoder;
use crate::provider::error::{FailureCause, MalformedReply};
use crate::provider::error_body::ServerError;
use crate::provider::reply_builder::{
    DecodedPart, EVENT_BYTES_MAX, ReplyBuilder, parse_json, read_arguments, unexpected_json,
};
use crate::provider::types::{EndReason, NativeCall};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;

#[derive(Debug, Default)]
pub(super) struct OllamaDecoder {
    lines: JsonLines,
    reply: ReplyBuilder,
    /// All thinking so far. It is sent back with the calls.
    thinking: String,
    /// The body so far, if the first line is only `{` or `[`: a server or proxy pretty-printed
    /// the JSON, so the whole body is one event.
    pretty_printed: Option<Vec<u8>>,
    has_begun: bool,
    /// Whether at least one line belonged to a reply.
    has_reply: bool,
    /// The first line that did not belong to a reply.
    first_unexpected: Option<MalformedReply>,
}

impl ReplyDecoder for OllamaDecoder {
    fn push(&mut self, bytes: &[u8]) -> Vec<DecodedPart> {
        if self.reply.is_over() {
            return Vec::new();
        }
        for line in self.lines.push(bytes) {
            match line {
                Ok(line) => self.read_line(&line),
                Err(malformed) => self.reply.fail(FailureCause::Malformed(malformed)),
            }
        }
        self.reply.take_parts()
    }

    /// Also reads the last line, which may have no line break.
    fn finish(mut self: Box<Self>) -> Vec<DecodedPart> {
        if self.reply.is_over() {
            return Vec::new();
        }
        let rest = std::mem::take(&mut self.lines).finish();
        if let Some(pretty_printed) = &mut self.pretty_printed {
            pretty_printed.extend(rest.unwrap_or_default());
        } else {
            self.pretty_printed = rest;
        }
        match self.pretty_printed.take() {
            Some(rest) => match parse_json(&rest) {
                Ok(event) => self.read_event(&event),
                // Incomplete JSON may be the start of a valid reply.
                Err(_) if rest.starts_with(b"{") => self.first_unexpected = None,
                Err(malformed) => self.reply.fail(FailureCause::Malformed(malformed)),
            },
            None if !self.has_begun => self.reply.fail(FailureCause::EmptyReply),
            None => {}
        }
        // No effect if the last line completed the reply.
        let unexpected = self.first_unexpected.take().filter(|_| !self.has_reply);
        self.reply
            .fail(unexpected.map_or(FailureCause::ReplyCutOff, FailureCause::Malformed));
        self.reply.take_parts()
    }
}

impl OllamaDecoder {
    fn read_line(&mut self, line: &[u8]) {
        if self.reply.is_over() {
            return;
        }
        if let Some(pretty_printed) = &mut self.pretty_printed {
            pretty_printed.extend_from_slice(line);
            if pretty_printed.len() > EVENT_BYTES_MAX {
                self.reply
                    .fail(FailureCause::Malformed(MalformedReply::TooLong {
                        bytes_max: EVENT_BYTES_MAX,
                    }));
            }
            return;
        }
        if let Some(plain) = PlainLine::read(line) {
            (self.has_begun, self.has_reply) = (true, true);
            self.thinking.push_str(&plain.message.thinking);
            self.reply.add_thinking(&plain.message.thinking);
            return self.reply.add_text(&plain.message.content);
        }
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        match parse_json(line) {
            Ok(event) => self.read_event(&event),
            Err(MalformedReply::NotJson { .. }) if is_first && matches!(line, b"{" | b"[") => {
                self.pretty_printed = Some(line.to_vec());
            }
            Err(malformed) => self.reply.fail(FailureCause::Malformed(malformed)),
        }
    }

    fn read_event(&mut self, event: &Value) {
        if let Some(server_error) = ServerError::from_event(event) {
            return self.reply.fail(server_error.into_failure());
        }
        let message = event.get("message");
        if message.is_some_and(Value::is_object) || event.get("done").is_some_and(Value::is_boolean)
        {
            self.has_reply = true;
        } else {
            self.first_unexpected
                .get_or_insert_with(|| unexpected_json(event));
        }
        let text = |key: &str| {
            let text = message.and_then(|message| message.get(key)?.as_str());
            text.unwrap_or_default()
        };
        self.thinking.push_str(text("thinking"));
        self.reply.add_thinking(text("thinking"));
        self.reply.add_text(text("content"));
        let calls = event.pointer("/message/tool_calls");
        for call in calls.and_then(Value::as_array).into_iter().flatten() {
            self.reply.add_call(read_call(call));
        }
        if event.get("done").and_then(Value::as_bool) == Some(true) {
            let reason = event.get("done_reason").and_then(Value::as_str);
            if !self.thinking.is_empty() {
                self.reply.echo_reasoning(ReasoningEcho {
                    provider: ProviderKind::Ollama,
                    value: std::mem::take(&mut self.thinking).into(),
                });
            }
            self.reply.end(read_usage(event), read_reason(reason));
        }
    }
}

/// A line that contains only text or thinking, as nearly all do. It is parsed without building a
/// JSON tree.
#[derive(Deserialize)]
struct PlainLine<'a> {
    #[serde(borrow)]
    message: PlainMessage<'a>,
    done: bool,
    error: Option<IgnoredAny>,
    object: Option<IgnoredAny>,
    r#type: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct PlainMessage<'a> {
    #[serde(borrow, default)]
    content: Cow<'a, str>,
    #[serde(borrow, default)]
    thinking: Cow<'a, str>,
    tool_calls: Option<IgnoredAny>,
}

impl<'a> PlainLine<'a> {
    /// `None` if the line needs full parsing.
    fn read(line: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?;
        let parsed: Self = serde_json::from_str(text).ok()?;
        let extra_fields = [&parsed.error, &parsed.object, &parsed.r#type];
        let is_plain = !parsed.done
            && parsed.message.tool_calls.is_none()
            && extra_fields.iter().all(|field| field.is_none());
        is_plain.then_some(parsed)
    }
}

fn read_call(call: &Value) -> NativeCall {
    let text = |pointer: &str| call.pointer(pointer).and_then(Value::as_str);
    let arguments = match call.pointer("/function/arguments") {
        Some(Value::Object(arguments)) => Ok(arguments.clone().into()),
        Some(Value::String(raw)) => read_arguments(raw),
        Some(Value::Null) | None => Ok(Arguments::new()),
        Some(other) => Err(other.to_string()),
    };
    NativeCall {
        id: text("/id").filter(|id| !id.is_empty()).map(str::to_owned),
        name: text("/function/name").unwrap_or_default().to_owned(),
        arguments,
        raw_arguments: text("/function/arguments").unwrap_or_default().to_owned(),
    }
}

/// Ollama omits counts of zero. `prompt_eval_count` includes cached tokens; only newer versions also
/// report how many those are.
fn read_usage(event: &Value) -> Usage {
    let count = |key: &str| event.get(key).and_then(Value::as_u64);
    let input = count("prompt_eval_count");
    Usage {
        input,
        output: count("eval_count").or(input.map(|_| 0)),
        prefix: PrefixUsage::from_input(input, count("prompt_eval_cached_count")),
    }
}

fn read_reason(reason: Option<&str>) -> EndReason {
    match reason {
        Some("stop" | "") | None => EndReason::Stop,
        Some("length") => EndReason::Length,
        Some(other) => EndReason::from_shared_name(other),
    }
}

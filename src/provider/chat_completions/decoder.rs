//! Decodes the replies of `/chat/completions` from OpenAI-compatible servers and Mistral. Pure. A
//! reply is complete with a `finish_reason`, which token counts may follow, or with `[DONE]`.

use super::reasoning_assembler::{ReasoningAssembler, TEXT_KEYS};
use super::tool_call_assembler::ToolCallAssembler;
use crate::domain::{PrefixUsage, ProviderKind, ReasoningEcho, Usage};
use crate::provider::adapter::ReplyDecoder;
use crate::provider::body_reader::{BodyEnd, BodyReader};
use crate::provider::error::FailureCause;
use crate::provider::error_body::ServerError;
use crate::provider::reply_builder::{
    DecodedPart, ReplyBuilder, classify_line, classify_non_json, parse_body, parse_json,
    unexpected_json,
};
use crate::provider::types::EndReason;
use crate::text::sse::SseEvent;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;

/// Where servers report cached tokens: OpenAI and most others, llama.cpp, DeepSeek.
const CACHED_TOKENS: [&str; 3] = [
    "/usage/prompt_tokens_details/cached_tokens",
    "/timings/cache_n",
    "/usage/prompt_cache_hit_tokens",
];

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndMark {
    /// With `[DONE]`, which completes a reply even if no `finish_reason` came.
    Done,
    /// The connection was closed.
    None,
}

/// Decodes a streamed or unstreamed reply.
#[derive(Debug)]
pub(in crate::provider) struct ChatCompletionsDecoder {
    provider: ProviderKind,
    body: BodyReader,
    reply: ReplyBuilder,
    calls: ToolCallAssembler,
    reasoning: ReasoningAssembler,
    usage: Usage,
    end_reason: Option<EndReason>,
}

impl ChatCompletionsDecoder {
    /// `provider` is stored with the reasoning, which is sent back only to the provider it came
    /// from.
    pub fn new(provider: ProviderKind) -> Self {
        Self {
            provider,
            body: BodyReader::default(),
            reply: ReplyBuilder::default(),
            calls: ToolCallAssembler::default(),
            reasoning: ReasoningAssembler::default(),
            usage: Usage::default(),
            end_reason: None,
        }
    }
}

impl ReplyDecoder for ChatCompletionsDecoder {
    fn push(&mut self, bytes: &[u8]) -> Vec<DecodedPart> {
        if self.reply.is_over() {
            return Vec::new();
        }
        for event in self.body.push(bytes) {
            match event {
                Ok(event) => self.read_event(&event),
                Err(malformed) => self.reply.fail(FailureCause::Malformed(malformed)),
            }
        }
        self.reply.take_parts()
    }

    fn is_settled(&self) -> bool {
        self.end_reason.is_some()
    }

    fn finish(mut self: Box<Self>) -> Vec<DecodedPart> {
        if self.reply.is_over() {
            return Vec::new();
        }
        match std::mem::take(&mut self.body).finish() {
            BodyEnd::Empty => self.reply.fail(FailureCause::EmptyReply),
            BodyEnd::LastEvent(event) => {
                if let Some(event) = event {
                    self.read_last_event(&event);
                }
            }
            BodyEnd::NotEvents(line) => self
                .reply
                .fail(FailureCause::Malformed(classify_line(&line))),
            BodyEnd::Json(body) => match parse_body(&body) {
                Ok(reply) => self.read_unstreamed(&reply),
                Err(error) if error.is_eof() => {}
                Err(_) => self.read_event(&SseEvent {
                    data: body,
                    ..SseEvent::default()
                }),
            },
        }
        self.close(EndMark::None);
        self.reply.take_parts()
    }
}

impl ChatCompletionsDecoder {
    fn read_event(&mut self, event: &SseEvent) {
        if self.reply.is_over() {
            return;
        }
        if event.data.trim_ascii() == b"[DONE]" {
            return self.close(EndMark::Done);
        }
        if event.name.is_empty()
            && let Some(plain) = PlainEvent::read(&event.data)
        {
            return self.read_plain_event(&plain);
        }
        match parse_json(&event.data) {
            Ok(value) if event.name == b"error" => {
                let server_error = ServerError::from_body(value.to_string().as_bytes());
                self.reply
                    .fail(server_error.unwrap_or_default().into_failure());
            }
            Ok(value) => self.read_value(&value),
            Err(malformed) => self.reply.fail(FailureCause::Malformed(malformed)),
        }
    }

    /// Ignores an event that was cut off.
    fn read_last_event(&mut self, event: &SseEvent) {
        let is_complete = parse_json(&event.data).is_ok() || event.data.trim_ascii() == b"[DONE]";
        let starts_json = event.data.trim_ascii_start().starts_with(b"{");
        if is_complete {
            self.read_event(event);
        } else if !starts_json
            && !b"[DONE]".starts_with(event.data.trim_ascii())
            && !self.is_settled()
        {
            let text = String::from_utf8_lossy(&event.data);
            self.reply
                .fail(FailureCause::Malformed(classify_non_json(&text)));
        }
    }

    fn read_plain_event(&mut self, event: &PlainEvent<'_>) {
        let delta = &event.choices.0.delta;
        let thinking = [&delta.reasoning_content, &delta.reasoning];
        for (key, text) in TEXT_KEYS.into_iter().zip(thinking) {
            self.reasoning
                .push_text(key, text.as_deref().unwrap_or_default());
        }
        let mut thinking = thinking.into_iter().flatten();
        let thinking = thinking.find(|text| !text.is_empty());
        self.reply.add_thinking(thinking.map_or("", |text| text));
        self.reply
            .add_text(delta.content.as_deref().unwrap_or_default());
    }

    fn read_value(&mut self, value: &Value) {
        // Some servers wrap an error in a list.
        let value = value.get(0).unwrap_or(value);
        if let Some(server_error) = ServerError::from_event(value) {
            return self.reply.fail(server_error.into_failure());
        }
        self.read_usage(value);
        let choices = value.get("choices").and_then(Value::as_array);
        for choice in choices.into_iter().flatten() {
            let index = choice.get("index").and_then(Value::as_u64);
            if index.unwrap_or(0) == 0 {
                self.read_choice(choice);
            }
        }
    }

    fn read_unstreamed(&mut self, body: &Value) {
        self.read_value(body);
        let reply = body.get(0).unwrap_or(body);
        if !reply.get("choices").is_some_and(Value::is_array) {
            self.reply
                .fail(FailureCause::Malformed(unexpected_json(reply)));
        }
        // The JSON is complete, so the message is too.
        if reply
            .pointer("/choices/0/message")
            .is_some_and(Value::is_object)
        {
            self.end_reason.get_or_insert(EndReason::Stop);
        }
    }

    fn read_choice(&mut self, choice: &Value) {
        // A reply that was not streamed has `message` instead of `delta`.
        let delta = choice.get("delta").filter(|delta| delta.is_object());
        if let Some(delta) = delta.or_else(|| choice.get("message")) {
            self.read_delta(delta);
        }
        let reason = choice.get("finish_reason").and_then(Value::as_str);
        if let Some(reason) = reason.filter(|reason| !reason.is_empty())
            && self.end_reason.is_none()
        {
            match reason {
                "error" => self.reply.fail(FailureCause::ErrorInReply {
                    message: "The server gave no reason".to_owned(),
                }),
                reason => self.end_reason = Some(read_reason(reason)),
            }
        }
    }

    fn read_delta(&mut self, delta: &Value) {
        let hidden_bytes = self.reasoning.push(delta);
        if !self.reply.reserve_bytes(hidden_bytes) {
            return;
        }
        let thinking = TEXT_KEYS
            .into_iter()
            .map(|key| text_of(delta.get(key)))
            .find(|text| !text.is_empty())
            .unwrap_or_else(|| thinking_of(delta.get("content")));
        self.reply.add_thinking(&thinking);
        self.reply.add_text(&text_of(delta.get("content")));
        self.reply.add_text(&text_of(delta.get("refusal")));
        let entries = delta.get("tool_calls").and_then(Value::as_array);
        for entry in entries.into_iter().flatten() {
            let fragment = self.calls.push(entry);
            if fragment.exceeds_calls_max {
                self.reply.fail_with_too_many_calls();
            }
            if !self.reply.reserve_bytes(fragment.bytes) {
                return;
            }
        }
    }

    /// Some servers send counts with every event; later counts replace earlier ones.
    fn read_usage(&mut self, value: &Value) {
        let count = |pointer: &str| value.pointer(pointer)?.as_u64();
        let usage = &mut self.usage;
        usage.input = count("/usage/prompt_tokens").or(usage.input);
        usage.output = count("/usage/completion_tokens").or(usage.output);
        let reused = CACHED_TOKENS.into_iter().find_map(count);
        usage.prefix = PrefixUsage::from_input(usage.input, reused).or(usage.prefix);
    }

    fn close(&mut self, mark: EndMark) {
        let stated = self.end_reason.take();
        let is_stated = stated.is_some();
        let Some(reason) = stated.or((mark == EndMark::Done).then_some(EndReason::Stop)) else {
            return self.reply.fail(FailureCause::ReplyCutOff);
        };
        if self.reply.is_over() {
            return;
        }
        for mut call in std::mem::take(&mut self.calls).finish() {
            // Empty arguments usually mean none. Without a `finish_reason`, the model may have been
            // interrupted before it wrote any.
            if !is_stated && call.raw_arguments.trim().is_empty() {
                call.arguments = Err(String::new());
            }
            self.reply.add_call(call);
        }
        if let Some(value) = self.reasoning.take() {
            let provider = self.provider;
            self.reply.echo_reasoning(ReasoningEcho { provider, value });
        }
        self.reply.end(self.usage, reason);
    }
}

/// An event that contains only text or thinking, as nearly all do. It is parsed without building a
/// JSON tree.
#[derive(Deserialize)]
struct PlainEvent<'a> {
    /// Exactly one choice.
    #[serde(borrow)]
    choices: (PlainChoice<'a>,),
    object: Option<Cow<'a, str>>,
    error: Option<IgnoredAny>,
    r#type: Option<IgnoredAny>,
    usage: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct PlainChoice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: PlainDelta<'a>,
    finish_reason: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct PlainDelta<'a> {
    #[serde(borrow, default, deserialize_with = "borrowed")]
    content: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed")]
    reasoning: Option<Cow<'a, str>>,
    reasoning_details: Option<IgnoredAny>,
    refusal: Option<IgnoredAny>,
    tool_calls: Option<IgnoredAny>,
}

impl<'a> PlainEvent<'a> {
    /// `None` if the event needs full parsing.
    fn read(event: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(event).ok()?;
        let parsed: Self = serde_json::from_str(text).ok()?;
        let (choice,) = &parsed.choices;
        let is_plain = choice.index == 0
            && choice.finish_reason.is_none()
            && choice.delta.reasoning_details.is_none()
            && choice.delta.refusal.is_none()
            && choice.delta.tool_calls.is_none()
            && parsed.error.is_none()
            && parsed.r#type.is_none()
            && parsed.usage.is_none()
            && parsed.object.as_deref() != Some("error");
        is_plain.then_some(parsed)
    }
}

/// Deserializes a string without copying it: with `borrow`, Serde borrows a plain `Cow`, but copies
/// a `Cow` inside an `Option`.
fn borrowed<'de: 'a, 'a, D>(deserializer: D) -> Result<Option<Cow<'a, str>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    #[derive(Deserialize)]
    struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);
    let text = Option::<BorrowedText<'a>>::deserialize(deserializer)?;
    Ok(text.map(|BorrowedText(text)| text))
}

/// The text of `content`, which is a string, null, or a list of parts whose `text` is joined.
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

/// The thinking in a list of parts, as Mistral sends it.
fn thinking_of(content: Option<&Value>) -> String {
    let parts = content.and_then(Value::as_array);
    let thinking = parts.into_iter().flatten().map(|part| part.get("thinking"));
    thinking.map(text_of).collect()
}

fn read_reason(reason: &str) -> EndReason {
    match reason {
        "stop" => EndReason::Stop,
        "tool_calls" | "function_call" => EndReason::ToolCalls,
        "length" => EndReason::Length,
        other => EndReason::from_shared_name(other),
    }
}

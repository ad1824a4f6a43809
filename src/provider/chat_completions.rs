//! The decoder of `/chat/completions`, as OpenAI-compatible servers and Mistral
//! send it (WIRE.md). Pure; a reply is complete only with a `finish_reason`, and
//! what comes after that (the counts) is still taken in.

use super::body_format::{Frame, Rest};
use super::error::Cause;
use super::error_body::Complaint;
use super::reasoning_assembler::{Carried, TEXTS};
use super::reply_builder::{Piece, Reply, foreign, no_answer, not_json, parse, parse_whole};
use super::tool_call_assembler::Calls;
use super::types::EndReason;
use crate::domain::{Carry, ProviderKind, Usage};
use crate::text::sse::SseEvent;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;

/// Reads the stream of `/chat/completions`, or an answer that was not streamed.
#[derive(Debug)]
pub struct Decoder {
    provider: ProviderKind,
    frame: Frame,
    reply: Reply,
    calls: Calls,
    carried: Carried,
    usage: Usage,
    reason: Option<EndReason>,
}

impl Decoder {
    /// Only the provider whose decoder read it gets thinking back.
    pub fn new(provider: ProviderKind) -> Self {
        Self {
            provider,
            frame: Frame::default(),
            reply: Reply::default(),
            calls: Calls::default(),
            carried: Carried::default(),
            usage: Usage::default(),
            reason: None,
        }
    }

    /// Takes bytes in and gives what they completed.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Piece> {
        if self.reply.is_over() {
            return Vec::new();
        }
        for event in self.frame.push(bytes) {
            match event {
                Ok(event) => self.event(&event),
                Err(garbled) => self.reply.fail(Cause::Garbled(garbled)),
            }
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
        match std::mem::take(&mut self.frame).finish() {
            Rest::Nothing => self.reply.fail(Cause::Empty),
            Rest::Event(event) => {
                if let Some(event) = event {
                    self.last_event(&event);
                }
            }
            Rest::Foreign(line) => self.reply.fail(Cause::Garbled(no_answer(&line))),
            Rest::Whole(body) => match parse_whole(&body) {
                Ok(answer) => self.whole(&answer),
                Err(fault) if fault.is_eof() => {}
                Err(_) => self.event(&SseEvent {
                    data: body,
                    ..SseEvent::default()
                }),
            },
        }
        self.close();
        self.reply.take()
    }

    fn event(&mut self, event: &SseEvent) {
        if self.reply.is_over() {
            return;
        }
        if event.data.trim_ascii() == b"[DONE]" {
            return self.close();
        }
        if event.name.is_empty()
            && let Some(words) = Words::read(&event.data)
        {
            return self.words(&words);
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
    fn last_event(&mut self, event: &SseEvent) {
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

    fn words(&mut self, words: &Words<'_>) {
        let delta = &words.choices.0.delta;
        let thinking = [&delta.reasoning_content, &delta.reasoning];
        for (key, text) in TEXTS.into_iter().zip(thinking) {
            self.carried.text(key, text.as_deref().unwrap_or_default());
        }
        let mut thinking = thinking.into_iter().flatten();
        let thinking = thinking.find(|text| !text.is_empty());
        self.reply.thinking(thinking.map_or("", |text| text));
        self.reply
            .text(delta.content.as_deref().unwrap_or_default());
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

    /// An answer that was not streamed.
    fn whole(&mut self, answer: &Value) {
        self.value(answer);
        let answer = answer.get(0).unwrap_or(answer);
        if !answer.get("choices").is_some_and(Value::is_array) {
            self.reply.fail(Cause::Garbled(foreign(answer)));
        }
    }

    fn choice(&mut self, choice: &Value) {
        // An answer that was not streamed has `message` in the place of `delta`.
        let delta = choice.get("delta").filter(|delta| delta.is_object());
        if let Some(delta) = delta.or_else(|| choice.get("message")) {
            self.delta(delta);
        }
        let reason = choice.get("finish_reason").and_then(Value::as_str);
        if let Some(reason) = reason.filter(|reason| !reason.is_empty())
            && self.reason.is_none()
        {
            match reason {
                "error" => self.reply.fail(Cause::InStream {
                    message: "The server names no reason".to_owned(),
                }),
                reason => self.reason = Some(read_reason(reason)),
            }
        }
    }

    fn delta(&mut self, delta: &Value) {
        let hidden = self.carried.push(delta);
        if !self.reply.has_room(hidden) {
            return;
        }
        let thinking = TEXTS
            .into_iter()
            .map(|key| text_of(delta.get(key)))
            .find(|text| !text.is_empty())
            .unwrap_or_else(|| thinking_of(delta.get("content")));
        self.reply.thinking(&thinking);
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
        if let Some(value) = self.carried.take() {
            let provider = self.provider;
            self.reply.carry(Carry { provider, value });
        }
        self.reply.end(self.usage, reason);
    }
}

/// An event that says words and nothing else, as nearly all do: read without a
/// tree of values.
#[derive(Deserialize)]
struct Words<'a> {
    /// One choice, no more and no fewer.
    #[serde(borrow)]
    choices: (Choice<'a>,),
    object: Option<Cow<'a, str>>,
    error: Option<IgnoredAny>,
    r#type: Option<IgnoredAny>,
    usage: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: Delta<'a>,
    finish_reason: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Delta<'a> {
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

impl<'a> Words<'a> {
    /// None for every event that needs a closer look.
    fn read(event: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(event).ok()?;
        let words: Self = serde_json::from_str(text).ok()?;
        let (choice,) = &words.choices;
        let is_plain = choice.index == 0
            && choice.finish_reason.is_none()
            && choice.delta.reasoning_details.is_none()
            && choice.delta.refusal.is_none()
            && choice.delta.tool_calls.is_none()
            && words.error.is_none()
            && words.r#type.is_none()
            && words.usage.is_none()
            && words.object.as_deref() != Some("error");
        is_plain.then_some(words)
    }
}

/// Serde borrows a `Cow` that stands alone, and copies one in an `Option`.
fn borrowed<'de: 'a, 'a, D>(deserializer: D) -> Result<Option<Cow<'a, str>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    let text = Option::<Text<'a>>::deserialize(deserializer)?;
    Ok(text.map(|Text(text)| text))
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
        other => EndReason::named(other),
    }
}

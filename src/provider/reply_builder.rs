//! Collects the decoded parts of one reply and enforces the guarantees of every decoder: at most
//! one end, nothing after an end or error, and bounded memory.

use super::error::{FailureCause, MalformedReply};
use super::raw_arguments::keep_raw_arguments;
use super::types::{EndReason, NativeCall, StreamPart};
use crate::domain::{Arguments, ReasoningEcho, Usage};
use crate::text::surrogates::{self, SurrogateJoiner};
use crate::text::{WordList, word_list};
use serde_json::Value;
use std::borrow::Cow;

/// Maximum size of a line or event.
pub const EVENT_BYTES_MAX: usize = 16 << 20;
/// Maximum total size of a reply's text, thinking, calls and hidden reasoning.
pub const REPLY_BYTES_MAX: usize = 64 << 20;
/// Maximum number of tool calls per reply.
pub const CALLS_MAX: usize = 256;

/// Fields whose text arrives in fragments. A fragment may end in the middle of a surrogate pair;
/// a lone surrogate then stays marked until its fragment is joined to the next.
static FRAGMENTED_FIELDS: WordList = word_list!("fragmented_fields");

/// A part of a reply, or the reason why the reply failed. Nothing follows an error.
pub type DecodedPart = Result<StreamPart, FailureCause>;

#[derive(Debug, Default)]
pub(super) struct ReplyBuilder {
    parts: Vec<DecodedPart>,
    byte_count: usize,
    call_count: usize,
    is_over: bool,
    text_joiner: SurrogateJoiner,
    thinking_joiner: SurrogateJoiner,
}

impl ReplyBuilder {
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    pub fn add_text(&mut self, text: &str) {
        let text = self.text_joiner.push(text);
        if !text.is_empty() && self.reserve_bytes(text.len()) {
            self.parts.push(Ok(StreamPart::Text(text.into_owned())));
        }
    }

    pub fn add_thinking(&mut self, text: &str) {
        let text = self.thinking_joiner.push(text);
        if !text.is_empty() && self.reserve_bytes(text.len()) {
            self.parts.push(Ok(StreamPart::Thinking(text.into_owned())));
        }
    }

    /// Replaces a lone surrogate whose other half never arrived.
    fn finish_surrogates(&mut self) {
        let (thinking, text) = (self.thinking_joiner.finish(), self.text_joiner.finish());
        self.add_thinking(thinking);
        self.add_text(text);
    }

    pub fn add_call(&mut self, mut call: NativeCall) {
        self.finish_surrogates();
        if let Ok(arguments) = &mut call.arguments {
            surrogates::join_surrogates_in_members(arguments, &[]);
        }
        self.call_count += 1;
        if self.call_count > CALLS_MAX {
            self.fail_with_too_many_calls();
        } else if self.reserve_bytes(call.name.len()) {
            self.parts.push(Ok(StreamPart::Call(call)));
        }
    }

    /// Adds reasoning that must be sent back with the calls. Called right before the end.
    pub fn echo_reasoning(&mut self, mut echo: ReasoningEcho) {
        self.finish_surrogates();
        surrogates::join_surrogates_in_value(&mut echo.value, &[]);
        if !self.is_over {
            self.parts.push(Ok(StreamPart::ReasoningEcho(echo)));
        }
    }

    /// Discards the reply so far. Discarded bytes still count toward the limit; discarded calls
    /// do not.
    pub fn start_over(&mut self) {
        self.text_joiner.finish();
        self.thinking_joiner.finish();
        if !self.is_over {
            self.call_count = 0;
            self.parts.push(Ok(StreamPart::StartedOver));
        }
    }

    /// Adds token counts, unless there are none.
    pub fn add_usage(&mut self, usage: Usage) {
        self.finish_surrogates();
        if !self.is_over && usage != Usage::default() {
            self.parts.push(Ok(StreamPart::Usage(usage)));
        }
    }

    pub fn end(&mut self, usage: Usage, reason: EndReason) {
        self.finish_surrogates();
        if self.is_over {
            return;
        }
        self.add_usage(usage);
        self.parts.push(Ok(StreamPart::End(reason)));
        self.is_over = true;
    }

    pub fn fail(&mut self, cause: FailureCause) {
        self.finish_surrogates();
        if !self.is_over {
            self.parts.push(Err(cause));
            self.is_over = true;
        }
    }

    pub fn fail_with_too_many_calls(&mut self) {
        self.fail(FailureCause::Malformed(MalformedReply::TooManyCalls {
            calls_max: CALLS_MAX,
        }));
    }

    pub fn take_parts(&mut self) -> Vec<DecodedPart> {
        std::mem::take(&mut self.parts)
    }

    /// Counts bytes that are about to be stored, and fails the reply if the limit is exceeded.
    /// Returns whether they may be stored.
    pub fn reserve_bytes(&mut self, bytes: usize) -> bool {
        self.byte_count += bytes;
        if self.byte_count > REPLY_BYTES_MAX {
            self.fail(FailureCause::Malformed(MalformedReply::TooLong {
                bytes_max: REPLY_BYTES_MAX,
            }));
        }
        !self.is_over
    }
}

pub(super) fn parse_json(json: &[u8]) -> Result<Value, MalformedReply> {
    let Ok(text) = std::str::from_utf8(json) else {
        return Err(MalformedReply::NotUtf8);
    };
    let value = serde_json::from_str(text).ok();
    let value = value.or_else(|| parse_with_marked_surrogates(text));
    let mut value = value.ok_or_else(|| classify_non_json(text))?;
    keep_raw_arguments(&mut value, text);
    Ok(value)
}

/// Parses JSON that serde_json rejects because of a lone surrogate.
fn parse_with_marked_surrogates(json: &str) -> Option<Value> {
    let Cow::Owned(marked) = surrogates::mark_surrogates(json.as_bytes()) else {
        return None;
    };
    let mut value = serde_json::from_slice(&marked).ok()?;
    surrogates::join_surrogates_in_value(&mut value, &FRAGMENTED_FIELDS);
    Some(value)
}

/// Parses complete JSON and replaces its lone surrogates.
pub(super) fn parse_repaired(body: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(&surrogates::repair_surrogates(body))
}

/// Parses the body of a reply that was not streamed. Arguments sent as objects become strings of
/// their raw JSON.
pub(super) fn parse_body(body: &[u8]) -> Result<Value, serde_json::Error> {
    let mut value = parse_repaired(body)?;
    if let Ok(text) = std::str::from_utf8(body) {
        keep_raw_arguments(&mut value, text);
    }
    Ok(value)
}

pub(super) fn classify_non_json(text: &str) -> MalformedReply {
    if text
        .trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('<')
    {
        MalformedReply::WebPage
    } else {
        MalformedReply::NotJson {
            line: text.to_owned(),
        }
    }
}

/// Classifies a line that does not belong to the protocol.
pub(super) fn classify_line(line: &[u8]) -> MalformedReply {
    match parse_json(line) {
        Ok(json) => unexpected_json(&json),
        Err(malformed) => malformed,
    }
}

pub(super) fn unexpected_json(json: &Value) -> MalformedReply {
    MalformedReply::UnexpectedJson {
        json: json.to_string(),
    }
}

/// Parses tool arguments sent as a JSON string. An empty string or `null` means no arguments, a
/// doubly encoded object is decoded once more, and lone surrogates are joined or replaced.
///
/// # Errors
/// Returns the raw string if it is not an object.
pub(super) fn read_arguments(raw: &str) -> Result<Arguments, String> {
    if raw.trim().is_empty() {
        return Ok(Arguments::new());
    }
    let raw = &*surrogates::join_surrogates(raw);
    let parse = |json: &str| parse_repaired(json.as_bytes());
    let value = parse(raw).map_err(|_| raw.to_owned())?;
    match value {
        Value::Object(arguments) => Ok(arguments.into()),
        Value::Null => Ok(Arguments::new()),
        Value::String(inner) => match parse(&inner) {
            Ok(Value::Object(arguments)) => Ok(arguments.into()),
            _ => Err(raw.to_owned()),
        },
        _ => Err(raw.to_owned()),
    }
}

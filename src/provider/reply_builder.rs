//! Collects the pieces of one reply and enforces what every decoder guarantees: exactly one end,
//! nothing after an end or error, and bounded memory.

use super::error::{FailureCause, MalformedReply};
use super::types::{EndReason, NativeCall, StreamPart};
use crate::domain::{Arguments, ReasoningEcho, Usage};
use crate::text::surrogates::{self, SurrogateJoiner};
use serde_json::Value;
use std::borrow::Cow;

/// The longest accepted line or event, in bytes.
pub const EVENT_BYTES_MAX: usize = 16 << 20;
/// The largest accepted total of text, thinking and arguments per reply, in bytes.
pub const REPLY_BYTES_MAX: usize = 64 << 20;
/// The largest accepted number of tool calls per reply.
pub const CALLS_MAX: usize = 256;

/// Fields that arrive in fragments. A fragment may end between the two halves of a surrogate
/// pair; a lone half then stays marked until its fragment is joined to the next.
const FRAGMENTED: [&str; 9] = [
    "content",
    "text",
    "thinking",
    "reasoning",
    "reasoning_content",
    "refusal",
    "summary",
    "partial_json",
    "arguments",
];

/// A part of a reply, or the reason why it ended early.
pub type ReplyPiece = Result<StreamPart, FailureCause>;

#[derive(Debug, Default)]
pub(super) struct ReplyBuilder {
    pieces: Vec<ReplyPiece>,
    bytes: usize,
    calls: usize,
    is_over: bool,
    text_halves: SurrogateJoiner,
    thinking_halves: SurrogateJoiner,
}

impl ReplyBuilder {
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    pub fn text(&mut self, text: &str) {
        let text = self.text_halves.push(text);
        if !text.is_empty() && self.reserve_bytes(text.len()) {
            self.pieces.push(Ok(StreamPart::Text(text.into_owned())));
        }
    }

    pub fn thinking(&mut self, text: &str) {
        let text = self.thinking_halves.push(text);
        if !text.is_empty() && self.reserve_bytes(text.len()) {
            self.pieces
                .push(Ok(StreamPart::Thinking(text.into_owned())));
        }
    }

    /// Replaces a surrogate half whose other half never arrived.
    fn finish_halves(&mut self) {
        let (thinking, text) = (self.thinking_halves.finish(), self.text_halves.finish());
        self.thinking(thinking);
        self.text(text);
    }

    pub fn call(&mut self, mut call: NativeCall) {
        self.finish_halves();
        if let Ok(arguments) = &mut call.arguments {
            surrogates::join_surrogates_in_members(arguments, &[]);
        }
        self.calls += 1;
        if self.calls > CALLS_MAX {
            self.fail_for_too_many_calls();
        } else if self.reserve_bytes(call.name.len()) {
            self.pieces.push(Ok(StreamPart::Call(call)));
        }
    }

    /// Adds data that must be sent back with the calls. Comes right before the end.
    pub fn carry(&mut self, mut carry: ReasoningEcho) {
        self.finish_halves();
        surrogates::join_surrogates_in_value(&mut carry.value, &[]);
        if !self.is_over {
            self.pieces.push(Ok(StreamPart::Carry(carry)));
        }
    }

    /// Discards everything so far; the size limits keep counting.
    pub fn start_over(&mut self) {
        self.text_halves.finish();
        self.thinking_halves.finish();
        if !self.is_over {
            self.calls = 0;
            self.pieces.push(Ok(StreamPart::StartedOver));
        }
    }

    /// Adds token counts that are known before the end.
    pub fn usage(&mut self, usage: Usage) {
        self.finish_halves();
        if !self.is_over && usage != Usage::default() {
            self.pieces.push(Ok(StreamPart::Usage(usage)));
        }
    }

    pub fn end(&mut self, usage: Usage, reason: EndReason) {
        self.finish_halves();
        if self.is_over {
            return;
        }
        self.usage(usage);
        self.pieces.push(Ok(StreamPart::End(reason)));
        self.is_over = true;
    }

    pub fn fail(&mut self, cause: FailureCause) {
        self.finish_halves();
        if !self.is_over {
            self.pieces.push(Err(cause));
            self.is_over = true;
        }
    }

    pub fn fail_for_too_many_calls(&mut self) {
        self.fail(FailureCause::Malformed(MalformedReply::TooManyCalls {
            calls_max: CALLS_MAX,
        }));
    }

    pub fn take(&mut self) -> Vec<ReplyPiece> {
        std::mem::take(&mut self.pieces)
    }

    /// Counts bytes to be stored. Fails the reply and returns false if they exceed the limit.
    pub fn reserve_bytes(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        if self.bytes > REPLY_BYTES_MAX {
            self.fail(FailureCause::Malformed(MalformedReply::TooLong {
                bytes_max: REPLY_BYTES_MAX,
            }));
        }
        !self.is_over
    }
}

/// Parses one event.
///
/// # Errors
/// What the text is instead of JSON.
pub(super) fn parse(event: &[u8]) -> Result<Value, MalformedReply> {
    let Ok(text) = std::str::from_utf8(event) else {
        return Err(MalformedReply::NotUtf8);
    };
    let value = serde_json::from_str(text).ok();
    value
        .or_else(|| parse_with_marked_halves(text))
        .ok_or_else(|| not_json(text))
}

/// Parses an event that serde_json rejects because of a lone surrogate half.
fn parse_with_marked_halves(event: &str) -> Option<Value> {
    let Cow::Owned(json) = surrogates::mark_surrogates(event.as_bytes()) else {
        return None;
    };
    let mut value = serde_json::from_slice(&json).ok()?;
    surrogates::join_surrogates_in_value(&mut value, &FRAGMENTED);
    Some(value)
}

/// Parses a reply that was not streamed.
pub(super) fn parse_whole(body: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(&surrogates::repair_surrogates(body))
}

/// Classifies text that is not JSON.
pub(super) fn not_json(text: &str) -> MalformedReply {
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

/// Classifies a line that is not part of any reply.
pub(super) fn describe_line(text: &[u8]) -> MalformedReply {
    match parse(text) {
        Ok(json) => unexpected_json(&json),
        Err(garbled) => garbled,
    }
}

pub(super) fn unexpected_json(json: &Value) -> MalformedReply {
    MalformedReply::UnexpectedJson {
        json: json.to_string(),
    }
}

/// Parses tool arguments sent as a JSON string. An empty string means no arguments, a doubly
/// encoded object is decoded once more, and surrogate halves are joined or replaced.
///
/// # Errors
/// Returns the raw string if it is not an object.
pub(super) fn read_arguments(raw: &str) -> Result<Arguments, String> {
    if raw.trim().is_empty() {
        return Ok(Arguments::new());
    }
    let raw = &*surrogates::join_surrogates(raw);
    let parse =
        |json: &str| serde_json::from_slice(&surrogates::repair_surrogates(json.as_bytes()));
    let value = parse(raw).map_err(|_| raw.to_owned())?;
    match value {
        Value::Object(arguments) => Ok(arguments),
        Value::Null => Ok(Arguments::new()),
        Value::String(inner) => match parse(&inner) {
            Ok(Value::Object(arguments)) => Ok(arguments),
            _ => Err(raw.to_owned()),
        },
        _ => Err(raw.to_owned()),
    }
}

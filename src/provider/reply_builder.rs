//! What one reply has come to so far. Keeps the promises that all decoders make:
//! one end, nothing after an end or an error, and bounds on what is taken in.

use super::error::{Cause, Garbled};
use super::types::{EndReason, NativeCall, StreamPart};
use crate::domain::{Arguments, Carry, Usage};
use crate::text::surrogates::{self, SurrogateJoiner};
use serde_json::Value;
use std::borrow::Cow;

/// The longest line or event, in bytes.
pub const EVENT_BYTES_MAX: usize = 16 << 20;
/// The most text, thinking and arguments of one reply, in bytes.
pub const REPLY_BYTES_MAX: usize = 64 << 20;
/// The most calls of one reply.
pub const CALLS_MAX: usize = 256;

/// Fields that arrive in fragments, where a fragment may end between the two halves of a
/// surrogate pair. In them a half stays marked until its fragment is joined to the others.
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

/// A part of a reply, or why there is no more of it.
pub type Piece = Result<StreamPart, Cause>;

#[derive(Debug, Default)]
pub(super) struct Reply {
    pieces: Vec<Piece>,
    bytes: usize,
    calls: usize,
    is_over: bool,
    text_halves: SurrogateJoiner,
    thinking_halves: SurrogateJoiner,
}

impl Reply {
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    pub fn text(&mut self, text: &str) {
        let text = self.text_halves.push(text);
        if !text.is_empty() && self.has_room(text.len()) {
            self.pieces.push(Ok(StreamPart::Text(text.into_owned())));
        }
    }

    pub fn thinking(&mut self, text: &str) {
        let text = self.thinking_halves.push(text);
        if !text.is_empty() && self.has_room(text.len()) {
            self.pieces
                .push(Ok(StreamPart::Thinking(text.into_owned())));
        }
    }

    /// A half whose partner did not come.
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
            self.fail_for_calls();
        } else if self.has_room(call.name.len()) {
            self.pieces.push(Ok(StreamPart::Call(call)));
        }
    }

    /// What must be seen again with the calls; comes right before the end.
    pub fn carry(&mut self, mut carry: Carry) {
        self.finish_halves();
        surrogates::join_surrogates_in_value(&mut carry.value, &[]);
        if !self.is_over {
            self.pieces.push(Ok(StreamPart::Carry(carry)));
        }
    }

    /// Says that what was given out before is void; bounds go on counting.
    pub fn start_over(&mut self) {
        self.text_halves.finish();
        self.thinking_halves.finish();
        if !self.is_over {
            self.calls = 0;
            self.pieces.push(Ok(StreamPart::StartedOver));
        }
    }

    /// Counts that are known although the end was not reached.
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

    pub fn fail(&mut self, cause: Cause) {
        self.finish_halves();
        if !self.is_over {
            self.pieces.push(Err(cause));
            self.is_over = true;
        }
    }

    pub fn fail_for_calls(&mut self) {
        self.fail(Cause::Garbled(Garbled::TooManyCalls {
            calls_max: CALLS_MAX,
        }));
    }

    pub fn take(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.pieces)
    }

    /// Counts bytes that are kept, and says whether there was room for them.
    pub fn has_room(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        if self.bytes > REPLY_BYTES_MAX {
            self.fail(Cause::Garbled(Garbled::TooLong {
                bytes_max: REPLY_BYTES_MAX,
            }));
        }
        !self.is_over
    }
}

/// Parses one event.
///
/// # Errors
/// What it is instead of JSON.
pub(super) fn parse(event: &[u8]) -> Result<Value, Garbled> {
    let Ok(text) = std::str::from_utf8(event) else {
        return Err(Garbled::NotUtf8);
    };
    let value = serde_json::from_str(text).ok();
    value
        .or_else(|| with_marked_halves(text))
        .ok_or_else(|| not_json(text))
}

/// Parses an event that serde_json rejects for a lone surrogate half.
fn with_marked_halves(event: &str) -> Option<Value> {
    let Cow::Owned(json) = surrogates::mark_surrogates(event.as_bytes()) else {
        return None;
    };
    let mut value = serde_json::from_slice(&json).ok()?;
    surrogates::join_surrogates_in_value(&mut value, &FRAGMENTED);
    Some(value)
}

/// Parses an answer that was not streamed.
pub(super) fn parse_whole(body: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(&surrogates::repair_surrogates(body))
}

/// What text that is not JSON is.
pub(super) fn not_json(text: &str) -> Garbled {
    if text
        .trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('<')
    {
        Garbled::WebPage
    } else {
        Garbled::NotJson {
            line: text.to_owned(),
        }
    }
}

/// What a text is that is no answer at all.
pub(super) fn no_answer(text: &[u8]) -> Garbled {
    match parse(text) {
        Ok(json) => foreign(&json),
        Err(garbled) => garbled,
    }
}

pub(super) fn foreign(json: &Value) -> Garbled {
    Garbled::Foreign {
        json: json.to_string(),
    }
}

/// Reads arguments that a server sends as a text of JSON. A text of nothing means
/// that there are none; JSON in a JSON string is unpacked once, and halves of surrogate
/// pairs are joined or replaced.
///
/// # Errors
/// The text itself, where it is not an object.
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

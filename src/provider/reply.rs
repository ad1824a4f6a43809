//! What one reply has come to so far. Keeps the promises that all decoders make:
//! one end, nothing after an end or an error, and bounds on what is taken in.

use super::error::{Cause, Garbled};
use super::part::{EndReason, NativeCall, StreamPart};
use crate::domain::{Arguments, Carry, Usage};
use serde_json::Value;

/// The longest line or event, in bytes.
pub const EVENT_BYTES_MAX: usize = 16 << 20;
/// The most text, thinking and arguments of one reply, in bytes.
pub const REPLY_BYTES_MAX: usize = 64 << 20;
/// The most calls of one reply.
pub const CALLS_MAX: usize = 256;

/// A part of a reply, or why there is no more of it.
pub type Piece = Result<StreamPart, Cause>;

#[derive(Debug, Default)]
pub(super) struct Reply {
    pieces: Vec<Piece>,
    bytes: usize,
    calls: usize,
    is_over: bool,
}

impl Reply {
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    pub fn text(&mut self, text: &str) {
        if !text.is_empty() && self.has_room(text.len()) {
            self.pieces.push(Ok(StreamPart::Text(text.to_owned())));
        }
    }

    pub fn thinking(&mut self, text: &str) {
        if !text.is_empty() && self.has_room(text.len()) {
            self.pieces.push(Ok(StreamPart::Thinking(text.to_owned())));
        }
    }

    pub fn call(&mut self, call: NativeCall) {
        self.calls += 1;
        if self.calls > CALLS_MAX {
            self.fail_for_calls();
        } else if self.has_room(call.name.len()) {
            self.pieces.push(Ok(StreamPart::Call(call)));
        }
    }

    /// What must be seen again with the calls; comes right before the end.
    pub fn carry(&mut self, carry: Carry) {
        if !self.is_over {
            self.pieces.push(Ok(StreamPart::Carry(carry)));
        }
    }

    /// Says that what was given out before is void; bounds go on counting.
    pub fn start_over(&mut self) {
        if !self.is_over {
            self.calls = 0;
            self.pieces.push(Ok(StreamPart::StartedOver));
        }
    }

    /// Counts that are known although the end was not reached.
    pub fn usage(&mut self, usage: Usage) {
        if !self.is_over && usage != Usage::default() {
            self.pieces.push(Ok(StreamPart::Usage(usage)));
        }
    }

    pub fn end(&mut self, usage: Usage, reason: EndReason) {
        if self.is_over {
            return;
        }
        self.usage(usage);
        self.pieces.push(Ok(StreamPart::End(reason)));
        self.is_over = true;
    }

    pub fn fail(&mut self, cause: Cause) {
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
    serde_json::from_str(text).map_err(|_| not_json(text))
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
/// that there are none; JSON in a JSON string is unpacked once.
///
/// # Errors
/// The text itself, where it is not an object.
pub(super) fn read_arguments(raw: &str) -> Result<Arguments, String> {
    if raw.trim().is_empty() {
        return Ok(Arguments::new());
    }
    let value = serde_json::from_str(raw).map_err(|_| raw.to_owned())?;
    match value {
        Value::Object(arguments) => Ok(arguments),
        Value::Null => Ok(Arguments::new()),
        Value::String(inner) => match serde_json::from_str(&inner) {
            Ok(Value::Object(arguments)) => Ok(arguments),
            _ => Err(raw.to_owned()),
        },
        _ => Err(raw.to_owned()),
    }
}

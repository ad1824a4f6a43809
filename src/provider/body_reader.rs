//! Detects the format of a reply body from its first visible character: server-sent events, a
//! single JSON value (an error with status 200, or a server that does not stream), or a web page.

use super::error::MalformedReply;
use super::reply_builder::EVENT_BYTES_MAX;
use crate::text::sse::{EventTooLong, SseDecoder, SseEvent};

const EVENT_TOO_LONG: MalformedReply = MalformedReply::TooLong {
    bytes_max: EVENT_BYTES_MAX,
};

/// Splits a reply body into events.
#[derive(Debug)]
pub(super) enum BodyReader {
    /// Only whitespace so far.
    Unknown(Vec<u8>),
    Events(SseDecoder),
    /// A single JSON value.
    Json(Vec<u8>),
}

/// The unprocessed rest of a body when the connection closes.
#[derive(Debug)]
pub(super) enum BodyEnd {
    Empty,
    /// The event after the last blank line, if any; it may be incomplete.
    LastEvent(Option<SseEvent>),
    /// All bytes of the JSON value, which may be incomplete.
    Json(Vec<u8>),
    /// The first line of a body that contains no server-sent events.
    NotEvents(Vec<u8>),
}

impl Default for BodyReader {
    fn default() -> Self {
        Self::Unknown(Vec::new())
    }
}

impl BodyReader {
    /// Feeds bytes and returns the events they complete. An error is the last item.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Result<SseEvent, MalformedReply>> {
        let events = match self {
            Self::Unknown(start) => {
                start.extend_from_slice(bytes);
                self.detect_format()
            }
            Self::Events(decoder) => convert_errors(decoder.push(bytes)),
            Self::Json(body) => {
                body.extend_from_slice(bytes);
                Vec::new()
            }
        };
        match self {
            Self::Unknown(buffer) | Self::Json(buffer) if buffer.len() > EVENT_BYTES_MAX => {
                vec![Err(EVENT_TOO_LONG)]
            }
            _ => events,
        }
    }

    pub fn finish(self) -> BodyEnd {
        match self {
            Self::Unknown(_) => BodyEnd::Empty,
            Self::Events(decoder) => match decoder.unexpected_line().map(<[u8]>::to_vec) {
                Some(line) => BodyEnd::NotEvents(line),
                None => BodyEnd::LastEvent(decoder.finish()),
            },
            Self::Json(body) => BodyEnd::Json(body),
        }
    }

    /// Leaves `Unknown` at the first visible character, unless it begins a web page, which is an
    /// error. Returns the complete events.
    fn detect_format(&mut self) -> Vec<Result<SseEvent, MalformedReply>> {
        let Self::Unknown(start) = self else {
            return Vec::new();
        };
        let bom_and_whitespace = b"\xEF\xBB\xBF \t\r\n";
        let is_visible = |byte: &u8| !bom_and_whitespace.contains(byte);
        match start.iter().position(is_visible) {
            None => Vec::new(),
            Some(first) => match start[first] {
                b'{' | b'[' => {
                    *self = Self::Json(start.split_off(first));
                    Vec::new()
                }
                b'<' => vec![Err(MalformedReply::WebPage)],
                _ => {
                    let mut decoder = SseDecoder::new(EVENT_BYTES_MAX);
                    let events = convert_errors(decoder.push(start));
                    *self = Self::Events(decoder);
                    events
                }
            },
        }
    }
}

fn convert_errors(
    events: Vec<Result<SseEvent, EventTooLong>>,
) -> Vec<Result<SseEvent, MalformedReply>> {
    events
        .into_iter()
        .map(|event| event.map_err(|EventTooLong| EVENT_TOO_LONG))
        .collect()
}

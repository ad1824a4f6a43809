//! Detects the framing of a reply body from its first meaningful byte: server-sent events, a
//! single JSON text (an error with status 200, or a server that does not stream), or a web page.

use super::error::MalformedReply;
use super::reply_builder::EVENT_BYTES_MAX;
use crate::text::sse::{EventTooLong, SseDecoder, SseEvent};

const TOO_LONG: MalformedReply = MalformedReply::TooLong {
    bytes_max: EVENT_BYTES_MAX,
};

/// Splits a reply body into events.
#[derive(Debug)]
pub(super) enum BodyReader {
    /// Only white space so far.
    Unknown(Vec<u8>),
    Events(SseDecoder),
    /// A single JSON text.
    Whole(Vec<u8>),
}

/// What remains when the connection closes.
#[derive(Debug)]
pub(super) enum BodyEnd {
    /// The body had no content.
    Empty,
    /// The event that lacks its closing blank line; it may be incomplete.
    LastEvent(Option<SseEvent>),
    /// The whole body; it may be incomplete.
    Whole(Vec<u8>),
    /// The first line of a body in another format.
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
            Self::Unknown(head) => {
                head.extend_from_slice(bytes);
                self.decide()
            }
            Self::Events(events) => bounded(events.push(bytes)),
            Self::Whole(body) => {
                body.extend_from_slice(bytes);
                Vec::new()
            }
        };
        match self {
            Self::Unknown(held) | Self::Whole(held) if held.len() > EVENT_BYTES_MAX => {
                vec![Err(TOO_LONG)]
            }
            _ => events,
        }
    }

    pub fn finish(self) -> BodyEnd {
        match self {
            Self::Unknown(_) => BodyEnd::Empty,
            Self::Events(events) => match events.unexpected_line().map(<[u8]>::to_vec) {
                Some(line) => BodyEnd::NotEvents(line),
                None => BodyEnd::LastEvent(events.finish()),
            },
            Self::Whole(body) => BodyEnd::Whole(body),
        }
    }

    fn decide(&mut self) -> Vec<Result<SseEvent, MalformedReply>> {
        let Self::Unknown(head) = self else {
            return Vec::new();
        };
        let ignored = b"\xEF\xBB\xBF \t\r\n";
        match head.iter().position(|byte| !ignored.contains(byte)) {
            None => Vec::new(),
            Some(start) => match head[start] {
                b'{' | b'[' => {
                    *self = Self::Whole(head.split_off(start));
                    Vec::new()
                }
                b'<' => vec![Err(MalformedReply::WebPage)],
                _ => {
                    let mut events = SseDecoder::new(EVENT_BYTES_MAX);
                    let whole = bounded(events.push(head));
                    *self = Self::Events(events);
                    whole
                }
            },
        }
    }
}

fn bounded(events: Vec<Result<SseEvent, EventTooLong>>) -> Vec<Result<SseEvent, MalformedReply>> {
    let tell = |event: Result<SseEvent, EventTooLong>| event.map_err(|EventTooLong| TOO_LONG);
    events.into_iter().map(tell).collect()
}

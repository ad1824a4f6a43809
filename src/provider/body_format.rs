//! What the body of an answer is, before anybody knows what it says: server-sent
//! events, or one JSON text (an error with status 200, a server that does not
//! stream), or a web page. The first byte that means something decides.

use super::error::Garbled;
use super::reply_builder::EVENT_BYTES_MAX;
use crate::text::sse::{EventTooLong, SseDecoder, SseEvent};

const TOO_LONG: Garbled = Garbled::TooLong {
    bytes_max: EVENT_BYTES_MAX,
};

/// Cuts the body of an answer into its events.
#[derive(Debug)]
pub(super) enum Frame {
    /// Nothing but white space so far.
    Unknown(Vec<u8>),
    Events(SseDecoder),
    /// One JSON text.
    Whole(Vec<u8>),
}

/// What is left when the connection has ended.
#[derive(Debug)]
pub(super) enum Rest {
    /// There was no byte that meant something.
    Nothing,
    /// The event that lacks its blank line; it may be cut.
    Event(Option<SseEvent>),
    /// All of the body; it may be cut.
    Whole(Vec<u8>),
    /// The first line of something else.
    Foreign(Vec<u8>),
}

impl Default for Frame {
    fn default() -> Self {
        Self::Unknown(Vec::new())
    }
}

impl Frame {
    /// Takes bytes in and gives the events that are whole now. An error is the last.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Result<SseEvent, Garbled>> {
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

    pub fn finish(self) -> Rest {
        match self {
            Self::Unknown(_) => Rest::Nothing,
            Self::Events(events) => match events.unexpected_line().map(<[u8]>::to_vec) {
                Some(line) => Rest::Foreign(line),
                None => Rest::Event(events.finish()),
            },
            Self::Whole(body) => Rest::Whole(body),
        }
    }

    fn decide(&mut self) -> Vec<Result<SseEvent, Garbled>> {
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
                b'<' => vec![Err(Garbled::WebPage)],
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

fn bounded(events: Vec<Result<SseEvent, EventTooLong>>) -> Vec<Result<SseEvent, Garbled>> {
    let tell = |event: Result<SseEvent, EventTooLong>| event.map_err(|EventTooLong| TOO_LONG);
    events.into_iter().map(tell).collect()
}

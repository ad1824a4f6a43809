//! Server-sent events (WHATWG HTML, 9.2.6): bytes in, events out. Only the fields
//! `event` and `data` matter here; reconnecting is not what a chat wants.

use super::error::Garbled;
use super::reply::EVENT_BYTES_MAX;

const BOM: &[u8] = "\u{feff}".as_bytes();
const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];

/// Is it a comment or one of the standard's fields?
fn is_field(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    name.is_empty() || FIELDS.contains(&name)
}

/// One event: its bytes are not yet known to be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// Empty where none was given.
    pub name: Vec<u8>,
    /// The lines of `data`, joined by `\n`.
    pub data: Vec<u8>,
}

/// Cuts bytes into events, however they arrive.
#[derive(Debug, Default)]
pub struct Events {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// Some line was a field of an event that matters here.
    has_begun: bool,
    /// The first line that no stream of events has.
    foreign: Option<Vec<u8>>,
    first_is_read: bool,
    /// The last byte was a carriage return: a line feed now belongs to it.
    after_return: bool,
}

impl Events {
    /// The events that are whole now. An overlong one is an error, and the last item.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Result<Event, Garbled>> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + self.event.data.len() + part.len() > EVENT_BYTES_MAX {
                events.push(Err(Garbled::TooLong {
                    bytes_max: EVENT_BYTES_MAX,
                }));
                return events;
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            events.extend(self.end_line().map(Ok));
        }
        events
    }

    /// What it is that begins with no event, and is no beginning of one either.
    pub fn foreign(&self) -> Option<&[u8]> {
        let line = match self.first_is_read {
            true => &self.line,
            false => self.line.strip_prefix(BOM).unwrap_or(&self.line),
        };
        let begins_a_field = FIELDS.iter().any(|field| field.starts_with(line));
        let cut = (!begins_a_field && !is_field(line)).then_some(line);
        let foreign = self.foreign.as_deref().or(cut);
        foreign.filter(|_| !self.has_begun)
    }

    /// The event that lacks its blank line, where it has data. The standard drops
    /// it; some servers forget the line after their last event.
    pub fn finish(mut self) -> Option<Event> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.dispatch()
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if !std::mem::replace(&mut self.first_is_read, true) {
            text = text.strip_prefix(BOM).unwrap_or(text);
        }
        if text.is_empty() {
            return self.dispatch();
        }
        let (field, value) = match text.iter().position(|byte| *byte == b':') {
            Some(colon) => (&text[..colon], &text[colon + 1..]),
            None => (text, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                self.has_begun = true;
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => {
                self.has_begun = true;
                self.event.name = value.to_vec();
            }
            // A comment (no field name), `id`, `retry`, or nothing we know.
            _ if is_field(text) || self.foreign.is_some() => {}
            _ => self.foreign = Some(text.to_vec()),
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

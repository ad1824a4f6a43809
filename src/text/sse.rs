//! Decodes server-sent events (WHATWG HTML, section 9.2.6) and keeps the data needed to resume a
//! stream. The caller sets the maximum event size.

const BOM: &[u8] = "\u{feff}".as_bytes();
const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];

/// Longer ids are ignored, because an id is copied for each event, and sent in a header to resume
/// the stream.
const ID_BYTES_MAX: usize = 1_024;

/// Whether the line is a comment or a field defined by the standard.
fn is_field(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    name.is_empty() || FIELDS.contains(&name)
}

/// One event. Its bytes need not be valid UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// Empty if the event has no name.
    pub name: Vec<u8>,
    /// The lines of `data`, joined by `\n`.
    pub data: Vec<u8>,
}

/// The current event exceeds the size limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTooLong;

/// Decodes a stream that arrives in chunks of any size.
#[derive(Debug)]
pub struct SseDecoder {
    event_bytes_max: usize,
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// The stream contained a `data` or `event` field.
    has_event_field: bool,
    /// The first line that is not valid in an event stream.
    unexpected_line: Option<Vec<u8>>,
    has_read_first_line: bool,
    /// The last byte was a carriage return; a line feed right after it belongs to the same line
    /// break.
    is_after_carriage_return: bool,
    /// The last id received, possibly in an event that is not complete yet.
    id: Vec<u8>,
    last_event_id: Vec<u8>,
    retry_millis: Option<u64>,
}

impl SseDecoder {
    pub fn new(event_bytes_max: usize) -> Self {
        Self {
            event_bytes_max,
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            has_event_field: false,
            unexpected_line: None,
            has_read_first_line: false,
            is_after_carriage_return: false,
            id: Vec::new(),
            last_event_id: Vec::new(),
            retry_millis: None,
        }
    }

    /// The id of the last complete event, from which to resume; empty if there was none.
    pub fn last_event_id(&self) -> &[u8] {
        &self.last_event_id
    }

    /// The reconnection delay in milliseconds, if the stream set one.
    pub fn retry_millis(&self) -> Option<u64> {
        self.retry_millis
    }

    /// Returns the events that `bytes` complete. Decoding stops at an event that is too long, which
    /// is returned as an error.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Result<SseEvent, EventTooLong>> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.is_after_carriage_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + self.event.data.len() + part.len() > self.event_bytes_max {
                events.push(Err(EventTooLong));
                return events;
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.is_after_carriage_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            events.extend(self.end_line().map(Ok));
        }
        events
    }

    /// The first invalid line of a body that does not look like an event stream.
    pub fn unexpected_line(&self) -> Option<&[u8]> {
        let line = match self.has_read_first_line {
            true => &self.line,
            false => self.line.strip_prefix(BOM).unwrap_or(&self.line),
        };
        let may_become_field = FIELDS.iter().any(|field| field.starts_with(line));
        let partial_line = (!may_become_field && !is_field(line)).then_some(line);
        let unexpected = self.unexpected_line.as_deref().or(partial_line);
        unexpected.filter(|_| !self.has_event_field)
    }

    /// Returns an event that has data but no blank line after it. The standard discards it, but
    /// some servers omit the last blank line.
    pub fn finish(mut self) -> Option<SseEvent> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.dispatch()
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if !std::mem::replace(&mut self.has_read_first_line, true) {
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
                self.has_event_field = true;
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => {
                self.has_event_field = true;
                self.event.name = value.to_vec();
            }
            b"id" if value.len() <= ID_BYTES_MAX && !value.contains(&0) => {
                self.id = value.to_vec();
            }
            b"retry" => self.retry_millis = parse_milliseconds(value).or(self.retry_millis),
            // A comment, an invalid `id`, or an unexpected line after the first one.
            _ if is_field(text) || self.unexpected_line.is_some() => {}
            _ => self.unexpected_line = Some(text.to_vec()),
        }
        None
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let event = std::mem::take(&mut self.event);
        // An event without data is not dispatched, but its id still takes effect.
        if self.last_event_id != self.id {
            self.last_event_id.clone_from(&self.id);
        }
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

fn parse_milliseconds(value: &[u8]) -> Option<u64> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let digits = std::str::from_utf8(value).ok().filter(|_| is_number)?;
    // Saturates on overflow.
    Some(digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn data_id_and_retry(stream: &str) -> (Vec<String>, String, Option<u64>) {
        let mut decoder = SseDecoder::new(1_000);
        let events = decoder.push(stream.as_bytes());
        let data = events
            .into_iter()
            .map(|event| {
                let event = event.expect("event within the limit");
                String::from_utf8(event.data).expect("UTF-8 data")
            })
            .collect();
        let id = String::from_utf8_lossy(decoder.last_event_id()).into_owned();
        (data, id, decoder.retry_millis())
    }

    #[test]
    fn event_id_takes_effect_when_its_event_ends_even_without_data() {
        let expected = |data: &[&str], id: &str, retry| {
            let data = data.iter().map(|&item| item.to_owned()).collect();
            (data, id.to_owned(), retry)
        };
        assert_eq!(
            data_id_and_retry("id: 7\nretry: 500\ndata: \n\n"),
            expected(&[""], "7", Some(500))
        );
        assert_eq!(
            data_id_and_retry("id: 7\n\nid: 8\n"),
            expected(&[], "7", None)
        );
        assert_eq!(
            data_id_and_retry("id: 7\ndata: a\n\ndata: b\n\n"),
            expected(&["a", "b"], "7", None)
        );
        assert_eq!(
            data_id_and_retry("id: 7\n\nid\n\n"),
            expected(&[], "", None)
        );
        assert_eq!(
            data_id_and_retry("id: 7\n\nid: a\0b\n\n"),
            expected(&[], "7", None)
        );
    }

    #[test]
    fn retry_field_accepts_only_whole_numbers() {
        let retry = |value: &str| data_id_and_retry(&format!("retry:{value}\n")).2;
        assert_eq!(retry("0"), Some(0));
        assert_eq!(retry("99999999999999999999"), Some(u64::MAX));
        for value in ["", "-1", "1.5", "soon", "+5"] {
            assert_eq!(retry(value), None, "{value}");
        }
    }

    #[test]
    fn caller_sets_the_maximum_event_size() {
        let mut decoder = SseDecoder::new(10);
        assert_eq!(decoder.push(b"data: 1234\n"), []);
        assert_eq!(decoder.push(b"data: 5\n"), [Err(EventTooLong)]);
    }

    #[test]
    fn overlong_event_id_is_ignored_and_not_copied_per_event() {
        let mut decoder = SseDecoder::new(1_000_000);
        let overlong = "x".repeat(500_000);
        decoder.push(format!("id: 7\n\nid: {overlong}\n").as_bytes());
        let start = Instant::now();
        decoder.push("\n".repeat(400_000).as_bytes());
        assert!(start.elapsed() < Duration::from_secs(3));
        assert_eq!(decoder.last_event_id(), b"7");
    }
}

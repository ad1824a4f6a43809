//! Splits bytes into the lines of newline-delimited JSON. Does not parse them; a character split
//! between two reads is whole again in its line.

use crate::provider::error::MalformedReply;
use crate::provider::reply_builder::EVENT_BYTES_MAX;

const BOM: &[u8] = "\u{feff}".as_bytes();

#[derive(Debug, Default)]
pub(super) struct JsonLines {
    rest: Vec<u8>,
    has_yielded: bool,
}

impl JsonLines {
    /// Feeds bytes and returns the lines they complete, without line ends and blank lines. An
    /// overlong line is an error and the last item.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Result<Vec<u8>, MalformedReply>> {
        let mut lines = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.rest.len() + part.len() > EVENT_BYTES_MAX {
                lines.push(Err(MalformedReply::TooLong {
                    bytes_max: EVENT_BYTES_MAX,
                }));
                return lines;
            }
            self.rest.extend_from_slice(part);
            if part.ends_with(b"\n") {
                lines.extend(self.take().map(Ok));
            }
        }
        lines
    }

    /// The text after the last line end, unless blank.
    pub fn finish(mut self) -> Option<Vec<u8>> {
        self.take()
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.rest);
        let mut text = line.as_slice();
        if !std::mem::replace(&mut self.has_yielded, true) {
            text = text.strip_prefix(BOM).unwrap_or(text);
        }
        let text = text.trim_ascii();
        (!text.is_empty()).then(|| text.to_vec())
    }
}

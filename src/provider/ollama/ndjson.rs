//! Splits bytes into the lines of newline-delimited JSON, without parsing them. Works on bytes, so
//! a character may be split between two reads.

use crate::provider::error::MalformedReply;
use crate::provider::reply_builder::EVENT_BYTES_MAX;

const BOM: &[u8] = "\u{feff}".as_bytes();

#[derive(Debug, Default)]
pub(super) struct JsonLines {
    /// The incomplete line.
    buffer: Vec<u8>,
    /// Whether the first line was taken. Only that line may begin with a byte order mark.
    is_past_first_line: bool,
}

impl JsonLines {
    /// Feeds bytes and returns the lines they complete, trimmed and without blank ones. An
    /// overlong line is an error, and nothing follows it.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Result<Vec<u8>, MalformedReply>> {
        let mut lines = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.buffer.len() + part.len() > EVENT_BYTES_MAX {
                lines.push(Err(MalformedReply::TooLong {
                    bytes_max: EVENT_BYTES_MAX,
                }));
                return lines;
            }
            self.buffer.extend_from_slice(part);
            if part.ends_with(b"\n") {
                lines.extend(self.take_line().map(Ok));
            }
        }
        lines
    }

    /// The text after the last line break, unless it is blank.
    pub fn finish(mut self) -> Option<Vec<u8>> {
        self.take_line()
    }

    /// `None` if the line is blank.
    fn take_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.buffer);
        let mut text = line.as_slice();
        if !std::mem::replace(&mut self.is_past_first_line, true) {
            text = text.strip_prefix(BOM).unwrap_or(text);
        }
        let text = text.trim_ascii();
        (!text.is_empty()).then(|| text.to_vec())
    }
}

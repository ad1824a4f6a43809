//! Newline-delimited JSON: bytes in, lines out. Knows nothing of what a line
//! says; a character cut between two reads is whole again in its line.

use crate::provider::error::Garbled;
use crate::provider::reply_builder::EVENT_BYTES_MAX;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Cuts bytes into lines, however they arrive.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
    first_is_out: bool,
}

impl Lines {
    /// The lines that are whole now, without line ends; blank ones are left out.
    /// An overlong line is an error, and the last item.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Result<Vec<u8>, Garbled>> {
        let mut lines = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.rest.len() + part.len() > EVENT_BYTES_MAX {
                lines.push(Err(Garbled::TooLong {
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

    /// What followed the last line end, where it is not blank.
    pub fn finish(mut self) -> Option<Vec<u8>> {
        self.take()
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.rest);
        let mut text = line.as_slice();
        if !std::mem::replace(&mut self.first_is_out, true) {
            text = text.strip_prefix(BOM).unwrap_or(text);
        }
        let text = text.trim_ascii();
        (!text.is_empty()).then(|| text.to_vec())
    }
}

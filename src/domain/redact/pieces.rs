//! Redaction of a text that arrives in pieces, such as the tokens of a reply.

use super::{CHUNK_BYTES_MAX, Redactor, SecretRegistry, mask_ranges};
use std::sync::Arc;

/// Hides credentials in a text that arrives in pieces. Holds back an end that may be the beginning
/// of a credential until the next piece decides.
#[derive(Debug)]
pub struct PieceRedactor {
    redactor: Arc<Redactor>,
    held: String,
}

impl PieceRedactor {
    /// Hides the credentials known now.
    pub fn new(secrets: &SecretRegistry) -> Self {
        Self {
            redactor: secrets.credentials(),
            held: String::new(),
        }
    }

    /// The text that can be passed on; may be empty.
    pub fn push(&mut self, piece: String) -> String {
        if self.redactor.values.is_empty() {
            return piece;
        }
        self.held.push_str(&piece);
        let ready = self.held.len() - self.redactor.partial_value_length(&self.held);
        let ranges = self.redactor.ranges_of_values(&self.held);
        let (text, used_bytes) = mask_ranges(&self.held, ranges, ready);
        self.held.drain(..used_bytes);
        text
    }

    /// The text that was held back, because no further piece will follow.
    pub fn finish(&mut self) -> String {
        self.redactor
            .redact_known_values(&std::mem::take(&mut self.held))
    }
}

impl Redactor {
    /// The length of the longest end of `text` that is the beginning of a known value, but not all
    /// of it. Values in escapes are not considered.
    fn partial_value_length(&self, text: &str) -> usize {
        let text = text.as_bytes();
        let longest = text.len().min(CHUNK_BYTES_MAX - 1);
        let is_beginning = |end: &[u8]| {
            let mut values = self.values.iter().map(String::as_bytes);
            values.any(|value| {
                end.len() < value.len() && value[..end.len()].eq_ignore_ascii_case(end)
            })
        };
        let lengths = (1..=longest).rev();
        let mut at_boundary = lengths.filter(|length| is_beginning(&text[text.len() - length..]));
        at_boundary.next().unwrap_or(0)
    }
}

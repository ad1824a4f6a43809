//! Redaction of a text that arrives in pieces, such as the tokens of a reply.

use super::escapes::DecodedView;
use super::{CHUNK_BYTES_MAX, LOOKAHEAD_BYTES, Redactor, SecretRegistry, mask_ranges};
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

/// The longest escape is `\u{10ffff}`.
const ESCAPE_BYTES_MAX: usize = 10;

/// Splits off an escape at the end that needs more characters.
fn split_incomplete_escape(text: &str) -> (&str, &str) {
    let start = text.ceil_char_boundary(text.len().saturating_sub(ESCAPE_BYTES_MAX));
    let at = text[start..].rfind(['%', '\\']).map(|at| start + at);
    let is_open = |at: &usize| {
        let rest = &text[at + 1..];
        match text.as_bytes()[*at] {
            b'%' => rest.len() < 2,
            _ => rest.is_empty() || rest.starts_with('u') && !rest.ends_with('}') && rest.len() < 5,
        }
    };
    text.split_at(at.filter(is_open).unwrap_or(text.len()))
}

impl Redactor {
    /// The length of the longest end of `text` that is the beginning of a known value, in any escaping,
    /// but not all of it; or that of an incomplete escape.
    fn partial_value_length(&self, text: &str) -> usize {
        let start = text.ceil_char_boundary(text.len().saturating_sub(LOOKAHEAD_BYTES));
        let (text, escape) = split_incomplete_escape(&text[start..]);
        let lengths = DecodedView::all(text).into_iter().map(|view| {
            let bytes = view.bytes();
            let length = self.beginning_length(bytes);
            let source = view.source_range(bytes.len() - length..bytes.len());
            text.len() - source.start
        });
        escape.len() + lengths.max().unwrap_or(0)
    }

    fn beginning_length(&self, text: &[u8]) -> usize {
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

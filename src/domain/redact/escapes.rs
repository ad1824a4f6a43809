//! Decoded views of a text: without percent escapes, without backslash escapes, or without
//! both. Each decoded byte maps back to its source, so matches can be hidden in the original
//! text.

use std::borrow::Cow;
use std::ops::Range;

/// Levels of backslash escapes decoded. JSON within JSON, quoted once more by a log line, has three.
const ESCAPE_LEVELS_MAX: usize = 4;

/// One decoded form of a text.
pub(super) struct DecodedView<'a> {
    bytes: Cow<'a, [u8]>,
    /// The source offset of each byte, followed by the length of the source. Empty if the view
    /// is the text itself.
    source_offsets: Vec<u32>,
}

impl<'a> DecodedView<'a> {
    /// All distinct views of `text`, the text itself first.
    pub(super) fn all(text: &'a str) -> Vec<Self> {
        let bytes = text.as_bytes();
        let mut views = vec![DecodedView {
            bytes: Cow::Borrowed(bytes),
            source_offsets: Vec::new(),
        }];
        // Offsets have only 32 bits. No real text is longer.
        if u32::try_from(bytes.len()).is_err() {
            return views;
        }
        let mut newest = 0;
        for _ in 0..ESCAPE_LEVELS_MAX {
            let view = &views[newest];
            let (percent, backslash) = (
                view.decode_escapes(b'%', decode_percent),
                view.decode_escapes(b'\\', decode_backslash),
            );
            views.extend(percent);
            let Some(backslash) = backslash else { break };
            newest = views.len();
            views.push(backslash);
        }
        views
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn source_range(&self, range: Range<usize>) -> Range<usize> {
        match self.source_offsets.is_empty() {
            true => range,
            false => {
                let offset = |index: usize| self.source_offsets[index] as usize;
                offset(range.start)..offset(range.end)
            }
        }
    }

    /// Decodes the escapes that begin with `escape_byte`; `None` if there are none. `decode`
    /// receives the bytes from `escape_byte` on and returns the decoded unit and the length of
    /// its escape.
    fn decode_escapes(
        &self,
        escape_byte: u8,
        decode: EscapeDecoder,
    ) -> Option<DecodedView<'static>> {
        if !self.bytes.contains(&escape_byte) {
            return None;
        }
        let source_offset = |index: usize| match self.source_offsets.is_empty() {
            true => index as u32,
            false => self.source_offsets[index],
        };
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut source_offsets = Vec::with_capacity(self.bytes.len() + 1);
        let (mut position, mut has_escapes) = (0, false);
        while let Some(&byte) = self.bytes.get(position) {
            let escape = (byte == escape_byte)
                .then(|| decode(&self.bytes[position..]))
                .flatten();
            let length = match escape {
                Some((unit, length)) => {
                    has_escapes = true;
                    let mut buffer = [0; 4];
                    bytes.extend_from_slice(match unit {
                        DecodedUnit::Byte(byte) => {
                            buffer[0] = byte;
                            &buffer[..1]
                        }
                        DecodedUnit::Char(letter) => letter.encode_utf8(&mut buffer).as_bytes(),
                    });
                    length
                }
                None => {
                    bytes.push(byte);
                    1
                }
            };
            source_offsets.resize(bytes.len(), source_offset(position));
            position += length;
        }
        source_offsets.push(source_offset(self.bytes.len()));
        has_escapes.then_some(DecodedView {
            bytes: Cow::Owned(bytes),
            source_offsets,
        })
    }
}

type EscapeDecoder = fn(&[u8]) -> Option<(DecodedUnit, usize)>;

enum DecodedUnit {
    Byte(u8),
    Char(char),
}

fn decode_percent(bytes: &[u8]) -> Option<(DecodedUnit, usize)> {
    let code = parse_hex(bytes.get(1..3)?)?;
    Some((DecodedUnit::Byte(u8::try_from(code).ok()?), 3))
}

/// Decodes a JSON escape, or Rust's `\u{41}` or `\'`.
fn decode_backslash(bytes: &[u8]) -> Option<(DecodedUnit, usize)> {
    let byte = |byte| Some((DecodedUnit::Byte(byte), 2));
    match *bytes.get(1)? {
        same @ (b'"' | b'\\' | b'/' | b'\'') => byte(same),
        b'n' => byte(b'\n'),
        b'r' => byte(b'\r'),
        b't' => byte(b'\t'),
        b'u' if bytes.get(2) == Some(&b'{') => {
            let digits = bytes[3..].iter().take(7).position(|byte| *byte == b'}')?;
            let letter = char::from_u32(parse_hex(&bytes[3..3 + digits])?)?;
            Some((DecodedUnit::Char(letter), digits + 4))
        }
        b'u' => {
            let high = parse_hex(bytes.get(2..6)?)?;
            if let Some(letter) = char::from_u32(high) {
                return Some((DecodedUnit::Char(letter), 6));
            }
            let low = parse_hex(bytes.get(6..12)?.strip_prefix(b"\\u")?)?;
            let letter = char::decode_utf16([high as u16, low as u16]).next()?.ok()?;
            Some((DecodedUnit::Char(letter), 12))
        }
        _ => None,
    }
}

fn parse_hex(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok()?;
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok())?
}

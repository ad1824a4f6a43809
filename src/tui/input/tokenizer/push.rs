//! The transitions of the tokenizer. Every byte belongs to exactly one token or is dropped.

use super::{ESC, InputToken, Prefix, State, Tokenizer, key};
use std::mem::take;

/// Longer sequences are unknown ones.
const SEQUENCE_BYTES_MAX: usize = 128;
/// Longer control strings are no replies.
const STRING_BYTES_MAX: usize = 1 << 20;
/// The part of a control string that is kept. No reply that matters is longer.
const STRING_BYTES_KEPT: usize = 256;
const PASTE_START: &[u8] = b"200~";
const BEL: u8 = 0x07;

impl Tokenizer {
    pub(super) fn push(&mut self, byte: u8, tokens: &mut Vec<InputToken>) {
        let carriage_return_at = self.carriage_return_at.take();
        match take(&mut self.state) {
            State::Ground => {
                let is_same_break = carriage_return_at
                    .is_some_and(|at| self.last_byte_at <= at + self.esc_hold_time);
                if byte == b'\n' && is_same_break {
                    return;
                }
                self.begin(byte, tokens);
            }
            State::Utf8 { mut bytes, has_alt } => {
                bytes.push(byte);
                match std::str::from_utf8(&bytes) {
                    Ok(text) => {
                        tokens.extend(text.chars().map(|c| InputToken::Char { c, has_alt }))
                    }
                    // Incomplete so far.
                    Err(error) if error.error_len().is_none() => {
                        self.state = State::Utf8 { bytes, has_alt };
                    }
                    // Drop the incomplete character. The byte may begin something else.
                    Err(_) => self.push(byte, tokens),
                }
            }
            State::Esc { is_double } => self.push_after_esc(byte, is_double, tokens),
            State::Sequence {
                prefix,
                introducer,
                body,
            } => self.push_to_sequence(byte, (prefix, introducer), body, tokens),
            State::X10Mouse { prefix, mut bytes } => {
                bytes.push(byte);
                match <[u8; 3]>::try_from(bytes.as_slice()) {
                    Ok(report) if !prefix.is_missing() => {
                        tokens.push(InputToken::X10Mouse(report));
                    }
                    Ok(_) => {}
                    Err(_) => self.state = State::X10Mouse { prefix, bytes },
                }
            }
            State::StringStart {
                prefix,
                introducer,
                has_esc,
            } => self.push_to_string_start(byte, (prefix, introducer), has_esc, tokens),
            State::ControlString {
                introducer,
                body,
                len,
                is_after_esc,
            } => self.push_to_string(byte, introducer, (body, len), is_after_esc, tokens),
            // `feed` reads pastes itself.
            State::Paste(pasted) => self.state = State::Paste(pasted),
        }
    }

    /// Begins a token with its first byte.
    fn begin(&mut self, byte: u8, tokens: &mut Vec<InputToken>) {
        let until = self.tail_until.take();
        let tail = until
            .filter(|until| self.last_byte_at <= *until)
            .map(|until| Prefix::Missing { until });
        match (byte, tail) {
            (ESC, _) => self.state = State::Esc { is_double: false },
            (b'[' | b'O', Some(prefix)) => self.begin_sequence(prefix, byte),
            (b']', Some(prefix)) => self.begin_string(prefix, byte),
            _ => self.push_char(byte, false, tokens),
        }
    }

    fn push_after_esc(&mut self, byte: u8, is_double: bool, tokens: &mut Vec<InputToken>) {
        if matches!(byte, b'[' | b'O') {
            let prefix = match is_double {
                true => Prefix::DoubleEsc,
                false => Prefix::Esc,
            };
            return self.begin_sequence(prefix, byte);
        }
        if is_double {
            tokens.push(key(ESC, false));
        }
        match byte {
            ESC => self.state = State::Esc { is_double: true },
            b']' | b'P' | b'X' | b'^' | b'_' => self.begin_string(Prefix::Esc, byte),
            _ => self.push_char(byte, true, tokens),
        }
    }

    fn begin_sequence(&mut self, prefix: Prefix, introducer: u8) {
        self.state = State::Sequence {
            prefix,
            introducer,
            body: Vec::new(),
        };
    }

    fn begin_string(&mut self, prefix: Prefix, introducer: u8) {
        self.state = State::StringStart {
            prefix,
            introducer,
            has_esc: false,
        };
    }

    /// Bytes that no character of UTF-8 begins with are dropped. Among them are the 8-bit
    /// introducers, which occur inside other characters.
    fn push_char(&mut self, byte: u8, has_alt: bool, tokens: &mut Vec<InputToken>) {
        match byte {
            ..0x80 => {
                if byte == b'\r' && !has_alt {
                    self.carriage_return_at = Some(self.last_byte_at);
                }
                tokens.push(key(byte, has_alt));
            }
            0xc2..=0xf4 => {
                let bytes = vec![byte];
                self.state = State::Utf8 { bytes, has_alt };
            }
            _ => {}
        }
    }

    fn push_to_sequence(
        &mut self,
        byte: u8,
        (prefix, introducer): (Prefix, u8),
        mut body: Vec<u8>,
        tokens: &mut Vec<InputToken>,
    ) {
        let is_csi = introducer == b'[';
        // Without its ESC, it may as well be text.
        let is_text = prefix.is_missing() && body.is_empty() && !may_be_tail(is_csi, byte);
        match byte {
            _ if is_text => {
                tokens.push(key(introducer, false));
                self.push(byte, tokens);
            }
            b'M' if is_csi && body.is_empty() => {
                let bytes = Vec::new();
                self.state = State::X10Mouse { prefix, bytes };
            }
            0x40..=0x7e if !(is_csi && byte == b'[' && body.is_empty()) => {
                body.push(byte);
                self.end_sequence(prefix, is_csi, body, tokens);
            }
            // Parameters, intermediate bytes, and the `[` of the Linux console's function keys.
            0x20..=0x7e => {
                if body.len() < SEQUENCE_BYTES_MAX {
                    body.push(byte);
                }
                self.state = State::Sequence {
                    prefix,
                    introducer,
                    body,
                };
            }
            _ => {
                self.state = State::Sequence {
                    prefix,
                    introducer,
                    body,
                };
                self.release(tokens);
                self.push(byte, tokens);
            }
        }
    }

    fn end_sequence(
        &mut self,
        prefix: Prefix,
        is_csi: bool,
        body: Vec<u8>,
        tokens: &mut Vec<InputToken>,
    ) {
        let has_alt = prefix == Prefix::DoubleEsc;
        // A paste is one, even if its ESC came too early: its text must not be typed.
        if is_csi && body == PASTE_START {
            if has_alt {
                tokens.push(key(ESC, false));
            }
            self.state = State::Paste(Vec::new());
        } else if !prefix.is_missing() && body.len() <= SEQUENCE_BYTES_MAX {
            tokens.push(match is_csi {
                true => InputToken::Csi { body, has_alt },
                false => InputToken::Ss3 { body, has_alt },
            });
        }
    }

    /// Handles a byte after an introducer: it begins the string unless it is a key itself.
    fn push_to_string_start(
        &mut self,
        byte: u8,
        (prefix, introducer): (Prefix, u8),
        has_esc: bool,
        tokens: &mut Vec<InputToken>,
    ) {
        let introducer_key = key(introducer, !prefix.is_missing());
        match byte {
            _ if prefix.is_missing() && !byte.is_ascii_digit() => {
                tokens.push(introducer_key);
                self.push(byte, tokens);
            }
            // An empty string.
            b'\\' if has_esc => {}
            _ if has_esc => {
                tokens.push(introducer_key);
                self.state = State::Esc { is_double: false };
                self.push(byte, tokens);
            }
            BEL => {}
            ESC => {
                self.state = State::StringStart {
                    prefix,
                    introducer,
                    has_esc: true,
                };
            }
            ..0x20 | 0x7f => {
                tokens.push(introducer_key);
                self.push(byte, tokens);
            }
            _ => {
                self.state = State::ControlString {
                    introducer,
                    body: vec![byte],
                    len: 1,
                    is_after_esc: false,
                };
            }
        }
    }

    fn push_to_string(
        &mut self,
        byte: u8,
        introducer: u8,
        (mut body, len): (Vec<u8>, usize),
        is_after_esc: bool,
        tokens: &mut Vec<InputToken>,
    ) {
        if byte == BEL || byte == b'\\' && is_after_esc {
            if introducer == b']' {
                tokens.push(InputToken::Osc(body));
            }
            return;
        }
        if len >= STRING_BYTES_MAX {
            return;
        }
        if body.len() < STRING_BYTES_KEPT && byte != ESC {
            body.push(byte);
        }
        self.state = State::ControlString {
            introducer,
            body,
            len: len + 1,
            is_after_esc: byte == ESC,
        };
    }
}

/// Whether the byte after a `[` or `O` without its ESC belongs to a sequence that terminals send.
fn may_be_tail(is_csi: bool, byte: u8) -> bool {
    match byte {
        b'A'..=b'D' | b'F' | b'H' | b'P'..=b'S' => true,
        b'0'..=b'?' | b'I' | b'M' | b'O' | b'Z' => is_csi,
        _ => false,
    }
}

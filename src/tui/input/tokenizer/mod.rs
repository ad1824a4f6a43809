//! Cuts the bytes from the terminal into whole sequences, however they were split on the way. Pure:
//! bytes and times come in, tokens go out. A lone ESC waits for the rest of its sequence for a
//! moment. Replies and sequences that stay incomplete are dropped: their bytes never become keys.

mod paste;
mod push;

use paste::{extend_paste, paste};
use std::mem::take;
use std::time::Duration;

/// How long a lone ESC waits for the rest of a sequence.
const ESC_HOLD_TIME: Duration = Duration::from_millis(50);
/// The same over SSH, where a sequence is more often split.
const ESC_HOLD_TIME_SSH: Duration = Duration::from_millis(100);
/// The same in a terminal with the kitty protocol, where the key Esc itself is a sequence.
const ESC_HOLD_TIME_KITTY: Duration = Duration::from_millis(500);
/// How long `ESC [` and `ESC O` wait. Almost always they begin a sequence; otherwise they are Alt
/// with a key.
const INTRODUCER_HOLD_TIME: Duration = Duration::from_millis(500);
/// How long after a lone ESC was taken as the key Esc the rest of its sequence may still come.
const TAIL_TIMEOUT: Duration = Duration::from_millis(500);
/// After this much silence, an incomplete sequence or reply is dropped.
const SEQUENCE_TIMEOUT: Duration = Duration::from_secs(1);
/// After this much silence, a paste counts as complete although its end is missing.
const PASTE_TIMEOUT: Duration = Duration::from_secs(5);
const ESC: u8 = 0x1b;

/// A whole piece of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputToken {
    /// A character or control character. With Alt if an ESC came directly before it.
    Char { c: char, has_alt: bool },
    /// `CSI` with parameters, intermediate bytes and the final byte.
    Csi { body: Vec<u8>, has_alt: bool },
    /// `SS3` with parameters, if any, and the final byte.
    Ss3 { body: Vec<u8>, has_alt: bool },
    /// The three bytes of `CSI M`: button, column and row.
    X10Mouse([u8; 3]),
    /// A bracketed paste.
    Paste(String),
    /// An `OSC` string without introducer and terminator, cut if it is long.
    Osc(Vec<u8>),
}

/// How a sequence began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prefix {
    Esc,
    /// Some terminals send Alt with a special key as two ESC.
    DoubleEsc,
    /// The ESC came so long before that it was taken as the key Esc. Its rest may come until this
    /// time.
    Missing {
        until: Duration,
    },
}

impl Prefix {
    fn is_missing(self) -> bool {
        matches!(self, Self::Missing { .. })
    }
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    Utf8 {
        bytes: Vec<u8>,
        has_alt: bool,
    },
    Esc {
        is_double: bool,
    },
    /// `CSI` or `SS3`, by the introducer `[` or `O`.
    Sequence {
        prefix: Prefix,
        introducer: u8,
        body: Vec<u8>,
    },
    X10Mouse {
        prefix: Prefix,
        bytes: Vec<u8>,
    },
    /// An introducer of a control string without further bytes, except perhaps an ESC.
    StringStart {
        prefix: Prefix,
        introducer: u8,
        has_esc: bool,
    },
    ControlString {
        introducer: u8,
        body: Vec<u8>,
        len: usize,
        is_after_esc: bool,
    },
    Paste(Vec<u8>),
}

#[derive(Debug)]
pub struct Tokenizer {
    state: State,
    esc_hold_time: Duration,
    has_kitty_keys: bool,
    last_byte_at: Duration,
    /// Deadline for the rest of a sequence whose ESC was taken as a key.
    tail_until: Option<Duration>,
    /// When the last byte was a carriage return: a line feed after it is part of the line break.
    carriage_return_at: Option<Duration>,
}

impl Tokenizer {
    pub fn new(is_ssh: bool) -> Self {
        Self {
            state: State::Ground,
            esc_hold_time: match is_ssh {
                true => ESC_HOLD_TIME_SSH,
                false => ESC_HOLD_TIME,
            },
            has_kitty_keys: false,
            last_byte_at: Duration::ZERO,
            tail_until: None,
            carriage_return_at: None,
        }
    }

    /// Whether the terminal has confirmed that it reports Esc as a sequence.
    pub fn set_kitty_keys(&mut self, has_kitty_keys: bool) {
        self.has_kitty_keys = has_kitty_keys;
    }

    /// When [`Self::expire`] must be called, unless more bytes arrive before.
    pub fn wake_at(&self) -> Option<Duration> {
        let hold_time = match &self.state {
            State::Ground | State::Utf8 { .. } => return None,
            State::Esc { .. } => self.esc_hold_time(),
            // More often a letter than a key: do not let it wait for long.
            State::Sequence {
                prefix: Prefix::Missing { .. },
                introducer: b'O',
                body,
            } if body.is_empty() => self.esc_hold_time,
            State::Sequence { prefix, body, .. } if body.is_empty() => match prefix {
                Prefix::Missing { until } => return Some(*until),
                Prefix::Esc | Prefix::DoubleEsc => INTRODUCER_HOLD_TIME,
            },
            State::StringStart { prefix, .. } => match prefix {
                Prefix::Missing { until } => return Some(*until),
                Prefix::Esc | Prefix::DoubleEsc => self.esc_hold_time(),
            },
            State::Sequence { .. } | State::X10Mouse { .. } | State::ControlString { .. } => {
                SEQUENCE_TIMEOUT
            }
            State::Paste(_) => PASTE_TIMEOUT,
        };
        Some(self.last_byte_at + hold_time)
    }

    fn esc_hold_time(&self) -> Duration {
        match self.has_kitty_keys {
            true => ESC_HOLD_TIME_KITTY,
            false => self.esc_hold_time,
        }
    }

    /// Takes bytes that were read at `now`. They continue an incomplete sequence however old it is:
    /// while the program was stalled, they may have waited to be read. So read everything that is
    /// ready before calling [`Self::expire`].
    pub fn feed(&mut self, bytes: &[u8], now: Duration, tokens: &mut Vec<InputToken>) {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            self.last_byte_at = now;
            if let State::Paste(pasted) = &mut self.state {
                let unread = extend_paste(pasted, rest, tokens);
                if let Some(unread) = unread {
                    self.state = State::Ground;
                    rest = unread;
                    continue;
                }
                return;
            }
            rest = after;
            self.push(*byte, tokens);
        }
    }

    /// Ends an incomplete sequence whose hold time has passed.
    pub fn expire(&mut self, now: Duration, tokens: &mut Vec<InputToken>) {
        if self.wake_at().is_none_or(|due| now < due) {
            return;
        }
        let ends_with_esc = matches!(
            self.state,
            State::Esc { .. } | State::StringStart { has_esc: true, .. }
        );
        self.release(tokens);
        if ends_with_esc {
            self.tail_until = Some(now + TAIL_TIMEOUT);
        }
    }

    /// Ends an incomplete sequence: releases it as keys if it can be keys, keeps a paste, and drops
    /// anything else.
    fn release(&mut self, tokens: &mut Vec<InputToken>) {
        match take(&mut self.state) {
            State::Esc { is_double } => {
                tokens.extend((0..=usize::from(is_double)).map(|_| key(ESC, false)));
            }
            State::Sequence {
                prefix,
                introducer,
                body,
            } if body.is_empty() => {
                if prefix == Prefix::DoubleEsc {
                    tokens.push(key(ESC, false));
                }
                tokens.push(key(introducer, !prefix.is_missing()));
            }
            State::StringStart {
                prefix,
                introducer,
                has_esc,
            } => {
                tokens.push(key(introducer, !prefix.is_missing()));
                tokens.extend(has_esc.then(|| key(ESC, false)));
            }
            State::Paste(pasted) => tokens.push(paste(&pasted)),
            _ => {}
        }
    }
}

fn key(byte: u8, has_alt: bool) -> InputToken {
    let c = char::from(byte);
    InputToken::Char { c, has_alt }
}

#[cfg(test)]
mod tests;

//! Recognizes terminal control sequences (ECMA-48, 7-bit and 8-bit) one character at a time, so a
//! stream filter can drop them whole.

/// An unfinished sequence is abandoned after this many characters and the rest treated as text, so a
/// sequence that is never closed cannot hide the rest of an answer.
const SEQUENCE_CHARS_MAX: u16 = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum SequenceState {
    /// Outside any sequence.
    #[default]
    Ground,
    Escape,
    /// After ESC and an intermediate byte, as in `ESC (`.
    Intermediate,
    Csi,
    /// Inside OSC, DCS, APC, PM or SOS, until ST.
    ControlString,
    /// After an ESC inside a control string: the start of ST or of another sequence.
    ControlStringEscape,
}

#[derive(Debug, Clone, Default)]
pub(super) struct EscapeSequences {
    state: SequenceState,
    /// Number of characters in the current sequence.
    length: u16,
}

impl EscapeSequences {
    pub(super) fn is_outside(&self) -> bool {
        self.state == SequenceState::Ground
    }

    /// Advances by `c`. Returns whether `c` is part of a sequence. A line break ends an unfinished
    /// sequence and is never part of one: terminals still act on it, and no well-formed sequence
    /// contains one.
    pub(super) fn push(&mut self, c: char) -> bool {
        let (next, is_consumed) = self.transition(c);
        self.length = if next == SequenceState::Ground {
            0
        } else {
            self.length + 1
        };
        self.state = next;
        if self.length == SEQUENCE_CHARS_MAX {
            *self = Self::default();
        }
        is_consumed
    }

    /// The state after `c`, and whether `c` was part of the sequence. A character that is invalid
    /// in a sequence ends it and is treated as text.
    fn transition(&self, c: char) -> (SequenceState, bool) {
        let consumed = |state| (state, true);
        match (self.state, c) {
            (SequenceState::ControlStringEscape, '\\') => consumed(SequenceState::Ground),
            (SequenceState::Escape | SequenceState::ControlStringEscape, '[') => {
                consumed(SequenceState::Csi)
            }
            (
                SequenceState::Escape | SequenceState::ControlStringEscape,
                ']' | 'P' | 'X' | '^' | '_',
            ) => consumed(SequenceState::ControlString),
            (
                SequenceState::Escape
                | SequenceState::ControlStringEscape
                | SequenceState::Intermediate,
                ' '..='/',
            ) => consumed(SequenceState::Intermediate),
            (
                SequenceState::Escape
                | SequenceState::ControlStringEscape
                | SequenceState::Intermediate,
                '0'..='~',
            ) => consumed(SequenceState::Ground),
            (SequenceState::Csi, ' '..='?') => consumed(SequenceState::Csi),
            (SequenceState::Csi, '@'..='~') => consumed(SequenceState::Ground),
            (SequenceState::ControlString, '\u{1B}') => {
                consumed(SequenceState::ControlStringEscape)
            }
            (SequenceState::ControlString, '\u{07}' | '\u{18}' | '\u{1A}' | '\u{9C}') => {
                consumed(SequenceState::Ground)
            }
            (SequenceState::ControlString, '\n') => (SequenceState::Ground, false),
            (SequenceState::ControlString, _) => consumed(SequenceState::ControlString),
            _ => {
                let next = state_after_introducer(c);
                (next, next != SequenceState::Ground)
            }
        }
    }
}

fn state_after_introducer(c: char) -> SequenceState {
    match c {
        '\u{1B}' => SequenceState::Escape,
        '\u{9B}' => SequenceState::Csi,
        '\u{90}' | '\u{98}' | '\u{9D}' | '\u{9E}' | '\u{9F}' => SequenceState::ControlString,
        _ => SequenceState::Ground,
    }
}

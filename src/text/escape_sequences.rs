//! Recognises terminal control sequences (ECMA-48), 7-bit and 8-bit, one
//! character at a time, so that whole sequences can be left out of a stream.

/// An unfinished sequence longer than this is given up: what follows is text, so
/// that a sequence which is never closed cannot hide an endless answer.
const SEQUENCE_CHARS_MAX: u16 = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate, such as `ESC (`.
    Intermediate,
    /// After CSI.
    Control,
    /// In OSC, DCS, APC, PM or SOS, up to ST.
    Text,
    /// After an ESC in one of those: the start of ST or of another sequence.
    TextEscape,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Sequences {
    state: State,
    length: u16,
}

impl Sequences {
    pub(super) fn in_text(&self) -> bool {
        self.state == State::Ground
    }

    /// Whether `c` belongs to a sequence. A line end never does, and closes an
    /// unfinished one: terminals act on it too, and no sequence that a program
    /// writes in good faith holds one.
    pub(super) fn takes(&mut self, c: char) -> bool {
        let (next, taken) = self.next(c);
        self.length = if next == State::Ground {
            0
        } else {
            self.length + 1
        };
        self.state = next;
        if self.length == SEQUENCE_CHARS_MAX {
            *self = Self::default();
        }
        taken
    }

    /// The state after `c`, and whether `c` was part of the sequence. A character
    /// that no sequence can hold ends it and stands for itself.
    fn next(&self, c: char) -> (State, bool) {
        let part = |state| (state, true);
        match (self.state, c) {
            (State::TextEscape, '\\') => part(State::Ground),
            (State::Escape | State::TextEscape, '[') => part(State::Control),
            (State::Escape | State::TextEscape, ']' | 'P' | 'X' | '^' | '_') => part(State::Text),
            (State::Escape | State::TextEscape | State::Intermediate, ' '..='/') => {
                part(State::Intermediate)
            }
            (State::Escape | State::TextEscape | State::Intermediate, '0'..='~') => {
                part(State::Ground)
            }
            (State::Control, ' '..='?') => part(State::Control),
            (State::Control, '@'..='~') => part(State::Ground),
            (State::Text, '\u{1B}') => part(State::TextEscape),
            (State::Text, '\u{07}' | '\u{18}' | '\u{1A}' | '\u{9C}') => part(State::Ground),
            (State::Text, '\n') => (State::Ground, false),
            (State::Text, _) => part(State::Text),
            _ => {
                let next = opening(c);
                (next, next != State::Ground)
            }
        }
    }
}

fn opening(c: char) -> State {
    match c {
        '\u{1B}' => State::Escape,
        '\u{9B}' => State::Control,
        '\u{90}' | '\u{98}' | '\u{9D}' | '\u{9E}' | '\u{9F}' => State::Text,
        _ => State::Ground,
    }
}

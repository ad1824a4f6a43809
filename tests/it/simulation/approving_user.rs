//! Random input of a user at an approval: single keys of all kinds, and sequences of keys.

use super::test_rng::TestRng;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use humble::tui::UiInput;
use std::collections::VecDeque;

const SIZES: [(u16, u16); 12] = [
    (80, 24),
    (80, 24),
    (120, 40),
    (100, 30),
    (20, 6),
    (24, 11),
    (39, 12),
    (40, 12),
    (60, 20),
    (64, 13),
    (110, 16),
    (200, 60),
];

/// A user, and the rest of a sequence of keys that is being pressed.
#[derive(Default)]
pub struct ApprovingUser {
    /// Whether the user mostly reads and grants, instead of pressing random keys.
    pub reads: bool,
    script: VecDeque<UiInput>,
}

impl ApprovingUser {
    pub fn next_input(&mut self, rng: &mut TestRng) -> UiInput {
        if let Some(input) = self.script.pop_front() {
            return input;
        }
        match rng.below(40) {
            0 => {
                let (width, height) = size(rng);
                return UiInput::Resize { width, height };
            }
            1 => return UiInput::Paste((*rng.pick(&["y", "run", "\"x\": 1"])).to_owned()),
            2 => return UiInput::Burst("y".to_owned()),
            3..=4 => self.script = edit_script(rng),
            5..=6 => self.script = confirmation_script(),
            7 => self.script = word_script(rng),
            _ => {}
        }
        if let Some(first) = self.script.pop_front() {
            return first;
        }
        let (code, modifiers) = match self.reads && !rng.one_in(8) {
            true => (*rng.pick(READING_KEYS), KeyModifiers::NONE),
            false => *rng.pick(KEYS),
        };
        let mut pressed = KeyEvent::new(code, modifiers);
        if rng.one_in(15) {
            pressed.kind = KeyEventKind::Repeat;
        }
        UiInput::Key(pressed)
    }
}

pub fn key(code: KeyCode) -> UiInput {
    UiInput::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

pub fn size(rng: &mut TestRng) -> (u16, u16) {
    match rng.below(5) {
        0 => (
            u16::try_from(20 + rng.below(181)).expect("small"),
            u16::try_from(6 + rng.below(55)).expect("small"),
        ),
        // Too small to read anything.
        1 if rng.one_in(6) => (12, 3),
        _ => *rng.pick(&SIZES),
    }
}

/// Confirms that the call runs without having been read in full, if the dialog offers that.
fn confirmation_script() -> VecDeque<UiInput> {
    let word = UiInput::Paste("run".to_owned());
    [key(KeyCode::Char('r')), word, key(KeyCode::Enter)].into()
}

/// Types words for the message, which contain keys of the dialog.
fn word_script(rng: &mut TestRng) -> VecDeque<UiInput> {
    let words = *rng.pick(&["why", "ok y", "yes", "6 of 8", "say 1\n", "왜ㅛㅕ", "y\n"]);
    let typed = words.chars().map(|c| match c {
        '\n' => key(KeyCode::Enter),
        c => key(KeyCode::Char(c)),
    });
    typed.collect()
}

/// Opens the list of values to edit, the JSON of all arguments or the first value, and usually
/// pastes a member of a JSON object after its first character.
fn edit_script(rng: &mut TestRng) -> VecDeque<UiInput> {
    let start = UiInput::Key(KeyEvent::new(KeyCode::Home, KeyModifiers::CONTROL));
    let mut script = vec![key(KeyCode::Char('e'))];
    if rng.one_in(4) {
        script.extend([key(KeyCode::Char('0')), UiInput::Tick]);
    } else if rng.one_in(3) {
        script.extend([key(KeyCode::Enter), key(KeyCode::Char('7'))]);
    }
    let member = *rng.pick(&[
        "\"more\": \"서울 x\",",
        "\"more\": \"a\u{202e}b\",",
        "\"more\": \"⟨U+202E⟩\",",
        "\"more\": \"a    b\",\n\n\n",
    ]);
    if !rng.one_in(3) {
        script.extend([
            start,
            key(KeyCode::Right),
            UiInput::Paste(member.to_owned()),
        ]);
    }
    script.extend([UiInput::Tick, key(KeyCode::Enter)]);
    script.into()
}

const READING_KEYS: &[KeyCode] = &[
    KeyCode::PageDown,
    KeyCode::PageDown,
    KeyCode::PageDown,
    KeyCode::PageDown,
    KeyCode::Char('y'),
    KeyCode::Char('y'),
    KeyCode::Char('s'),
    KeyCode::Char('0'),
    KeyCode::Char('6'),
    KeyCode::Char('7'),
    KeyCode::Char('8'),
    KeyCode::Enter,
    KeyCode::Right,
];
const KEYS: &[(KeyCode, KeyModifiers)] = &[
    (KeyCode::Char('y'), KeyModifiers::NONE),
    (KeyCode::Char('ㅛ'), KeyModifiers::NONE),
    (KeyCode::Char('1'), KeyModifiers::NONE),
    (KeyCode::Char('5'), KeyModifiers::NONE),
    (KeyCode::Char('a'), KeyModifiers::NONE),
    (KeyCode::Char('o'), KeyModifiers::NONE),
    (KeyCode::Char('?'), KeyModifiers::NONE),
    (KeyCode::Char('e'), KeyModifiers::NONE),
    (KeyCode::Char('x'), KeyModifiers::NONE),
    (KeyCode::Char('g'), KeyModifiers::CONTROL),
    (KeyCode::F(5), KeyModifiers::NONE),
    (KeyCode::F(5), KeyModifiers::NONE),
    (KeyCode::F(2), KeyModifiers::NONE),
    (KeyCode::F(3), KeyModifiers::NONE),
    (KeyCode::F(1), KeyModifiers::NONE),
    (KeyCode::Esc, KeyModifiers::NONE),
    (KeyCode::Enter, KeyModifiers::NONE),
    (KeyCode::Up, KeyModifiers::NONE),
    (KeyCode::Down, KeyModifiers::NONE),
    (KeyCode::Down, KeyModifiers::SHIFT),
    (KeyCode::Left, KeyModifiers::NONE),
    (KeyCode::Right, KeyModifiers::NONE),
    (KeyCode::Home, KeyModifiers::NONE),
    (KeyCode::End, KeyModifiers::NONE),
    (KeyCode::PageUp, KeyModifiers::NONE),
    (KeyCode::PageDown, KeyModifiers::NONE),
    (KeyCode::Char('p'), KeyModifiers::CONTROL),
];

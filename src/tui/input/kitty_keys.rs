//! Keys without a character in the kitty keyboard protocol, by their numbers in its table of
//! functional keys.

use crossterm::event::{
    KeyCode, KeyEventState, KeyModifiers, MediaKeyCode as Media, ModifierKeyCode as Modifier,
};

const LOCKS_FROM: u32 = 57_358;
const LOCKS: [KeyCode; 6] = [
    KeyCode::CapsLock,
    KeyCode::ScrollLock,
    KeyCode::NumLock,
    KeyCode::PrintScreen,
    KeyCode::Pause,
    KeyCode::Menu,
];
/// F13 to F35.
const FUNCTION_KEYS_FROM: u32 = 57_376;
const FUNCTION_KEYS_TO: u32 = 57_398;
const KEYPAD_FROM: u32 = 57_399;
const KEYPAD_CHARS: &str = "0123456789./*-+\r=,";
const KEYPAD: [KeyCode; 11] = [
    KeyCode::Left,
    KeyCode::Right,
    KeyCode::Up,
    KeyCode::Down,
    KeyCode::PageUp,
    KeyCode::PageDown,
    KeyCode::Home,
    KeyCode::End,
    KeyCode::Insert,
    KeyCode::Delete,
    KeyCode::KeypadBegin,
];
const MEDIA_FROM: u32 = 57_428;
const MEDIA: [Media; 13] = [
    Media::Play,
    Media::Pause,
    Media::PlayPause,
    Media::Reverse,
    Media::Stop,
    Media::FastForward,
    Media::Rewind,
    Media::TrackNext,
    Media::TrackPrevious,
    Media::Record,
    Media::LowerVolume,
    Media::RaiseVolume,
    Media::MuteVolume,
];
const MODIFIERS_FROM: u32 = 57_441;
const MODIFIERS: [(Modifier, KeyModifiers); 14] = [
    (Modifier::LeftShift, KeyModifiers::SHIFT),
    (Modifier::LeftControl, KeyModifiers::CONTROL),
    (Modifier::LeftAlt, KeyModifiers::ALT),
    (Modifier::LeftSuper, KeyModifiers::SUPER),
    (Modifier::LeftHyper, KeyModifiers::HYPER),
    (Modifier::LeftMeta, KeyModifiers::META),
    (Modifier::RightShift, KeyModifiers::SHIFT),
    (Modifier::RightControl, KeyModifiers::CONTROL),
    (Modifier::RightAlt, KeyModifiers::ALT),
    (Modifier::RightSuper, KeyModifiers::SUPER),
    (Modifier::RightHyper, KeyModifiers::HYPER),
    (Modifier::RightMeta, KeyModifiers::META),
    (Modifier::IsoLevel3Shift, KeyModifiers::NONE),
    (Modifier::IsoLevel5Shift, KeyModifiers::NONE),
];

/// The key with this number, and whether it is on the keypad.
pub fn functional_key(number: u32) -> Option<(KeyCode, KeyEventState)> {
    let index = |from: u32| number.checked_sub(from).map(|index| index as usize);
    let keypad = index(KEYPAD_FROM).and_then(|at| {
        let char_count = KEYPAD_CHARS.len();
        match KEYPAD_CHARS.chars().nth(at) {
            Some('\r') => Some(KeyCode::Enter),
            Some(c) => Some(KeyCode::Char(c)),
            None => KEYPAD.get(at - char_count).copied(),
        }
    });
    if let Some(code) = keypad {
        return Some((code, KeyEventState::KEYPAD));
    }
    let code = match number {
        FUNCTION_KEYS_FROM..=FUNCTION_KEYS_TO => {
            KeyCode::F(u8::try_from(number - FUNCTION_KEYS_FROM + 13).ok()?)
        }
        MODIFIERS_FROM.. => KeyCode::Modifier(MODIFIERS.get(index(MODIFIERS_FROM)?)?.0),
        MEDIA_FROM.. => KeyCode::Media(*MEDIA.get(index(MEDIA_FROM)?)?),
        _ => *LOCKS.get(index(LOCKS_FROM)?)?,
    };
    Some((code, KeyEventState::NONE))
}

/// The modifier that a modifier key sets while it is pressed.
pub fn modifier_bit(key: Modifier) -> KeyModifiers {
    let found = MODIFIERS.iter().find(|(modifier, _)| *modifier == key);
    found.map_or(KeyModifiers::NONE, |(_, bit)| *bit)
}

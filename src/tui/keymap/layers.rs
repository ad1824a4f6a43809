//! The keys of what opens over the chat: lists, forms and texts. Layers look their keys up
//! here, and their hints are written from the same rows.

use super::{Chord, normalize_chord};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key means to a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerKey {
    Up,
    Down,
    PageUp,
    PageDown,
    Start,
    End,
    Left,
    Right,
    /// Takes what is selected, or goes on to the next field.
    Confirm,
    Back,
    /// From the search line to the list and back, or to the other tab.
    Switch,
    Erase,
    Delete,
    Revoke,
    Pull,
    StopPull,
    Refresh,
    AddServer,
    Copy,
    Yes,
    /// Writes the selected completion out.
    Complete,
}

/// The layers and lists, or parts of them, that share keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyContext {
    /// Every list and text that scrolls.
    ScrollableList,
    /// A text that is read page by page: its ends, and copying it.
    PagedText,
    Text,
    Log,
    /// A line that is typed, and taken with Enter.
    InputLine,
    /// A list with a search line above.
    SearchList,
    /// The same while the keys go to its rows.
    SearchListRows,
    Sessions,
    DeleteConfirmation,
    Models,
    Trust,
    Picker,
    Form,
    /// The commands that what is typed may become.
    Completions,
    /// The offer of a first run.
    FirstRun,
}

#[derive(Debug)]
struct LayerBinding {
    context: KeyContext,
    key: LayerKey,
    code: KeyCode,
    /// None: whatever is held with it.
    modifiers: Option<KeyModifiers>,
}

const fn bind_any_modifier(place: KeyContext, key: LayerKey, code: KeyCode) -> LayerBinding {
    LayerBinding {
        context: place,
        key,
        code,
        modifiers: None,
    }
}

const fn bind_unmodified(place: KeyContext, key: LayerKey, code: KeyCode) -> LayerBinding {
    LayerBinding {
        context: place,
        key,
        code,
        modifiers: Some(KeyModifiers::NONE),
    }
}

const fn bind_letter(place: KeyContext, key: LayerKey, letter: char) -> LayerBinding {
    bind_unmodified(place, key, KeyCode::Char(letter))
}

use KeyCode as K;
use KeyContext as P;
use LayerKey as L;

// A table reads as rows.
#[rustfmt::skip]
const TABLE: &[LayerBinding] = &[
    bind_any_modifier(P::ScrollableList, L::Up, K::Up),
    bind_any_modifier(P::ScrollableList, L::Down, K::Down),
    bind_any_modifier(P::ScrollableList, L::PageUp, K::PageUp),
    bind_any_modifier(P::ScrollableList, L::PageDown, K::PageDown),
    bind_any_modifier(P::PagedText, L::Start, K::Home),
    bind_any_modifier(P::PagedText, L::End, K::End),
    bind_letter(P::PagedText, L::Copy, 'y'),
    bind_any_modifier(P::Text, L::PageDown, K::Char(' ')),
    bind_any_modifier(P::Log, L::Switch, K::Tab),
    bind_any_modifier(P::Log, L::Switch, K::Left),
    bind_any_modifier(P::Log, L::Switch, K::Right),
    bind_any_modifier(P::InputLine, L::Confirm, K::Enter),
    bind_any_modifier(P::InputLine, L::Back, K::Esc),
    bind_any_modifier(P::SearchList, L::Back, K::Esc),
    bind_any_modifier(P::SearchList, L::Switch, K::Tab),
    bind_any_modifier(P::SearchList, L::Confirm, K::Enter),
    bind_letter(P::SearchListRows, L::Up, 'k'),
    bind_letter(P::SearchListRows, L::Down, 'j'),
    bind_letter(P::Sessions, L::Delete, 'd'),
    bind_any_modifier(P::SearchListRows, L::Delete, K::Delete),
    bind_letter(P::DeleteConfirmation, L::Yes, 'y'),
    bind_letter(P::Models, L::Pull, 'p'),
    bind_letter(P::Models, L::Delete, 'd'),
    bind_letter(P::Models, L::StopPull, 'c'),
    bind_letter(P::Models, L::AddServer, 'a'),
    bind_letter(P::Models, L::Refresh, 'r'),
    bind_unmodified(P::Trust, L::Confirm, K::Enter),
    bind_letter(P::Trust, L::Revoke, 'x'),
    bind_unmodified(P::Trust, L::Revoke, K::Delete),
    bind_any_modifier(P::Picker, L::Confirm, K::Enter),
    bind_any_modifier(P::Picker, L::Erase, K::Backspace),
    bind_any_modifier(P::Form, L::Back, K::Esc),
    bind_any_modifier(P::Form, L::Up, K::Up),
    LayerBinding { context: P::Form, key: L::Up, code: K::Tab, modifiers: Some(KeyModifiers::SHIFT) },
    bind_any_modifier(P::Form, L::Down, K::Down),
    bind_any_modifier(P::Form, L::Down, K::Tab),
    bind_any_modifier(P::Form, L::Confirm, K::Enter),
    bind_any_modifier(P::Form, L::Left, K::Left),
    bind_any_modifier(P::Form, L::Right, K::Right),
    bind_any_modifier(P::Form, L::Start, K::Home),
    bind_unmodified(P::Completions, L::Up, K::Up),
    bind_unmodified(P::Completions, L::Down, K::Down),
    bind_unmodified(P::Completions, L::Complete, K::Tab),
    bind_unmodified(P::Completions, L::Confirm, K::Enter),
    bind_any_modifier(P::Completions, L::Back, K::Esc),
    bind_unmodified(P::FirstRun, L::Up, K::Up),
    bind_unmodified(P::FirstRun, L::Down, K::Down),
    bind_unmodified(P::FirstRun, L::Confirm, K::Enter),
    bind_unmodified(P::FirstRun, L::Erase, K::Backspace),
    bind_any_modifier(P::FirstRun, L::Back, K::Esc),
];

/// What a key means in these places.
pub fn find_key(event: KeyEvent, places: &[KeyContext]) -> Option<LayerKey> {
    let pressed = normalize_chord(event);
    TABLE
        .iter()
        .find(|binding| {
            let held = binding
                .modifiers
                .is_none_or(|held| held == pressed.modifiers);
            places.contains(&binding.context) && binding.code == pressed.code && held
        })
        .map(|binding| binding.key)
}

/// `Enter resume`: the first key of a place that means this, and what it does there.
pub fn hint(place: KeyContext, key: LayerKey, word: &str) -> String {
    let mut bindings = TABLE.iter();
    let binding = bindings.find(|binding| binding.context == place && binding.key == key);
    let name = binding.map_or_else(String::new, |binding| match binding.code {
        KeyCode::Char(c) if c != ' ' => c.to_string(),
        code => Chord {
            code,
            modifiers: KeyModifiers::NONE,
        }
        .to_string(),
    });
    format!("{name} {word}")
}

/// Rows of a page in lists, help and logs.
const PAGE_ROWS: isize = 10;

/// The rows that a key moves a list by, where it moves one.
pub fn row_step(event: KeyEvent) -> Option<isize> {
    find_key(event, &[KeyContext::ScrollableList]).and_then(LayerKey::rows)
}

impl LayerKey {
    /// The rows that it moves a list by.
    pub fn rows(self) -> Option<isize> {
        match self {
            Self::Up => Some(-1),
            Self::Down => Some(1),
            Self::PageUp => Some(-PAGE_ROWS),
            Self::PageDown => Some(PAGE_ROWS),
            _ => None,
        }
    }
}

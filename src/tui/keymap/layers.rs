//! Keys of lists, forms and texts that open over the chat. Layers look up keys here, and
//! their hints come from the same table.

use super::{Chord, pressed};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

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
    /// Confirms the selection, or moves to the next field.
    Take,
    Back,
    /// Switches between the search line and the list, or between tabs.
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
    /// Inserts the selected completion.
    Complete,
}

/// Contexts whose keys are looked up together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Every scrollable list and text.
    Rows,
    /// Text read page by page: its start, its end, and copying.
    Pages,
    Text,
    Log,
    /// An input line confirmed with Enter.
    Line,
    /// A list with a search line above it.
    Searched,
    /// The same list while its rows have the focus.
    InRows,
    Sessions,
    Deleting,
    Models,
    Trust,
    Picker,
    Form,
    /// The completion list for slash commands.
    Completions,
    /// The first-run chooser.
    FirstRun,
}

#[derive(Debug)]
struct LayerBinding {
    place: Place,
    key: LayerKey,
    code: KeyCode,
    /// `None` matches any modifiers.
    modifiers: Option<KeyModifiers>,
}

const fn any(place: Place, key: LayerKey, code: KeyCode) -> LayerBinding {
    LayerBinding {
        place,
        key,
        code,
        modifiers: None,
    }
}

const fn plain(place: Place, key: LayerKey, code: KeyCode) -> LayerBinding {
    LayerBinding {
        place,
        key,
        code,
        modifiers: Some(KeyModifiers::NONE),
    }
}

const fn letter(place: Place, key: LayerKey, letter: char) -> LayerBinding {
    plain(place, key, KeyCode::Char(letter))
}

use KeyCode as K;
use LayerKey as L;
use Place as P;

// A table reads as rows.
#[rustfmt::skip]
const TABLE: &[LayerBinding] = &[
    any(P::Rows, L::Up, K::Up),
    any(P::Rows, L::Down, K::Down),
    any(P::Rows, L::PageUp, K::PageUp),
    any(P::Rows, L::PageDown, K::PageDown),
    any(P::Pages, L::Start, K::Home),
    any(P::Pages, L::End, K::End),
    letter(P::Pages, L::Copy, 'y'),
    any(P::Text, L::PageDown, K::Char(' ')),
    any(P::Log, L::Switch, K::Tab),
    any(P::Log, L::Switch, K::Left),
    any(P::Log, L::Switch, K::Right),
    any(P::Line, L::Take, K::Enter),
    any(P::Line, L::Back, K::Esc),
    any(P::Searched, L::Back, K::Esc),
    any(P::Searched, L::Switch, K::Tab),
    any(P::Searched, L::Take, K::Enter),
    letter(P::InRows, L::Up, 'k'),
    letter(P::InRows, L::Down, 'j'),
    letter(P::Sessions, L::Delete, 'd'),
    any(P::InRows, L::Delete, K::Delete),
    letter(P::Deleting, L::Yes, 'y'),
    letter(P::Models, L::Pull, 'p'),
    letter(P::Models, L::Delete, 'd'),
    letter(P::Models, L::StopPull, 'c'),
    letter(P::Models, L::AddServer, 'a'),
    letter(P::Models, L::Refresh, 'r'),
    plain(P::Trust, L::Take, K::Enter),
    letter(P::Trust, L::Revoke, 'x'),
    plain(P::Trust, L::Revoke, K::Delete),
    any(P::Picker, L::Take, K::Enter),
    any(P::Picker, L::Erase, K::Backspace),
    any(P::Form, L::Back, K::Esc),
    any(P::Form, L::Up, K::Up),
    LayerBinding { place: P::Form, key: L::Up, code: K::Tab, modifiers: Some(KeyModifiers::SHIFT) },
    any(P::Form, L::Down, K::Down),
    any(P::Form, L::Down, K::Tab),
    any(P::Form, L::Take, K::Enter),
    any(P::Form, L::Left, K::Left),
    any(P::Form, L::Right, K::Right),
    any(P::Form, L::Start, K::Home),
    plain(P::Completions, L::Up, K::Up),
    plain(P::Completions, L::Down, K::Down),
    plain(P::Completions, L::Complete, K::Tab),
    plain(P::Completions, L::Take, K::Enter),
    any(P::Completions, L::Back, K::Esc),
    plain(P::FirstRun, L::Up, K::Up),
    plain(P::FirstRun, L::Down, K::Down),
    plain(P::FirstRun, L::Take, K::Enter),
    plain(P::FirstRun, L::Erase, K::Backspace),
    any(P::FirstRun, L::Back, K::Esc),
];

/// The meaning of a key in these contexts.
pub fn find(event: KeyEvent, places: &[Place]) -> Option<LayerKey> {
    let pressed = pressed(event);
    TABLE
        .iter()
        .find(|binding| {
            let held = binding
                .modifiers
                .is_none_or(|held| held == pressed.modifiers);
            places.contains(&binding.place) && binding.code == pressed.code && held
        })
        .map(|binding| binding.key)
}

/// A hint such as `Enter resume`: the first key bound to this meaning, and its effect.
pub fn hint(place: Place, key: LayerKey, word: &str) -> String {
    let mut bindings = TABLE.iter();
    let binding = bindings.find(|binding| binding.place == place && binding.key == key);
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

/// Rows per page in lists, help and logs.
const PAGE_ROWS: isize = 10;

/// How many rows a key moves a list, if it scrolls.
pub fn step(event: KeyEvent) -> Option<isize> {
    find(event, &[Place::Rows]).and_then(LayerKey::rows)
}

impl LayerKey {
    /// How many rows this key moves a list.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::documented;
    use std::collections::BTreeSet;

    fn heading(place: Place) -> &'static str {
        match place {
            P::Rows => "### Lists and texts",
            P::Pages | P::Text => "### Texts: tools, calls, logs, instructions",
            P::Log => "### The log",
            P::Line => "### One line: command palette, prompt search, the name of a model to pull",
            P::Searched | P::InRows => "### Lists with a search line: conversations, models",
            P::Sessions | P::Deleting => "### Conversations",
            P::Models => "### Models",
            P::Trust => "### Lasting decisions (`/trust`)",
            P::Picker => "### Pickers: model, server, persona, branch, call",
            P::Form => "### The form for a model",
            P::Completions => "### While commands are listed",
            P::FirstRun => "### The offer on a first start",
        }
    }

    fn typed(binding: &LayerBinding) -> String {
        let chord = Chord {
            code: binding.code,
            modifiers: binding.modifiers.unwrap_or(KeyModifiers::NONE),
        };
        match binding.code {
            KeyCode::Char(c) if c != ' ' => c.to_string(),
            _ => chord.to_string(),
        }
    }

    #[test]
    fn keys_are_documented() {
        let page = include_str!("../../../docs/keys.md");
        for binding in TABLE {
            let heading = heading(binding.place);
            let here = TABLE
                .iter()
                .filter(|other| self::heading(other.place) == heading);
            let expected: BTreeSet<String> = here.map(typed).collect();
            let found = documented(page, heading).concat().into_iter().collect();
            assert_eq!(expected, found, "{heading}");
        }
    }
}

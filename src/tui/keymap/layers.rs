//! Keys of lists, forms and texts that open over the chat. Layers look up keys here, and
//! their hints come from the same table.

use super::{Chord, normalize_chord};
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
    Confirm,
    Back,
    /// Switches between the filter and the rows, between tabs, or to the next field.
    Switch,
    Erase,
    Delete,
    Revoke,
    /// Restores the most recent deletion.
    UndoDelete,
    Rename,
    Fork,
    Export,
    Pull,
    StopPull,
    Refresh,
    /// Puts a text into the message for editing.
    Edit,
    AddServer,
    Copy,
    /// Pins a tool, or removes its pin.
    Pin,
    /// Imports servers from other clients.
    Import,
    /// Shows a server's stderr.
    Stderr,
    SignIn,
    OpenBrowser,
    /// Switches a server or tool on or off.
    Toggle,
    Yes,
    /// Inserts the selected completion.
    Complete,
    /// Moves the selected row.
    MoveUp,
    MoveDown,
}

/// Contexts whose keys are looked up together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyContext {
    /// Every scrollable list and text.
    ScrollableList,
    /// Text read page by page: its start, its end, and copying.
    PagedText,
    Text,
    Log,
    /// The help: letters go to its filter.
    Help,
    /// An input line confirmed with Enter.
    InputLine,
    /// A list with a filter above it.
    SearchList,
    /// The same list while its rows have the focus.
    SearchListRows,
    Sessions,
    /// The path of an exported conversation.
    ExportForm,
    DeleteConfirmation,
    Models,
    /// The viewer of servers and tools.
    Servers,
    /// The dialog of a sign-in; letters go to its field.
    SignIn,
    Trust,
    Picker,
    Form,
    /// The completion list for slash commands.
    Completions,
    /// The prompts that wait for the running turn.
    Queue,
    /// A prompt of a server, before it is sent.
    PromptReview,
    /// The servers of another client, as a text.
    ImportText,
    /// The first-run chooser.
    FirstRun,
    /// The field of the find.
    Find,
}

#[derive(Debug)]
struct LayerBinding {
    context: KeyContext,
    key: LayerKey,
    code: KeyCode,
    /// `None` matches any modifiers.
    modifiers: Option<KeyModifiers>,
}

impl LayerBinding {
    fn chord(&self) -> Chord {
        Chord {
            code: self.code,
            modifiers: self.modifiers.unwrap_or(KeyModifiers::NONE),
        }
    }
}

const fn bind_any_modifier(context: KeyContext, key: LayerKey, code: KeyCode) -> LayerBinding {
    LayerBinding {
        context,
        key,
        code,
        modifiers: None,
    }
}

const fn bind_unmodified(context: KeyContext, key: LayerKey, code: KeyCode) -> LayerBinding {
    LayerBinding {
        context,
        key,
        code,
        modifiers: Some(KeyModifiers::NONE),
    }
}

const fn bind_letter(context: KeyContext, key: LayerKey, letter: char) -> LayerBinding {
    bind_unmodified(context, key, KeyCode::Char(letter))
}

use KeyCode as K;
use KeyContext as P;
use LayerKey as L;

// One row per binding.
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
    bind_any_modifier(P::Help, L::Start, K::Home),
    bind_any_modifier(P::Help, L::End, K::End),
    // Alt+Enter and Shift+Enter are line breaks, which these lines do not accept.
    bind_unmodified(P::InputLine, L::Confirm, K::Enter),
    bind_any_modifier(P::InputLine, L::Back, K::Esc),
    bind_any_modifier(P::SearchList, L::Back, K::Esc),
    bind_any_modifier(P::SearchList, L::Switch, K::Tab),
    bind_unmodified(P::SearchList, L::Confirm, K::Enter),
    bind_letter(P::SearchListRows, L::Up, 'k'),
    bind_letter(P::SearchListRows, L::Down, 'j'),
    bind_letter(P::Sessions, L::Rename, 'r'),
    bind_letter(P::Sessions, L::Fork, 'f'),
    bind_letter(P::Sessions, L::Export, 'e'),
    bind_letter(P::Sessions, L::Delete, 'd'),
    bind_letter(P::Sessions, L::UndoDelete, 'u'),
    bind_any_modifier(P::ExportForm, L::Switch, K::Tab),
    bind_any_modifier(P::SearchListRows, L::Delete, K::Delete),
    bind_any_modifier(P::SearchListRows, L::Start, K::Home),
    bind_any_modifier(P::SearchListRows, L::End, K::End),
    bind_letter(P::DeleteConfirmation, L::Yes, 'y'),
    bind_letter(P::Models, L::Pull, 'p'),
    bind_letter(P::Models, L::Delete, 'd'),
    bind_letter(P::Models, L::StopPull, 'c'),
    bind_letter(P::Models, L::AddServer, 'a'),
    bind_letter(P::Models, L::Refresh, 'r'),
    bind_letter(P::Servers, L::Copy, 'y'),
    bind_letter(P::Servers, L::Stderr, 'l'),
    bind_letter(P::Servers, L::Toggle, ' '),
    bind_letter(P::Servers, L::Pin, 'p'),
    bind_letter(P::Servers, L::SignIn, 's'),
    LayerBinding { context: P::SignIn, key: L::OpenBrowser, code: K::Char('o'), modifiers: Some(KeyModifiers::CONTROL) },
    LayerBinding { context: P::SignIn, key: L::Copy, code: K::Char('y'), modifiers: Some(KeyModifiers::CONTROL) },
    bind_unmodified(P::SignIn, L::Confirm, K::Enter),
    bind_any_modifier(P::SignIn, L::Back, K::Esc),
    bind_any_modifier(P::SignIn, L::PageUp, K::PageUp),
    bind_any_modifier(P::SignIn, L::PageDown, K::PageDown),
    bind_letter(P::Servers, L::Import, 'i'),
    bind_letter(P::Trust, L::Revoke, 'x'),
    bind_any_modifier(P::Picker, L::Confirm, K::Enter),
    bind_any_modifier(P::Picker, L::Erase, K::Backspace),
    bind_any_modifier(P::Form, L::Back, K::Esc),
    bind_any_modifier(P::Form, L::Up, K::Up),
    LayerBinding { context: P::Form, key: L::Up, code: K::Tab, modifiers: Some(KeyModifiers::SHIFT) },
    bind_any_modifier(P::Form, L::Down, K::Down),
    bind_any_modifier(P::Form, L::Switch, K::Tab),
    bind_unmodified(P::Form, L::Confirm, K::Enter),
    bind_any_modifier(P::Form, L::Left, K::Left),
    bind_any_modifier(P::Form, L::Right, K::Right),
    bind_any_modifier(P::Form, L::Start, K::Home),
    bind_unmodified(P::Completions, L::Up, K::Up),
    bind_unmodified(P::Completions, L::Down, K::Down),
    bind_unmodified(P::Completions, L::Complete, K::Tab),
    bind_unmodified(P::Completions, L::Confirm, K::Enter),
    bind_any_modifier(P::Completions, L::Back, K::Esc),
    bind_unmodified(P::Queue, L::Up, K::Up),
    bind_unmodified(P::Queue, L::Down, K::Down),
    LayerBinding { context: P::Queue, key: L::MoveUp, code: K::Up, modifiers: Some(KeyModifiers::ALT) },
    LayerBinding { context: P::Queue, key: L::MoveDown, code: K::Down, modifiers: Some(KeyModifiers::ALT) },
    bind_unmodified(P::Queue, L::Confirm, K::Enter),
    bind_letter(P::Queue, L::Delete, 'd'),
    bind_unmodified(P::Queue, L::Delete, K::Delete),
    bind_any_modifier(P::Queue, L::Back, K::Esc),
    bind_unmodified(P::PromptReview, L::Confirm, K::Enter),
    bind_letter(P::PromptReview, L::Edit, 'e'),
    bind_unmodified(P::ImportText, L::Confirm, K::Enter),
    bind_any_modifier(P::ImportText, L::Back, K::Esc),
    bind_unmodified(P::FirstRun, L::Up, K::Up),
    bind_unmodified(P::FirstRun, L::Down, K::Down),
    bind_unmodified(P::FirstRun, L::Confirm, K::Enter),
    bind_unmodified(P::FirstRun, L::Erase, K::Backspace),
    bind_any_modifier(P::FirstRun, L::Back, K::Esc),
    bind_unmodified(P::Find, L::Confirm, K::Enter),
    bind_unmodified(P::Find, L::Down, K::Down),
    bind_unmodified(P::Find, L::Up, K::Up),
    LayerBinding { context: P::Find, key: L::Up, code: K::Enter, modifiers: Some(KeyModifiers::SHIFT) },
    bind_unmodified(P::Find, L::Switch, K::Tab),
    bind_any_modifier(P::Find, L::Back, K::Esc),
];

/// The meaning of a key in these contexts.
pub fn find_key(event: KeyEvent, contexts: &[KeyContext]) -> Option<LayerKey> {
    let pressed = normalize_chord(event);
    TABLE
        .iter()
        .find(|binding| {
            let modifiers_match = binding
                .modifiers
                .is_none_or(|modifiers| modifiers == pressed.modifiers);
            contexts.contains(&binding.context) && binding.code == pressed.code && modifiers_match
        })
        .map(|binding| binding.key)
}

/// A hint such as `Enter resume`: the first key bound to `key`, and its effect.
pub fn hint(context: KeyContext, key: LayerKey, effect: &str) -> String {
    let mut bindings = TABLE.iter();
    let binding = bindings.find(|binding| binding.context == context && binding.key == key);
    let name = binding.map_or_else(String::new, |binding| binding.chord().to_string());
    format!("{name} {effect}")
}

/// A hint for two keys with a common effect, such as `PgUp/PgDn scroll`.
pub fn pair_hint(context: KeyContext, keys: [LayerKey; 2], effect: &str) -> String {
    let [first, second] = keys.map(|key| hint(context, key, ""));
    format!("{}/{} {effect}", first.trim_end(), second.trim_end())
}

/// The keys that scroll lists and texts by pages.
pub fn scroll_hint() -> String {
    let pages = [LayerKey::PageUp, LayerKey::PageDown];
    pair_hint(KeyContext::ScrollableList, pages, "scroll")
}

/// Rows per page in lists and logs.
const PAGE_ROWS: isize = 10;

/// How many rows a key moves a list, if it scrolls.
pub fn row_step(event: KeyEvent) -> Option<isize> {
    find_key(event, &[KeyContext::ScrollableList]).and_then(LayerKey::rows)
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

    fn heading(context: KeyContext) -> &'static str {
        match context {
            P::ScrollableList => "### Scrolling",
            P::PagedText | P::Text => "### Texts: tools, calls, logs, instructions",
            P::Log => "### The log",
            P::Help => "### The help",
            P::InputLine => "### One line: a model to pull, a title, a path",
            P::SearchList | P::SearchListRows => "### Lists",
            P::Sessions | P::ExportForm | P::DeleteConfirmation => "### Conversations",
            P::Models => "### Models",
            P::Servers => "### Servers and tools (`/mcp`, `/tools`)",
            P::SignIn => "### Signing in to a server",
            P::Trust => "### Lasting decisions (`/trust`)",
            P::Picker => "### Numbered lists: server, persona, branch, call",
            P::Form => "### The form for a model",
            P::Completions => "### While commands are listed",
            P::Queue => "### Queued prompts",
            P::PromptReview => "### A prompt of a server",
            P::ImportText => "### Servers of another client",
            P::FirstRun => "### The choice on a first start",
            P::Find => "### The field of the find",
        }
    }

    #[test]
    fn keys_are_documented() {
        let page = include_str!("../../../docs/keys.md");
        for binding in TABLE {
            let heading = heading(binding.context);
            let here = TABLE
                .iter()
                .filter(|other| self::heading(other.context) == heading);
            let expected: BTreeSet<String> =
                here.map(|binding| binding.chord().to_string()).collect();
            let found = documented(page, heading).concat().into_iter().collect();
            assert_eq!(expected, found, "{heading}");
        }
    }
}

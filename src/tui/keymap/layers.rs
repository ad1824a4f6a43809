//! What keys mean in lists, forms and texts that open over the chat. Layers look up keys here, and
//! take their hints from here, so that both follow the keys in use.

use super::{Action, BindingScope, Chord, Keymap, LAYER_TABLE, normalize_chord};
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
    /// Loads text into the message editor.
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
    /// Scrolls the body of a question by a row.
    RowUp,
    RowDown,
    // The letters that answer a question, or show more of it.
    No,
    Deny,
    RunForSession,
    RunReadOnly,
    FirstResult,
    AsText,
    RunUnread,
    /// Shows the lasting choices.
    Lasting,
    /// Shows all choices.
    Details,
    /// Gives the body the whole height.
    FullHeight,
    Again,
    TellModel,
    OpenMyself,
    GoOn,
    NoLimit,
    AnswerNow,
    SendAnyway,
    CancelRequest,
    UntilExit,
    Discard,
    CopyAddress,
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
    /// The find bar.
    Find,
    /// Any question in a dialog, while none of its fields is open.
    Question,
    /// The text of a question, also while a field is open.
    QuestionText,
    /// The letters that answer a question. Which of them work depends on the question.
    Answer,
}

use KeyContext as P;

/// The contexts that are looked up together while something is open.
const OPEN_TOGETHER: [&[KeyContext]; 15] = [
    &[
        P::ScrollableList,
        P::SearchList,
        P::SearchListRows,
        P::Sessions,
    ],
    &[
        P::ScrollableList,
        P::SearchList,
        P::SearchListRows,
        P::Models,
    ],
    &[
        P::ScrollableList,
        P::SearchList,
        P::SearchListRows,
        P::Servers,
    ],
    &[
        P::ScrollableList,
        P::SearchList,
        P::SearchListRows,
        P::Trust,
    ],
    &[P::ScrollableList, P::SearchList, P::Picker],
    &[P::ScrollableList, P::SearchList, P::Help],
    // The text of a server or tool goes back to its list.
    &[P::ScrollableList, P::SearchList, P::PagedText, P::Text],
    &[P::ScrollableList, P::PagedText, P::Log],
    &[P::ScrollableList, P::PagedText, P::Text, P::ImportText],
    &[P::ScrollableList, P::PagedText, P::Text, P::PromptReview],
    &[P::ScrollableList, P::SignIn],
    &[P::InputLine, P::ExportForm],
    &[P::Form, P::Completions],
    &[P::Question, P::QuestionText, P::Answer],
    &[P::InputLine, P::QuestionText],
];

impl KeyContext {
    /// Whether both may be open at the same time.
    pub(super) fn is_open_with(self, other: Self) -> bool {
        let both = |contexts: &&[Self]| contexts.contains(&self) && contexts.contains(&other);
        self == other || OPEN_TOGETHER.iter().any(both)
    }

    /// How specific the context is. Of those that are open, the deepest one comes first.
    pub(super) fn depth(self) -> u8 {
        match self {
            Self::Sessions | Self::Models | Self::Servers | Self::Trust => 2,
            Self::SearchListRows
            | Self::Picker
            | Self::Completions
            | Self::Log
            | Self::ImportText
            | Self::PromptReview => 1,
            _ => 0,
        }
    }

    /// Whether letters go to a field, a filter or the message.
    pub(super) fn takes_text(self) -> bool {
        !matches!(
            self,
            Self::PagedText
                | Self::Text
                | Self::Log
                | Self::SearchListRows
                | Self::Sessions
                | Self::Models
                | Self::Servers
                | Self::Trust
                | Self::DeleteConfirmation
                | Self::Queue
                | Self::PromptReview
                | Self::ImportText
                | Self::Answer
        )
    }

    /// Whether only the key of the global action `back` leaves what is open.
    pub(super) fn is_left_by_back(self) -> bool {
        matches!(
            self,
            Self::ScrollableList
                | Self::PagedText
                | Self::Text
                | Self::Log
                | Self::PromptReview
                | Self::DeleteConfirmation
                | Self::QuestionText
        )
    }

    /// Whether a dialog looks up its keys here. The help, the log and the panes open beside it.
    pub(super) fn is_of_dialog(self) -> bool {
        matches!(self, Self::Question | Self::QuestionText | Self::Answer)
    }
}

/// Rows per page in lists and logs.
const PAGE_ROWS: isize = 10;

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

impl Keymap {
    /// The meaning of a key while these contexts are open. The most specific context comes first.
    pub fn layer_key(&self, event: KeyEvent, contexts: &[KeyContext]) -> Option<LayerKey> {
        let is_open =
            |scope| matches!(scope, BindingScope::Layer(open) if contexts.contains(&open));
        let action = self.find_action(event, is_open);
        let action = action.or_else(|| {
            let pressed = normalize_chord(event);
            let is_named = matches!(pressed.code, KeyCode::Char(' '))
                || !matches!(pressed.code, KeyCode::Char(_));
            let unmodified = Chord {
                modifiers: KeyModifiers::NONE,
                ..pressed
            };
            let mut bindings = self.bindings(unmodified).filter(|_| is_named);
            let found = bindings.find(|row| row.ignores_modifiers && is_open(row.scope))?;
            Some(found.action)
        });
        match action? {
            Action::Layer(key) => Some(key),
            _ => None,
        }
    }

    /// The keys for this meaning in a context.
    fn layer_keys(&self, context: KeyContext, key: LayerKey) -> &[Chord] {
        let scope = BindingScope::Layer(context);
        let mut rows = LAYER_TABLE.iter();
        let row = rows.find(|row| row.scope == scope && row.action == Action::Layer(key));
        row.map_or(&[], |row| self.keys(row))
    }

    fn first_layer_key(&self, context: KeyContext, key: LayerKey) -> Option<Chord> {
        self.layer_keys(context, key).first().copied()
    }

    /// The letters that give this answer to a question.
    pub fn answer_letters(&self, key: LayerKey) -> impl Iterator<Item = char> {
        let keys = self.layer_keys(KeyContext::Answer, key).iter();
        keys.filter_map(|chord| match chord.code {
            KeyCode::Char(letter) => Some(letter),
            _ => None,
        })
    }

    /// The name of the first key for this meaning in a context; `None` if it has none.
    pub fn layer_key_name(&self, context: KeyContext, key: LayerKey) -> Option<String> {
        Some(self.first_layer_key(context, key)?.to_string())
    }

    /// The press of a key with this meaning, for a click that stands for it.
    pub fn layer_key_press(&self, context: KeyContext, key: LayerKey) -> Option<KeyEvent> {
        let chord = self.first_layer_key(context, key)?;
        Some(KeyEvent::new(chord.code, chord.modifiers))
    }

    /// A hint such as `Enter resume`; `None` if there is no key.
    pub fn layer_hint(&self, context: KeyContext, key: LayerKey, effect: &str) -> Option<String> {
        Some(format!("{} {effect}", self.layer_key_name(context, key)?))
    }

    /// A hint for two keys with a common effect, such as `PgUp/PgDn scroll`.
    pub fn layer_pair_hint(
        &self,
        context: KeyContext,
        keys: [LayerKey; 2],
        effect: &str,
    ) -> Option<String> {
        let names = keys.map(|key| self.layer_key_name(context, key));
        let names: Vec<String> = names.into_iter().flatten().collect();
        (!names.is_empty()).then(|| format!("{} {effect}", names.join("/")))
    }

    /// A hint for the keys that scroll by pages.
    pub fn scroll_hint(&self) -> Option<String> {
        let pages = [LayerKey::PageUp, LayerKey::PageDown];
        self.layer_pair_hint(KeyContext::ScrollableList, pages, "scroll")
    }

    /// How many rows a key moves a list, if it scrolls.
    pub fn row_step(&self, event: KeyEvent) -> Option<isize> {
        let key = self.layer_key(event, &[KeyContext::ScrollableList]);
        key.and_then(LayerKey::rows)
    }
}

/// The hints whose actions have a key.
pub fn hint_list<const COUNT: usize>(hints: [Option<String>; COUNT]) -> Vec<String> {
    hints.into_iter().flatten().collect()
}

/// The hints of a confirmation, which any key but the confirming letter declines.
pub fn confirmation_hints(effect: &str, keymap: &Keymap) -> Vec<String> {
    let yes = keymap.layer_hint(KeyContext::DeleteConfirmation, LayerKey::Yes, effect);
    hint_list([yes, Some("n keep".to_owned())])
}

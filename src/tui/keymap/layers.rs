//! The meanings of keys in lists, forms, texts and questions that open over the chat, and the
//! contexts that are open together. [`super::Keymap`] holds the keys in use.

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
    UndoDelete,
    Rename,
    Fork,
    Export,
    Pull,
    StopPull,
    Refresh,
    /// Loads text into the message editor, or edits a call's arguments or a form.
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

/// A place where keys have their own meaning. Those that are open together share one lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyContext {
    /// Every scrollable list and text.
    ScrollableList,
    /// Text read page by page: its start, its end, and copying.
    PagedText,
    /// A paged text that is not a log.
    Text,
    Log,
    /// The help: letters go to its filter.
    Help,
    /// An input line confirmed with Enter.
    InputLine,
    SearchList,
    /// The rows of the list have the focus.
    SearchListRows,
    Sessions,
    ExportForm,
    Confirmation,
    Models,
    Servers,
    /// The dialog of a sign-in; letters go to its field.
    SignIn,
    Trust,
    /// A number that is being typed in a numbered list.
    Picker,
    Form,
    Completions,
    /// The queued prompts.
    Queue,
    /// A server prompt, before it is sent.
    PromptReview,
    /// The servers of another client, as a text.
    ImportText,
    FirstRun,
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
    // The key that closes a list also closes the text of a server or tool.
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
                | Self::Confirmation
                | Self::Queue
                | Self::PromptReview
                | Self::ImportText
                | Self::Answer
        )
    }

    /// Whether only the key of the global action `back` closes this context.
    pub(super) fn is_left_by_back(self) -> bool {
        matches!(
            self,
            Self::ScrollableList
                | Self::PagedText
                | Self::Text
                | Self::Log
                | Self::PromptReview
                | Self::Confirmation
                | Self::QuestionText
        )
    }

    /// Whether a dialog looks up its keys here. Some global keys, such as those for the help and the
    /// log, also work while a dialog is open.
    pub(super) fn is_of_dialog(self) -> bool {
        matches!(self, Self::Question | Self::QuestionText | Self::Answer)
    }
}

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

/// Drops the missing hints: an action without a key has none.
pub fn hint_list<const COUNT: usize>(hints: [Option<String>; COUNT]) -> Vec<String> {
    hints.into_iter().flatten().collect()
}

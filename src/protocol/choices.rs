//! The choices of each question, with the letters that mean them: a letter means the
//! same in every dialog, those about calls too.

use super::{Ask, UserChoice};

/// One choice as a dialog lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChoiceRow {
    pub choice: UserChoice,
    pub key: char,
    pub label: &'static str,
}

const fn row(choice: UserChoice, key: char, label: &'static str) -> ChoiceRow {
    ChoiceRow { choice, key, label }
}

const INVALID_CALL: &[ChoiceRow] = &[
    row(
        UserChoice::TellModel,
        'm',
        "Tell the model and let it try again",
    ),
    row(
        UserChoice::AsText,
        't',
        "Treat as text, the answer as it stands",
    ),
    row(UserChoice::Stop, 'n', "Stop this turn"),
];

const AFTER_ERROR: &[ChoiceRow] = &[
    row(UserChoice::Retry, 'r', "Run the failed call again"),
    row(
        UserChoice::AllowMoreTools,
        'g',
        "Go on: let it use more tools",
    ),
    row(UserChoice::Stop, 'n', "Stop this turn"),
];

const STALLED: &[ChoiceRow] = &[
    row(UserChoice::KeepWaiting, 'w', "Keep waiting"),
    row(
        UserChoice::SendAgain,
        'r',
        "Drop the connection and ask again",
    ),
    row(UserChoice::Stop, 'n', "Stop this turn"),
];

const ROUND_LIMIT: &[ChoiceRow] = &[
    row(
        UserChoice::ExtendRoundLimit,
        'g',
        "Go on for as many rounds again",
    ),
    row(UserChoice::NoRoundLimit, 'b', "No bound for this turn"),
    row(UserChoice::AnswerNow, 'l', "Answer now with what there is"),
    row(UserChoice::Stop, 'n', "Stop this turn"),
];

const GROW_CONTEXT: &[ChoiceRow] = &[
    row(UserChoice::Grow, 'g', "Let it grow"),
    row(
        UserChoice::SendAnyway,
        'c',
        "Send all the same, the oldest part is cut",
    ),
    row(UserChoice::Stop, 'n', "Stop this turn"),
];

const ADD_MODEL: &[ChoiceRow] = &[
    row(UserChoice::Add, 'y', "Add it to config.json and use it"),
    row(UserChoice::UseOnce, 'o', "Use it until humble ends"),
    row(UserChoice::Stop, 'n', "Change nothing"),
];

const REMOVE_MODEL: &[ChoiceRow] = &[
    row(UserChoice::Remove, 'y', "Remove it"),
    row(UserChoice::Stop, 'n', "Keep it"),
];

const STORE_DIALECT: &[ChoiceRow] = &[
    row(UserChoice::Store, 'y', "Store it in config.json and use it"),
    row(UserChoice::Stop, 'n', "Leave the setting as it is"),
];

const PROBE_RESULT: &[ChoiceRow] = &[row(UserChoice::Stop, 'n', "Close")];

const EXTERNAL_EDIT: &[ChoiceRow] = &[
    row(
        UserChoice::ApplyChanges,
        'f',
        "Follow the files: take the changes",
    ),
    row(
        UserChoice::Stop,
        'n',
        "Keep what was until humble ends; the files stay",
    ),
];

const REPLACE_PROMPT: &[ChoiceRow] = &[
    row(
        UserChoice::Replace,
        'p',
        "Put ours in its place, keep a copy",
    ),
    row(UserChoice::Stop, 'n', "Leave the file as it is"),
];

const UNFINISHED_TURN: &[ChoiceRow] = &[
    row(UserChoice::Resume, 'r', "Resume it: the prompt comes back"),
    row(UserChoice::KeepForLater, 'k', "Keep it for the next start"),
    row(UserChoice::Discard, 'x', "Discard it"),
];

const CONFIRM_DISCARD: &[ChoiceRow] = &[
    row(UserChoice::Discard, 'x', "Discard it for good"),
    row(UserChoice::KeepForLater, 'n', "Keep it for the next start"),
];

const PIN_CHANGED: &[ChoiceRow] = &[
    row(UserChoice::Accept, 'a', "Accept the new definition"),
    row(UserChoice::Stop, 'n', "Keep it withheld"),
    row(UserChoice::Never, ' ', "Never this tool"),
];

const INSTRUCTIONS: &[ChoiceRow] = &[
    row(UserChoice::SendAlways, 'y', "Send them from now on"),
    row(UserChoice::SendOnce, 'o', "Send them until humble ends"),
    row(UserChoice::Stop, 'n', "Do not send them"),
];

impl Ask {
    /// The choices of a question that is not about calls, in order; digits from
    /// 1 on stand for the same. A letter means the same in every dialog, those
    /// about calls too: nobody stops a turn with a key that allows a tool elsewhere.
    pub fn choices(&self) -> &'static [ChoiceRow] {
        match self {
            Self::UnfinishedTurn(_) => UNFINISHED_TURN,
            Self::ConfirmDiscard { .. } => CONFIRM_DISCARD,
            Self::ApproveCalls(_) => &[],
            Self::AddModel { .. } => ADD_MODEL,
            Self::RemoveModel { .. } => REMOVE_MODEL,
            Self::GrowContext { .. } => GROW_CONTEXT,
            Self::InvalidCall { .. } => INVALID_CALL,
            Self::AfterError { .. } => AFTER_ERROR,
            Self::Stalled { .. } => STALLED,
            Self::RoundLimit { .. } => ROUND_LIMIT,
            Self::StoreDialect { to: Some(_), .. } => STORE_DIALECT,
            Self::StoreDialect { to: None, .. } => PROBE_RESULT,
            Self::ExternalEdit(_) => EXTERNAL_EDIT,
            Self::ReplacePrompt { .. } => REPLACE_PROMPT,
            Self::PinChanged(_) => PIN_CHANGED,
            Self::SendInstructions { .. } => INSTRUCTIONS,
        }
    }
}

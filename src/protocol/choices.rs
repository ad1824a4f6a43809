//! The choices of each question and their keys.

use super::{Ask, UserChoice};

/// One choice in a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChoiceRow {
    pub choice: UserChoice,
    pub key: char,
    pub label: &'static str,
}

const fn row(choice: UserChoice, key: char, label: &'static str) -> ChoiceRow {
    ChoiceRow { choice, key, label }
}

const UNUSABLE_CALL: &[ChoiceRow] = &[
    row(
        UserChoice::TellModel,
        'm',
        "Tell the model and let it try again",
    ),
    row(UserChoice::TreatAsText, 't', "Treat it as plain text"),
    row(UserChoice::Stop, 'n', "Stop this turn"),
];

const AFTER_ERROR: &[ChoiceRow] = &[
    row(UserChoice::Retry, 'r', "Run the failed call again"),
    row(UserChoice::AllowMoreTools, 'g', "Continue with more tools"),
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
        "Continue for as many rounds again",
    ),
    row(UserChoice::NoRoundLimit, 'b', "No limit for this turn"),
    row(UserChoice::AnswerNow, 'l', "Answer now without more tools"),
    row(UserChoice::Stop, 'n', "Stop this turn"),
];

const GROW_CONTEXT: &[ChoiceRow] = &[
    row(UserChoice::Grow, 'g', "Let it grow"),
    row(
        UserChoice::SendAnyway,
        'c',
        "Send anyway; the oldest part is cut off",
    ),
    row(UserChoice::Stop, 'n', "Stop this turn"),
];

const ADD_MODEL: &[ChoiceRow] = &[
    row(UserChoice::Add, 'y', "Add it to config.json and use it"),
    row(UserChoice::UseUntilExit, 'o', "Use it until I quit"),
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
    row(UserChoice::ApplyChanges, 'f', "Apply the changes"),
    row(
        UserChoice::Stop,
        'n',
        "Ignore them until I quit (files are not touched)",
    ),
];

const REPLACE_PROMPT: &[ChoiceRow] = &[
    row(UserChoice::Replace, 'p', "Replace it and keep a copy"),
    row(UserChoice::Stop, 'n', "Keep the file"),
];

const UNFINISHED_TURN: &[ChoiceRow] = &[
    row(UserChoice::Resume, 'r', "Resume it (restores the prompt)"),
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
    row(UserChoice::SendUntilExit, 'o', "Send them until I quit"),
    row(UserChoice::Stop, 'n', "Do not send them"),
];

impl Ask {
    /// The choices of this question, in the order of the digits that also select them; empty
    /// for approvals, which have their own keys. A letter means the same in every dialog,
    /// including approvals: the key that stops a turn here never allows a tool there.
    pub fn choices(&self) -> &'static [ChoiceRow] {
        match self {
            Self::UnfinishedTurn(_) => UNFINISHED_TURN,
            Self::ConfirmDiscard { .. } => CONFIRM_DISCARD,
            Self::ApproveCalls(_) => &[],
            Self::AddModel { .. } => ADD_MODEL,
            Self::RemoveModel { .. } => REMOVE_MODEL,
            Self::GrowContext { .. } => GROW_CONTEXT,
            Self::UnusableCall { .. } => UNUSABLE_CALL,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::documented;

    #[test]
    fn docs_list_the_keys_of_every_question() {
        let page = include_str!("../../docs/keys.md");
        for (heading, rows) in [
            ("### A call that cannot be run", UNUSABLE_CALL),
            ("### After a failed call", AFTER_ERROR),
            ("### A silent server", STALLED),
            ("### Too many rounds of tools", ROUND_LIMIT),
            ("### A context that has to grow", GROW_CONTEXT),
            ("### Adding a model", ADD_MODEL),
            ("### Removing a model", REMOVE_MODEL),
            ("### The result of a probe", STORE_DIALECT),
            ("### Edited settings files", EXTERNAL_EDIT),
            ("### An old system prompt", REPLACE_PROMPT),
            ("### An unfinished turn", UNFINISHED_TURN),
            ("### A tool that changed", PIN_CHANGED),
            ("### Server instructions", INSTRUCTIONS),
        ] {
            let keys = rows.iter().map(|row| row.key.to_string());
            let letters: Vec<String> = keys.filter(|key| key != " ").collect();
            assert_eq!(letters, documented(page, heading).concat(), "{heading}");
        }
    }
}

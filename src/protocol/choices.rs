//! The choices of each question and their keys. A letter means the same in every dialog,
//! including approvals.

use super::{Ask, Choice};

/// One choice in a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChoiceRow {
    pub choice: Choice,
    pub key: char,
    pub label: &'static str,
}

const fn row(choice: Choice, key: char, label: &'static str) -> ChoiceRow {
    ChoiceRow { choice, key, label }
}

const REPAIR: &[ChoiceRow] = &[
    row(
        Choice::TellModel,
        'm',
        "Tell the model and let it try again",
    ),
    row(Choice::AsText, 't', "Treat it as plain text"),
    row(Choice::Stop, 'n', "Stop this turn"),
];

const AFTER_ERROR: &[ChoiceRow] = &[
    row(Choice::Retry, 'r', "Run the failed call again"),
    row(Choice::GoOn, 'g', "Continue with more tools"),
    row(Choice::Stop, 'n', "Stop this turn"),
];

const STALLED: &[ChoiceRow] = &[
    row(Choice::KeepWaiting, 'w', "Keep waiting"),
    row(Choice::AskAgain, 'r', "Drop the connection and ask again"),
    row(Choice::Stop, 'n', "Stop this turn"),
];

const BOUND: &[ChoiceRow] = &[
    row(
        Choice::AsManyAgain,
        'g',
        "Continue for as many rounds again",
    ),
    row(Choice::NoBound, 'b', "No limit for this turn"),
    row(Choice::AnswerNow, 'l', "Answer now without more tools"),
    row(Choice::Stop, 'n', "Stop this turn"),
];

const GROW: &[ChoiceRow] = &[
    row(Choice::Grow, 'g', "Let it grow"),
    row(
        Choice::SendAnyway,
        'c',
        "Send anyway; the oldest part is cut off",
    ),
    row(Choice::Stop, 'n', "Stop this turn"),
];

const ADD_MODEL: &[ChoiceRow] = &[
    row(Choice::Add, 'y', "Add it to config.json and use it"),
    row(Choice::UseOnce, 'o', "Use it until I quit"),
    row(Choice::Stop, 'n', "Change nothing"),
];

const REMOVE_MODEL: &[ChoiceRow] = &[
    row(Choice::Remove, 'y', "Remove it"),
    row(Choice::Stop, 'n', "Keep it"),
];

const STORE_DIALECT: &[ChoiceRow] = &[
    row(Choice::Store, 'y', "Store it in config.json and use it"),
    row(Choice::Stop, 'n', "Leave the setting as it is"),
];

const PROBED: &[ChoiceRow] = &[row(Choice::Stop, 'n', "Close")];

const OUTSIDE_EDIT: &[ChoiceRow] = &[
    row(Choice::TakeChanges, 'f', "Apply the changes"),
    row(
        Choice::Stop,
        'n',
        "Ignore them until I quit (files are not touched)",
    ),
];

const REPLACE_PROMPT: &[ChoiceRow] = &[
    row(Choice::Replace, 'p', "Replace it and keep a copy"),
    row(Choice::Stop, 'n', "Keep the file"),
];

const UNFINISHED: &[ChoiceRow] = &[
    row(Choice::Resume, 'r', "Resume it (restores the prompt)"),
    row(Choice::KeepForLater, 'k', "Keep it for the next start"),
    row(Choice::Discard, 'x', "Discard it"),
];

const DISCARD: &[ChoiceRow] = &[
    row(Choice::Discard, 'x', "Discard it for good"),
    row(Choice::KeepForLater, 'n', "Keep it for the next start"),
];

const PIN_CHANGED: &[ChoiceRow] = &[
    row(Choice::Accept, 'a', "Accept the new definition"),
    row(Choice::Stop, 'n', "Keep it withheld"),
    row(Choice::Never, ' ', "Never this tool"),
];

const INSTRUCTIONS: &[ChoiceRow] = &[
    row(Choice::SendAlways, 'y', "Send them from now on"),
    row(Choice::SendOnce, 'o', "Send them until I quit"),
    row(Choice::Stop, 'n', "Do not send them"),
];

impl Ask {
    /// The choices of this question in order; digits from 1 on select them too. Approvals
    /// have none here. A letter means the same in every dialog, so the key that stops a
    /// turn here never allows a tool elsewhere.
    pub fn choices(&self) -> &'static [ChoiceRow] {
        match self {
            Self::Unfinished(_) => UNFINISHED,
            Self::Discard { .. } => DISCARD,
            Self::Approve(_) => &[],
            Self::AddModel { .. } => ADD_MODEL,
            Self::RemoveModel { .. } => REMOVE_MODEL,
            Self::GrowContext { .. } => GROW,
            Self::Repair { .. } => REPAIR,
            Self::AfterError { .. } => AFTER_ERROR,
            Self::Stalled { .. } => STALLED,
            Self::Bound { .. } => BOUND,
            Self::StoreDialect { to: Some(_), .. } => STORE_DIALECT,
            Self::StoreDialect { to: None, .. } => PROBED,
            Self::OutsideEdit(_) => OUTSIDE_EDIT,
            Self::ReplacePrompt { .. } => REPLACE_PROMPT,
            Self::PinChanged(_) => PIN_CHANGED,
            Self::Instructions { .. } => INSTRUCTIONS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::documented;

    #[test]
    fn keys_are_documented() {
        let page = include_str!("../../docs/keys.md");
        for (heading, choices) in [
            ("### A call that cannot be run", REPAIR),
            ("### After a failed call", AFTER_ERROR),
            ("### A silent server", STALLED),
            ("### Too many rounds of tools", BOUND),
            ("### A context that has to grow", GROW),
            ("### Adding a model", ADD_MODEL),
            ("### Removing a model", REMOVE_MODEL),
            ("### The result of a probe", STORE_DIALECT),
            ("### Edited settings files", OUTSIDE_EDIT),
            ("### An old system prompt", REPLACE_PROMPT),
            ("### An unfinished turn", UNFINISHED),
            ("### A tool that changed", PIN_CHANGED),
            ("### Server instructions", INSTRUCTIONS),
        ] {
            let keys = choices.iter().map(|choice| choice.key.to_string());
            let keys: Vec<String> = keys.filter(|key| key != " ").collect();
            assert_eq!(keys, documented(page, heading).concat(), "{heading}");
        }
    }
}

//! The choices of each question and their keys.

pub mod servers;

use super::{Ask, UserChoice};

/// One choice in a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChoiceRow {
    pub choice: UserChoice,
    pub key: char,
    /// An older key that still works; a space if there is none.
    pub alias: char,
    /// A few words, for a row of choices.
    pub short: &'static str,
    pub label: &'static str,
}

const fn row(choice: UserChoice, key: char, short: &'static str, label: &'static str) -> ChoiceRow {
    ChoiceRow {
        choice,
        key,
        alias: ' ',
        short,
        label,
    }
}

impl ChoiceRow {
    const fn with_alias(mut self, alias: char) -> Self {
        self.alias = alias;
        self
    }
}

use UserChoice as C;

const UNUSABLE_CALL: &[ChoiceRow] = &[
    row(
        C::TellModel,
        'm',
        "tell the model",
        "Tell the model and let it try again",
    ),
    row(C::TreatAsText, 't', "as text", "Treat it as plain text"),
    row(C::Stop, 'n', "stop", "Stop this turn"),
];

const AFTER_ERROR: &[ChoiceRow] = &[
    row(C::Retry, 'r', "run it again", "Run the failed call again"),
    row(C::AllowMoreTools, 'g', "go on", "Continue with more tools"),
    row(C::Stop, 'n', "stop", "Stop this turn"),
];

const STALLED: &[ChoiceRow] = &[
    row(C::KeepWaiting, 'y', "wait", "Keep waiting").with_alias('w'),
    row(
        C::SendAgain,
        'r',
        "ask again",
        "Drop the connection and ask again",
    ),
    row(C::Stop, 'n', "stop", "Stop this turn"),
];

const ROUND_LIMIT: &[ChoiceRow] = &[
    row(
        C::ExtendRoundLimit,
        'y',
        "as many again",
        "Continue for as many rounds again",
    )
    .with_alias('g'),
    row(C::NoRoundLimit, 'b', "no limit", "No limit for this turn"),
    row(
        C::AnswerNow,
        'l',
        "answer now",
        "Answer now without more tools",
    ),
    row(C::Stop, 'n', "stop", "Stop this turn"),
];

const GROW_CONTEXT: &[ChoiceRow] = &[
    row(C::Grow, 'y', "enlarge", "Enlarge it").with_alias('g'),
    row(
        C::SendAnyway,
        'c',
        "send anyway",
        "Send anyway; the oldest part is cut off",
    ),
    row(C::Stop, 'n', "stop", "Stop this turn"),
];

const REMOVE_MODEL: &[ChoiceRow] = &[
    row(C::Remove, 'y', "remove", "Remove it"),
    row(C::Stop, 'n', "keep", "Keep it"),
];

const SAVE_DIALECT: &[ChoiceRow] = &[
    row(
        C::Save,
        'y',
        "save and use",
        "Save it in config.json and use it",
    ),
    row(C::Stop, 'n', "leave as it is", "Leave the setting as it is"),
];

const PROBE_RESULT: &[ChoiceRow] = &[row(C::Stop, 'n', "close", "Close")];

const EXTERNAL_EDIT: &[ChoiceRow] = &[
    row(C::ApplyChanges, 'y', "apply", "Apply the changes").with_alias('f'),
    row(
        C::Stop,
        'n',
        "do not use them now",
        "Do not use them; the files are not touched",
    ),
];

const REPLACE_PROMPT: &[ChoiceRow] = &[
    row(C::Replace, 'y', "replace", "Replace it and keep a copy").with_alias('p'),
    row(C::Stop, 'n', "keep the file", "Keep the file"),
];

const NOTES_FOLDER: &[ChoiceRow] = &[
    row(C::Save, 'y', "use it", "Save it in config.json and use it"),
    row(C::Stop, 'n', "change nothing", "Change nothing"),
];

const NEW_NOTES_FOLDER: &[ChoiceRow] = &[
    row(
        C::Save,
        'y',
        "create and use",
        "Create it, save it in config.json and use it",
    ),
    row(C::Stop, 'n', "change nothing", "Change nothing"),
];

const UNFINISHED_TURN: &[ChoiceRow] = &[
    row(
        C::Resume,
        'y',
        "restore",
        "Put the prompt into the message, to ask it again",
    )
    .with_alias('r'),
    row(
        C::KeepForLater,
        'n',
        "not now",
        "Keep it for the next start",
    )
    .with_alias('k'),
    row(C::Discard, 'x', "discard…", "Discard it"),
];

const UNFINISHED_TASK: &[ChoiceRow] = &[
    row(
        C::Resume,
        'y',
        "wait for it",
        "Resume it: wait for the task",
    )
    .with_alias('r'),
    row(
        C::KeepForLater,
        'n',
        "not now",
        "Keep it for the next start",
    )
    .with_alias('k'),
    row(C::Discard, 'x', "discard…", "Discard it"),
];

const CONFIRM_DISCARD: &[ChoiceRow] = &[
    row(C::Discard, 'y', "discard", "Discard it for good").with_alias('x'),
    row(C::KeepForLater, 'n', "keep", "Keep it for the next start"),
];

// No `a` for accepting: in an approval, it only shows the lasting choices.
const PIN_CHANGED: &[ChoiceRow] = &[
    row(C::Accept, 'y', "accept", "Accept the new definition"),
    row(C::Stop, 'n', "keep withheld", "Keep it withheld"),
    row(C::Never, '9', "never", "Never run this tool"),
];

const INSTRUCTIONS: &[ChoiceRow] = &[
    row(
        C::SendAlways,
        'y',
        "send from now on",
        "Send them from now on",
    ),
    row(
        C::SendUntilExit,
        'o',
        "until I quit",
        "Send them until I quit",
    ),
    row(C::Stop, 'n', "do not send", "Do not send them"),
];

const FILL_FORM: &[ChoiceRow] = &[
    row(C::FillIn, 'e', "fill in", "Fill in the fields"),
    row(C::Send, 'y', "send", "Send these values to the server"),
    row(C::Decline, 'n', "decline", "Decline: send nothing"),
    row(
        C::CancelRequest,
        'c',
        "cancel",
        "Cancel: close it without a decision",
    ),
    row(
        C::DeclineAll,
        'x',
        "decline all",
        "Decline everything it asks in this conversation",
    ),
];

/// A form without fields.
const AGREE: &[ChoiceRow] = &[
    row(C::Send, 'y', "agree", "Agree: send your consent"),
    row(C::Decline, 'n', "decline", "Decline: do not agree"),
    row(
        C::CancelRequest,
        'c',
        "cancel",
        "Cancel: close it without a decision",
    ),
    row(
        C::DeclineAll,
        'x',
        "decline all",
        "Decline everything it asks in this conversation",
    ),
];

const VISIT_PAGE: &[ChoiceRow] = &[
    row(C::OpenPage, 'y', "open", "Open it in the browser"),
    row(C::CopyAddress, 'u', "copy", "Copy the address"),
    row(
        C::VisitMyself,
        'm',
        "open it myself",
        "Agree, and open it myself",
    ),
    row(C::Decline, 'n', "decline", "Decline: do not open it"),
    row(
        C::CancelRequest,
        'c',
        "cancel",
        "Cancel: close it without a decision",
    ),
    row(
        C::DeclineAll,
        'x',
        "decline all",
        "Decline everything it asks in this conversation",
    ),
];

const PAGE_VISITED: &[ChoiceRow] = &[
    row(
        C::Retry,
        'r',
        "done: run again",
        "I am done there: run the call again",
    ),
    row(C::Stop, 'n', "give up", "Give up the call"),
];

const ASK_MODEL: &[ChoiceRow] = &[
    row(
        C::Send,
        'y',
        "ask the model",
        "Ask the model; its answer is shown first",
    ),
    row(C::Decline, 'n', "decline", "Decline: do not ask the model"),
    row(
        C::DeclineAll,
        'x',
        "decline all",
        "Decline everything it asks in this conversation",
    ),
];

const SEND_MODEL_ANSWER: &[ChoiceRow] = &[
    row(C::Send, 'y', "send", "Send this answer to the server"),
    row(C::Decline, 'n', "decline", "Decline: send nothing"),
    row(
        C::DeclineAll,
        'x',
        "decline all",
        "Decline everything it asks in this conversation",
    ),
];

impl Ask {
    /// The choices of this question, in the order of the digits that also select them; empty for
    /// approvals, which have their own keys. In every dialog, including approvals, `y` means yes and
    /// `n` means no, and the key that stops a turn here never allows a tool there.
    pub fn choices(&self) -> &'static [ChoiceRow] {
        match self {
            Self::UnfinishedTurn(turn) if turn.waits_for_task() => UNFINISHED_TASK,
            Self::UnfinishedTurn(_) => UNFINISHED_TURN,
            Self::ConfirmDiscard { .. } => CONFIRM_DISCARD,
            Self::ApproveCalls(_) => &[],
            Self::RemoveModel { .. } => REMOVE_MODEL,
            Self::GrowContext { .. } => GROW_CONTEXT,
            Self::UnusableCall { .. } => UNUSABLE_CALL,
            Self::ChooseServer { servers, .. } => servers::choices(servers.len()),
            Self::AfterError { .. } => AFTER_ERROR,
            Self::Stalled { .. } => STALLED,
            Self::RoundLimit { .. } => ROUND_LIMIT,
            Self::SaveDialect { to: Some(_), .. } => SAVE_DIALECT,
            Self::SaveDialect { to: None, .. } => PROBE_RESULT,
            Self::ExternalEdit(_) => EXTERNAL_EDIT,
            Self::ReplacePrompt { .. } => REPLACE_PROMPT,
            Self::UseNotesFolder { is_new: true, .. } => NEW_NOTES_FOLDER,
            Self::UseNotesFolder { is_new: false, .. } => NOTES_FOLDER,
            Self::PinChanged(_) => PIN_CHANGED,
            Self::SendInstructions { .. } => INSTRUCTIONS,
            Self::FillForm { form, .. } if form.fields.is_empty() => AGREE,
            Self::FillForm { .. } => FILL_FORM,
            Self::VisitPage { .. } => VISIT_PAGE,
            Self::PageVisited { .. } => PAGE_VISITED,
            Self::AskModel { .. } => ASK_MODEL,
            Self::SendModelAnswer { .. } => SEND_MODEL_ANSWER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::documented;

    #[test]
    fn docs_list_the_keys_of_each_question_that_has_a_section() {
        let page = include_str!("../../docs/keys.md");
        for (heading, rows) in [
            ("### A call that cannot be run", UNUSABLE_CALL),
            ("### A tool that several servers have", servers::choices(4)),
            ("### After a failed call", AFTER_ERROR),
            ("### A silent server", STALLED),
            ("### Too many rounds of tools", ROUND_LIMIT),
            ("### A context that has to grow", GROW_CONTEXT),
            ("### Removing a model", REMOVE_MODEL),
            ("### The result of a probe", SAVE_DIALECT),
            ("### Edited settings files", EXTERNAL_EDIT),
            ("### An old system prompt", REPLACE_PROMPT),
            ("### A notes folder", NOTES_FOLDER),
            ("### A notes folder", NEW_NOTES_FOLDER),
            ("### An unfinished turn", UNFINISHED_TURN),
            ("### An unfinished turn", UNFINISHED_TASK),
            ("### A tool that changed", PIN_CHANGED),
            ("### Server instructions", INSTRUCTIONS),
            ("### A form from a server", FILL_FORM),
            ("### A form without fields", AGREE),
            ("### A web page from a server", VISIT_PAGE),
            ("### A web page that a call requires", PAGE_VISITED),
            ("### A server that asks the model", ASK_MODEL),
            ("### The answer for a server", SEND_MODEL_ANSWER),
        ] {
            let keys = rows.iter().flat_map(|row| [row.key, row.alias]);
            let keys = keys.filter(|key| *key != ' ').map(String::from);
            let documented = documented(page, heading).concat();
            assert_eq!(keys.collect::<Vec<_>>(), documented, "{heading}");
        }
    }
}

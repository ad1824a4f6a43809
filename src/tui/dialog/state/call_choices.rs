//! The choices of a dialog, in display order: the same for every call, and a few that a call
//! offers only sometimes.

use crate::domain::Transcript;
use crate::protocol::ChoiceRow;
use crate::tui::dialog::state::{Dialog, DialogAction, DialogChoice, is_from_text};

/// A call with more undrawn rows than this can also be run unread.
const RUN_UNREAD_MIN_ROWS: usize = 500;
const REFUSE_LABEL: &str = "Do not run it, and end the turn";
const DENY_LABEL: &str = "Do not run it; tell the model why, and let it go on";
const EDIT_LABEL: &str = "Edit the arguments";
const NEVER_LABEL: &str = "Never run this tool";

/// What every call offers: action, digit, letter, short and long label.
const CALL_CHOICES: [(DialogAction, char, char, &str, &str); 9] = [
    (DialogAction::Run, '1', 'y', "run", "Run it once"),
    (DialogAction::Refuse, '2', 'n', "stop", REFUSE_LABEL),
    (DialogAction::Deny, '3', 'd', "deny…", DENY_LABEL),
    (DialogAction::Edit, '4', 'e', "edit", EDIT_LABEL),
    (
        DialogAction::RunForSession,
        '5',
        's',
        "session",
        "Run it, and this tool for the rest of this conversation",
    ),
    (
        DialogAction::RunAlways,
        '6',
        ' ',
        "tool",
        "Always run this tool",
    ),
    (
        DialogAction::RunServer,
        '7',
        ' ',
        "server",
        "Always run the tools that this server has now",
    ),
    (
        DialogAction::RunMatching,
        '8',
        ' ',
        "matching",
        "Always run calls like this one: edit the pattern",
    ),
    (DialogAction::Never, '9', ' ', "never", NEVER_LABEL),
];

/// The choices for edited arguments. None of them grants permissions, because a rule would
/// apply to the model's own arguments.
const EDITED_CHOICES: [(DialogAction, char, char, &str, &str); 5] = [
    (
        DialogAction::Run,
        '1',
        'y',
        "run as edited",
        "Run it as edited",
    ),
    (DialogAction::Refuse, '2', 'n', "stop", REFUSE_LABEL),
    (DialogAction::Deny, '3', 'd', "deny…", DENY_LABEL),
    (DialogAction::Edit, '4', 'e', "edit", EDIT_LABEL),
    (DialogAction::Never, '9', ' ', "never", NEVER_LABEL),
];

/// A blank stands for no digit or no letter.
fn dialog_choice(
    action: DialogAction,
    digit: char,
    key: char,
    short: &str,
    label: &str,
) -> DialogChoice {
    DialogChoice {
        action,
        digit: Some(digit).filter(|digit| *digit != ' '),
        key: Some(key).filter(|key| *key != ' '),
        short: short.to_owned(),
        label: label.to_owned(),
    }
}

fn to_choices(table: &[(DialogAction, char, char, &str, &str)]) -> Vec<DialogChoice> {
    let choice = |row: &(DialogAction, char, char, &str, &str)| {
        let (action, digit, key, short, label) = *row;
        dialog_choice(action, digit, key, short, label)
    };
    table.iter().map(choice).collect()
}

impl Dialog {
    /// The choices in display order.
    pub fn choices(&self, transcript: &Transcript) -> Vec<DialogChoice> {
        let Some(offered) = self.call() else {
            return self.question_choices();
        };
        let edited = self.edited_arguments.get(self.call_index);
        if edited.is_some_and(Option::is_some) {
            let mut rows = to_choices(&EDITED_CHOICES);
            rows.extend(self.run_unread_choice());
            return rows;
        }
        let mut rows = to_choices(&CALL_CHOICES);
        rows.extend(self.run_all_choice());
        let call = transcript.call(offered.call);
        if call.is_some_and(|call| call.repeats.is_some()) {
            let label = "Use the result of the first such call";
            let act = DialogAction::UseFirstResult;
            rows.push(dialog_choice(act, ' ', 'u', "first result", label));
        }
        if call.is_some_and(is_from_text) {
            let label = "Treat it as text: it was no call";
            let act = DialogAction::TreatAsText;
            rows.push(dialog_choice(act, ' ', 't', "as text", label));
        }
        rows.extend(self.run_unread_choice());
        rows
    }

    /// The choices of a question that is not about calls.
    fn question_choices(&self) -> Vec<DialogChoice> {
        let choices = self.question.choices().iter().zip('1'..='9');
        let choice = |(choice, digit): (&ChoiceRow, char)| {
            let action = DialogAction::Choose(choice.choice);
            dialog_choice(action, digit, choice.key, choice.label, choice.label)
        };
        choices.map(choice).collect()
    }

    fn run_all_choice(&self) -> Option<DialogChoice> {
        let count = self.calls().len();
        if count < 2 || !self.seen_calls.iter().all(|seen| *seen) {
            return None;
        }
        let label = match self.decided_count() {
            0 => format!("Run all {count} calls"),
            decided => format!("Run the other {}", count - decided),
        };
        let act = DialogAction::RunAll;
        Some(dialog_choice(act, '0', ' ', "all", &label))
    }

    fn run_unread_choice(&self) -> Option<DialogChoice> {
        let label = "Run it without reading the rest";
        let choice = || dialog_choice(DialogAction::RunUnread, ' ', 'r', "run unread…", label);
        (self.undrawn_rows > RUN_UNREAD_MIN_ROWS).then(choice)
    }
}

//! The choices of a dialog, and the pages that show them.

use crate::domain::Transcript;
use crate::domain::tool::{CallOrigin, ToolCall};
use crate::protocol::UserChoice;
use crate::tui::dialog::state::Dialog;

/// A call with more undrawn rows than this can also be run unread.
const RUN_UNREAD_MIN_ROWS: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogAction {
    Run,
    Refuse,
    Deny,
    Edit,
    RunForSession,
    RunAlways,
    RunServer,
    RunMatching,
    Never,
    RunAll,
    UseFirstResult,
    TreatAsText,
    /// Opens the field that confirms running the call unread.
    RunUnread,
    Choose(UserChoice),
}

impl DialogAction {
    /// Whether it decides about later calls, too, until the user revokes it.
    pub fn is_lasting(self) -> bool {
        matches!(
            self,
            Self::RunAlways | Self::RunServer | Self::RunMatching | Self::Never
        )
    }
}

/// What the body shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogPage {
    /// What the question is about.
    Subject,
    /// The choices that last, with what each covers.
    Lasting,
    /// All choices, and what the server says of its tool.
    Details,
    /// The values among the arguments, to choose the one to edit.
    Values,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogChoice {
    pub action: DialogAction,
    pub digit: Option<char>,
    pub key: Option<char>,
    /// A word or two, for the row of choices.
    pub short: String,
    pub label: String,
}

impl DialogChoice {
    /// The key to press.
    pub fn shown_key(&self) -> char {
        self.key.or(self.digit).unwrap_or(' ')
    }
}

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

impl Dialog {
    /// The choices in display order.
    pub fn choices(&self, transcript: &Transcript) -> Vec<DialogChoice> {
        let Some(offered) = self.call() else {
            let choices = self.question.choices().iter().zip('1'..='9');
            return choices
                .map(|(choice, digit)| {
                    dialog_choice(
                        DialogAction::Choose(choice.choice),
                        digit,
                        choice.key,
                        choice.label,
                        choice.label,
                    )
                })
                .collect();
        };
        if self
            .edited_arguments
            .get(self.call_index)
            .is_some_and(Option::is_some)
        {
            return self.choices_for_edited();
        }
        let mut rows = vec![
            dialog_choice(DialogAction::Run, '1', 'y', "run", "Run it once"),
            dialog_choice(
                DialogAction::Refuse,
                '2',
                'n',
                "stop",
                "Do not run it, and end the turn",
            ),
            dialog_choice(
                DialogAction::Deny,
                '3',
                'd',
                "deny…",
                "Do not run it; tell the model why, and let it go on",
            ),
            dialog_choice(DialogAction::Edit, '4', 'e', "edit", "Edit the arguments"),
            dialog_choice(
                DialogAction::RunForSession,
                '5',
                's',
                "session",
                "Run it, and this tool for the rest of this conversation",
            ),
            dialog_choice(
                DialogAction::RunAlways,
                '6',
                ' ',
                "tool",
                "Always run this tool",
            ),
            dialog_choice(
                DialogAction::RunServer,
                '7',
                ' ',
                "server",
                "Always run the tools that this server has now",
            ),
            dialog_choice(
                DialogAction::RunMatching,
                '8',
                ' ',
                "matching",
                "Always run calls like this one: edit the pattern",
            ),
            dialog_choice(
                DialogAction::Never,
                '9',
                ' ',
                "never",
                "Never run this tool",
            ),
        ];
        if self.calls().len() > 1 && self.seen_calls.iter().all(|shown| *shown) {
            let label = match self.decided_count() {
                0 => format!("Run all {} calls", self.calls().len()),
                decided => format!("Run the other {}", self.calls().len() - decided),
            };
            rows.push(dialog_choice(DialogAction::RunAll, '0', ' ', "all", &label));
        }
        let call = transcript.call(offered.call);
        if call.is_some_and(|call| call.repeats.is_some()) {
            rows.push(dialog_choice(
                DialogAction::UseFirstResult,
                ' ',
                'u',
                "first result",
                "Use the result of the first such call",
            ));
        }
        if call.is_some_and(is_from_text) {
            rows.push(dialog_choice(
                DialogAction::TreatAsText,
                ' ',
                't',
                "as text",
                "Treat it as text: it was no call",
            ));
        }
        rows.extend(self.run_unread_choice());
        rows
    }

    /// The choices for edited arguments. None of them grants permissions, because a rule
    /// would apply to the model's own arguments.
    fn choices_for_edited(&self) -> Vec<DialogChoice> {
        let mut rows = vec![
            dialog_choice(
                DialogAction::Run,
                '1',
                'y',
                "run as edited",
                "Run it as edited",
            ),
            dialog_choice(
                DialogAction::Refuse,
                '2',
                'n',
                "stop",
                "Do not run it, and end the turn",
            ),
            dialog_choice(
                DialogAction::Deny,
                '3',
                'd',
                "deny…",
                "Do not run it; tell the model why, and let it go on",
            ),
            dialog_choice(DialogAction::Edit, '4', 'e', "edit", "Edit the arguments"),
            dialog_choice(
                DialogAction::Never,
                '9',
                ' ',
                "never",
                "Never run this tool",
            ),
        ];
        rows.extend(self.run_unread_choice());
        rows
    }

    fn run_unread_choice(&self) -> Option<DialogChoice> {
        let is_long = self.undrawn_rows > RUN_UNREAD_MIN_ROWS;
        is_long.then(|| {
            dialog_choice(
                DialogAction::RunUnread,
                ' ',
                'r',
                "run unread…",
                "Run it without reading the rest",
            )
        })
    }

    /// Indices of the choices that the arrow keys reach on this page.
    pub fn reachable_choices(&self, rows: &[DialogChoice]) -> Vec<usize> {
        let is_reachable = |row: &DialogChoice| match self.page() {
            DialogPage::Subject => !row.action.is_lasting(),
            DialogPage::Lasting => row.action.is_lasting(),
            DialogPage::Details => true,
            DialogPage::Values => false,
        };
        let rows = rows.iter().enumerate();
        rows.filter(|(_, row)| is_reachable(row))
            .map(|(index, _)| index)
            .collect()
    }
}

pub fn is_from_text(call: &ToolCall) -> bool {
    matches!(call.origin, CallOrigin::Text { .. })
}

//! The choices of a dialog, and the pages that show them.

use crate::domain::tool::{CallOrigin, ToolCall};
use crate::protocol::UserChoice;
use crate::tui::dialog::read_only_tools::ReadOnlyTools;
use crate::tui::dialog::state::Dialog;
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::LayerKey;
use crate::tui::layer::SharedUiState;

/// A call with more undrawn rows than this can also be run unread.
const RUN_UNREAD_ROWS_MIN: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogAction {
    Run,
    Refuse,
    Deny,
    Edit,
    RunForSession,
    RunAlways,
    RunServer,
    /// Always runs the tools that the server marks as read-only.
    RunReadOnly,
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
    /// Whether it also applies in later conversations, until the user revokes it.
    pub fn is_lasting(self) -> bool {
        matches!(
            self,
            Self::RunAlways | Self::RunServer | Self::RunReadOnly | Self::RunMatching | Self::Never
        )
    }

    /// Whether it consents to something: to a call, to what a server or a file asks for, or to going
    /// on. No key that was typed for the message may do that.
    pub fn grants(self) -> bool {
        match self {
            Self::Run
            | Self::RunForSession
            | Self::RunAlways
            | Self::RunServer
            | Self::RunReadOnly
            | Self::RunMatching
            | Self::RunAll => true,
            Self::Choose(choice) => choice.grants(),
            _ => false,
        }
    }

    /// Whether it may become available only after the dialog has opened.
    pub fn comes_later(self) -> bool {
        matches!(self, Self::RunAll | Self::RunUnread)
    }
}

/// The contents of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogPage {
    Subject,
    /// The lasting choices, with the scope of each.
    Lasting,
    /// All choices, and the server's description of its tool.
    Details,
    /// The list of values in the arguments, to choose the one to edit.
    Values,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogChoice {
    pub action: DialogAction,
    pub digit: Option<char>,
    /// The answer whose letters choose it; `None` if only the digit does.
    pub answer: Option<LayerKey>,
    /// The letters in use. The first one is shown.
    pub keys: Vec<char>,
    /// A further key, which is accepted but not shown.
    pub(in crate::tui::dialog) alias: Option<char>,
    /// A word or two, for the row of choices.
    pub short: String,
    pub label: String,
}

impl DialogChoice {
    pub fn has_key(&self, key: char) -> bool {
        self.keys.contains(&key) || self.digit == Some(key)
    }

    fn texts_mut(&mut self) -> [&mut String; 2] {
        [&mut self.short, &mut self.label]
    }

    pub fn shown_letter(&self) -> Option<char> {
        self.keys.first().copied()
    }

    pub fn shown_key(&self) -> char {
        self.shown_letter().or(self.digit).unwrap_or(' ')
    }
}

/// The choices that every call has. A blank means no key.
#[rustfmt::skip]
const CALL_CHOICES: [CallChoiceRow; 9] = [
    (DialogAction::Run, '1', 'y', "run", "Run it once"),
    (DialogAction::Refuse, '2', 'n', "stop", "Do not run it, and end the turn"),
    (DialogAction::Deny, '3', 'd', "deny…", "Do not run it; tell the model why, and let it continue"),
    (DialogAction::Edit, '4', 'e', "edit", "Edit the arguments"),
    (DialogAction::RunForSession, '5', 's', "session", "Run it, and this tool for the rest of this conversation"),
    (DialogAction::RunAlways, '6', ' ', "tool", "Always run this tool"),
    (DialogAction::RunServer, '7', ' ', "server", "Always run the tools of this server"),
    (DialogAction::RunMatching, '8', ' ', "matching", "Always run calls like this one…"),
    (DialogAction::Never, '9', ' ', "never", "Never run this tool"),
];
/// Choices that only some calls have.
const USE_FIRST_RESULT: CallChoiceRow = (
    DialogAction::UseFirstResult,
    ' ',
    'u',
    "first result",
    "Use the result of the first such call",
);
const TREAT_AS_TEXT: CallChoiceRow = (
    DialogAction::TreatAsText,
    ' ',
    't',
    "as text",
    "Treat it as text: it was not a call",
);
const RUN_UNREAD: CallChoiceRow = (
    DialogAction::RunUnread,
    ' ',
    'r',
    "run unread…",
    "Run it without reading the rest",
);

/// Action, digit, key, a word for the row of choices, and the whole label.
type CallChoiceRow = (DialogAction, char, char, &'static str, &'static str);

fn dialog_choice(
    (action, digit, key, short, label): CallChoiceRow,
    keymap: &Keymap,
) -> DialogChoice {
    let answer = answer_of(action, key);
    DialogChoice {
        action,
        digit: Some(digit).filter(|digit| *digit != ' '),
        answer,
        keys: match answer {
            Some(answer) => keymap.answer_letters(answer).collect(),
            None => Some(key).filter(|key| *key != ' ').into_iter().collect(),
        },
        alias: None,
        short: short.to_owned(),
        label: label.to_owned(),
    }
}

/// The answer in the table of keys whose letters select a choice. `key` is its default letter.
fn answer_of(action: DialogAction, key: char) -> Option<LayerKey> {
    Some(match action {
        DialogAction::Run => LayerKey::Yes,
        DialogAction::Refuse => LayerKey::No,
        DialogAction::Deny => LayerKey::Deny,
        DialogAction::Edit => LayerKey::Edit,
        DialogAction::RunForSession => LayerKey::RunForSession,
        DialogAction::RunReadOnly => LayerKey::RunReadOnly,
        DialogAction::UseFirstResult => LayerKey::FirstResult,
        DialogAction::TreatAsText => LayerKey::AsText,
        DialogAction::RunUnread => LayerKey::RunUnread,
        DialogAction::Choose(_) if key == 'y' => LayerKey::Yes,
        DialogAction::Choose(_) if key == 'n' => LayerKey::No,
        DialogAction::Choose(choice) => match choice {
            UserChoice::TellModel => LayerKey::TellModel,
            UserChoice::TreatAsText => LayerKey::AsText,
            UserChoice::Retry | UserChoice::SendAgain => LayerKey::Again,
            UserChoice::AllowMoreTools => LayerKey::GoOn,
            UserChoice::NoRoundLimit => LayerKey::NoLimit,
            UserChoice::AnswerNow => LayerKey::AnswerNow,
            UserChoice::SendAnyway => LayerKey::SendAnyway,
            UserChoice::SendUntilExit => LayerKey::UntilExit,
            UserChoice::Discard | UserChoice::DeclineAll => LayerKey::Discard,
            UserChoice::FillIn => LayerKey::Edit,
            UserChoice::CancelRequest => LayerKey::CancelRequest,
            UserChoice::CopyAddress => LayerKey::CopyAddress,
            UserChoice::VisitMyself => LayerKey::OpenMyself,
            _ => return None,
        },
        _ => return None,
    })
}

impl Dialog {
    /// The choices in display order.
    pub fn choices(&self, shared: SharedUiState) -> Vec<DialogChoice> {
        let mut choices = self.all_choices(shared);
        for text in choices.iter_mut().flat_map(DialogChoice::texts_mut) {
            *text = shared.glyphs.label(std::mem::take(text));
        }
        choices
    }

    fn all_choices(&self, shared: SharedUiState) -> Vec<DialogChoice> {
        let keymap = shared.keymap;
        let Some(offered) = self.call() else {
            return self.question_choices(keymap);
        };
        if self.is_edited() {
            return self.choices_for_edited(keymap);
        }
        let rows = CALL_CHOICES.into_iter();
        let mut rows: Vec<DialogChoice> = rows.map(|row| dialog_choice(row, keymap)).collect();
        let call = shared.transcript.call(offered.call);
        let read_only = |call| ReadOnlyTools::of_call(offered, call, shared.servers);
        if let Some(tools) = call.and_then(read_only) {
            let at = rows
                .iter()
                .position(|row| row.action == DialogAction::RunMatching);
            rows.insert(at.unwrap_or(rows.len()), tools.choice(keymap));
        }
        if call.is_some_and(|call| call.repeats.is_some()) {
            rows.push(dialog_choice(USE_FIRST_RESULT, keymap));
        }
        if call.is_some_and(is_from_text) {
            rows.push(dialog_choice(TREAT_AS_TEXT, keymap));
        }
        rows.extend(self.run_all_choice(keymap));
        rows.extend(self.run_unread_choice(keymap));
        self.relabel_refusals(&mut rows);
        rows
    }

    /// The choices of a question that is not about calls.
    fn question_choices(&self, keymap: &Keymap) -> Vec<DialogChoice> {
        let choices = self.question.choices.iter().zip('1'..='9');
        let is_page = |key: char| {
            keymap
                .answer_letters(LayerKey::Details)
                .any(|own| own == key)
        };
        choices
            .map(|(row, digit)| DialogChoice {
                alias: Some(row.alias).filter(|alias| *alias != ' ' && !is_page(*alias)),
                ..dialog_choice(
                    (
                        DialogAction::Choose(row.choice),
                        digit,
                        row.key,
                        row.short,
                        row.label,
                    ),
                    keymap,
                )
            })
            .collect()
    }

    /// With several calls, the label of a refusal says that none of them will run, not even those
    /// already approved.
    fn relabel_refusals(&self, rows: &mut [DialogChoice]) {
        let refusals = rows
            .iter_mut()
            .filter(|row| row.action == DialogAction::Refuse);
        for refusal in refusals.filter(|_| self.calls().len() > 1) {
            "Run none of these calls, and end the turn".clone_into(&mut refusal.label);
        }
    }

    /// The choice to run all undecided calls, offered once each of several calls has been displayed.
    fn run_all_choice(&self, keymap: &Keymap) -> Option<DialogChoice> {
        let calls = self.calls().len();
        let (short, label) = match (self.decided_count(), calls) {
            (0, 2) => ("both", "Run both calls".to_owned()),
            (0, _) => ("all", format!("Run all {calls} calls")),
            (decided, _) if calls - decided == 1 => {
                ("the rest", "Run the remaining call".to_owned())
            }
            (decided, _) => ("the rest", format!("Run the remaining {}", calls - decided)),
        };
        let were_shown = self.seen_calls.iter().all(|shown| *shown);
        (calls > 1 && were_shown).then(|| DialogChoice {
            label,
            ..dialog_choice((DialogAction::RunAll, '0', ' ', short, ""), keymap)
        })
    }

    /// The choices for edited arguments. None of them grants a permission, because it would apply
    /// to the model's own arguments.
    fn choices_for_edited(&self, keymap: &Keymap) -> Vec<DialogChoice> {
        let is_offered = |row: &CallChoiceRow| {
            matches!(
                row.0,
                DialogAction::Refuse
                    | DialogAction::Deny
                    | DialogAction::Edit
                    | DialogAction::Never
            )
        };
        let run = (
            DialogAction::Run,
            '1',
            'y',
            "run as edited",
            "Run it as edited",
        );
        let others = CALL_CHOICES.into_iter().filter(is_offered);
        let rows = std::iter::once(run).chain(others);
        let rows = rows.map(|row| dialog_choice(row, keymap));
        let later = self.run_all_choice(keymap).into_iter();
        let later = later.chain(self.run_unread_choice(keymap));
        let mut rows: Vec<DialogChoice> = rows.chain(later).collect();
        self.relabel_refusals(&mut rows);
        rows
    }

    fn run_unread_choice(&self, keymap: &Keymap) -> Option<DialogChoice> {
        let is_long = self.undrawn_rows > RUN_UNREAD_ROWS_MIN;
        is_long.then(|| dialog_choice(RUN_UNREAD, keymap))
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

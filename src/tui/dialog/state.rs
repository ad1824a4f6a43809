//! An open question and how far the person has come with it. The dialog is drawn
//! from this alone: when the question closes, nothing of it is left.

mod scrolled;

use crate::domain::tool::{CallOrigin, Decision, ToolCall};
use crate::domain::{Arguments, AskId, CallId, QueryId, Transcript};
use crate::protocol::{Ask, CallToApprove, UserAnswer, UserChoice};
use crate::tui::dialog::arguments::DrawnArguments;
pub use crate::tui::dialog::state::scrolled::DialogBody;
use crate::tui::dialog::state::scrolled::DialogBodyLayout;
use crate::tui::keymap::Action;
use crate::tui::widgets::editor::Editor;
use std::time::Duration;

/// How long no key may have come before a dialog takes the keyboard.
pub const QUIET_TIME: Duration = Duration::from_millis(500);
/// With more rows than this left to read, a call can also be run unread.
const RUN_UNREAD_MIN_ROWS: usize = 500;

#[derive(Debug, Clone)]
pub struct Dialog {
    pub id: AskId,
    pub question: Ask,
    pub(in crate::tui) quiet_since: Duration,
    /// It was drawn at least once.
    pub is_drawn: bool,
    /// The dialog has the keyboard.
    pub(in crate::tui) accepts_keys: bool,
    /// The choice that the arrows stand on. Nothing is preselected.
    pub(in crate::tui) selected_choice: Option<usize>,
    /// First row in view of the scrolled part.
    pub(in crate::tui) scroll: usize,
    /// Rows of the scrolled part that were in view when it was last drawn.
    pub(in crate::tui) body_height: usize,
    /// Its last row was in view.
    was_read_to_end: bool,
    /// The next frame scrolls to the first part of the arguments that was not drawn.
    scrolls_to_undrawn: bool,
    /// Rows of the arguments that were not drawn yet.
    pub(in crate::tui) undrawn_rows: usize,
    /// The scrolled part as rows: wrapped once, not for every frame.
    laid_out: Option<DialogBodyLayout>,
    /// On a screen too small for the choices' labels: `?` lists them.
    is_small: bool,
    is_listing_choices: bool,
    pub(in crate::tui) mode: DialogMode,
    /// The call shown, and what was decided about each.
    pub(in crate::tui) call_index: usize,
    pub(super) decisions: Vec<Option<Decision>>,
    seen_calls: Vec<bool>,
    /// Arguments whose editing was left with Esc, for each call.
    pub(super) argument_drafts: Vec<Option<Editor>>,
    /// For each call the arguments as drawn; None before the first time.
    pub(super) drawn_arguments: Vec<Option<DrawnArguments>>,
    /// For each call the arguments that were edited and are still to be confirmed.
    pub(super) edited_arguments: Vec<Option<Arguments>>,
    /// A call that is run unread, and how many rows of it were not drawn.
    pub(super) run_unread: Option<(CallId, usize)>,
}

/// What the keys of an armed dialog go to.
#[derive(Debug, Clone)]
pub enum DialogMode {
    Choosing,
    /// The word to the model that goes with a denial.
    DenialReason(Editor),
    /// The word that runs a call unread.
    ConfirmUnread(Editor),
    /// Arguments, or the pattern of arguments that is to be remembered.
    EditArguments {
        editor: Editor,
        error: Option<String>,
        /// The engine checks what was written; any other key takes it back.
        check_query: Option<QueryId>,
        is_pattern: bool,
        /// The text, where the last frame showed all of it.
        drawn_text: Option<String>,
    },
}

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
    /// Opens the field for the word that runs the call unread.
    RunUnread,
    Choose(UserChoice),
}

/// A choice as the dialog lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogChoice {
    pub action: DialogAction,
    pub digit: Option<char>,
    pub key: Option<char>,
    pub label: String,
}

fn dialog_choice(act: DialogAction, digit: char, key: char, label: &str) -> DialogChoice {
    DialogChoice {
        action: act,
        digit: Some(digit).filter(|digit| *digit != ' '),
        key: Some(key).filter(|key| *key != ' '),
        label: label.to_owned(),
    }
}

impl Dialog {
    pub fn new(id: AskId, question: Ask, opened: Duration) -> Self {
        let calls = match &question {
            Ask::ApproveCalls(calls) => calls.len(),
            _ => 0,
        };
        let mut shown = vec![false; calls];
        if let Some(first) = shown.first_mut() {
            *first = true;
        }
        Self {
            id,
            question,
            quiet_since: opened,
            is_drawn: false,
            accepts_keys: false,
            selected_choice: None,
            scroll: 0,
            body_height: 0,
            was_read_to_end: false,
            scrolls_to_undrawn: false,
            undrawn_rows: 0,
            laid_out: None,
            is_small: false,
            is_listing_choices: false,
            mode: DialogMode::Choosing,
            call_index: 0,
            decisions: vec![None; calls],
            seen_calls: shown,
            argument_drafts: vec![None; calls],
            drawn_arguments: vec![None; calls],
            edited_arguments: vec![None; calls],
            run_unread: None,
        }
    }

    /// Does it stand over the whole layer that this action opened, which led to it?
    pub fn covers_layer(&self, opened: Option<Action>) -> bool {
        let is_led_to = matches!(
            self.question,
            Ask::AddModel { .. } | Ask::RemoveModel { .. }
        );
        is_led_to && opened == Some(Action::Models)
    }

    pub fn calls(&self) -> &[CallToApprove] {
        match &self.question {
            Ask::ApproveCalls(calls) => calls,
            _ => &[],
        }
    }

    pub fn call(&self) -> Option<&CallToApprove> {
        self.calls().get(self.call_index)
    }

    /// The choices, in the order in which they are listed.
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
            dialog_choice(DialogAction::Run, '1', 'y', "Run it"),
            dialog_choice(DialogAction::Refuse, '2', 'n', "Refuse, end the turn"),
            dialog_choice(DialogAction::Deny, '3', 'd', "Deny, model goes on"),
            dialog_choice(DialogAction::Edit, '4', 'e', "Edit the arguments"),
            dialog_choice(DialogAction::RunForSession, '5', 's', "Allow this session"),
            dialog_choice(DialogAction::RunAlways, '6', ' ', "Always this tool"),
            dialog_choice(DialogAction::RunServer, '7', ' ', "Always this server"),
            dialog_choice(DialogAction::RunMatching, '8', ' ', "Always if it matches"),
            dialog_choice(DialogAction::Never, '9', ' ', "Never this tool"),
        ];
        if self.calls().len() > 1 && self.seen_calls.iter().all(|shown| *shown) {
            let label = match self.decided_count() {
                0 => format!("Run all {} listed", self.calls().len()),
                decided => format!("Run the other {}", self.calls().len() - decided),
            };
            rows.push(dialog_choice(DialogAction::RunAll, '0', ' ', &label));
        }
        let call = transcript.call(offered.call);
        if call.is_some_and(|call| call.repeats.is_some()) {
            rows.push(dialog_choice(
                DialogAction::UseFirstResult,
                ' ',
                'u',
                "Use the first result",
            ));
        }
        if call.is_some_and(is_from_text) {
            rows.push(dialog_choice(
                DialogAction::TreatAsText,
                ' ',
                't',
                "Treat as text",
            ));
        }
        rows.extend(self.run_unread_choice());
        rows
    }

    /// The choices about a call whose edited arguments are shown. None of them grants
    /// anything about the arguments that the model wrote.
    fn choices_for_edited(&self) -> Vec<DialogChoice> {
        let mut rows = vec![
            dialog_choice(DialogAction::Run, '1', 'y', "Run it as edited"),
            dialog_choice(DialogAction::Refuse, '2', 'n', "Refuse, end the turn"),
            dialog_choice(DialogAction::Deny, '3', 'd', "Deny, model goes on"),
            dialog_choice(DialogAction::Edit, '4', 'e', "Edit the arguments"),
            dialog_choice(DialogAction::Never, '9', ' ', "Never this tool"),
        ];
        rows.extend(self.run_unread_choice());
        rows
    }

    fn run_unread_choice(&self) -> Option<DialogChoice> {
        let is_long = self.undrawn_rows > RUN_UNREAD_MIN_ROWS;
        is_long.then(|| dialog_choice(DialogAction::RunUnread, ' ', 'r', "Run it unread"))
    }

    /// It is drawn now. Time to read it begins with its first frame, however late that
    /// comes. `is_small`: the screen has no room for the choices' labels.
    pub(super) fn begin_frame(&mut self, is_small: bool, now: Duration) {
        self.is_small = is_small;
        if !self.is_drawn {
            (self.is_drawn, self.quiet_since) = (true, self.quiet_since.max(now));
        }
    }

    /// The next call has not been read yet: the dialog listens again once it was.
    pub(super) fn wait_for_quiet(&mut self, now: Duration) {
        self.accepts_keys = false;
        self.quiet_since = now;
    }

    /// Shows another call of the same question.
    pub fn show_call(&mut self, at: usize) {
        self.call_index = at.min(self.calls().len().saturating_sub(1));
        if let Some(shown) = self.seen_calls.get_mut(self.call_index) {
            *shown = true;
        }
        self.scroll = 0;
        self.was_read_to_end = false;
        self.scrolls_to_undrawn = false;
        self.undrawn_rows = 0;
        self.laid_out = None;
        self.selected_choice = None;
        self.is_listing_choices = false;
        self.mode = DialogMode::Choosing;
    }

    /// Do the choices with their labels stand in the place of what is asked about?
    pub fn shows_choice_list(&self) -> bool {
        self.is_listing_choices && self.is_small && matches!(self.mode, DialogMode::Choosing)
    }

    /// Lists the choices, or shows again what is asked about. Where the labels are in
    /// sight anyway there is nothing to list.
    pub fn set_choice_list(&mut self, lists: bool) {
        self.is_listing_choices = lists && self.is_small;
        self.scroll = 0;
    }

    /// Decides about the call shown. The answer, once nothing is open.
    pub fn decide(&mut self, decision: Decision) -> Option<UserAnswer> {
        if decision == Decision::Refuse {
            return Some(self.answer_for_all(&Decision::Refuse));
        }
        let decision = match (
            decision,
            self.edited_arguments.get_mut(self.call_index)?.take(),
        ) {
            (Decision::Run, Some(arguments)) => Decision::Edit { arguments },
            (decision, _) => decision,
        };
        *self.decisions.get_mut(self.call_index)? = Some(decision);
        let count = self.decisions.len();
        let open = (1..=count)
            .map(|step| (self.call_index + step) % count)
            .find(|at| self.decisions[*at].is_none());
        if let Some(at) = open {
            self.show_call(at);
            return None;
        }
        let decided = self.decisions.iter().flatten().cloned();
        Some(UserAnswer::Calls(self.call_ids().zip(decided).collect()))
    }

    /// How many calls are decided.
    pub fn decided_count(&self) -> usize {
        self.decisions.iter().flatten().count()
    }

    /// The same for every call, whatever was decided before.
    fn answer_for_all(&self, decision: &Decision) -> UserAnswer {
        UserAnswer::Calls(
            self.call_ids()
                .map(|call| (call, decision.clone()))
                .collect(),
        )
    }

    /// Runs what is undecided.
    pub fn run_undecided(&self) -> UserAnswer {
        let run = |edited: &Option<Arguments>| match edited.clone() {
            Some(arguments) => Decision::Edit { arguments },
            None => Decision::Run,
        };
        let decided = self.decisions.iter().zip(&self.edited_arguments);
        let decided = decided.map(|(decision, edited)| {
            let decision = decision.clone();
            decision.unwrap_or_else(|| run(edited))
        });
        UserAnswer::Calls(self.call_ids().zip(decided).collect())
    }

    fn call_ids(&self) -> impl Iterator<Item = CallId> {
        self.calls().iter().map(|call| call.call)
    }
}

pub fn is_from_text(call: &ToolCall) -> bool {
    matches!(call.origin, CallOrigin::Text { .. })
}

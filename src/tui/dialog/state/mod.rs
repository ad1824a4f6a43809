//! State of one dialog: the question, the user's progress in reading and deciding it, and
//! its fields.

mod choices;
mod scrolled;

use crate::domain::Decision;
use crate::domain::{Arguments, AskId, CallId, QueryId};
use crate::protocol::{CallToApprove, Question, UserAnswer};
use crate::questions::REMOVE_MODEL_KIND;
use crate::tui::dialog::arguments::{Coverage, DrawnArguments};
pub use crate::tui::dialog::state::choices::{DialogAction, DialogChoice, DialogPage};
use crate::tui::dialog::state::scrolled::DialogBodyLayout;
pub use crate::tui::dialog::state::scrolled::{BodyExtras, DialogBody};
use crate::tui::elicitation::form_state::FormState;
use crate::tui::keymap::Action;
use crate::tui::widgets::editor::Editor;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// A dialog accepts keys after this long without a key press.
pub const QUIET_TIME: Duration = Duration::from_millis(500);

#[derive(Debug, Clone)]
pub struct Dialog {
    pub id: AskId,
    pub question: Question,
    pub(in crate::tui) quiet_since: Duration,
    pub is_drawn: bool,
    pub(in crate::tui) accepts_keys: bool,
    /// The choice selected with the arrow keys. Nothing is preselected.
    pub(in crate::tui) selected_choice: Option<usize>,
    /// The choice whose letter is held: see [`crate::tui::dialog::held_letter`].
    pub(super) pressed_choice: Option<usize>,
    /// First visible row of the body.
    pub(in crate::tui) scroll: usize,
    /// Rows of the body visible in the last frame.
    pub(in crate::tui) body_height: usize,
    /// When the last undrawn row of the body was drawn.
    fully_drawn_at: Option<Duration>,
    /// The rows of the body that have been drawn since it was last wrapped.
    drawn_rows: Coverage,
    /// The next frame scrolls to the first undrawn part of the arguments.
    scrolls_to_undrawn: bool,
    /// Rows of the arguments not drawn yet.
    pub(in crate::tui) undrawn_rows: usize,
    /// The wrapped body, cached until its contents or the width change.
    laid_out: Option<DialogBodyLayout>,
    page: DialogPage,
    /// The dialog fills the whole column of the chat.
    pub(in crate::tui) is_full: bool,
    pub(in crate::tui) mode: DialogMode,
    pub(in crate::tui) call_index: usize,
    pub(super) decisions: Vec<Option<Decision>>,
    /// Per call: it has been displayed.
    seen_calls: Vec<bool>,
    /// Per call: the reason of a denial that the user left with Esc.
    pub(super) denial_drafts: Vec<Editor>,
    /// Per call: edited text saved when the user left the field with Esc.
    pub(super) argument_drafts: Vec<Option<Editor>>,
    /// Per call: the texts of values whose editor the user left with Esc, by JSON pointer.
    pub(super) value_drafts: Vec<HashMap<String, Editor>>,
    /// Per call: which parts of its arguments have been drawn. None before the first frame.
    pub(super) drawn_arguments: Vec<Option<DrawnArguments>>,
    /// Per call: the edited arguments with which it would run.
    pub(super) edited_arguments: Vec<Option<Arguments>>,
    /// `$EDITOR` was requested for the text of the open field.
    pub(super) opens_editor: bool,
    pub(super) form: Option<FormState>,
    /// The call to run unread, and the number of its undrawn rows.
    pub(super) run_unread: Option<(CallId, usize)>,
}

/// The mode, which determines the effect of a key press.
#[derive(Debug, Clone)]
pub enum DialogMode {
    Choosing,
    /// The reason for a denial, sent to the model.
    DenialReason(Editor),
    /// The word that confirms running a call unread.
    ConfirmUnread(Editor),
    EditForm,
    /// The word that confirms sending a secret to a server.
    ConfirmSecret(Editor),
    /// Edited arguments, or an argument pattern to remember.
    EditArguments {
        editor: Editor,
        error: Option<String>,
        /// The engine's check of the text. Any edit cancels it.
        check: Option<PendingArguments>,
        target: EditTarget,
    },
}

/// Edited arguments that the engine checks against the tool's schema.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingArguments {
    pub query: QueryId,
    pub arguments: Arguments,
}

/// The text that the argument editor edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditTarget {
    /// All arguments as JSON.
    Arguments,
    /// An argument pattern to remember, as JSON.
    Pattern,
    /// The value at this JSON pointer: a text as it is, or JSON. The label names it in the dialog. Space
    /// switches between the options, if any.
    Value {
        pointer: String,
        label: String,
        options: Vec<String>,
    },
}

impl Dialog {
    pub fn new(id: AskId, question: Question, opened: Duration) -> Self {
        let calls = question.calls().len();
        let mut shown = vec![false; calls];
        if let Some(first) = shown.first_mut() {
            *first = true;
        }
        Self {
            id,
            form: question.form().map(|form| FormState::new(Arc::clone(form))),
            question,
            quiet_since: opened,
            is_drawn: false,
            accepts_keys: false,
            selected_choice: None,
            pressed_choice: None,
            scroll: 0,
            body_height: 0,
            fully_drawn_at: None,
            drawn_rows: Coverage::default(),
            scrolls_to_undrawn: false,
            undrawn_rows: 0,
            laid_out: None,
            page: DialogPage::Subject,
            is_full: false,
            mode: DialogMode::Choosing,
            call_index: 0,
            decisions: vec![None; calls],
            seen_calls: shown,
            denial_drafts: vec![Editor::default(); calls],
            argument_drafts: vec![None; calls],
            value_drafts: vec![HashMap::new(); calls],
            drawn_arguments: vec![None; calls],
            edited_arguments: vec![None; calls],
            opens_editor: false,
            run_unread: None,
        }
    }

    /// Whether this question was asked from the layer that `opened` shows. If so, the dialog covers
    /// that layer.
    pub fn covers_layer(&self, opened: Option<Action>) -> bool {
        self.question.kind == REMOVE_MODEL_KIND && opened == Some(Action::MODELS)
    }

    pub fn calls(&self) -> &[CallToApprove] {
        self.question.calls()
    }

    pub fn call(&self) -> Option<&CallToApprove> {
        self.calls().get(self.call_index)
    }

    /// Called for each frame. The quiet time starts with the first one.
    pub(super) fn begin_frame(&mut self, now: Duration) {
        if !self.is_drawn {
            (self.is_drawn, self.quiet_since) = (true, self.quiet_since.max(now));
        }
    }

    /// Stops accepting keys until the next quiet time, so that no key that was meant for something
    /// else answers the question.
    pub(super) fn wait_for_quiet(&mut self, now: Duration) {
        self.accepts_keys = false;
        self.quiet_since = now;
    }

    /// Shows the values of a form, which must be read again before they are sent.
    pub(super) fn show_form_review(&mut self) {
        self.mode = DialogMode::Choosing;
        self.scroll = 0;
        self.fully_drawn_at = None;
        self.laid_out = None;
    }

    /// Shows another call of the same question.
    pub fn show_call(&mut self, at: usize) {
        self.call_index = at.min(self.calls().len().saturating_sub(1));
        if let Some(shown) = self.seen_calls.get_mut(self.call_index) {
            *shown = true;
        }
        self.scroll = 0;
        self.fully_drawn_at = None;
        self.scrolls_to_undrawn = false;
        self.undrawn_rows = 0;
        self.laid_out = None;
        self.selected_choice = None;
        self.page = DialogPage::Subject;
        self.mode = DialogMode::Choosing;
    }

    /// The page that the body shows. A text field is always shown with the subject.
    pub fn page(&self) -> DialogPage {
        match self.mode {
            DialogMode::Choosing => self.page,
            _ => DialogPage::Subject,
        }
    }

    pub fn show_page(&mut self, page: DialogPage) {
        self.page = page;
        self.scroll = 0;
        // A value may be preselected: Enter only opens its editor and runs nothing.
        self.selected_choice = (page == DialogPage::Values).then_some(0);
    }

    /// Whether the current call would run with arguments that the user edited.
    pub fn is_edited(&self) -> bool {
        let edited = self.edited_arguments.get(self.call_index);
        edited.is_some_and(Option::is_some)
    }

    /// Replaces the edited arguments of the current call and returns to the question. The call must
    /// be read and decided again.
    pub(super) fn set_edit(&mut self, arguments: Option<Arguments>) {
        let at = self.call_index;
        self.show_call(at);
        if let Some(edited) = self.edited_arguments.get_mut(at) {
            *edited = arguments;
        }
        // A key may arrive before the next frame.
        if let Some(drawn) = self.drawn_arguments.get_mut(at) {
            *drawn = None;
        }
        if let Some(decision) = self.decisions.get_mut(at) {
            *decision = None;
        }
        if let Some(draft) = self.argument_drafts.get_mut(at) {
            *draft = None;
        }
        if let Some(drafts) = self.value_drafts.get_mut(at) {
            drafts.clear();
        }
    }

    /// Returns false if the arguments were not edited.
    pub(super) fn discard_edit(&mut self) -> bool {
        let was_edited = self.is_edited();
        if was_edited {
            self.set_edit(None);
        }
        was_edited
    }

    /// Records a decision about the current call. Returns the answer once every call is decided;
    /// a refusal applies to all calls, so it answers at once.
    pub fn decide(&mut self, decision: Decision) -> Option<UserAnswer> {
        if decision == Decision::Refuse {
            return Some(self.answer_for_all(&Decision::Refuse));
        }
        let decision = match (
            decision,
            self.edited_arguments.get(self.call_index)?.clone(),
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

    /// The choice to highlight.
    pub fn highlighted_choice(&self) -> Option<usize> {
        self.pressed_choice.or(self.selected_choice)
    }

    pub fn decided_count(&self) -> usize {
        self.decisions.iter().flatten().count()
    }

    /// Replaces earlier decisions.
    fn answer_for_all(&self, decision: &Decision) -> UserAnswer {
        UserAnswer::Calls(
            self.call_ids()
                .map(|call| (call, decision.clone()))
                .collect(),
        )
    }

    /// The calls decided so far, and whether they will run.
    pub fn decided_calls(&self) -> Vec<(CallId, bool)> {
        let decided = self.call_ids().zip(&self.decisions);
        decided
            .filter_map(|(call, decision)| Some((call, decision.as_ref()?.runs())))
            .collect()
    }

    /// The answer that runs every undecided call and keeps the decisions made so far.
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

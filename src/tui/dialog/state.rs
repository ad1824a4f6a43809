//! State of one dialog: the question, the user's progress in reading and deciding it, and
//! its fields. The dialog is drawn from this alone.

mod scrolled;

use crate::domain::tool::{CallOrigin, Decision, ToolCall};
use crate::domain::{Arguments, AskId, CallId, QueryId, Transcript};
use crate::protocol::{Answer, ApproveCall, Ask, Choice};
use crate::tui::dialog::arguments::Argued;
pub use crate::tui::dialog::state::scrolled::Body;
use crate::tui::dialog::state::scrolled::LaidOut;
use crate::tui::keymap::Action;
use crate::tui::widgets::editor::Editor;
use std::time::Duration;

/// A dialog accepts keys after this long without a key press.
pub const QUIET: Duration = Duration::from_millis(500);
/// A call with more undrawn rows than this can also be run unread.
const UNREAD_FROM: usize = 500;

#[derive(Debug, Clone)]
pub struct OpenAsk {
    pub id: AskId,
    pub question: Ask,
    pub(in crate::tui) opened: Duration,
    pub is_seen: bool,
    pub(in crate::tui) armed: bool,
    /// The choice selected with the arrow keys. Nothing is preselected.
    pub(in crate::tui) chosen: Option<usize>,
    /// First visible row of the body.
    pub(in crate::tui) scroll: usize,
    /// Rows of the body visible in the last frame.
    pub(in crate::tui) height: usize,
    /// The last row of the body has been visible.
    was_read: bool,
    /// The next frame scrolls to the first undrawn part of the arguments.
    seeks: bool,
    /// Rows of the arguments not drawn yet.
    pub(in crate::tui) rows_left: usize,
    /// The wrapped body, cached until its contents or the width change.
    laid_out: Option<LaidOut>,
    /// The screen is too small for the choices' labels; `?` lists them.
    small: bool,
    lists: bool,
    pub(in crate::tui) form: Form,
    /// Index of the call on display.
    pub(in crate::tui) at: usize,
    pub(super) decisions: Vec<Option<Decision>>,
    /// Per call: it has been on display.
    shown: Vec<bool>,
    /// Per call: edited text saved when the user left the field with Esc.
    pub(super) drafts: Vec<Option<Editor>>,
    /// Per call: which parts of its arguments have been drawn. None before the first frame.
    pub(super) argued: Vec<Option<Argued>>,
    /// Per call: edited arguments that the user has not confirmed yet.
    pub(super) edited: Vec<Option<Arguments>>,
    /// The call to run unread, and the number of its undrawn rows.
    pub(super) unread: Option<(CallId, usize)>,
}

/// What a key press acts on.
#[derive(Debug, Clone)]
pub enum Form {
    Choosing,
    /// The reason for a denial, sent to the model.
    Word(Editor),
    /// The word that confirms running a call unread.
    Unread(Editor),
    /// Edited arguments, or an argument pattern to remember.
    Arguments {
        editor: Editor,
        fault: Option<String>,
        /// The engine's check of the text. Any edit cancels it.
        query: Option<QueryId>,
        is_pattern: bool,
        /// The text, if the last frame showed all of it.
        drawn: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
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
    UseFirst,
    AsText,
    /// Opens the field that confirms running the call unread.
    RunUnread,
    Choose(Choice),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub act: Act,
    pub digit: Option<char>,
    pub key: Option<char>,
    pub label: String,
}

fn row(act: Act, digit: char, key: char, label: &str) -> Row {
    Row {
        act,
        digit: Some(digit).filter(|digit| *digit != ' '),
        key: Some(key).filter(|key| *key != ' '),
        label: label.to_owned(),
    }
}

impl OpenAsk {
    pub fn new(id: AskId, question: Ask, opened: Duration) -> Self {
        let calls = match &question {
            Ask::Approve(calls) => calls.len(),
            _ => 0,
        };
        let mut shown = vec![false; calls];
        if let Some(first) = shown.first_mut() {
            *first = true;
        }
        Self {
            id,
            question,
            opened,
            is_seen: false,
            armed: false,
            chosen: None,
            scroll: 0,
            height: 0,
            was_read: false,
            seeks: false,
            rows_left: 0,
            laid_out: None,
            small: false,
            lists: false,
            form: Form::Choosing,
            at: 0,
            decisions: vec![None; calls],
            shown,
            drafts: vec![None; calls],
            argued: vec![None; calls],
            edited: vec![None; calls],
            unread: None,
        }
    }

    /// Was this question raised from the layer that `opened` shows? Then it covers that layer.
    pub fn covers_layer(&self, opened: Option<Action>) -> bool {
        let is_led_to = matches!(
            self.question,
            Ask::AddModel { .. } | Ask::RemoveModel { .. }
        );
        is_led_to && opened == Some(Action::Models)
    }

    pub fn calls(&self) -> &[ApproveCall] {
        match &self.question {
            Ask::Approve(calls) => calls,
            _ => &[],
        }
    }

    pub fn call(&self) -> Option<&ApproveCall> {
        self.calls().get(self.at)
    }

    /// The choices in display order.
    pub fn rows(&self, transcript: &Transcript) -> Vec<Row> {
        let Some(offered) = self.call() else {
            let choices = self.question.choices().iter().zip('1'..='9');
            return choices
                .map(|(choice, digit)| {
                    row(Act::Choose(choice.choice), digit, choice.key, choice.label)
                })
                .collect();
        };
        if self.edited.get(self.at).is_some_and(Option::is_some) {
            return self.rows_of_edited();
        }
        let mut rows = vec![
            row(Act::Run, '1', 'y', "Run it"),
            row(Act::Refuse, '2', 'n', "Refuse, end the turn"),
            row(Act::Deny, '3', 'd', "Deny, model goes on"),
            row(Act::Edit, '4', 'e', "Edit the arguments"),
            row(Act::RunForSession, '5', 's', "Allow this session"),
            row(Act::RunAlways, '6', ' ', "Always this tool"),
            row(Act::RunServer, '7', ' ', "Always this server"),
            row(Act::RunMatching, '8', ' ', "Always if it matches"),
            row(Act::Never, '9', ' ', "Never this tool"),
        ];
        if self.calls().len() > 1 && self.shown.iter().all(|shown| *shown) {
            let label = match self.decided() {
                0 => format!("Run all {} listed", self.calls().len()),
                decided => format!("Run the other {}", self.calls().len() - decided),
            };
            rows.push(row(Act::RunAll, '0', ' ', &label));
        }
        let call = transcript.call(offered.call);
        if call.is_some_and(|call| call.repeats.is_some()) {
            rows.push(row(Act::UseFirst, ' ', 'u', "Use the first result"));
        }
        if call.is_some_and(from_text) {
            rows.push(row(Act::AsText, ' ', 't', "Treat as text"));
        }
        rows.extend(self.unread_row());
        rows
    }

    /// The choices for edited arguments. None of them grants permissions, because a rule
    /// would apply to the model's own arguments.
    fn rows_of_edited(&self) -> Vec<Row> {
        let mut rows = vec![
            row(Act::Run, '1', 'y', "Run it as edited"),
            row(Act::Refuse, '2', 'n', "Refuse, end the turn"),
            row(Act::Deny, '3', 'd', "Deny, model goes on"),
            row(Act::Edit, '4', 'e', "Edit the arguments"),
            row(Act::Never, '9', ' ', "Never this tool"),
        ];
        rows.extend(self.unread_row());
        rows
    }

    fn unread_row(&self) -> Option<Row> {
        let is_long = self.rows_left > UNREAD_FROM;
        is_long.then(|| row(Act::RunUnread, ' ', 'r', "Run it unread"))
    }

    /// Called for each frame. The quiet time starts with the first one. `is_small`: the
    /// screen has no room for the choices' labels.
    pub(super) fn begin_frame(&mut self, is_small: bool, now: Duration) {
        self.small = is_small;
        if !self.is_seen {
            (self.is_seen, self.opened) = (true, self.opened.max(now));
        }
    }

    /// Stops accepting keys until the next quiet time, because the user has not read the
    /// next call yet.
    pub(super) fn disarm(&mut self, now: Duration) {
        self.armed = false;
        self.opened = now;
    }

    /// Shows another call of the same question.
    pub fn show(&mut self, at: usize) {
        self.at = at.min(self.calls().len().saturating_sub(1));
        if let Some(shown) = self.shown.get_mut(self.at) {
            *shown = true;
        }
        self.scroll = 0;
        self.was_read = false;
        self.seeks = false;
        self.rows_left = 0;
        self.laid_out = None;
        self.chosen = None;
        self.lists = false;
        self.form = Form::Choosing;
    }

    /// Does the list of choices replace the body?
    pub fn lists_choices(&self) -> bool {
        self.lists && self.small && matches!(self.form, Form::Choosing)
    }

    /// Switches between the list of choices and the body. Has no effect where the labels
    /// are visible anyway.
    pub fn list_choices(&mut self, lists: bool) {
        self.lists = lists && self.small;
        self.scroll = 0;
    }

    /// Records a decision about the current call. Returns the answer once every call is decided.
    pub fn decide(&mut self, decision: Decision) -> Option<Answer> {
        if decision == Decision::Refuse {
            return Some(self.all(&Decision::Refuse));
        }
        let decision = match (decision, self.edited.get_mut(self.at)?.take()) {
            (Decision::Run, Some(arguments)) => Decision::Edit { arguments },
            (decision, _) => decision,
        };
        *self.decisions.get_mut(self.at)? = Some(decision);
        let count = self.decisions.len();
        let open = (1..=count)
            .map(|step| (self.at + step) % count)
            .find(|at| self.decisions[*at].is_none());
        if let Some(at) = open {
            self.show(at);
            return None;
        }
        let decided = self.decisions.iter().flatten().cloned();
        Some(Answer::Calls(self.ids().zip(decided).collect()))
    }

    pub fn decided(&self) -> usize {
        self.decisions.iter().flatten().count()
    }

    /// One decision for every call, replacing earlier ones.
    fn all(&self, decision: &Decision) -> Answer {
        Answer::Calls(self.ids().map(|call| (call, decision.clone())).collect())
    }

    /// Runs every undecided call.
    pub fn run_rest(&self) -> Answer {
        let run = |edited: &Option<Arguments>| match edited.clone() {
            Some(arguments) => Decision::Edit { arguments },
            None => Decision::Run,
        };
        let decided = self.decisions.iter().zip(&self.edited);
        let decided = decided.map(|(decision, edited)| {
            let decision = decision.clone();
            decision.unwrap_or_else(|| run(edited))
        });
        Answer::Calls(self.ids().zip(decided).collect())
    }

    fn ids(&self) -> impl Iterator<Item = CallId> {
        self.calls().iter().map(|call| call.call)
    }
}

pub fn from_text(call: &ToolCall) -> bool {
    matches!(call.origin, CallOrigin::Text { .. })
}

//! An open question and how far the person has come with it. The dialog is drawn
//! from this alone: when the question closes, nothing of it is left.

use super::editor::Editor;
use super::model::Model;
use crate::domain::tool::{CallOrigin, Decision, ToolCall};
use crate::domain::{AskId, CallId, QueryId, Transcript};
use crate::protocol::{Answer, ApproveCall, Ask, Choice};
use std::time::Duration;

/// How long no key may have come before a dialog takes the keyboard (S7.4).
pub const QUIET: Duration = Duration::from_millis(500);

#[derive(Debug, Clone)]
pub struct OpenAsk {
    pub id: AskId,
    pub question: Ask,
    pub opened: Duration,
    /// The dialog has the keyboard.
    pub armed: bool,
    /// The choice that the arrows stand on. Nothing is preselected.
    pub chosen: Option<usize>,
    /// First row in view of the scrolled part.
    pub scroll: usize,
    /// Rows of the scrolled part that were in view when it was last drawn.
    pub height: usize,
    /// Its last row was in view.
    was_read: bool,
    /// The scrolled part as rows: wrapped once, not for every frame.
    laid_out: Option<LaidOut>,
    /// On a screen too small for the choices' labels: `?` lists them.
    pub small: bool,
    lists: bool,
    pub form: Form,
    /// The call shown, and what was decided about each.
    pub at: usize,
    pub decisions: Vec<Option<Decision>>,
    pub shown: Vec<bool>,
    /// Arguments whose editing was left with Esc, for each call.
    pub drafts: Vec<Option<Editor>>,
}

#[derive(Debug, Clone)]
struct LaidOut {
    columns: u16,
    /// The footer is read with the rest, for want of a row.
    with_footer: bool,
    lists: bool,
    rows: Vec<String>,
}

/// What the keys of an armed dialog go to.
#[derive(Debug, Clone)]
pub enum Form {
    Choosing,
    /// The word to the model that goes with a denial.
    Word(Editor),
    /// Arguments, or the pattern of arguments that is to be remembered.
    Arguments {
        editor: Editor,
        fault: Option<String>,
        /// The engine checks what was written; any other key takes it back.
        query: Option<QueryId>,
        is_pattern: bool,
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
    Choose(Choice),
}

/// A choice as the dialog lists it.
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
            armed: false,
            chosen: None,
            scroll: 0,
            height: 0,
            was_read: false,
            laid_out: None,
            small: false,
            lists: false,
            form: Form::Choosing,
            at: 0,
            decisions: vec![None; calls],
            shown,
            drafts: vec![None; calls],
        }
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

    /// The choices, in the order in which they are listed.
    pub fn rows(&self, transcript: &Transcript) -> Vec<Row> {
        let Some(offered) = self.call() else {
            let choices = self.question.choices().iter().zip('1'..='9');
            return choices
                .map(|(choice, digit)| {
                    row(Act::Choose(choice.choice), digit, choice.key, choice.label)
                })
                .collect();
        };
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
        rows
    }

    /// Shows another call of the same question.
    pub fn show(&mut self, at: usize) {
        self.at = at.min(self.calls().len().saturating_sub(1));
        if let Some(shown) = self.shown.get_mut(self.at) {
            *shown = true;
        }
        self.scroll = 0;
        self.was_read = false;
        self.laid_out = None;
        self.chosen = None;
        self.lists = false;
        self.form = Form::Choosing;
    }

    /// Do the choices with their labels stand in the place of what is asked about?
    pub fn lists_choices(&self) -> bool {
        self.lists && self.small && matches!(self.form, Form::Choosing)
    }

    /// Lists the choices, or shows again what is asked about. Where the labels are in
    /// sight anyway there is nothing to list.
    pub fn list_choices(&mut self, lists: bool) {
        self.lists = lists && self.small;
        self.scroll = 0;
    }

    /// Wraps the scrolled part, unless that was done for this width already.
    pub fn lay_out(
        &mut self,
        columns: u16,
        with_footer: bool,
        wrap: impl Fn(&Self) -> Vec<String>,
    ) {
        let lists = self.lists_choices();
        let known = self.laid_out.as_ref();
        let wanted = (columns, with_footer, lists);
        if known.is_none_or(|it| (it.columns, it.with_footer, it.lists) != wanted) {
            let rows = wrap(self);
            self.laid_out = Some(LaidOut {
                columns,
                with_footer,
                lists,
                rows,
            });
        }
    }

    /// The rows of the scrolled part.
    pub fn body(&self) -> &[String] {
        self.laid_out.as_ref().map_or(&[], |it| &it.rows)
    }

    /// A call has changed: what was wrapped of it is of no use any more.
    pub fn changed(&mut self, call: CallId) {
        let failed = matches!(&self.question, Ask::AfterError { failed, .. } if *failed == call);
        if failed || self.ids().any(|id| id == call) {
            self.laid_out = None;
        }
    }

    /// The last row that the scrolled part can begin with.
    pub fn last_top(&self) -> usize {
        self.body().len().saturating_sub(self.height)
    }

    /// Is the end of what is asked about yet to be seen? A list of choices in its place
    /// shows nothing of it.
    pub fn is_unread(&self) -> bool {
        !self.was_read && (self.lists_choices() || self.scroll < self.last_top())
    }

    /// Must it be read to its end, and was not?
    pub fn ends_unread(&self) -> bool {
        let is_read_first = matches!(
            self.question,
            Ask::PinChanged(_) | Ask::Instructions { .. } | Ask::OutsideEdit(_)
        );
        is_read_first && self.is_unread()
    }

    /// It was drawn as it is scrolled now.
    pub fn drawn(&mut self, height: usize) {
        self.height = height;
        self.scroll = self.scroll.min(self.last_top());
        let is_end = height > 0 && !self.lists_choices() && self.scroll == self.last_top();
        self.was_read |= is_end && !self.body().is_empty();
    }

    pub fn scroll_by(&mut self, rows: isize) {
        self.scroll = self.scroll.saturating_add_signed(rows).min(self.last_top());
    }

    /// Rows of a page: one stays in view, so that none is skipped.
    pub fn page(&self) -> isize {
        isize::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(isize::MAX)
    }

    /// Decides about the call shown. The answer, once nothing is open.
    pub fn decide(&mut self, decision: Decision) -> Option<Answer> {
        if decision == Decision::Refuse {
            return Some(self.all(&Decision::Refuse));
        }
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

    /// How many calls are decided.
    pub fn decided(&self) -> usize {
        self.decisions.iter().flatten().count()
    }

    /// The same for every call, whatever was decided before.
    fn all(&self, decision: &Decision) -> Answer {
        Answer::Calls(self.ids().map(|call| (call, decision.clone())).collect())
    }

    /// Runs what is undecided.
    pub fn run_rest(&self) -> Answer {
        let decided = self
            .decisions
            .iter()
            .map(|decision| decision.clone().unwrap_or(Decision::Run));
        Answer::Calls(self.ids().zip(decided).collect())
    }

    fn ids(&self) -> impl Iterator<Item = CallId> {
        self.calls().iter().map(|call| call.call)
    }
}

/// Takes the open question out of the model for the time of `act`, which can thus
/// read the rest of the model while it changes the question.
pub fn with_ask<T>(model: &mut Model, act: impl FnOnce(&Model, &mut OpenAsk) -> T) -> Option<T> {
    if model.asks.is_empty() {
        return None;
    }
    let mut ask = model.asks.remove(0);
    let done = act(model, &mut ask);
    model.asks.insert(0, ask);
    Some(done)
}

pub fn from_text(call: &ToolCall) -> bool {
    matches!(call.origin, CallOrigin::Text { .. })
}

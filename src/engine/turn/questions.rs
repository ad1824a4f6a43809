//! The questions of a turn that are not about approving calls, and what each
//! answer does.

use super::proposals::Proposed;
use super::{
    Answer, ApprovedCall, Ask, CallId, Effect, Exchange, Grant, Launched, Retry, StateKind,
    ToolOutcome, ToolState, Turn, TurnEnd,
};
use crate::domain::Notice;
use crate::protocol::Choice;

impl Turn {
    pub(super) fn answered(&mut self, answer: Answer) {
        match self.state {
            StateKind::Deciding => self.decided(answer),
            StateKind::Stalled => self.stall_answered(&answer),
            StateKind::AfterError => self.error_answered(&answer),
            StateKind::AtBound => self.bound_answered(&answer),
            StateKind::Repairing => self.repair_answered(&answer),
            _ => {}
        }
    }

    fn stall_answered(&mut self, answer: &Answer) {
        self.close_ask();
        match answer {
            Answer::Choice(Choice::AskAgain) => self.ask_again(),
            Answer::Choice(Choice::Stop) => self.interrupt(TurnEnd::Stopped),
            _ => self.state = StateKind::Streaming,
        }
    }

    /// After enough failed calls the user decides whether more may run.
    pub(super) fn check_errors(&mut self) {
        let Some(failed) = self.last_failed.filter(|_| self.errors >= self.errors_max) else {
            self.check_bound();
            return;
        };
        let wanted = self.round_calls();
        let wanted = wanted.iter().filter_map(|id| self.calls.get(id));
        let wanted = wanted.map(|call| call.tool.clone()).collect();
        self.open_ask(StateKind::AfterError, Ask::AfterError { failed, wanted });
    }

    fn error_answered(&mut self, answer: &Answer) {
        self.close_ask();
        match answer {
            Answer::Choice(Choice::GoOn) => {
                self.errors_max = self.errors + 1;
                self.check_bound();
            }
            Answer::Choice(Choice::Retry) => self.retry_failed(),
            _ => self.end(TurnEnd::Stopped),
        }
    }

    /// Runs the failed call again. What the model asked for since is put aside: it
    /// will see the new result in place of the old one.
    fn retry_failed(&mut self) {
        for id in self.round_calls() {
            let why = "the failed call is run again first".to_owned();
            self.finish_call(id, ToolOutcome::NotRun { why });
        }
        self.proposals.clear();
        let failed = self.last_failed.and_then(|id| self.calls.get(&id)).cloned();
        let launched = self
            .last_failed
            .and_then(|id| self.launched.get(&id))
            .cloned();
        let (Some(failed), Some(Launched { grant, wire_id })) = (failed, launched) else {
            self.request();
            return;
        };
        let now = self.setup.offered.get(&failed.server, &failed.tool);
        if now.map(Grant::of) != Some(grant.clone()) {
            self.end(TurnEnd::Failed {
                notice: Notice::failure(format!(
                    "{} of {} changed or went away, so it was not run again.",
                    failed.tool, failed.server
                )),
            });
            return;
        }
        if self.setup.approval.is_never(&failed) {
            self.end(TurnEnd::Failed {
                notice: Notice::failure(format!(
                    "{} of {} was ruled out, so it was not run again.",
                    failed.tool, failed.server
                )),
            });
            return;
        }
        let id = CallId(self.ids.calls.mint());
        let mut again = failed;
        again.id = id;
        again.repeats = None;
        self.errors = self.errors.saturating_sub(1);
        self.retrying = Some(Retry {
            again: id,
            wire_id: wire_id.clone(),
        });
        self.launched.insert(id, Launched { grant, wire_id });
        self.effects
            .push(Effect::Run(ApprovedCall::by_retry(&again)));
        self.calls.insert(id, again);
        self.set_state_of(id, ToolState::Running { progress: None });
        self.state = StateKind::Running;
    }

    /// The second run of a failed call is over: its result takes the place of the
    /// first one's.
    pub(super) fn retried(&mut self) {
        let Some(Retry { again, wire_id }) = self.retrying.take() else {
            return;
        };
        if let Some(call) = self.calls.get(&again)
            && let ToolState::Done(outcome) = &call.state
        {
            let (content, is_error) = (self.result_text(call, outcome), outcome.is_error());
            for exchange in &mut self.exchanges {
                let Exchange::Calls { pairs, .. } = exchange else {
                    continue;
                };
                for (_, result) in pairs.iter_mut().filter(|(call, _)| call.wire_id == wire_id) {
                    result.content.clone_from(&content);
                    result.is_error = is_error;
                }
            }
        }
        self.request();
    }

    /// At the bound on rounds the user chooses.
    fn check_bound(&mut self) {
        let over = self
            .tool_rounds_max
            .is_some_and(|max| self.tool_rounds > max);
        if over || self.answer_now {
            let rounds = self.tool_rounds - 1;
            let again = self.answer_now;
            self.open_ask(StateKind::AtBound, Ask::Bound { rounds, again });
        } else {
            self.check_usable();
        }
    }

    fn bound_answered(&mut self, answer: &Answer) {
        self.close_ask();
        match answer {
            Answer::Choice(Choice::AsManyAgain) => {
                let again = self.setup.limits.tool_rounds.max(1);
                self.tool_rounds_max = Some(self.tool_rounds.saturating_sub(1) + again);
                self.answer_now = false;
                self.check_usable();
            }
            Answer::Choice(Choice::NoBound) => {
                self.tool_rounds_max = None;
                self.answer_now = false;
                self.check_usable();
            }
            Answer::Choice(Choice::AnswerNow) => {
                self.answer_now = true;
                for id in self.round_calls() {
                    let why = "the user asks for an answer now, without more tools".to_owned();
                    self.finish_call(id, ToolOutcome::NotRun { why });
                }
                self.approve();
            }
            _ => self.end(TurnEnd::Stopped),
        }
    }

    /// A call that cannot be used is told to the model once; then the user
    /// decides.
    fn check_usable(&mut self) {
        let unusable = self
            .proposals
            .iter()
            .find_map(|proposal| match &proposal.body {
                Proposed::Unusable { why, .. } => Some((proposal.raw.clone(), why.clone())),
                Proposed::Call { .. } => None,
            });
        match unusable {
            Some((raw, why)) if self.told => {
                self.open_ask(StateKind::Repairing, Ask::Repair { raw, why });
            }
            Some((_, why)) => {
                self.told = true;
                // That the tool is withheld was said in words of its own.
                if self.setup.offered.withheld_by(&why).is_none() {
                    self.note(
                        Notice::warning(format!("A tool call could not be used: {why}."))
                            .because("The model was told."),
                    );
                }
                self.approve();
            }
            None => self.approve(),
        }
    }

    fn repair_answered(&mut self, answer: &Answer) {
        self.close_ask();
        match answer {
            Answer::Choice(Choice::TellModel) => self.approve(),
            Answer::Choice(Choice::AsText) => {
                let (unusable, usable): (Vec<_>, Vec<_>) = std::mem::take(&mut self.proposals)
                    .into_iter()
                    .partition(|proposal| matches!(proposal.body, Proposed::Unusable { .. }));
                self.proposals = usable;
                for proposal in unusable {
                    self.put_back(&proposal.places);
                }
                if self.proposals.is_empty() {
                    self.answer(false);
                } else {
                    self.approve();
                }
            }
            _ => self.end(TurnEnd::Stopped),
        }
    }
}

//! The questions of a turn except approvals, and the effect of each answer.

use super::proposals::ProposalKind;
use super::{
    ApprovedCall, Ask, CallId, CallRetry, Exchange, StartedCall, ToolIdentity, ToolOutcome,
    ToolState, Turn, TurnEffect, TurnEnd, TurnState, UserAnswer,
};
use crate::domain::Notice;
use crate::protocol::UserChoice;

impl Turn {
    pub(super) fn answered(&mut self, answer: UserAnswer) {
        match self.state {
            TurnState::AwaitingApproval => self.apply_decisions(answer),
            TurnState::Stalled => self.stall_answered(&answer),
            TurnState::AfterError => self.error_answered(&answer),
            TurnState::AtRoundLimit => self.round_limit_answered(&answer),
            TurnState::Repairing => self.repair_answered(&answer),
            _ => {}
        }
    }

    fn stall_answered(&mut self, answer: &UserAnswer) {
        self.close_ask();
        match answer {
            UserAnswer::Choice(UserChoice::SendAgain) => self.resend_request(),
            UserAnswer::Choice(UserChoice::Stop) => self.interrupt(TurnEnd::Stopped),
            _ => self.state = TurnState::Streaming,
        }
    }

    /// After too many failed calls, asks whether more may run.
    pub(super) fn check_failed_call_limit(&mut self) {
        let Some(failed) = self.last_failed.filter(|_| self.errors >= self.errors_max) else {
            self.check_round_limit();
            return;
        };
        let wanted = self
            .round_calls()
            .iter()
            .filter_map(|id| self.calls.get(id))
            .map(|call| call.tool.clone())
            .collect();
        self.open_ask(TurnState::AfterError, Ask::AfterError { failed, wanted });
    }

    fn error_answered(&mut self, answer: &UserAnswer) {
        self.close_ask();
        match answer {
            UserAnswer::Choice(UserChoice::AllowMoreTools) => {
                self.errors_max = self.errors + 1;
                self.check_round_limit();
            }
            UserAnswer::Choice(UserChoice::Retry) => self.retry_failed_call(),
            _ => self.end(TurnEnd::Stopped),
        }
    }

    /// Runs the failed call again. Newer calls are closed without running: the model will see
    /// the new result in place of the old one.
    fn retry_failed_call(&mut self) {
        for id in self.round_calls() {
            let why = "the failed call is run again first".to_owned();
            self.finish_call(id, ToolOutcome::NotRun { why });
        }
        self.proposals.clear();
        let failed = self.last_failed.and_then(|id| self.calls.get(&id)).cloned();
        let started = self
            .last_failed
            .and_then(|id| self.started_calls.get(&id))
            .cloned();
        let (Some(failed), Some(StartedCall { grant, wire_id })) = (failed, started) else {
            self.request();
            return;
        };
        let current = self.setup.toolset.get(&failed.server, &failed.tool);
        if current.map(ToolIdentity::from_offered) != Some(grant.clone()) {
            self.end(TurnEnd::Failed {
                notice: Notice::failure(format!(
                    "{} of {} changed or is no longer offered, so it was not run again.",
                    failed.tool, failed.server
                )),
            });
            return;
        }
        if self.setup.approval.is_never(&failed) {
            self.end(TurnEnd::Failed {
                notice: Notice::failure(format!(
                    "{} of {} is blocked, so it was not run again.",
                    failed.tool, failed.server
                )),
            });
            return;
        }
        let id = CallId(self.ids.calls.next_id());
        let mut retry = failed;
        retry.id = id;
        retry.repeats = None;
        self.errors = self.errors.saturating_sub(1);
        self.call_retry = Some(CallRetry {
            retry: id,
            wire_id: wire_id.clone(),
        });
        self.started_calls
            .insert(id, StartedCall { grant, wire_id });
        self.effects
            .push(TurnEffect::Run(ApprovedCall::from_retry(&retry)));
        self.calls.insert(id, retry);
        self.set_call_state(id, ToolState::Running { progress: None });
        self.state = TurnState::Running;
    }

    /// A retried call has ended: its result replaces the first one.
    pub(super) fn finish_retry(&mut self) {
        let Some(CallRetry {
            retry: again,
            wire_id,
        }) = self.call_retry.take()
        else {
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

    /// Asks the user at the limit of rounds.
    fn check_round_limit(&mut self) {
        let is_over = self
            .tool_rounds_max
            .is_some_and(|max| self.tool_rounds > max);
        if is_over || self.answer_now {
            let rounds = self.tool_rounds - 1;
            let again = self.answer_now;
            self.open_ask(
                TurnState::AtRoundLimit,
                Ask::RoundLimit {
                    rounds,
                    was_extended: again,
                },
            );
        } else {
            self.check_unusable_calls();
        }
    }

    fn round_limit_answered(&mut self, answer: &UserAnswer) {
        self.close_ask();
        match answer {
            UserAnswer::Choice(UserChoice::ExtendRoundLimit) => {
                let more_rounds = self.setup.limits.tool_rounds.max(1);
                self.tool_rounds_max = Some(self.tool_rounds.saturating_sub(1) + more_rounds);
                self.answer_now = false;
                self.check_unusable_calls();
            }
            UserAnswer::Choice(UserChoice::NoRoundLimit) => {
                self.tool_rounds_max = None;
                self.answer_now = false;
                self.check_unusable_calls();
            }
            UserAnswer::Choice(UserChoice::AnswerNow) => {
                self.answer_now = true;
                for id in self.round_calls() {
                    let why = "the user asks for an answer now, without more tools".to_owned();
                    self.finish_call(id, ToolOutcome::NotRun { why });
                }
                self.approve_or_ask();
            }
            _ => self.end(TurnEnd::Stopped),
        }
    }

    /// Reports an unusable call to the model once; after that, asks the user.
    fn check_unusable_calls(&mut self) {
        let unusable = self
            .proposals
            .iter()
            .find_map(|proposal| match &proposal.kind {
                ProposalKind::Unusable { why, .. } => Some((proposal.raw.clone(), why.clone())),
                ProposalKind::Call { .. } => None,
            });
        match unusable {
            Some((raw, why)) if self.is_unusable_call_reported => {
                self.open_ask(TurnState::Repairing, Ask::InvalidCall { raw, why });
            }
            Some((_, why)) => {
                self.is_unusable_call_reported = true;
                // A withheld tool has its own notice.
                if self.setup.toolset.withheld_tool_named_in(&why).is_none() {
                    self.note(
                        Notice::warning(format!("A tool call could not be used: {why}."))
                            .with_reason("Told the model; it may try again."),
                    );
                }
                self.approve_or_ask();
            }
            None => self.approve_or_ask(),
        }
    }

    fn repair_answered(&mut self, answer: &UserAnswer) {
        self.close_ask();
        match answer {
            UserAnswer::Choice(UserChoice::TellModel) => self.approve_or_ask(),
            UserAnswer::Choice(UserChoice::AsText) => {
                let (unusable, usable): (Vec<_>, Vec<_>) = std::mem::take(&mut self.proposals)
                    .into_iter()
                    .partition(|proposal| matches!(proposal.kind, ProposalKind::Unusable { .. }));
                self.proposals = usable;
                for proposal in unusable {
                    self.restore_text(&proposal.spans);
                }
                if self.proposals.is_empty() {
                    self.finish_with_answer(false);
                } else {
                    self.approve_or_ask();
                }
            }
            _ => self.end(TurnEnd::Stopped),
        }
    }
}

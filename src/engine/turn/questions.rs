//! The questions of a turn, except approvals, and the handling of their answers.

use super::proposals::ProposalKind;
use super::{
    ApprovedCall, CallId, CallRetry, Exchange, StartedCall, ToolIdentity, ToolOutcome, ToolState,
    Turn, TurnEffect, TurnEnd, TurnState, UserAnswer,
};
use crate::domain::Notice;
use crate::protocol::UserChoice;
use crate::questions;

impl Turn {
    pub(super) fn handle_answer(&mut self, answer: UserAnswer) {
        match self.state {
            TurnState::AwaitingApproval => self.apply_decisions(answer),
            TurnState::ChoosingServer => self.handle_server_choice(&answer),
            TurnState::Stalled => self.handle_stall_answer(&answer),
            TurnState::AfterError => self.handle_failed_call_answer(&answer),
            TurnState::AtRoundLimit => self.handle_round_limit_answer(&answer),
            TurnState::AtUnusableCall => self.handle_unusable_call_answer(&answer),
            _ => {}
        }
    }

    fn handle_stall_answer(&mut self, answer: &UserAnswer) {
        self.close_ask();
        match answer {
            UserAnswer::Choice(UserChoice::SendAgain) => self.resend_request(),
            UserAnswer::Choice(UserChoice::Stop) => self.interrupt(TurnEnd::Stopped),
            _ => self.state = TurnState::Streaming,
        }
    }

    pub(super) fn check_failed_call_limit(&mut self) {
        let Some(failed) = self
            .last_failed
            .filter(|_| self.error_count >= self.errors_max)
        else {
            self.check_round_limit();
            return;
        };
        let requested_tools: Vec<String> = self
            .round_calls()
            .iter()
            .filter_map(|id| self.calls.get(id))
            .map(|call| call.tool.clone())
            .collect();
        let question = questions::after_error(self.calls.get(&failed), &requested_tools);
        self.open_ask(TurnState::AfterError, question);
    }

    fn handle_failed_call_answer(&mut self, answer: &UserAnswer) {
        self.close_ask();
        match answer {
            UserAnswer::Choice(UserChoice::AllowMoreTools) => {
                self.errors_max = self.error_count + 1;
                self.check_round_limit();
            }
            UserAnswer::Choice(UserChoice::Retry) => self.retry_failed_call(),
            _ => self.end(TurnEnd::Stopped),
        }
    }

    /// Calls that the model requested since are not run, because it will see the new result in
    /// place of the old one.
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
        let (Some(failed), Some(StartedCall { identity, wire_id })) = (failed, started) else {
            self.start_round();
            return;
        };
        let current = self.setup.toolset.get(&failed.server, &failed.tool);
        if current.map(ToolIdentity::from_offered) != Some(identity.clone()) {
            self.end(TurnEnd::Failed {
                notice: Notice::failure(format!(
                    "{} of {} changed or is no longer offered, so it was not run again.",
                    failed.tool, failed.server
                )),
            });
            return;
        }
        if self.setup.approval.is_blocked(&failed) {
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
        retry.task = None;
        self.error_count = self.error_count.saturating_sub(1);
        self.call_retry = Some(CallRetry {
            call: id,
            wire_id: wire_id.clone(),
        });
        self.started_calls
            .insert(id, StartedCall { identity, wire_id });
        self.effects
            .push(TurnEffect::Run(ApprovedCall::from_retry(&retry)));
        self.calls.insert(id, retry);
        self.set_call_state(id, ToolState::Running { progress: None });
        self.state = TurnState::Running;
    }

    /// Replaces the result of the failed call with that of its retry, and continues.
    pub(super) fn finish_retry(&mut self) {
        let Some(CallRetry {
            call: retried,
            wire_id,
        }) = self.call_retry.take()
        else {
            return;
        };
        if let Some(call) = self.calls.get(&retried)
            && let ToolState::Done(outcome) = &call.state
        {
            let ((content, images), is_error) =
                (self.result_content(call, outcome), outcome.is_error());
            for exchange in &mut self.exchanges {
                let Exchange::Calls { pairs, .. } = exchange else {
                    continue;
                };
                for (_, result) in pairs.iter_mut().filter(|(call, _)| call.wire_id == wire_id) {
                    result.content.clone_from(&content);
                    result.images.clone_from(&images);
                    result.is_error = is_error;
                }
            }
        }
        self.start_round();
    }

    /// Asks the user if the limit of rounds is reached, or if the model requests tools although it
    /// must answer.
    fn check_round_limit(&mut self) {
        let is_over_limit = self
            .tool_rounds_max
            .is_some_and(|max| self.tool_rounds > max);
        if is_over_limit || self.must_answer_now {
            let rounds = self.tool_rounds - 1;
            let question = questions::round_limit(rounds, self.must_answer_now);
            self.open_ask(TurnState::AtRoundLimit, question);
        } else {
            self.check_unusable_calls();
        }
    }

    fn handle_round_limit_answer(&mut self, answer: &UserAnswer) {
        self.close_ask();
        match answer {
            UserAnswer::Choice(UserChoice::ExtendRoundLimit) => {
                let extra_rounds = self.setup.limits.tool_rounds.max(1);
                self.tool_rounds_max = Some(self.tool_rounds.saturating_sub(1) + extra_rounds);
                self.must_answer_now = false;
                self.check_unusable_calls();
            }
            UserAnswer::Choice(UserChoice::NoRoundLimit) => {
                self.tool_rounds_max = None;
                self.must_answer_now = false;
                self.check_unusable_calls();
            }
            UserAnswer::Choice(UserChoice::AnswerNow) => {
                self.must_answer_now = true;
                for id in self.round_calls() {
                    let why = "the user asks for an answer now, without more tools".to_owned();
                    self.finish_call(id, ToolOutcome::NotRun { why });
                }
                self.approve_or_ask();
            }
            _ => self.end(TurnEnd::Stopped),
        }
    }

    /// Reports the first unusable call of the turn to the model, and asks the user about later
    /// ones.
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
                let question = questions::unusable_call(&raw, &why);
                self.open_ask(TurnState::AtUnusableCall, question);
            }
            Some((_, why)) => {
                self.is_unusable_call_reported = true;
                // A withheld tool has its own notice.
                if self.setup.toolset.withheld_tool_named_in(&why).is_none() {
                    self.note(
                        Notice::warning(format!("A tool call could not be used: {why}."))
                            .with_reason("The error was sent to the model, which may try again."),
                    );
                }
                self.approve_or_ask();
            }
            None => self.approve_or_ask(),
        }
    }

    fn handle_unusable_call_answer(&mut self, answer: &UserAnswer) {
        self.close_ask();
        match answer {
            UserAnswer::Choice(UserChoice::TellModel) => self.approve_or_ask(),
            UserAnswer::Choice(UserChoice::TreatAsText) => {
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

//! Checks the invariants of a turn. The checker sees only inputs and effects, and keeps its own
//! model of permissions.

use super::saved_text::SavedText;
use super::trust_model::TrustModel;
use super::world::find_call;
use humble::domain::{
    ArgumentCheck, Arguments, CallId, Decision, Message, ToolCall, ToolMode, ToolOutcome,
    ToolState, TurnEnd, TurnEvent, WaitReason,
};
use humble::engine::approval::ApprovedCall;
use humble::engine::turn::{TurnEffect, TurnInput};
use humble::protocol::{CallToApprove, Question, UserAnswer, UserChoice};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Invariant {
    NoUnapprovedCall,
    NoCopiedCallWithoutApproval,
    NoBlockedCall,
    NoWithheldCall,
    EveryCallIsAnswered,
    CallIdsAreUnique,
    OneOpenRequest,
    NothingBeforeTheServers,
    OneOpenCheck,
    NothingAfterTheEnd,
    OneSavePerAnswer,
    EveryAskIsClosed,
    NothingStartsWhileUndecided,
    NothingStartsAfterErrors,
    DoneIsFinal,
    RunningCallsAreCancelled,
    CancelStopsOneCall,
    TextIsKept,
    StoppedTextIsTheAnswer,
}

pub type Verdict = Result<(), (Invariant, String)>;

/// Checks that a turn keeps every [`Invariant`].
pub struct InvariantChecker {
    pub mode: ToolMode,
    errors_max: u32,
    errors: u32,
    pub open_asks: BTreeMap<u64, Question>,
    pub calls: BTreeMap<CallId, ToolCall>,
    pub running: BTreeSet<CallId>,
    /// The call that the current input cancels or leaves, if any.
    cancelling: Option<CallId>,
    /// Tool and arguments of the calls that tool results contain.
    suggested: Vec<(String, Arguments)>,
    /// Calls that the user decided to run.
    decided_calls: BTreeSet<CallId>,
    pub is_request_open: bool,
    /// Whether the turn waits for servers, before its first request.
    pub is_awaiting_servers: bool,
    /// The arguments that are being checked.
    pub checking: Vec<ArgumentCheck>,
    /// Whether the same request will be sent again after a pause.
    pub is_waiting_to_retry: bool,
    pub has_ended: bool,
    text: SavedText,
    trust: TrustModel,
    is_retry_allowed: bool,
}

impl InvariantChecker {
    pub fn new(mode: ToolMode, errors_max: u32) -> Self {
        Self {
            mode,
            errors_max: errors_max.max(1),
            errors: 0,
            open_asks: BTreeMap::new(),
            calls: BTreeMap::new(),
            running: BTreeSet::new(),
            cancelling: None,
            suggested: Vec::new(),
            decided_calls: BTreeSet::new(),
            is_request_open: false,
            is_awaiting_servers: false,
            checking: Vec::new(),
            is_waiting_to_retry: false,
            has_ended: false,
            text: SavedText::default(),
            trust: TrustModel::default(),
            is_retry_allowed: false,
        }
    }

    /// Records an input before the turn handles it.
    pub fn observe_input(&mut self, input: &TurnInput) {
        self.cancelling = match input {
            TurnInput::CancelCall { call, .. } | TurnInput::LeaveCall { call, .. } => Some(*call),
            _ => None,
        };
        match input {
            TurnInput::ModeChanged(mode) => self.mode = *mode,
            TurnInput::TrustChanged(approval) => {
                self.mode = approval.mode;
                self.trust.apply_approval(approval);
            }
            TurnInput::ToolsetChanged(offered) => self.trust.offered = Arc::clone(offered),
            TurnInput::ReplyEnded(_) => self.is_request_open = false,
            TurnInput::RetryDue => self.is_waiting_to_retry = false,
            TurnInput::ServersReady(ready) => {
                self.is_awaiting_servers = false;
                self.trust.offered = Arc::clone(&ready.toolset);
            }
            TurnInput::ArgumentsChecked(_) => self.checking.clear(),
            TurnInput::CallDone { call, outcome, .. } => {
                let was_running = self.running.remove(call);
                self.errors += u32::from(was_running && outcome.is_error());
                // A result of a call that is not running is ignored, so it cannot be the
                // source of a copied call.
                if was_running && let ToolOutcome::Succeeded { text, .. } = outcome {
                    self.suggested.extend(find_call(text));
                }
            }
            TurnInput::Answered { ask, answer } => {
                if let Some(question) = self.open_asks.get(&ask.0).cloned() {
                    self.observe_answer(&question, answer);
                }
            }
            _ => {}
        }
    }

    fn observe_answer(&mut self, question: &Question, answer: &UserAnswer) {
        match (question.kind, answer) {
            ("approve", UserAnswer::Calls(decisions)) => {
                for (id, decision) in decisions {
                    if let Some(asked) = question.calls().iter().find(|asked| asked.call == *id) {
                        self.observe_decision(asked, decision);
                    }
                }
            }
            ("after_error", UserAnswer::Choice(UserChoice::AllowMoreTools)) => {
                self.errors_max = self.errors + 1;
            }
            ("after_error", UserAnswer::Choice(UserChoice::Retry)) => {
                self.errors = self.errors.saturating_sub(1);
                self.is_retry_allowed = true;
            }
            _ => {}
        }
    }

    fn observe_decision(&mut self, asked: &CallToApprove, decision: &Decision) {
        let call = &self.calls[&asked.call];
        if self.trust.apply_decision(call, &asked.tool.pin, decision) {
            self.decided_calls.insert(asked.call);
        }
    }

    pub fn check_effects(&mut self, effects: &[TurnEffect]) -> Verdict {
        for effect in effects {
            if self.has_ended {
                return Err((Invariant::NothingAfterTheEnd, format!("{effect:?}")));
            }
            match effect {
                TurnEffect::Emit(event) => self.check_event(event)?,
                TurnEffect::Request { messages, .. } => self.check_request(messages)?,
                TurnEffect::DropRequest => self.is_request_open = false,
                TurnEffect::RetryIn(pause) => {
                    if self.is_request_open || *pause > Duration::from_secs(120) {
                        return Err((Invariant::OneOpenRequest, format!("{pause:?}")));
                    }
                    self.is_waiting_to_retry = true;
                }
                TurnEffect::OpenAsk { ask, question } => {
                    if !self.open_asks.is_empty() {
                        return Err((Invariant::EveryAskIsClosed, "two at once".to_owned()));
                    }
                    self.open_asks.insert(ask.0, question.clone());
                }
                TurnEffect::CloseAsk(ask) => {
                    if self.open_asks.remove(&ask.0).is_none() {
                        return Err((Invariant::EveryAskIsClosed, "closed twice".to_owned()));
                    }
                }
                TurnEffect::CheckArguments(checks) => {
                    if checks.is_empty() || !self.checking.is_empty() || self.is_request_open {
                        return Err((Invariant::OneOpenCheck, format!("{checks:?}")));
                    }
                    self.checking.clone_from(checks);
                }
                TurnEffect::Run(call) => self
                    .check_tool_may_run(call)
                    .and_then(|()| self.check_run(call.id()))?,
                TurnEffect::SaveAnswer { .. } | TurnEffect::SavePartialAnswer { .. } => {
                    self.text.observe_save(effect);
                }
                TurnEffect::Cancel(call) => {
                    self.running.remove(call);
                    self.check_only_cancelled_call_ends(*call)?;
                }
                TurnEffect::GrantForSession(_) | TurnEffect::StoreRule(_) => {}
                TurnEffect::FinishAgent(_) => {}
                TurnEffect::FollowTask(call) => self.check_run(call.id)?,
            }
        }
        match self.cancelling.filter(|call| self.running.contains(call)) {
            Some(call) => Err((Invariant::CancelStopsOneCall, format!("{call} still runs"))),
            None => Ok(()),
        }
    }

    /// Cancelling one call must not end another.
    fn check_only_cancelled_call_ends(&self, call: CallId) -> Verdict {
        match self.cancelling.filter(|cancelled| *cancelled != call) {
            Some(_) => Err((Invariant::CancelStopsOneCall, format!("{call} also ended"))),
            None => Ok(()),
        }
    }

    fn check_request(&mut self, messages: &[Message]) -> Verdict {
        if self.is_request_open {
            return Err((Invariant::OneOpenRequest, "a second request".to_owned()));
        }
        if self.is_awaiting_servers {
            let details = "a request before the servers are ready".to_owned();
            return Err((Invariant::NothingBeforeTheServers, details));
        }
        self.is_request_open = true;
        let mut unanswered: Vec<&str> = Vec::new();
        let mut ids = BTreeSet::new();
        for message in messages {
            match message {
                Message::ToolCalls { calls, .. } => {
                    let new_ids = calls.iter().map(|call| call.wire_id.as_str());
                    if let Some(id) = new_ids.clone().find(|id| !ids.insert(*id)) {
                        return Err((Invariant::CallIdsAreUnique, format!("`{id}` twice")));
                    }
                    unanswered.extend(new_ids);
                }
                Message::ToolResult(result) => {
                    unanswered.retain(|id| *id != result.wire_id);
                }
                _ => {}
            }
        }
        if !unanswered.is_empty() {
            return Err((
                Invariant::EveryCallIsAnswered,
                format!("sent without: {unanswered:?}"),
            ));
        }
        match self.open_calls().next() {
            Some(call) => Err((Invariant::EveryCallIsAnswered, format!("open: {call:?}"))),
            None => Ok(()),
        }
    }

    fn open_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.calls
            .values()
            .filter(|call| !matches!(call.state, ToolState::Done(_)))
    }

    /// Blocked and withheld tools must not run, whatever the user decided.
    fn check_tool_may_run(&self, call: &ApprovedCall) -> Verdict {
        let (server, tool) = (call.server(), call.tool());
        if self.trust.is_blocked(server, tool) {
            return Err((Invariant::NoBlockedCall, format!("{call:?}")));
        }
        if !self.trust.is_offered(server, tool) {
            return Err((Invariant::NoWithheldCall, format!("{call:?}")));
        }
        Ok(())
    }

    fn check_run(&mut self, id: CallId) -> Verdict {
        let Some(call) = self.calls.get(&id).cloned() else {
            // A retried call gets a new id and is announced right after.
            if std::mem::take(&mut self.is_retry_allowed) {
                self.running.insert(id);
                return Ok(());
            }
            return Err((Invariant::NoUnapprovedCall, format!("unknown call {id}")));
        };
        let is_granted = self.trust.grants(&call);
        if self.mode != ToolMode::Auto && !is_granted && !self.decided_calls.contains(&id) {
            return Err((Invariant::NoUnapprovedCall, format!("{call:?}")));
        }
        let is_suggested = self
            .suggested
            .iter()
            .any(|(tool, arguments)| *tool == call.tool && *arguments == call.arguments);
        if is_suggested && !self.decided_calls.contains(&id) {
            return Err((Invariant::NoCopiedCallWithoutApproval, format!("{call:?}")));
        }
        if self
            .calls
            .values()
            .any(|call| call.state == ToolState::AwaitingApproval)
        {
            return Err((Invariant::NothingStartsWhileUndecided, format!("{call:?}")));
        }
        if self.errors >= self.errors_max {
            return Err((Invariant::NothingStartsAfterErrors, format!("{call:?}")));
        }
        if !self.running.insert(id) {
            return Err((Invariant::NoUnapprovedCall, format!("ran twice: {call:?}")));
        }
        Ok(())
    }

    fn check_event(&mut self, event: &TurnEvent) -> Verdict {
        match event {
            TurnEvent::Tool(call) => {
                let is_done = |call: &ToolCall| matches!(call.state, ToolState::Done(_));
                if self.calls.get(&call.id).is_some_and(is_done) {
                    return Err((Invariant::DoneIsFinal, format!("{call:?}")));
                }
                if is_done(call) {
                    self.check_only_cancelled_call_ends(call.id)?;
                }
                self.calls.insert(call.id, call.clone());
                Ok(())
            }
            TurnEvent::Waiting { wait } => {
                self.is_awaiting_servers = *wait == WaitReason::StartingServers;
                Ok(())
            }
            TurnEvent::Ended { end, .. } => self.check_end(end),
            event => self.text.observe_event(event),
        }
    }

    fn check_end(&mut self, end: &TurnEnd) -> Verdict {
        self.has_ended = true;
        if self.cancelling.is_some() {
            return Err((Invariant::CancelStopsOneCall, "the turn ended".to_owned()));
        }
        if self.is_request_open {
            return Err((Invariant::OneOpenRequest, "open at the end".to_owned()));
        }
        if let Some(call) = self.open_calls().next() {
            return Err((
                Invariant::EveryCallIsAnswered,
                format!("open at the end: {call:?}"),
            ));
        }
        if !self.open_asks.is_empty() {
            return Err((Invariant::EveryAskIsClosed, "open at the end".to_owned()));
        }
        if let Some(call) = self.running.first() {
            return Err((
                Invariant::RunningCallsAreCancelled,
                format!("{call} is still running"),
            ));
        }
        let may_have_run = self.calls.values().any(ToolCall::may_have_run);
        self.text.check_saves(end, may_have_run)
    }
}

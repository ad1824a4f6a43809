//! Proposing the calls of a round, deciding on them, and running them.

use super::round::Asked;
use super::{
    Answer, ApprovedCall, Ask, CallId, CallOrigin, Effect, Exchange, Grant, Launched, Notice,
    Offered, PieceKind, Progress, ProposedCall, StateKind, ToolCall, ToolOutcome, ToolState, Turn,
    TurnEnd, context,
};
use crate::domain::{CallMessage, Decision, OfferedTool, Resolved, ResultMessage, ServerId, Tool};
use crate::protocol::ApproveCall;
use std::sync::Arc;

/// One thing that the model asked for in this round.
#[derive(Debug, Clone)]
pub(super) struct Proposal {
    pub(super) raw: String,
    pub(super) wire_id: String,
    pub(super) body: Proposed,
}

#[derive(Debug, Clone)]
pub(super) enum Proposed {
    Call {
        id: CallId,
        offered: Box<OfferedTool>,
    },
    /// Cannot be used, for this reason. A native one must be answered by its id.
    Unusable {
        native_name: Option<String>,
        arguments: super::Arguments,
        why: String,
    },
}

/// Names on offer that an error message lists at most.
const NAMES_LISTED_MAX: usize = 30;

impl Turn {
    /// The reply asked for tools: resolve names, check arguments, and go on to
    /// what has to be asked first.
    pub(super) fn propose(&mut self) {
        let asked = std::mem::take(&mut self.round.asked);
        self.proposals = asked
            .into_iter()
            .map(|asked| self.proposal(asked))
            .collect();
        self.tool_rounds += 1;
        self.check_errors();
    }

    fn proposal(&mut self, asked: Asked) -> Proposal {
        let call = match asked {
            Asked::Unusable { raw, why } => {
                let body = Proposed::Unusable {
                    native_name: None,
                    arguments: <_>::default(),
                    why,
                };
                return Proposal {
                    raw,
                    wire_id: String::new(),
                    body,
                };
            }
            Asked::Call(call) => call,
        };
        let id = CallId(self.ids.calls.mint());
        let wire_id = call.wire_id.clone().unwrap_or_else(|| format!("call_{id}"));
        let raw = call.raw.clone();
        let body = match self.usable(&call) {
            Ok((offered, arguments)) => {
                let call = ToolCall {
                    id,
                    server: offered.server.clone(),
                    tool: offered.tool.name.clone(),
                    arguments,
                    original: None,
                    origin: call.origin,
                    repeats: None,
                    state: ToolState::Proposed,
                };
                self.calls.insert(id, call);
                Proposed::Call {
                    id,
                    offered: Box::new(offered),
                }
            }
            Err(why) => Proposed::Unusable {
                native_name: (call.origin == CallOrigin::Native).then(|| call.name.clone()),
                arguments: call.arguments.unwrap_or_default(),
                why,
            },
        };
        Proposal { raw, wire_id, body }
    }

    fn usable(&self, call: &ProposedCall) -> Result<(OfferedTool, super::Arguments), String> {
        let name = &call.name;
        let offered = match self.setup.offered.resolve(call.server.as_deref(), name) {
            Resolved::Tool(offered) => offered,
            Resolved::Ambiguous => {
                return Err(format!(
                    "several servers have a tool `{name}`: name the server"
                ));
            }
            Resolved::Unknown => {
                return Err(format!(
                    "there is no tool `{name}`; on offer: {}",
                    self.names()
                ));
            }
        };
        let arguments = call
            .arguments
            .clone()
            .map_err(|_| format!("the arguments of `{name}` are not a JSON object"))?;
        offered
            .tool
            .check(&arguments)
            .map_err(|fault| format!("the arguments of `{name}` do not fit its schema: {fault}"))?;
        Ok((offered.clone(), arguments))
    }

    fn names(&self) -> String {
        let tools = self.setup.offered.tools();
        let mut names: Vec<&str> = tools
            .iter()
            .take(NAMES_LISTED_MAX)
            .map(|tool| tool.tool.name.as_str())
            .collect();
        if tools.len() > NAMES_LISTED_MAX {
            names.push("…");
        }
        if names.is_empty() {
            "nothing".to_owned()
        } else {
            names.join(", ")
        }
    }

    /// The ids of this round's usable calls, in the order asked.
    pub(super) fn round_calls(&self) -> Vec<CallId> {
        let id = |proposal: &Proposal| match proposal.body {
            Proposed::Call { id, .. } => Some(id),
            Proposed::Unusable { .. } => None,
        };
        self.proposals.iter().filter_map(id).collect()
    }

    fn offered_for(&self, id: CallId) -> Option<&OfferedTool> {
        self.proposals
            .iter()
            .find_map(|proposal| match &proposal.body {
                Proposed::Call { id: of, offered } if *of == id => Some(offered.as_ref()),
                _ => None,
            })
    }

    /// Everything that stood in the way is settled: ask, or run.
    pub(super) fn approve(&mut self) {
        for id in self.round_calls() {
            self.prepare(id);
        }
        let undecided = self.undecided();
        if undecided.is_empty() {
            self.start();
        } else {
            self.ask_approval(&undecided);
        }
    }

    /// Runs unasked what may, reuses what `auto` repeats, leaves the rest to ask.
    fn prepare(&mut self, id: CallId) {
        let repeats = self.repeated(id);
        let (Some(offered), Some(call)) = (self.offered_for(id), self.calls.get(&id)) else {
            return;
        };
        if call.state != ToolState::Proposed {
            return;
        }
        let unasked = self.setup.approval.without_asking(call, offered).is_some();
        if let Some(call) = self.calls.get_mut(&id) {
            call.repeats = repeats;
        }
        match (unasked, repeats) {
            (true, Some(of)) => self.finish_call(id, ToolOutcome::Reused { of }),
            (true, None) => self.set_state_of(id, ToolState::Proposed),
            (false, _) => self.set_state_of(id, ToolState::AwaitingApproval),
        }
    }

    /// The successful call that ran last, where `id` is the same once more (S5.4).
    fn repeated(&self, id: CallId) -> Option<CallId> {
        let call = self.calls.get(&id)?;
        let last = self.calls.get(&self.last_run?)?;
        let same = last.server == call.server
            && last.tool == call.tool
            && same_json(&last.arguments, &call.arguments);
        let succeeded = matches!(last.state, ToolState::Done(ToolOutcome::Succeeded { .. }));
        (same && succeeded).then_some(last.id)
    }

    fn undecided(&self) -> Vec<CallId> {
        let mut ids = self.round_calls();
        ids.retain(|id| {
            self.calls
                .get(id)
                .is_some_and(|call| call.state == ToolState::AwaitingApproval)
        });
        ids
    }

    fn ask_approval(&mut self, ids: &[CallId]) {
        let tool_of = |id: CallId| -> Option<Arc<Tool>> {
            self.offered_for(id)
                .map(|offered| Arc::new(offered.tool.clone()))
        };
        let calls = ids
            .iter()
            .filter_map(|id| {
                Some(ApproveCall {
                    call: *id,
                    tool: tool_of(*id)?,
                })
            })
            .collect();
        self.open_ask(StateKind::Deciding, Ask::Approve(calls));
    }

    pub(super) fn decided(&mut self, answer: Answer) {
        let undecided = self.undecided();
        let decisions = match answer {
            Answer::Calls(decisions) => decisions,
            // Closed without a choice: the safe one is taken.
            Answer::Dismissed | Answer::Choice(_) => {
                undecided.iter().map(|id| (*id, Decision::Refuse)).collect()
            }
        };
        self.close_ask();
        if decisions
            .iter()
            .any(|(id, decision)| undecided.contains(id) && *decision == Decision::Refuse)
        {
            for id in undecided {
                self.finish_call(id, ToolOutcome::Refused);
            }
            for id in self.open_calls() {
                self.finish_call(id, ToolOutcome::Refused);
            }
            self.end(TurnEnd::Refused);
            return;
        }
        for (id, decision) in decisions {
            if undecided.contains(&id) {
                self.decide(id, decision);
            }
        }
        let rest = self.undecided();
        if rest.is_empty() {
            self.start();
        } else {
            self.ask_approval(&rest);
        }
    }

    /// One decision. What cannot be followed leaves the call undecided, so that
    /// it is asked about again.
    fn decide(&mut self, id: CallId, decision: Decision) {
        let Some(offered) = self.offered_for(id).cloned() else {
            return;
        };
        let Some(call) = self.calls.get(&id).cloned() else {
            return;
        };
        match &decision {
            Decision::Edit { arguments } => {
                if let Err(fault) = offered.tool.check(arguments) {
                    self.note(Notice::warning(format!(
                        "The edited arguments do not fit: {fault}"
                    )));
                    return;
                }
                self.edit(id, arguments);
            }
            Decision::RunForSession => {
                let grant = Grant::of(&offered);
                self.setup.approval.grant(grant.clone());
                self.effects.push(Effect::Remember(grant));
            }
            Decision::Deny { word } => {
                self.finish_call(id, ToolOutcome::Denied { word: word.clone() });
            }
            Decision::UseFirst => {
                if let Some(of) = call.repeats {
                    self.finish_call(id, ToolOutcome::Reused { of });
                }
            }
            Decision::TreatAsText => self.treat_as_text(&call),
            Decision::Run | Decision::Refuse => {}
        }
        if ApprovedCall::by_decision(&call, &decision).is_some() {
            self.set_state_of(id, ToolState::Proposed);
            self.approved.insert(id, decision);
        }
    }

    fn edit(&mut self, id: CallId, arguments: &super::Arguments) {
        if let Some(call) = self.calls.get_mut(&id) {
            let original = std::mem::replace(&mut call.arguments, arguments.clone());
            call.original.get_or_insert(original);
        }
    }

    fn treat_as_text(&mut self, call: &ToolCall) {
        if call.origin == CallOrigin::Native {
            return;
        }
        let raw = self
            .proposals
            .iter()
            .find_map(|proposal| match proposal.body {
                Proposed::Call { id, .. } if id == call.id => Some(proposal.raw.clone()),
                _ => None,
            });
        self.finish_call(call.id, ToolOutcome::WasText);
        self.delta(PieceKind::Text, raw.unwrap_or_default());
    }

    /// All are decided: start the approved ones, concurrently.
    fn start(&mut self) {
        let mut running = false;
        for id in self.round_calls() {
            if let Some(approved) = self.permit(id) {
                self.launch(id);
                self.effects.push(Effect::Run(approved));
                running = true;
            }
        }
        self.approved.clear();
        if running {
            self.state = StateKind::Running;
        } else {
            self.round_done();
        }
    }

    fn launch(&mut self, id: CallId) {
        let wire_id = self
            .proposals
            .iter()
            .find_map(|proposal| match proposal.body {
                Proposed::Call { id: of, .. } if of == id => Some(proposal.wire_id.clone()),
                _ => None,
            });
        if let (Some(offered), Some(wire_id)) = (self.offered_for(id), wire_id) {
            let grant = Grant::of(offered);
            self.launched.insert(id, Launched { grant, wire_id });
        }
        self.set_state_of(id, ToolState::Running { progress: None });
    }

    /// The permission to run `id`, if it has one and its tool is still what was
    /// shown when it was decided on.
    fn permit(&mut self, id: CallId) -> Option<ApprovedCall> {
        let call = self.calls.get(&id)?.clone();
        if call.state != ToolState::Proposed {
            return None;
        }
        let offered = self.offered_for(id)?.clone();
        let now = self.setup.offered.get(&offered.server, &offered.tool.name);
        let unchanged = now.is_some_and(|now| Grant::of(now) == Grant::of(&offered));
        if !unchanged {
            let why = "the tool changed or went away before it could run".to_owned();
            self.finish_call(id, ToolOutcome::NotRun { why });
            return None;
        }
        match self.approved.get(&id) {
            // The edited arguments stand in the call by now.
            Some(decision) => ApprovedCall::by_decision(&call, decision),
            None => self.setup.approval.without_asking(&call, &offered),
        }
    }

    pub(super) fn progress(&mut self, id: CallId, progress: Progress) {
        if self.running().contains(&id) {
            self.set_state_of(
                id,
                ToolState::Running {
                    progress: Some(progress),
                },
            );
        }
    }

    pub(super) fn call_done(&mut self, id: CallId, outcome: ToolOutcome) {
        if self.state != StateKind::Running || !self.running().contains(&id) {
            return;
        }
        self.last_run = Some(id);
        if outcome.is_error() {
            self.errors += 1;
            self.last_failed = Some(id);
        }
        self.finish_call(id, outcome);
        if self.running().is_empty() {
            if self.retrying.is_some() {
                self.retried()
            } else {
                self.round_done()
            }
        }
    }

    /// Every call of the round has an outcome: tell the model, unless all of it
    /// turned out to be text.
    fn round_done(&mut self) {
        let outcome_of = |id: &CallId| match &self.calls.get(id)?.state {
            ToolState::Done(outcome) => Some(outcome.clone()),
            _ => None,
        };
        let ids = self.round_calls();
        let outcomes: Vec<ToolOutcome> = ids.iter().filter_map(outcome_of).collect();
        let unusable = self.proposals.len() > ids.len();
        if !unusable
            && outcomes
                .iter()
                .all(|outcome| *outcome == ToolOutcome::WasText)
        {
            self.answer(false);
            return;
        }
        let proposals = std::mem::take(&mut self.proposals);
        let mut pairs = Vec::new();
        for proposal in &proposals {
            match self.pair(proposal) {
                Some(pair) => pairs.push(pair),
                None => self.tell_unreadable(proposal, &mut pairs),
            }
        }
        if !pairs.is_empty() {
            self.exchanges.push(Exchange::Calls(pairs));
        }
        self.request();
    }

    fn pair(&self, proposal: &Proposal) -> Option<(CallMessage, ResultMessage)> {
        let (server, tool, native_name, arguments, content, is_error) = match &proposal.body {
            Proposed::Call { id, offered } => {
                let call = self.calls.get(id)?;
                let ToolState::Done(outcome) = &call.state else {
                    return None;
                };
                if *outcome == ToolOutcome::WasText {
                    return None;
                }
                (
                    call.server.clone(),
                    call.tool.clone(),
                    offered.native_name.clone(),
                    call.arguments.clone(),
                    self.result_text(call, outcome),
                    outcome.is_error(),
                )
            }
            Proposed::Unusable {
                native_name: Some(name),
                arguments,
                why,
            } => (
                ServerId::new(""),
                name.clone(),
                name.clone(),
                arguments.clone(),
                format!("Error: {why}"),
                true,
            ),
            Proposed::Unusable {
                native_name: None, ..
            } => return None,
        };
        let wire_id = proposal.wire_id.clone();
        let result = ResultMessage {
            wire_id: wire_id.clone(),
            tool: tool.clone(),
            native_name: native_name.clone(),
            content,
            is_error,
        };
        Some((
            CallMessage {
                wire_id,
                server,
                tool,
                native_name,
                arguments,
            },
            result,
        ))
    }

    pub(super) fn result_text(&self, call: &ToolCall, outcome: &ToolOutcome) -> String {
        let first = match outcome {
            ToolOutcome::Reused { of } => self.calls.get(of),
            _ => None,
        };
        let first = first.and_then(|first| match &first.state {
            ToolState::Done(ToolOutcome::Succeeded { text, .. }) => Some(text.as_str()),
            _ => None,
        });
        context::result_text(call, outcome, first, self.errors >= self.errors_max)
    }

    /// A call in the text that could not be used goes back in the model's words.
    fn tell_unreadable(
        &mut self,
        proposal: &Proposal,
        pairs: &mut Vec<(CallMessage, ResultMessage)>,
    ) {
        let Proposed::Unusable { why, .. } = &proposal.body else {
            return;
        };
        if !pairs.is_empty() {
            self.exchanges.push(Exchange::Calls(std::mem::take(pairs)));
        }
        self.exchanges.push(Exchange::Unreadable {
            raw: proposal.raw.clone(),
            why: format!(
                "Your tool call could not be used: {why}. Correct it, or answer without it."
            ),
        });
    }

    /// Tools came, went or changed. A call that waits for a decision on a tool
    /// that is gone or changed is not to be decided any more.
    pub(super) fn offered_changed(&mut self, offered: Arc<Offered>) {
        self.setup.offered = offered;
        if self.state != StateKind::Deciding {
            return;
        }
        let stale: Vec<CallId> = self
            .undecided()
            .into_iter()
            .filter(|id| {
                let shown = self.offered_for(*id);
                let now =
                    shown.and_then(|shown| self.setup.offered.get(&shown.server, &shown.tool.name));
                now.map(Grant::of) != shown.map(Grant::of)
            })
            .collect();
        if stale.is_empty() {
            return;
        }
        self.close_ask();
        for id in stale {
            let why = "its server is gone, or changed the tool".to_owned();
            self.finish_call(id, ToolOutcome::NotRun { why });
        }
        let rest = self.undecided();
        if rest.is_empty() {
            self.start()
        } else {
            self.ask_approval(&rest)
        }
    }
}

/// Equal as JSON values: `1` and `1.0` are one number.
fn same_json(a: &super::Arguments, b: &super::Arguments) -> bool {
    use serde_json::Value;
    fn same(a: &Value, b: &Value) -> bool {
        match (a, b) {
            // Whole numbers are compared exactly: as floats, large ones run together.
            (Value::Number(a), Value::Number(b)) if a.is_f64() != b.is_f64() => {
                a.as_f64() == b.as_f64()
            }
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
            }
            (Value::Object(a), Value::Object(b)) => same_json(a, b),
            _ => a == b,
        }
    }
    a.len() == b.len()
        && a.iter()
            .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
}

//! Proposing the calls of a round, deciding on them, and running them.

use super::round::Asked;
use super::same::same_json;
use super::{
    Answer, ApprovedCall, Ask, CallId, CallOrigin, Effect, Grant, Notice, Offered, PieceKind,
    ProposedCall, StateKind, ToolCall, ToolOutcome, ToolState, Turn, TurnEnd,
};
use crate::domain::{Decision, OfferedTool, Resolved, Tool};
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
        let wire_id = call
            .wire_id
            .clone()
            .filter(|id| self.wire_ids.insert(id.clone()));
        // Servers refuse two calls of one id, and some models number each round anew.
        let wire_id = wire_id.unwrap_or_else(|| format!("call_{id}"));
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
        if call.cut {
            return Err(format!(
                "the limit of tokens cut the call of `{name}` before it was whole"
            ));
        }
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

    pub(super) fn offered_for(&self, id: CallId) -> Option<&OfferedTool> {
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

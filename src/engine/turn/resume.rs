//! Resumes the calls of an unfinished turn of an earlier run, which servers run as tasks. No tool runs
//! again: the turn waits for the tasks, and sends all calls and their results to the model.

use super::proposals::{Proposal, ProposalKind};
use super::{
    CallId, RoundEnd, StartedCall, ToolCall, ToolOutcome, ToolState, Turn, TurnEffect, TurnState,
};
use crate::domain::{CallTask, LaunchId, OfferedTool, Pin, ToolIdentity, TurnEvent};

/// Journals contain no results.
const LOST_RESULT: &str = "The result was lost when the program ended.";
const LOST_CALL: &str =
    "The program ended while the tool ran. It is not known whether it finished.";

impl Turn {
    /// Starts the turn with these calls as its first round.
    pub(super) fn resume_calls(&mut self, calls: Vec<ToolCall>) {
        self.reset_round();
        self.tool_rounds += 1;
        self.emit(TurnEvent::RoundEnded {
            end: RoundEnd::Calls,
        });
        for call in calls {
            self.resume_call(call);
        }
        self.state = TurnState::Running;
    }

    fn resume_call(&mut self, mut call: ToolCall) {
        let id = CallId(self.ids.calls.next_id());
        let is_open = call.has_open_task();
        call.id = id;
        call.state = match call.state {
            _ if is_open => ToolState::Running { progress: None },
            ToolState::Done(outcome) => ToolState::Done(without_result(outcome)),
            state => state,
        };
        let (launch, pin) = match call.task.as_deref() {
            Some(CallTask { launch, pin, .. }) => (launch.clone(), pin.clone()),
            None => (LaunchId::from_hash(""), Pin::from_hash("")),
        };
        let wire_id = format!("call_{}", id.0);
        self.wire_ids.insert(wire_id.clone());
        let offered = self.setup.toolset.get(&call.server, &call.tool).cloned();
        let of_earlier_run =
            OfferedTool::of_earlier_run(call.server.clone(), launch, &call.tool, pin);
        // The user approved this definition; the tool that is offered now may have changed since.
        let identity = ToolIdentity::from_offered(&of_earlier_run);
        let tool = offered.unwrap_or(of_earlier_run);
        self.proposals.push(Proposal {
            raw: String::new(),
            spans: Vec::new(),
            wire_id: wire_id.clone(),
            kind: ProposalKind::Call {
                id,
                tool: Box::new(tool),
            },
        });
        self.calls.insert(id, call.clone());
        self.emit(TurnEvent::Tool(call.clone()));
        if is_open {
            self.started_calls
                .insert(id, StartedCall { identity, wire_id });
            self.effects.push(TurnEffect::FollowTask(Box::new(call)));
        }
    }
}

fn without_result(outcome: ToolOutcome) -> ToolOutcome {
    let text = LOST_RESULT.to_owned();
    match outcome {
        ToolOutcome::Succeeded { elapsed, .. } => ToolOutcome::Succeeded { text, elapsed },
        ToolOutcome::Failed { elapsed, .. } => ToolOutcome::Failed { text, elapsed },
        ToolOutcome::Unreachable { elapsed, .. } => ToolOutcome::Unreachable { why: text, elapsed },
        // The call whose result was reused is no longer known.
        ToolOutcome::Reused { .. } => ToolOutcome::NotRun { why: text },
        ToolOutcome::Interrupted => ToolOutcome::Unreachable {
            why: LOST_CALL.to_owned(),
            elapsed: std::time::Duration::ZERO,
        },
        outcome => outcome,
    }
}

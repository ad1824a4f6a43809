//! `/cancel` and `/leave`, which act on one running call. The other calls and the turn continue.

use super::arguments::ArgumentKind as Arg;
use super::{BindingGroup as G, CommandCx, CommandRow, PickEffect, PickList, PickRow};
use crate::domain::{CallId, Notice, ToolCall};
use crate::protocol::Command;
use crate::text::Clean;

pub static CANCEL: CommandRow = CommandRow::new(
    "/cancel",
    "cancel",
    G::Tools,
    "Cancel one running call",
    |cx, argument| run(cx, CallVerb::Cancel, argument),
)
.usage("[NUMBER|TOOL]", Arg::RunningCall)
.found_by("stop abort kill");

pub static LEAVE: CommandRow = CommandRow::new(
    "/leave",
    "leave",
    G::Conversation,
    "Leave a running task, and go on without it",
    |cx, argument| run(cx, CallVerb::Leave, argument),
)
.usage("[NUMBER|TOOL]", Arg::RunningCall)
.keys(&["Alt+L"])
.found_by("background task detach wait");

/// What happens to a running call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallVerb {
    Cancel,
    /// Stops waiting for a call that its server runs as a task.
    Leave,
}

impl CallVerb {
    fn applies_to(self, call: &ToolCall) -> bool {
        self == Self::Cancel || call.task.is_some()
    }

    /// Does it to a call that is still running.
    pub fn apply(self, call: CallId, cx: &mut dyn CommandCx) {
        let mut running = cx.state().transcript.running_calls();
        let applies = running
            .find(|running| running.id == call)
            .map(|call| self.applies_to(call));
        drop(running);
        match (applies, self) {
            (Some(true), Self::Cancel) => cx.send(Command::CancelCall(call)),
            (Some(true), Self::Leave) => cx.send(Command::LeaveCall(call)),
            (Some(false), _) => cx.notify(Notice::info(
                "The server does not run this call as a task, so it cannot be left running.",
            )),
            (None, _) => cx.notify(Notice::info("That call is no longer running.")),
        }
    }
}

/// Acts on the call that the argument names. Without an argument, acts on the selected call or the only
/// one, or asks for one.
fn run(cx: &mut dyn CommandCx, verb: CallVerb, argument: &str) {
    let state = cx.state();
    if let Some(selected) = state.selected_call.filter(|_| argument.is_empty()) {
        return verb.apply(selected, cx);
    }
    let running = state.transcript.running_calls();
    let running: Vec<&ToolCall> = running.filter(|call| verb.applies_to(call)).collect();
    let named = running.iter().find(|call| call.tool == argument);
    let only = || {
        running
            .first()
            .filter(|_| running.len() == 1 && argument.is_empty())
    };
    if let Some(call) = named.or_else(only).map(|call| call.id) {
        return verb.apply(call, cx);
    }
    if running.is_empty() {
        return cx.notify(match verb {
            CallVerb::Cancel => Notice::info("No call is running."),
            CallVerb::Leave => Notice::info("No call runs as a task on its server.")
                .with_advice("Only a call that runs as a task can be left running."),
        });
    }
    if !argument.is_empty() && argument.parse::<usize>().is_err() {
        let name = Clean::name(argument);
        let notice = Notice::warning(format!("No call to `{name}` is running."));
        return cx.notify(notice.with_advice(match verb {
            CallVerb::Cancel => "/cancel lists the running calls.",
            CallVerb::Leave => "/leave lists the calls that can be left.",
        }));
    }
    let rows = running.iter().map(|call| PickRow {
        name: Clean::name(&call.tool).to_string(),
        note: Clean::name(call.server.as_str()).to_string(),
        effect: PickEffect::Call(verb, call.id),
    });
    let (title, keep) = match verb {
        CallVerb::Cancel => ("Running calls", "Cancel none"),
        CallVerb::Leave => ("Running tasks", "Leave none"),
    };
    let list = PickList {
        title,
        keep,
        current: None,
        rows: rows.collect(),
    };
    list.ask(argument, cx);
}

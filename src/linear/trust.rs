//! `/trust`, `/cancel` and `/leave`.

use super::state::Linear;
use crate::commands::FrontEndCommand;
use crate::domain::{ToolCall, ToolState, TrustEntry};
use crate::front_end::trust_text::{detail_lines, trust_line};
use crate::protocol::Command;
use crate::text::Clean;

impl Linear {
    /// Lists the lasting decisions. A chosen one is shown in full, and revoked after a question; a
    /// changed tool is reviewed.
    pub fn trust(&mut self) {
        let entries = self.engine.trust_entries.clone();
        if entries.is_empty() {
            return self.say("No lasting decisions. Tools ask before they run.");
        }
        let row = |entry: &TrustEntry| {
            let line = trust_line(entry);
            let tool = Clean::name(&line.tool);
            let server = Clean::name(&line.server);
            (format!("{tool} on {server}"), line.status)
        };
        let rows: Vec<(String, String)> = entries.iter().map(row).collect();
        self.pick(
            "Decisions",
            "Change nothing",
            &rows,
            move |linear, index| {
                let entry = entries[index].clone();
                for line in detail_lines(&entry) {
                    linear.output.clean_line(&Clean::unambiguous_line(&line));
                }
                if let TrustEntry::PendingPinChange(change) = entry {
                    return linear.send(Command::ReviewTool {
                        server: change.server.clone(),
                        tool: change.tool.name.clone(),
                    });
                }
                linear.confirm("Revoke this decision?", move |linear| {
                    linear.send(Command::Revoke(Box::new(entry)));
                });
            },
        );
    }

    /// `/cancel` and `/leave [NUMBER|TOOL]`: act on one running call.
    pub fn running_call(&mut self, command: FrontEndCommand, argument: &str) {
        let is_leave = command == FrontEndCommand::LeaveCall;
        let is_usable = |call: &&ToolCall| {
            let is_running = matches!(call.state, ToolState::Running { .. });
            is_running && (!is_leave || call.task.is_some())
        };
        let calls = self
            .transcript
            .entries()
            .iter()
            .filter_map(|entry| match &entry.body {
                crate::domain::EntryBody::Tool(call) => Some(&**call),
                _ => None,
            });
        let calls: Vec<ToolCall> = calls.filter(is_usable).cloned().collect();
        let command = move |call: &ToolCall| match is_leave {
            true => Command::LeaveCall(call.id),
            false => Command::CancelCall(call.id),
        };
        let named = calls.iter().find(|call| call.tool == argument);
        let named = named.or_else(|| super::lists::picked(&calls, argument));
        match (calls.as_slice(), named) {
            ([], _) if is_leave => self.say("No call runs as a task on its server."),
            ([], _) => self.say("No call is running."),
            (_, Some(call)) => self.send(command(call)),
            ([only], None) if argument.is_empty() => self.send(command(only)),
            _ => {
                let row = |call: &ToolCall| {
                    let (tool, server) =
                        (Clean::name(&call.tool), Clean::name(call.server.as_str()));
                    (tool.as_str().to_owned(), server.as_str().to_owned())
                };
                let rows: Vec<(String, String)> = calls.iter().map(row).collect();
                self.pick("Running calls", "None", &rows, move |linear, index| {
                    linear.send(command(&calls[index]));
                });
            }
        }
    }
}

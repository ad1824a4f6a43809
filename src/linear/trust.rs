//! `/trust`, `/cancel` and `/leave`.

use super::state::Linear;
use crate::domain::TrustEntry;
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
}

//! What is said of the calls of a turn: each in full when it is first heard of, its
//! end in a line.

use super::AskSession;
use super::summaries::{approval_text, call_summary, outcome_text};
use crate::domain::toolset::withheld_call_notice;
use crate::domain::{Notice, ToolCall, ToolOutcome, ToolState};
use crate::protocol::Ask;
use crate::text::Clean;

impl AskSession {
    /// A call in full when it is first heard of, its end in a line. One that is
    /// asked about is shown with its question.
    pub(super) fn report_call(&mut self, call: &ToolCall) {
        if call.quoted.is_some() {
            self.quoted_calls.insert(call.id);
        }
        let asked = call.state == ToolState::AwaitingApproval && self.tty_prompt.is_available();
        if asked {
            self.pending_calls.insert(call.id, call.clone());
        } else if self.printed_calls.insert(call.id) {
            self.print_error_line(&call_summary(call, None));
        }
        if let ToolState::Done(outcome) = &call.state {
            // An earlier run ruled it out.
            self.has_refused |= *outcome == ToolOutcome::Never;
            let words = outcome_text(outcome);
            let tool = Clean::quoted_if_needed(&call.tool);
            self.print_error_line(Clean::new(&format!("Tool {tool}: {words}")).as_str());
        }
    }

    /// A call of a tool that is withheld was refused, too.
    pub(super) fn report_notice(&mut self, notice: &Notice) {
        let mut names = self
            .servers
            .values()
            .flat_map(|server| &server.withheld_tools);
        self.has_refused |= names.any(|name| withheld_call_notice(name) == *notice);
        self.print_notice(notice);
    }

    /// Would it ask whatever the mode and the flags say?
    pub(super) fn asks_always(&self, question: &Ask) -> bool {
        match question {
            Ask::ApproveCalls(_) if self.is_trust_unreadable => true,
            Ask::ApproveCalls(calls) => calls
                .iter()
                .any(|call| self.quoted_calls.contains(&call.call)),
            _ => false,
        }
    }

    /// The calls that a question is about, in its order.
    pub(super) fn call_summaries(&mut self, question: &Ask) -> Vec<String> {
        let Ask::ApproveCalls(calls) = question else {
            return Vec::new();
        };
        let mut summaries = Vec::new();
        for asked in calls {
            if let Some(call) = self.pending_calls.remove(&asked.call) {
                self.printed_calls.insert(call.id);
                let columns = self.tty_prompt.columns();
                summaries.push(approval_text(&call, &asked.tool, columns));
            }
        }
        summaries
    }
}

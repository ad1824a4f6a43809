//! What is said of the calls of a turn: each in full when it is first heard of, its
//! end in a line.

use super::Headless;
use super::summaries::{asked_about, outcome_words, summary};
use crate::domain::toolset::withheld_called;
use crate::domain::{Notice, ToolCall, ToolOutcome, ToolState};
use crate::protocol::Ask;
use crate::text::Clean;

impl Headless {
    /// A call in full when it is first heard of, its end in a line. One that is
    /// asked about is shown with its question.
    pub(super) fn tool(&mut self, call: &ToolCall) {
        if call.quoted.is_some() {
            self.quoted.insert(call.id);
        }
        let asked = call.state == ToolState::AwaitingApproval && self.terminal.is_there();
        if asked {
            self.waiting.insert(call.id, call.clone());
        } else if self.shown.insert(call.id) {
            self.say(&summary(call, None));
        }
        if let ToolState::Done(outcome) = &call.state {
            // An earlier run ruled it out.
            self.refused |= *outcome == ToolOutcome::Never;
            let words = outcome_words(outcome);
            let tool = Clean::quoted_if_needed(&call.tool);
            self.say(Clean::new(&format!("Tool {tool}: {words}")).as_str());
        }
    }

    /// A call of a tool that is withheld was refused, too.
    pub(super) fn noted(&mut self, notice: &Notice) {
        let mut names = self.servers.values().flat_map(|server| &server.withheld);
        self.refused |= names.any(|name| withheld_called(name) == *notice);
        self.say_notice(notice);
    }

    /// Would it ask whatever the mode and the flags say?
    pub(super) fn asks_always(&self, question: &Ask) -> bool {
        match question {
            Ask::Approve(_) if self.doubtful => true,
            Ask::Approve(calls) => calls.iter().any(|call| self.quoted.contains(&call.call)),
            _ => false,
        }
    }

    /// The calls that a question is about, in its order.
    pub(super) fn summaries(&mut self, question: &Ask) -> Vec<String> {
        let Ask::Approve(calls) = question else {
            return Vec::new();
        };
        let mut summaries = Vec::new();
        for asked in calls {
            if let Some(call) = self.waiting.remove(&asked.call) {
                self.shown.insert(call.id);
                let columns = self.terminal.columns();
                summaries.push(asked_about(&call, &asked.tool, columns));
            }
        }
        summaries
    }
}

//! Reports tool calls on standard error: in full when they first appear, and then their outcome.

use super::AskSession;
use super::summaries::{approval_text, call_summary, outcome_text};
use super::tty_prompt::CallTexts;
use crate::domain::toolset::withheld_call_notice;
use crate::domain::{AgentResult, Notice, ToolCall, ToolOutcome, ToolState, TurnEvent};
use crate::protocol::{CallToApprove, Question};
use crate::text::Clean;
use std::io::{self, IsTerminal};
use std::time::Instant;

impl AskSession {
    /// Prints a new call in full, and the outcome of a finished call. A call that needs approval is
    /// printed later, with its question.
    pub(super) fn report_call(&mut self, call: &ToolCall) {
        if call.quoted.is_some() {
            self.quoted_calls.insert(call.id);
        }
        let will_ask = call.state == ToolState::AwaitingApproval && self.tty_prompt.is_available();
        if will_ask {
            self.pending_calls.insert(call.id, call.clone());
        } else if self.printed_calls.insert(call.id) {
            self.print_to_stderr(&call_summary(call, None));
        }
        if let ToolState::Done(outcome) = &call.state {
            // The user blocked the tool earlier.
            self.has_refused_calls |= *outcome == ToolOutcome::Never;
            let text = outcome_text(outcome);
            let tool = Clean::quoted_if_needed(&call.tool);
            self.print_to_stderr(Clean::new(&format!("Tool {tool}: {text}")).as_str());
            if !call.user_text.is_empty() {
                self.print_to_stderr(Clean::new(&call.user_text).as_str());
            }
        }
    }

    /// A call to a withheld tool counts as refused.
    pub(super) fn report_notice(&mut self, notice: &Notice) {
        let mut names = self
            .servers
            .values()
            .flat_map(|server| &server.withheld_tools);
        self.has_refused_calls |= names.any(|name| withheld_call_notice(name) == *notice);
        self.print_notice(notice);
    }

    pub(super) fn report_failed_request(&mut self, notice: &Notice) {
        self.has_failed_request = true;
        self.print_notice(notice);
    }

    /// Any event except the agent's progress ends its work.
    pub(super) fn report_agent_activity(&mut self, event: &TurnEvent) {
        let activity = &mut self.agent_activity;
        let lines: Vec<String> = match event {
            TurnEvent::AgentWorking { text } => {
                let is_terminal = io::stderr().is_terminal();
                activity.report(text, Instant::now(), is_terminal).collect()
            }
            _ => activity.finish().into_iter().collect(),
        };
        for line in lines {
            self.print_to_stderr(&format!("{}…", Clean::single_line(&line)));
        }
    }

    pub(super) fn report_agent_result(&self, result: &AgentResult) {
        let text = match result {
            AgentResult::NoteCreated { path, .. } => format!("note created  {path}"),
            result => result.summary(),
        };
        if !self.request.is_json {
            self.print_to_stderr(Clean::new(&text).as_str());
        }
    }

    /// The calls of an approval in full, in the order of the question. The question is asked even in auto
    /// mode and with --yes or --allow if one of them contains text from outside.
    pub(super) fn call_texts(&mut self, question: &Question) -> CallTexts {
        let calls = question.calls();
        let is_quoted = |call: &CallToApprove| self.quoted_calls.contains(&call.call);
        let mut texts = CallTexts {
            always_needs_approval: self.is_trust_unreadable || calls.iter().any(is_quoted),
            ..CallTexts::default()
        };
        for request in calls {
            if let Some(call) = self.pending_calls.remove(&request.call) {
                self.printed_calls.insert(call.id);
                let columns = self.tty_prompt.columns();
                let summary = approval_text(&call, &request.tool, columns);
                texts.summaries.push(summary);
            }
        }
        texts
    }
}

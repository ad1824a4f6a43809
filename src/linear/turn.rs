//! The text of a turn: thinking, the answer in whole sentences, tool calls and their outcomes.

use super::state::Linear;
use crate::domain::starting_servers::starting_text;
use crate::domain::{
    PieceKind, ProgressAmount, ToolCall, ToolOutcome, ToolProgress, ToolState, TurnEnd, TurnEvent,
    TurnId, WaitReason,
};
use crate::front_end::call_summary::{argument_summary, outcome_summary};
use crate::headless::summaries::{call_summary, outcome_text};
use crate::text::Clean;
use crate::text::sanitize::Sanitizer;
use std::time::Duration;
use tokio::time::Instant;

/// Pause between two lines about progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);
const THINKING_START: &str = "<<< Thinking >>>";
const THINKING_END: &str = "<<< End Thinking >>>";

impl Linear {
    pub fn turn_event(&mut self, turn: TurnId, event: &TurnEvent) {
        if self.conversation.requested_summary == Some(turn) {
            match event {
                TurnEvent::Started { .. } => self.conversation.requested_summary = None,
                TurnEvent::Ended { end, .. } => {
                    self.conversation.requested_summary = None;
                    if let TurnEnd::Failed { notice } = end {
                        self.output.notice(notice);
                    }
                    return;
                }
                _ => {}
            }
        }
        self.print_turn_event(event);
        let was_running = self.transcript.running_turn() == Some(turn);
        self.transcript.apply(turn, event);
        if let TurnEvent::Started { prompt, .. } = event {
            self.conversation.last_prompt = Some(prompt.clone());
        }
        if let TurnEvent::Ended { end, .. } = event
            && was_running
        {
            self.turn_ended(turn, end);
        }
    }

    fn print_turn_event(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::RoundStarted { .. } => {
                self.turn.think_buffer.start_reply();
                self.turn.round_text.clear();
                self.turn.has_text = false;
                self.turn.last_wait = Some(WaitReason::Response);
                self.other_line("Waiting for response...");
            }
            TurnEvent::Waiting { wait } if self.turn.last_wait != Some(*wait) => {
                self.print_wait(*wait);
            }
            TurnEvent::Retrying {
                after,
                attempt,
                attempts_max,
                why,
            } => {
                let seconds = after.as_secs_f64().ceil();
                self.output.notice(why);
                self.other_line(&format!(
                    "Retrying in {seconds} s ({attempt} of {attempts_max})"
                ));
            }
            TurnEvent::Delta {
                kind: PieceKind::Thinking,
                text,
                ..
            } => {
                self.release_text();
                self.print_thinking(text);
            }
            TurnEvent::Delta {
                kind: PieceKind::Text,
                text,
                ..
            } => {
                self.end_thinking();
                self.turn.round_text.push_str(text);
                let text = self.turn.think_buffer.push(text);
                self.print_text(&text);
            }
            TurnEvent::Reclassified {
                to: PieceKind::Thinking,
                ..
            } => self.reclassify_as_thinking(),
            // Nothing can be inserted before printed text, so all of the text is printed again.
            TurnEvent::Restored { text, .. } => {
                self.finish_text();
                self.print_text(text);
            }
            TurnEvent::RoundEnded { .. } => {
                self.release_text();
                self.end_thinking();
                self.finish_text();
            }
            TurnEvent::Tool(call) => self.print_call(call),
            TurnEvent::Noted(notice) | TurnEvent::AgentFailed(notice) => {
                self.finish_text();
                self.output.notice(notice);
            }
            TurnEvent::AgentWorking { text } => self.print_progress(&format!("{text}...")),
            TurnEvent::AgentActed(result) => self.other_line(&result.summary()),
            _ => {}
        }
    }

    fn print_wait(&mut self, wait: WaitReason) {
        self.turn.last_wait = Some(wait);
        match wait {
            WaitReason::ModelLoading => self.other_line("Loading model..."),
            WaitReason::StartingServers => self.print_starting_servers(),
            WaitReason::Response | WaitReason::Retrying => {}
        }
    }

    fn print_starting_servers(&mut self) {
        let starting = starting_text(&self.servers);
        let starting = starting.unwrap_or_else(|| "Servers are starting".to_owned());
        self.other_line(&format!("{starting}. Enter on an empty line sends now."));
    }

    /// Prints a line that is not part of the answer.
    fn other_line(&mut self, line: &str) {
        self.end_thinking();
        self.finish_text();
        self.output.line(line);
    }

    fn print_thinking(&mut self, text: &str) {
        if self.turn.hides_thinking {
            return;
        }
        self.finish_text_of(true);
        if !std::mem::replace(&mut self.turn.is_thinking, true) {
            self.output.line(THINKING_START);
        }
        let complete = self.turn.sentences.push(text);
        let clean = self.turn.sanitizer.push(&complete);
        self.output.part(&clean);
    }

    pub fn end_thinking(&mut self) {
        if std::mem::replace(&mut self.turn.is_thinking, false) {
            let rest = self.turn.sentences.finish();
            let clean = self.turn.sanitizer.push(&rest);
            self.output.part(&clean);
            self.turn.sanitizer = Sanitizer::default();
            self.output.line(THINKING_END);
        }
    }

    fn print_text(&mut self, text: &str) {
        let complete = self.turn.sentences.push(text);
        self.print_complete(&complete);
    }

    fn print_complete(&mut self, complete: &str) {
        let is_start = !self.turn.is_in_text;
        // A blank line before the answer only separates it from the thinking.
        let complete = if is_start {
            complete.trim_start_matches(['\n', '\r'])
        } else {
            complete
        };
        if complete.is_empty() {
            return;
        }
        if is_start {
            self.turn.is_in_text = true;
            self.turn.has_text = true;
            self.output.end_line();
            let name = Clean::single_line(&format!("{}: ", self.turn.model));
            self.output.part(&name);
        }
        let clean = self.turn.sanitizer.push(complete);
        self.output.part(&clean);
    }

    /// Prints the text that was held back because it might have been thinking.
    fn release_text(&mut self) {
        let text = self.turn.think_buffer.release();
        self.print_text(&text);
    }

    /// Prints the rest of the text, and ends its line.
    pub fn finish_text(&mut self) {
        self.finish_text_of(false);
    }

    fn finish_text_of(&mut self, is_before_thinking: bool) {
        if self.turn.is_thinking {
            return;
        }
        let is_open = self.turn.is_in_text;
        let rest = self.turn.sentences.finish();
        self.print_complete(&rest);
        if is_open || !rest.is_empty() {
            self.turn.is_in_text = false;
            self.turn.sanitizer = Sanitizer::default();
            self.output.end_line();
        } else if is_before_thinking {
            self.turn.sanitizer = Sanitizer::default();
        }
    }

    fn reclassify_as_thinking(&mut self) {
        let text = std::mem::take(&mut self.turn.round_text);
        if text.is_empty() {
            return;
        }
        if self.turn.think_buffer.take_thinking().is_none() {
            self.finish_text();
            self.output
                .line("(The text above was thinking; the answer follows.)");
        } else {
            self.print_thinking(&text);
            self.end_thinking();
        }
    }

    /// A call that runs without a question is printed in full when it starts.
    fn print_call(&mut self, call: &ToolCall) {
        let is_asked = matches!(
            call.state,
            ToolState::Proposed | ToolState::AwaitingApproval
        );
        if is_asked {
            return;
        }
        self.end_thinking();
        self.finish_text();
        if self.turn.printed_calls.insert(call.id) {
            let columns = self.tty.columns();
            self.output.line(&call_summary(call, Some(columns)));
        }
        match &call.state {
            ToolState::Done(outcome) => {
                self.output.line(&outcome_line(call, outcome));
                if !call.user_text.is_empty() {
                    self.output.line(&call.user_text);
                }
            }
            ToolState::Running {
                progress: Some(progress),
            } => self.print_progress(&progress_line(call, progress)),
            _ => {}
        }
    }

    /// Prints progress rarely: a screen reader reads every line.
    fn print_progress(&mut self, line: &str) {
        let printed_at = self.turn.progress_printed_at;
        if printed_at.is_none_or(|at| at.elapsed() >= PROGRESS_INTERVAL) {
            self.turn.progress_printed_at = Some(Instant::now());
            self.other_line(line);
        }
    }

    fn turn_ended(&mut self, turn: TurnId, end: &TurnEnd) {
        let is_answered = self.transcript.is_answered(turn);
        self.end_thinking();
        self.finish_text();
        match end {
            // For example, thinking that turned out to be the answer.
            TurnEnd::Answered { text, .. } if !self.turn.has_text => {
                self.print_text(text);
                self.finish_text();
            }
            TurnEnd::Answered { .. } => {}
            TurnEnd::Failed { notice } => self.output.notice(notice),
            TurnEnd::Cancelled | TurnEnd::Stopped if is_answered => self
                .output
                .line("(stopped) The model sees it up to here. /continue resumes, /undo drops it."),
            TurnEnd::Cancelled => self.output.line("(cancelled)"),
            TurnEnd::Refused => self
                .output
                .line("You refused the call, so the turn has ended."),
            TurnEnd::Stopped => self.output.line("(stopped)"),
        }
        let replaced = self.conversation.turn_ended(turn, end, &self.transcript);
        if let Some(notice) = replaced {
            self.notify(notice);
        }
        self.interrupt_deadline = None;
        match matches!(end, TurnEnd::Answered { .. }) {
            true => self.send_queued(),
            false if self.queue.is_empty() => {}
            false => {
                let count = self.queue.len();
                self.say(&format!(
                    "Queued prompts: {count}. Enter on an empty line sends the next one."
                ));
            }
        }
    }
}

/// `index: 40 %, reading`, not sanitized.
fn progress_line(call: &ToolCall, progress: &ToolProgress) -> String {
    let amount = match progress.amount() {
        ProgressAmount::Fraction(fraction) => format!("{:.0} %", fraction * 100.0),
        ProgressAmount::Count(count) => format!("{count}"),
    };
    let message = progress.message.as_deref().unwrap_or_default();
    let gap = if message.is_empty() { "" } else { ", " };
    let tool = Clean::quoted_if_needed(&call.tool);
    format!("{tool}: {amount}{gap}{message}")
}

/// `get-sum 17, 25: 42 (0.1 s)`, not sanitized.
fn outcome_line(call: &ToolCall, outcome: &ToolOutcome) -> String {
    let tool = Clean::quoted_if_needed(&call.tool);
    let arguments = argument_summary(&call.arguments);
    let gap = if arguments.is_empty() { "" } else { " " };
    let result = outcome_summary(call);
    let text = match (outcome, result) {
        (ToolOutcome::Succeeded { elapsed, .. }, Some(result)) => {
            format!("{result} ({:.1} s)", elapsed.as_secs_f64())
        }
        _ => outcome_text(outcome),
    };
    format!("{tool}{gap}{arguments}: {text}")
}

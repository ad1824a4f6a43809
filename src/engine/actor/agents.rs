//! Connects note agents to the conversation's turn, and handles the commands for notes.

use super::Actor;
use crate::domain::{Notice, OpenNote, QuoteSource};
use crate::engine::active_turn::{ActingAgent, AgentSignal};
use crate::engine::agents::{AgentStep, Preparation};
use crate::engine::injection_guard::scan_untrusted;
use crate::engine::jobs::JobResult;
use crate::engine::turn::{AgentPlan, ModelAnswer, TurnInput};
use crate::protocol::{Event, NoteCommand};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;

impl Actor {
    /// Lets an agent prepare the turn. The text of notes is scanned before the model sees it.
    pub(super) fn acting_agent(&self, preparation: Preparation) -> ActingAgent {
        let offered = Arc::clone(&self.toolset);
        let prepared = async move {
            let step = preparation.await;
            let untrusted_text = match &step {
                Ok(
                    AgentStep::Answer { untrusted_text, .. }
                    | AgentStep::AddToPrompt { untrusted_text, .. }
                    | AgentStep::AskModel { untrusted_text, .. },
                ) if !untrusted_text.is_empty() => Some(
                    scan_untrusted(QuoteSource::Context, untrusted_text.clone(), offered).await,
                ),
                _ => None,
            };
            AgentSignal::Prepared(step, untrusted_text)
        };
        ActingAgent {
            task: Some(prepared.boxed()),
            finish: None,
        }
    }

    pub(super) fn handle_agent_signal(&mut self, signal: AgentSignal) {
        match signal {
            AgentSignal::Prepared(step, untrusted_text) => {
                if let Some(untrusted_text) = untrusted_text {
                    self.guard.add(Arc::clone(&untrusted_text));
                    self.feed(TurnInput::UntrustedTextScanned(untrusted_text));
                }
                let plan = self.plan_of(step);
                self.feed(TurnInput::AgentPrepared(plan));
            }
            AgentSignal::Finished(Ok(finished)) => {
                self.agents.set_undoable_note(finished.created);
                self.feed(TurnInput::AgentFinished(Ok(finished.result)));
            }
            AgentSignal::Finished(Err(notice)) => self.feed(TurnInput::AgentFinished(Err(notice))),
        }
    }

    fn plan_of(&mut self, step: Result<AgentStep, Notice>) -> AgentPlan {
        match step {
            Err(notice) => AgentPlan::PassOn(notice),
            Ok(AgentStep::Answer { text, result, .. }) => AgentPlan::Answer { text, result },
            Ok(AgentStep::AddToPrompt {
                excerpts, result, ..
            }) => AgentPlan::AddToPrompt { excerpts, result },
            Ok(AgentStep::AskModel { prompt, finish, .. }) => {
                if let Some(turn) = &mut self.turn {
                    turn.agent.finish = Some(finish);
                }
                AgentPlan::AskModel(prompt)
            }
        }
    }

    /// Gives the model's answer to the agent.
    pub(super) fn finish_agent(&mut self, answer: ModelAnswer) {
        if let Some(turn) = &mut self.turn
            && let Some(finish) = turn.agent.finish.take()
        {
            turn.agent.task = Some(finish(answer).map(AgentSignal::Finished).boxed());
        }
    }

    pub(super) fn route_note_command(&mut self, command: NoteCommand) {
        let notice = match command {
            NoteCommand::Open(note) => {
                let found = self.agents.find_note(note, self.cx.settings.notes());
                self.cx.jobs.spawn(found.map(JobResult::NoteFound));
                return;
            }
            NoteCommand::Consult(consults_notes) => {
                let settings = self.cx.settings.notes();
                let notice = self.agents.set_consulting(consults_notes, settings);
                return self.report_later(notice);
            }
            NoteCommand::ShowConsulting => {
                let settings = self.cx.settings.notes();
                let notice = self.agents.describe_consulting(settings);
                return self.report_later(notice);
            }
            NoteCommand::Close => self.agents.close_note(),
            NoteCommand::ShowOpen => self.agents.describe_open_note(),
        };
        self.cx.notice(notice);
    }

    pub(super) fn handle_note_found(&mut self, result: Result<OpenNote, Notice>) {
        let notice = result.map(|note| self.agents.set_open_note(note));
        self.cx.notice(notice.unwrap_or_else(|notice| notice));
    }

    /// Removes the note that the undone turn created.
    pub(super) fn undo_note(&mut self) {
        if let Some(undone) = self.agents.undo_note() {
            self.report_later(undone);
        }
    }

    fn report_later(&mut self, notice: BoxFuture<'static, Notice>) {
        let reported = notice.map(|notice| JobResult::Events(vec![Event::NoticePosted(notice)]));
        self.cx.jobs.spawn(reported);
    }
}

//! Connects note agents to the conversation's turn, and handles the commands for notes.

use super::Actor;
use crate::domain::{
    Advice, BannerCause, NotePaths, Notice, OpenNote, QuoteSource, Severity, WrittenNote,
};
use crate::engine::active_turn::{ActingAgent, AgentSignal};
use crate::engine::agents::{AgentStep, FinishAgent, Preparation};
use crate::engine::jobs::JobResult;
use crate::engine::settings::notes_folder;
use crate::engine::turn::{AgentPlan, ModelAnswer, TurnInput};
use crate::protocol::{Event, NoteCommand};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::path::PathBuf;

impl Actor {
    pub(super) fn acting_agent(&self, preparation: Preparation) -> ActingAgent {
        let Preparation { step, progress, .. } = preparation;
        let prepared = step.map(AgentSignal::Prepared);
        ActingAgent {
            task: Some(prepared.boxed()),
            progress: Some(progress),
            finish: None,
            is_side_request: false,
        }
    }

    pub(super) fn handle_agent_signal(&mut self, signal: AgentSignal) {
        match signal {
            AgentSignal::Prepared(step) => {
                let plan = self.plan_of(step);
                self.feed(TurnInput::AgentPrepared(plan));
            }
            AgentSignal::Progressed(text) => self.feed(TurnInput::AgentProgressed(text)),
            AgentSignal::Finished(Ok(mut result)) => {
                self.agents.keep_new_remarks_of(&mut result);
                self.agents.set_unfinished_note(None);
                self.feed(TurnInput::AgentFinished(Ok(result)));
            }
            AgentSignal::Finished(Err(unused)) => {
                self.agents.set_unfinished_note(unused.unfinished_note);
                self.feed(TurnInput::AgentFinished(Err(unused.notice)));
            }
        }
    }

    fn plan_of(&mut self, step: Result<AgentStep, Notice>) -> AgentPlan {
        match step {
            Err(notice) => AgentPlan::RequestFailed(self.without_reason_of_banner(notice)),
            Ok(AgentStep::NothingFound {
                notice,
                mut remarks,
            }) => {
                self.agents.keep_new_remarks(&mut remarks);
                AgentPlan::RequestFailed(match remarks.is_empty() {
                    true => notice,
                    false => notice.with_reason(remarks.join(" ")),
                })
            }
            Ok(AgentStep::PassOn(notice)) => {
                AgentPlan::PassOn(self.without_reason_of_banner(notice))
            }
            Ok(AgentStep::Answer {
                text, mut result, ..
            }) => {
                self.agents.keep_new_remarks_of(&mut result);
                // It becomes an answer of the conversation, but quotes notes.
                self.guards.current().keep(QuoteSource::Notes, &text);
                AgentPlan::Answer { text, result }
            }
            Ok(AgentStep::AddToPrompt {
                excerpts,
                mut result,
                ..
            }) => {
                self.agents.keep_new_remarks_of(&mut result);
                AgentPlan::AddToPrompt { excerpts, result }
            }
            Ok(AgentStep::AskModel { prompt, finish, .. }) => {
                self.set_agent_finish(finish);
                if let Some(turn) = &mut self.turn {
                    turn.agent.is_side_request = true;
                }
                AgentPlan::AskModel(prompt)
            }
            Ok(AgentStep::UseAnswer(finish)) => {
                self.set_agent_finish(finish);
                AgentPlan::UseAnswer
            }
        }
    }

    /// Removes from `notice` what the banner about an unusable notes folder already says.
    fn without_reason_of_banner(&self, mut notice: Notice) -> Notice {
        let banner = self.cx.banners.get(&BannerCause::UnusableVault);
        let Some(reason) = banner.map(|banner| &banner.notice.what) else {
            return notice;
        };
        if notice.what == *reason {
            return Notice::info("The notes were not used.");
        }
        if notice.why.as_ref() == Some(reason) {
            notice.why = None;
        }
        notice
    }

    fn set_agent_finish(&mut self, finish: FinishAgent) {
        if let Some(turn) = &mut self.turn {
            turn.agent.finish = Some(finish);
        }
    }

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
            NoteCommand::FindPaths(fragment) => return self.find_note_paths(fragment),
            NoteCommand::Consult(consults_notes) => return self.set_consulting(consults_notes),
            NoteCommand::UseFolder(typed) => return notes_folder::check(typed, &mut self.cx),
            NoteCommand::ShowConsulting => return self.report_consulting(),
            NoteCommand::Close => self.agents.close_note(),
            NoteCommand::ShowOpen => self.agents.describe_open_note(&self.cx.settings.notes()),
        };
        self.cx.notice(notice);
    }

    fn find_note_paths(&mut self, fragment: String) {
        let settings = self.cx.settings.notes();
        self.agents.find_paths(fragment, settings, &mut self.cx);
    }

    pub(super) fn handle_note_paths(&mut self, fragment: String, found: Result<NotePaths, Notice>) {
        let search = &mut self.agents.path_search;
        if let Some(next) = search.handle_found(fragment, found, &mut self.cx) {
            self.find_note_paths(next);
        }
    }

    pub(super) fn handle_note_found(&mut self, result: Result<OpenNote, Notice>) {
        let notice = result.map(|note| self.agents.set_open_note(note));
        self.cx.notice(notice.unwrap_or_else(|notice| notice));
    }

    /// Starts or stops sending excerpts of notes with the prompts of this conversation. Cannot start
    /// without a vault; the notice then gives the reason.
    fn set_consulting(&mut self, consults_notes: bool) {
        let has_vault = !self.cx.settings.notes().vaults.is_empty();
        self.conversation
            .set_consults_notes(consults_notes && has_vault);
        self.persist.save_conversation(&self.conversation, &self.cx);
        match consults_notes {
            true => self.report_consulting(),
            false => self
                .cx
                .notice(Notice::info("Notes are no longer sent with prompts.")),
        }
    }

    /// Reports whether notes are sent with prompts, once the index is up to date.
    fn report_consulting(&mut self) {
        let notice = self.describe_consulting();
        self.report_later(notice);
    }

    /// Reports the new folder of notes, once it is indexed. The folder may still be empty.
    pub(super) fn report_notes_folder(&mut self, folder: PathBuf) {
        let notice = self.describe_consulting();
        self.report_later(Box::pin(async move {
            let notice = notice.await;
            match notice.severity {
                Severity::Info => notice,
                _ => Notice::info(format!("The notes folder is now {}.", folder.display()))
                    .with_reason(notice.summary()),
            }
        }));
    }

    fn describe_consulting(&mut self) -> BoxFuture<'static, Notice> {
        let waiting = Notice::info("Reading the notes…");
        // Posted directly rather than by a job, so that it is shown before the result.
        self.cx.outbox.push(Event::NoticePosted(waiting));
        let metadata = &self.conversation.session().metadata;
        let consults_notes = metadata.consults_notes == Some(true);
        let settings = self.cx.settings.notes();
        self.agents.describe_consulting(consults_notes, settings)
    }

    /// Notifies the user if notes are sent with the prompts of a conversation that was just opened.
    pub(super) fn announce_consulting(&mut self) {
        let metadata = &self.conversation.session().metadata;
        let has_vault = !self.cx.settings.notes().vaults.is_empty();
        if metadata.consults_notes == Some(true) && has_vault {
            let notice = Notice::info("This conversation sends excerpts of notes with prompts.");
            self.cx.notice(notice.with_advice(Advice::StopConsulting));
        }
    }

    /// Removes notes of turns that are no longer part of the conversation.
    pub(super) fn remove_notes(
        &mut self,
        written: Vec<WrittenNote>,
        reason: &'static str,
        new_note: Option<&str>,
    ) {
        let settings = self.cx.settings.notes();
        for notice in self
            .agents
            .remove_notes(written, reason, new_note, settings)
        {
            self.report_later(notice);
        }
    }

    pub(super) fn report_later(&mut self, notice: BoxFuture<'static, Notice>) {
        let reported = notice.map(|notice| JobResult::Events(vec![Event::NoticePosted(notice)]));
        self.cx.jobs.spawn(reported);
    }
}

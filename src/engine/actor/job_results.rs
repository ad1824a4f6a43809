//! Routes results of background jobs and answers to questions to their owners.

use super::Actor;
use crate::config::ConfigError;
use crate::domain::{Advice, AskId, Dialect, ModelRef, Notice};
use crate::engine::imports;
use crate::engine::jobs::{JobResult, RecoveryResult};
use crate::engine::questions::PendingQuestion;
use crate::engine::server_requests::ReadyReply;
use crate::engine::settings::notes_folder;
use crate::engine::turn::TurnInput;
use crate::protocol::{UserAnswer, UserChoice};

impl Actor {
    pub(super) fn handle_job_result(&mut self, result: JobResult) {
        self.cx.report_tightened_permissions();
        if result.is_config_write() {
            self.settings.handle_config_written(&mut self.cx);
        }
        match result {
            JobResult::Nothing => {}
            JobResult::Events(events) => events
                .into_iter()
                .for_each(|event| self.cx.outbox.push(event)),
            JobResult::FilesFound(query, found) => {
                self.attachments.handle_found(query, found, &mut self.cx);
            }
            JobResult::Sessions(result) => self.handle_session_result(result),
            JobResult::Recovery(RecoveryResult::Scanned(scan)) => {
                self.recovery.handle_scan(scan, &mut self.cx);
            }
            JobResult::Recovery(RecoveryResult::Opened(resumed)) => self.resume(*resumed),
            JobResult::Recovery(RecoveryResult::NotOpened(why)) => self.handle_not_resumed(&why),
            JobResult::Settings(result) => self.handle_settings_result(result),
            JobResult::ConfigWritten(Ok(())) => {}
            JobResult::ConfigWritten(Err(error)) | JobResult::ServersAdded(Err(error)) => {
                self.cx.notice(error.notice_while_running());
            }
            JobResult::SwitchNotSaved(switch, error) => {
                self.cx.notice(error.notice_not_saved(&switch));
            }
            JobResult::ConfigWritePanicked => {
                let notice = Notice::failure("Saving the settings failed unexpectedly.");
                self.cx.notice(notice.with_advice(Advice::ShowLog));
            }
            JobResult::ServersAdded(Ok(count)) => {
                let announcement = imports::added_notice(count);
                self.settings.read_own_additions(announcement, &mut self.cx);
            }
            JobResult::NewServer(result) => self.handle_new_server(result),
            JobResult::ModelAdded(model, result) => {
                self.models.handle_model_added(*model, result, &mut self.cx);
            }
            JobResult::DialectSaved(model, dialect, result) => {
                self.handle_dialect_saved(&model, dialect, result);
            }
            JobResult::SessionEstimated(conversation, shares) => {
                self.handle_session_estimate(conversation, shares)
            }
            JobResult::NoteFound(result) => self.handle_note_found(result),
            JobResult::NotePathsFound(fragment, found) => {
                self.handle_note_paths(fragment, found);
            }
            JobResult::PageOpened(request, result) => {
                // The request may have been withdrawn while the browser started.
                if self.hub.has_request(request.id) {
                    let (requests, cx) = (&mut self.server_requests, &mut self.cx);
                    let reply = requests.handle_page_opened(request, result, cx);
                    self.reply_to_servers(reply);
                }
            }
            JobResult::Sampled(request, result) => {
                let (requests, cx) = (&mut self.server_requests, &mut self.cx);
                let reply = requests.handle_sampled(request, result, cx);
                self.reply_to_servers(reply);
            }
            JobResult::HomePrepared(banners) => self.cx.handle_home_prepared(banners),
        }
    }

    /// Applies a dialect once it has been written to the file.
    fn handle_dialect_saved(
        &mut self,
        model: &ModelRef,
        dialect: Dialect,
        result: Result<(), ConfigError>,
    ) {
        if result.is_ok() {
            let mut models = self.cx.settings.models.iter_mut();
            if let Some(listed) = models.find(|listed| listed.reference() == *model) {
                listed.dialect = dialect;
            }
            self.models.set_dialect(model, dialect);
        }
        self.probe
            .handle_dialect_saved(model, dialect, result, &mut self.cx);
    }

    pub(super) fn reply_to_servers(&self, replies: impl IntoIterator<Item = ReadyReply>) {
        for (id, reply) in replies {
            self.hub.reply(id, reply);
        }
    }

    pub(super) fn route_answer(&mut self, ask: AskId, answer: UserAnswer) {
        match self.cx.withdraw(ask) {
            Some(pending) => self.handle_answer(pending, &answer),
            None => self.feed(TurnInput::Answered { ask, answer }),
        }
    }

    fn handle_answer(&mut self, pending: PendingQuestion, answer: &UserAnswer) {
        let choice = match &answer {
            UserAnswer::Choice(choice) => *choice,
            UserAnswer::Calls(_) | UserAnswer::Form(_) | UserAnswer::Dismissed => UserChoice::Stop,
        };
        match pending {
            PendingQuestion::GrowContext { to } => {
                let outputs = self.models.context.handle_grow_answer(to, choice);
                self.perform_budget_outputs(outputs);
            }
            PendingQuestion::RemoveModel { server, name } => {
                let turn_model = self.turn.as_ref().and_then(|turn| turn.model.as_deref());
                let cx = &mut self.cx;
                self.models
                    .handle_remove_answer(server, name, choice, turn_model, cx);
            }
            PendingQuestion::SaveDialect { model, to } => {
                self.probe
                    .handle_save_answer(model, to, choice, &mut self.cx);
            }
            PendingQuestion::ExternalEdit {
                edited,
                base,
                changes,
            } => {
                self.handle_edits_answer(*edited, &base, &changes, choice);
            }
            PendingQuestion::ReplaceSystemPrompt(text) => {
                self.settings
                    .handle_replace_prompt_answer(text, choice, &mut self.cx);
            }
            PendingQuestion::UseNotesFolder(folder) => {
                notes_folder::handle_answer(folder, choice, &mut self.cx);
            }
            PendingQuestion::Unfinished(turns) => {
                self.recovery
                    .handle_resume_answer(turns, choice, &mut self.cx);
            }
            PendingQuestion::DiscardUnfinished(turns) => {
                self.recovery
                    .handle_discard_answer(turns, choice, &mut self.cx);
            }
            PendingQuestion::PinChanged(change) => self.handle_pin_answer(*change, answer),
            PendingQuestion::ServerRequest(request) => {
                let (requests, cx) = (&mut self.server_requests, &mut self.cx);
                let context = &self.models.context;
                let replies = requests.handle_answer(request, answer, context, cx);
                self.reply_to_servers(replies);
            }
            PendingQuestion::Instructions(consent) => {
                let servers = self.hub.servers();
                self.trust
                    .handle_instructions_answer(consent, answer, &servers, &mut self.cx);
            }
        }
    }
}

//! Routes results of background jobs and answers to questions to their owners.

use super::Actor;
use crate::config::ConfigError;
use crate::domain::{AskId, Dialect, ModelRef};
use crate::engine::jobs::{JobResult, RecoveryResult};
use crate::engine::questions::PendingQuestion;
use crate::engine::turn::TurnInput;
use crate::protocol::{UserAnswer, UserChoice};

impl Actor {
    pub(super) fn job_done(&mut self, result: JobResult) {
        self.cx.report_narrowed_permissions();
        if result.is_config_write() {
            self.settings.config_written(&mut self.cx);
        }
        match result {
            JobResult::Nothing => {}
            JobResult::Events(events) => events
                .into_iter()
                .for_each(|event| self.cx.outbox.push(event)),
            JobResult::Sessions(result) => self.session_result(result),
            JobResult::Recovery(RecoveryResult::Scanned(scan)) => {
                self.recovery.scanned(scan, &mut self.cx);
            }
            JobResult::Recovery(RecoveryResult::Opened(resumed)) => self.resume(*resumed),
            JobResult::Settings(result) => self.settings_result(result),
            JobResult::ConfigWritten(Ok(())) => {}
            JobResult::ConfigWritten(Err(fault)) => {
                self.cx.notice(fault.notice_while_running());
            }
            JobResult::ModelAdded(model, written) => {
                self.models.model_added(*model, written, &mut self.cx);
            }
            JobResult::DialectStored(model, dialect, stored) => {
                self.dialect_stored(&model, dialect, stored);
            }
            JobResult::SessionEstimated(conversation, weight) => {
                self.session_estimated(conversation, weight)
            }
            JobResult::MessagesRead(conversation, untrusted_text) => {
                self.messages_read(conversation, untrusted_text)
            }
            JobResult::HomePrepared(banners) => self.cx.home_prepared(banners),
        }
    }

    /// Applies a dialect that was written to the file.
    fn dialect_stored(
        &mut self,
        model: &ModelRef,
        dialect: Dialect,
        stored: Result<(), ConfigError>,
    ) {
        if stored.is_ok() {
            let mut models = self.cx.settings.models.iter_mut();
            if let Some(listed) = models.find(|listed| listed.reference() == *model) {
                listed.dialect = dialect;
            }
            self.models.set_dialect(model, dialect);
        }
        self.probe
            .dialect_stored(model, dialect, stored, &mut self.cx);
    }

    pub(super) fn answer(&mut self, ask: AskId, answer: UserAnswer) {
        match self.cx.withdraw(ask) {
            Some(pending) => self.answered(pending, &answer),
            None => self.feed(TurnInput::Answered { ask, answer }),
        }
    }

    fn answered(&mut self, pending: PendingQuestion, answer: &UserAnswer) {
        let choice = match &answer {
            UserAnswer::Choice(choice) => *choice,
            UserAnswer::Calls(_) | UserAnswer::Dismissed => UserChoice::Stop,
        };
        match pending {
            PendingQuestion::GrowContext { to } => {
                let outputs = self.models.context.answered(to, choice);
                self.budget_outputs(outputs);
            }
            PendingQuestion::AddModel { server, name } => {
                let cx = &mut self.cx;
                self.models.add_model_answered(&server, &name, choice, cx);
            }
            PendingQuestion::RemoveModel { server, name } => {
                let answering = self.turn.as_ref().map(|turn| &*turn.model);
                let cx = &mut self.cx;
                self.models
                    .remove_answered(server, name, choice, answering, cx);
            }
            PendingQuestion::StoreDialect { model, to } => {
                self.probe.answered(model, to, choice, &mut self.cx);
            }
            PendingQuestion::OutsideEdit {
                edited: known,
                base,
                changes,
            } => {
                self.edits_decided(*known, &base, &changes, choice);
            }
            PendingQuestion::ReplaceSystemPrompt(text) => {
                self.settings.prompt_decided(text, choice, &mut self.cx);
            }
            PendingQuestion::Unfinished(turns) => {
                self.recovery.answered(turns, choice, &mut self.cx);
            }
            PendingQuestion::DiscardUnfinished(turns) => {
                self.recovery.discard_answered(turns, choice, &mut self.cx);
            }
            PendingQuestion::PinChanged(change) => self.pin_answered(*change, answer),
            PendingQuestion::Instructions(agreed) => {
                let servers = self.hub.servers();
                self.trust
                    .instructions_answered(agreed, answer, &servers, &mut self.cx);
            }
        }
    }
}

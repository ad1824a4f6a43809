//! `/probe`: a probe of the present model beside everything else, its progress and its
//! end as events, and the storing of what it found. It touches no conversation.

mod attempt;
mod observation;
mod run;

pub use run::{Probe, ProbeNews, RunningProbe};

use super::actor::Actor;
use super::jobs::JobResult;
use super::questions::PendingQuestion;
use super::stock::without_retry;
use crate::config::{self, ConfigError};
use crate::domain::probe::{ProbeState, Report};
use crate::domain::{AskId, Dialect, ModelRef, Notice};
use crate::protocol::{Ask, Choice, Event, Job, Owner};
use std::sync::Arc;
use tokio::runtime::Handle;

/// A probe from its beginning until the user has read what it found.
pub(super) struct Probing {
    report: Report,
    state: ProbeState,
    /// None once it is over.
    running: Option<RunningProbe>,
    ask: Option<AskId>,
}

/// The next news of the probe under way; pending where there is none. Cancel-safe.
pub(super) async fn next_news(probing: Option<&mut Probing>) -> ProbeNews {
    match probing.and_then(|probing| probing.running.as_mut()) {
        Some(running) => running.next().await,
        None => std::future::pending().await,
    }
}

impl Actor {
    pub(super) fn probe(&mut self) {
        if self.turn.is_some() {
            let notice = Notice::warning("The present turn is still under way.");
            return self
                .cx
                .notice(notice.advise("Probe the model once it has ended."));
        }
        if self.probing.is_some() {
            return self
                .cx
                .notice(Notice::info("A probe is under way already."));
        }
        if self.cx.options.stand_in.is_some() {
            let what = "The demo's model follows a script: there is nothing to find out.";
            return self.cx.notice(Notice::info(what));
        }
        let Some(model) = self.model.clone() else {
            let notice = self.no_model();
            return self.cx.notice(notice);
        };
        let (num_ctx, agreed) = self.context.num_ctx_of(&model);
        let probe = Probe {
            provider: self.cx.provider.clone(),
            built_in: Arc::clone(&self.built_in),
            model: Arc::clone(&model),
            system_prompt: Arc::clone(&self.system_prompt),
            num_ctx,
            agreed,
            idle_seconds: self.settings.limits.idle_seconds,
        };
        self.probing = Some(Probing {
            report: Report::new(model.reference(), model.dialect),
            state: ProbeState {
                model: model.name.clone(),
                dialect: None,
                is_loading: false,
                is_over: false,
            },
            running: Some(probe.start(&Handle::current())),
            ask: None,
        });
        self.push_probe();
    }

    fn push_probe(&mut self) {
        let state = self.probing.as_ref().map(|probing| probing.state.clone());
        self.cx.outbox.push(Event::ProbeChanged(state));
    }

    pub(super) fn probe_news(&mut self, news: ProbeNews) {
        let Some(probing) = &mut self.probing else {
            return;
        };
        match news {
            ProbeNews::Trying(dialect) => {
                probing.state.dialect = Some(dialect);
                probing.state.is_loading = false;
            }
            ProbeNews::Loading => probing.state.is_loading = true,
            ProbeNews::Loaded => probing.state.is_loading = false,
            ProbeNews::Tried(trial) => {
                probing.report.trials.push(trial);
                return;
            }
            ProbeNews::Over(Ok(())) => return self.probe_over(),
            ProbeNews::Over(Err(fault)) => {
                probing.report.is_cut = true;
                probing.report.fault = Some(without_retry(fault));
                return self.probe_over();
            }
        }
        self.push_probe();
    }

    /// The person does not wait for the rest, and sees what there is.
    pub(super) fn stop_probe(&mut self) {
        let Some(probing) = &mut self.probing else {
            return;
        };
        let Some(running) = &mut probing.running else {
            return;
        };
        // What was told before the key came counts.
        for news in running.drain() {
            if let ProbeNews::Tried(trial) = news {
                probing.report.trials.push(trial);
            }
        }
        probing.report.is_cut = true;
        if probing.report.trials.iter().any(|trial| trial.was_tried()) {
            return self.probe_over();
        }
        self.probing = None;
        self.push_probe();
        let what = "The probe was stopped before a dialect was tried to its end.";
        self.cx.notice(Notice::info(what));
    }

    /// Shows what was found, and asks where there is something to store.
    fn probe_over(&mut self) {
        let Some(probing) = &mut self.probing else {
            return;
        };
        probing.running = None;
        probing.state.is_over = true;
        let report = Arc::new(probing.report.clone());
        let listed = self.find_reference(&report.model).is_some();
        let to = report.worth_storing().filter(|_| listed);
        tracing::info!("probe of {}: {}", report.model.name, report.words());
        self.push_probe();
        let model = report.model.clone();
        let question = Ask::StoreDialect { report, to };
        let pending = PendingQuestion::StoreDialect { model, to };
        let ask = self.cx.ask(Owner::Job(Job::Probe), question, pending);
        if let Some(probing) = &mut self.probing {
            probing.ask = Some(ask);
        }
    }

    pub(super) fn probe_answered(&mut self, model: ModelRef, to: Option<Dialect>, choice: Choice) {
        self.probing = None;
        if let Some(dialect) = to.filter(|_| choice == Choice::Store) {
            let (home, reference) = (self.cx.home.clone(), model.clone());
            self.cx.write_config(move || {
                let stored = config::set_tool_calls(&home, &reference, dialect);
                JobResult::DialectStored(reference, dialect, stored)
            });
            // The next prompt waits until what was found is in force.
            return;
        }
        self.push_probe();
    }

    /// The file has it now, and it is in force at once.
    pub(super) fn dialect_stored(
        &mut self,
        reference: ModelRef,
        dialect: Dialect,
        stored: Result<(), ConfigError>,
    ) {
        let stored = stored.map_err(|fault| fault.notice());
        if stored.is_ok() {
            let models = self.settings.models.iter_mut();
            let mut models = models.filter(|one| one.reference() == reference);
            if let Some(model) = models.next() {
                model.dialect = dialect;
            }
        }
        match stored {
            Err(notice) => self.cx.notice(notice),
            Ok(()) => {
                if let Some(model) = &mut self.model
                    && model.reference() == reference
                {
                    Arc::make_mut(model).dialect = dialect;
                }
                let (name, dialect) = (&reference.name, dialect.name());
                let said = format!("{name} is used with `{dialect}` from now on.");
                let why = "It stands in config.json as `toolCalls`.";
                self.cx.notice(Notice::info(said).because(why));
            }
        }
        self.push_probe();
    }
}

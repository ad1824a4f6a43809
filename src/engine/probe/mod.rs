//! `/probe`: finds out in the background which dialect the selected model follows, and saves
//! it if the user agrees. A probe does not affect the conversation. `run` tries every dialect,
//! `running_trial` runs the turn for one dialect, `observation` judges the model's output.

mod observation;
mod run;
mod running_trial;

pub use run::{DialectProbe, ProbeEvent, RunningProbe};

use super::cx::EngineCx;
use super::job_set::JOB_PANICKED;
use super::jobs::JobResult;
use super::models::without_retry;
use super::questions::PendingQuestion;
use crate::config::{self, ConfigError};
use crate::domain::probe::{ProbeReport, ProbeState};
use crate::domain::{Dialect, ModelConfig, ModelRef, Notice};
use crate::protocol::{Event, ModelJob, QuestionOwner, UserChoice};
use crate::questions;
use tokio::runtime::Handle;

/// A probe, from its start until the user has answered the question about its result.
#[derive(Default)]
pub(super) struct ModelProbe {
    active: Option<ActiveProbe>,
}

struct ActiveProbe {
    report: ProbeReport,
    state: ProbeState,
    /// `None` once the probe is finished.
    running: Option<RunningProbe>,
}

impl ModelProbe {
    pub(super) fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// Pending forever without a running probe. Cancel-safe.
    pub(super) async fn next_event(&mut self) -> ProbeEvent {
        let running = self
            .active
            .as_mut()
            .and_then(|active| active.running.as_mut());
        match running {
            Some(running) => running.next_event().await,
            None => std::future::pending().await,
        }
    }

    /// Starts `probe`, or reports why it cannot be started.
    pub(super) fn start(&mut self, probe: Result<DialectProbe, Notice>, cx: &mut EngineCx) {
        if self.is_active() {
            return cx.notice(Notice::info("A probe is already running."));
        }
        if cx.options.model_override.is_some() {
            let message = "The demo's model follows a script: there is nothing to probe.";
            return cx.notice(Notice::info(message));
        }
        let probe = match probe {
            Ok(probe) => probe,
            Err(notice) => return cx.notice(notice),
        };
        self.active = Some(ActiveProbe {
            report: ProbeReport::new(probe.model.reference(), probe.model.dialect),
            state: ProbeState {
                model: probe.model.name.clone(),
                dialect: None,
                is_loading: false,
                is_finished: false,
            },
            running: Some(probe.start(&Handle::current())),
        });
        self.push_state(cx);
    }

    fn push_state(&self, cx: &mut EngineCx) {
        let state = self.active.as_ref().map(|active| active.state.clone());
        cx.outbox.push(Event::ProbeChanged(state));
    }

    pub(super) fn handle_event(&mut self, event: ProbeEvent, cx: &mut EngineCx) {
        let Some(active) = &mut self.active else {
            return;
        };
        match event {
            ProbeEvent::TrialStarted(dialect) => {
                active.state.dialect = Some(dialect);
                active.state.is_loading = false;
            }
            ProbeEvent::ModelLoading => active.state.is_loading = true,
            ProbeEvent::ModelLoaded => active.state.is_loading = false,
            ProbeEvent::TrialFinished(trial) => {
                active.report.trials.push(trial);
                return;
            }
            ProbeEvent::Finished(result) => {
                active.report.is_partial = result.is_err();
                active.report.error = result.err().map(without_retry);
                return self.finish(cx);
            }
        }
        self.push_state(cx);
    }

    /// Stops the probe and shows the results so far; a notice if no dialect was fully tried.
    pub(super) fn stop(&mut self, cx: &mut EngineCx) {
        let Some(active) = &mut self.active else {
            return;
        };
        let Some(running) = &mut active.running else {
            return;
        };
        // Include trials that finished before the key press.
        active.report.trials.extend(running.take_finished_trials());
        active.report.is_partial = true;
        if active.report.trials.iter().any(|trial| trial.was_tried()) {
            return self.finish(cx);
        }
        self.active = None;
        self.push_state(cx);
        let message = "The probe was stopped before any dialect was fully tried.";
        cx.notice(Notice::info(message));
    }

    /// Shows the result, and offers to save the recommended dialect.
    fn finish(&mut self, cx: &mut EngineCx) {
        let Some(active) = &mut self.active else {
            return;
        };
        active.running = None;
        active.state.is_finished = true;
        let report = active.report.clone();
        let model = report.model.clone();
        let mut configured = cx.settings.models.iter().map(ModelConfig::reference);
        let is_configured = configured.any(|reference| reference == model);
        let to = report.recommended_dialect().filter(|_| is_configured);
        tracing::info!("probe of {}: {}", model.name, report.verdict_text());
        self.push_state(cx);
        let question = questions::save_dialect(&report, to);
        let pending = PendingQuestion::SaveDialect { model, to };
        cx.ask(QuestionOwner::Job(ModelJob::Probe), question, pending);
    }

    pub(super) fn handle_save_answer(
        &mut self,
        model: ModelRef,
        to: Option<Dialect>,
        choice: UserChoice,
        cx: &mut EngineCx,
    ) {
        self.active = None;
        let Some(dialect) = to.filter(|_| choice == UserChoice::Save) else {
            return self.push_state(cx);
        };
        // The end of the probe is reported once the dialect is saved and active.
        let home = cx.home.clone();
        let failed = ConfigError::Unwritable {
            path: home.config(),
            why: JOB_PANICKED.to_owned(),
        };
        let if_panicked = JobResult::DialectSaved(model.clone(), dialect, Err(failed));
        cx.write_config_or(if_panicked, move || {
            let result = config::set_tool_calls(&home, &model, dialect);
            JobResult::DialectSaved(model, dialect, result)
        });
    }

    pub(super) fn handle_dialect_saved(
        &mut self,
        model: &ModelRef,
        dialect: Dialect,
        result: Result<(), ConfigError>,
        cx: &mut EngineCx,
    ) {
        cx.notice(match result {
            Err(error) => error.notice(),
            Ok(()) => {
                let (name, dialect) = (&model.name, dialect.name());
                let message = format!("{name} now uses the dialect `{dialect}`.");
                Notice::info(message).with_reason("Saved to config.json as `toolCalls`.")
            }
        });
        self.push_state(cx);
    }
}

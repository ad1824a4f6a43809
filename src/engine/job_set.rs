//! The set of running background jobs. A job that panics still reports a result, so its owner never
//! waits for it in vain.

use super::jobs::JobResult;
use crate::domain::{Advice, Notice};
use std::collections::HashMap;
use tokio::task::{AbortHandle, Id, JoinSet};

/// Why a job has no result of its own, as a clause.
pub(super) const JOB_PANICKED: &str = "humble failed at it unexpectedly";

#[derive(Debug, Default)]
pub(super) struct JobSet {
    running: JoinSet<JobResult>,
    /// What a job reports if it panics. A job without an entry reports a notice.
    if_panicked: HashMap<Id, JobResult>,
}

impl JobSet {
    /// Starts a job. If it panics, a notice reports that.
    pub(super) fn spawn(&mut self, job: impl Future<Output = JobResult> + Send + 'static) {
        self.running.spawn(job);
    }

    /// Like [`Self::spawn`], on a blocking thread.
    pub(super) fn spawn_blocking(&mut self, job: impl FnOnce() -> JobResult + Send + 'static) {
        self.running.spawn_blocking(job);
    }

    /// Starts a job that reports `if_panicked` if it panics.
    pub(super) fn spawn_or(
        &mut self,
        if_panicked: JobResult,
        job: impl Future<Output = JobResult> + Send + 'static,
    ) {
        let task = self.running.spawn(job);
        self.remember(&task, if_panicked);
    }

    /// Like [`Self::spawn_or`], on a blocking thread.
    pub(super) fn spawn_blocking_or(
        &mut self,
        if_panicked: JobResult,
        job: impl FnOnce() -> JobResult + Send + 'static,
    ) {
        let task = self.running.spawn_blocking(job);
        self.remember(&task, if_panicked);
    }

    fn remember(&mut self, task: &AbortHandle, if_panicked: JobResult) {
        self.if_panicked.insert(task.id(), if_panicked);
    }

    /// Waits for a job to end; `None` if none is running. Cancel-safe.
    pub(super) async fn join_next(&mut self) -> Option<JobResult> {
        Some(match self.running.join_next_with_id().await? {
            Ok((task, result)) => {
                self.if_panicked.remove(&task);
                result
            }
            Err(error) => {
                tracing::error!("a background job failed: {error}");
                let result = self.if_panicked.remove(&error.id());
                result.unwrap_or_else(|| {
                    let notice = Notice::failure("A background job failed unexpectedly.");
                    JobResult::notice(notice.with_advice(Advice::ShowLog))
                })
            }
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.running.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Home, Settings};
    use crate::domain::QueryId;
    use crate::domain::attachment::FoundFiles;
    use crate::engine::cx::EngineCx;
    use crate::engine::deps::EngineOptions;
    use crate::protocol::Event;
    use crate::provider::{Provider, Script};

    #[tokio::test]
    async fn a_job_that_panics_reports_its_fallback() {
        let mut jobs = JobSet::default();
        let fallback = || JobResult::FilesFound(QueryId(7), FoundFiles::default());
        jobs.spawn_blocking_or(fallback(), || panic!("a bug"));
        let result = jobs.join_next().await;
        assert!(matches!(result, Some(JobResult::FilesFound(QueryId(7), _))));
        jobs.spawn_or(fallback(), async { panic!("a bug") });
        let result = jobs.join_next().await;
        assert!(matches!(result, Some(JobResult::FilesFound(QueryId(7), _))));
        jobs.spawn_or(fallback(), async { JobResult::Nothing });
        assert!(matches!(jobs.join_next().await, Some(JobResult::Nothing)));
        assert!(jobs.is_empty() && jobs.if_panicked.is_empty());
    }

    #[tokio::test]
    async fn a_job_without_fallback_reports_a_notice() {
        let mut jobs = JobSet::default();
        jobs.spawn_blocking(|| panic!("a bug"));
        let Some(JobResult::Events(events)) = jobs.join_next().await else {
            panic!("no notice");
        };
        assert!(matches!(&events[..], [Event::NoticePosted(notice)]
            if notice.what == "A background job failed unexpectedly."));
    }

    /// Otherwise the settings files would never be read again.
    #[tokio::test]
    async fn a_settings_write_that_panics_counts_as_finished() {
        let provider = Provider::scripted(Script::new(Vec::new()));
        let (options, settings) = (EngineOptions::default(), Settings::default());
        let home = Home::at("/nonexistent");
        let mut cx = EngineCx::new(home, provider, options, settings, Default::default(), []);
        cx.save_config(|| panic!("a bug"));
        assert!(cx.config_writes.is_in_progress());
        let result = cx.jobs.join_next().await;
        assert!(result.is_some_and(|result| result.is_config_write()));
    }
}

//! The context that the engine's owners share: the outbox to the front end, banners, questions
//! to the user, background jobs, settings, and dependencies such as the session store. Owners
//! receive it as an argument.

use super::deps::EngineOptions;
use super::job_set::JobSet;
use super::jobs::JobResult;
use super::outbox::Outbox;
use super::questions::PendingQuestion;
use crate::config::{self, ConfigError, Home, Settings};
use crate::domain::id::IdGenerator;
use crate::domain::{AskId, Banner, BannerCause, Notice, SecretRegistry};
use crate::log::LogHandle;
use crate::protocol::{Event, LogLine, Question, QuestionOwner};
use crate::provider::Provider;
use crate::store::{PromptHistory, RecentCommandsFile, SessionIndex, SessionStore, SessionTrash};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

/// The first id of the questions in [`EngineCx`]. Turns number their own questions from 1.
const FIRST_ASK_ID: u64 = 1 << 32;

/// The shared context of the engine's owners.
pub(super) struct EngineCx {
    pub(super) home: Home,
    pub(super) provider: Provider,
    pub(super) options: EngineOptions,
    /// The active settings, except those that `LiveSettings` owns.
    pub(super) settings: Settings,
    pub(super) log: Option<LogHandle>,
    pub(super) secrets: SecretRegistry,
    pub(super) sessions: Arc<SessionStore>,
    pub(super) session_index: Arc<SessionIndex>,
    pub(super) trash: SessionTrash,
    pub(super) history: Arc<PromptHistory>,
    pub(super) recent_commands: RecentCommandsFile,
    pub(super) outbox: Outbox,
    pub(super) jobs: JobSet,
    pub(super) banners: BTreeMap<BannerCause, Banner>,
    pub(super) config_writes: ConfigWrites,
    /// Closed once the last of these writes has ended.
    last_config_write: Option<mpsc::Receiver<()>>,
    /// Open questions, except those of the running turn.
    questions: BTreeMap<AskId, PendingQuestion>,
    ask_ids: IdGenerator,
}

/// How long a write of settings waits for the one before it, whose disk may hang.
const EARLIER_WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Counts humble's own writes of settings files. Until a write has ended, the files may differ
/// from the settings in memory although nobody edited them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConfigWrites {
    pub(super) begun: u64,
    pub(super) ended: u64,
}

impl ConfigWrites {
    pub(super) fn is_in_progress(self) -> bool {
        self.begun > self.ended
    }
}

impl EngineCx {
    pub(super) fn new(
        home: Home,
        provider: Provider,
        options: EngineOptions,
        settings: Settings,
        (log, secrets): (Option<LogHandle>, SecretRegistry),
        banners: impl IntoIterator<Item = Banner>,
    ) -> Self {
        let sessions = SessionStore::new(home.sessions());
        let mut cx = Self {
            session_index: Arc::new(SessionIndex::new(sessions.clone(), home.session_index())),
            sessions: Arc::new(sessions),
            trash: SessionTrash::new(home.trash()),
            history: Arc::new(PromptHistory::new(home.history(), home.draft())),
            recent_commands: RecentCommandsFile::new(home.recent_commands()),
            home,
            provider,
            options,
            settings,
            log,
            secrets,
            outbox: Outbox::default(),
            jobs: JobSet::default(),
            banners: BTreeMap::new(),
            config_writes: ConfigWrites::default(),
            last_config_write: None,
            questions: BTreeMap::new(),
            ask_ids: IdGenerator::starting_at(FIRST_ASK_ID),
        };
        cx.add_banners(banners);
        cx
    }

    pub(super) fn notice(&mut self, notice: Notice) {
        self.outbox.push(Event::NoticePosted(notice));
    }

    /// [`Self::push_banners`] sends them to the front end.
    pub(super) fn add_banners(&mut self, banners: impl IntoIterator<Item = Banner>) {
        let banners = banners.into_iter();
        self.banners
            .extend(banners.map(|banner| (banner.cause.clone(), banner)));
    }

    pub(super) fn set_banner(&mut self, banner: Banner) {
        self.add_banners([banner]);
        self.push_banners();
    }

    pub(super) fn clear_banner(&mut self, cause: &BannerCause) {
        if self.banners.remove(cause).is_some() {
            self.push_banners();
        }
    }

    pub(super) fn unreadable_config_banner(&self) -> Option<&Banner> {
        let mut banners = self.banners.values();
        banners.find(|banner| banner.cause.affects_whole_file("config.json"))
    }

    pub(super) fn push_banners(&mut self) {
        let banners = self.banners.values().cloned().collect();
        self.outbox.push(Event::BannersChanged(banners));
    }

    /// `pending` contains the data for handling the answer.
    pub(super) fn ask(
        &mut self,
        owner: QuestionOwner,
        question: Question,
        pending: PendingQuestion,
    ) -> AskId {
        let ask = AskId(self.ask_ids.next_id());
        self.questions.insert(ask, pending);
        self.outbox.push(Event::Asked {
            ask,
            owner,
            question,
        });
        ask
    }

    /// Closes a question that was answered or is no longer relevant. `None` if it was not open.
    pub(super) fn withdraw(&mut self, ask: AskId) -> Option<PendingQuestion> {
        let pending = self.questions.remove(&ask)?;
        self.outbox.push(Event::AskClosed(ask));
        Some(pending)
    }

    /// Reports files that other users could read until humble tightened their permissions.
    pub(super) fn report_tightened_permissions(&mut self) {
        for notice in config::tightened_permissions_notices(&self.home) {
            self.outbox.push(Event::LowPriorityNoticePosted(notice));
        }
    }

    /// `banners` are the problems that remain after the home folder was prepared again.
    pub(super) fn handle_home_prepared(&mut self, banners: Vec<Banner>) {
        self.banners.remove(&BannerCause::UnwritableHome);
        self.add_banners(banners);
        self.push_banners();
    }

    pub(super) fn handle_log_line(&mut self, line: LogLine) {
        self.outbox.push(Event::LogLineWritten(line));
        if self.log.as_ref().is_some_and(LogHandle::is_written) {
            self.clear_banner(&BannerCause::UnwritableLog);
        }
    }

    pub(super) fn question(&mut self, ask: AskId) -> Option<&mut PendingQuestion> {
        self.questions.get_mut(&ask)
    }

    pub(super) fn has_question_matching(&self, matches: impl Fn(&PendingQuestion) -> bool) -> bool {
        self.questions.values().any(matches)
    }

    pub(super) fn withdraw_matching(
        &mut self,
        matches: impl Fn(&PendingQuestion) -> bool,
    ) -> Vec<PendingQuestion> {
        let matching: Vec<AskId> = self
            .questions
            .iter()
            .filter(|(_, pending)| matches(pending))
            .map(|(ask, _)| *ask)
            .collect();
        let matching = matching.into_iter();
        matching.filter_map(|ask| self.withdraw(ask)).collect()
    }

    /// Writes a settings file in the background. `write` must return a result that
    /// [`JobResult::is_config_write`] recognizes.
    pub(super) fn write_config(&mut self, write: impl FnOnce() -> JobResult + Send + 'static) {
        self.write_config_or(JobResult::ConfigWritePanicked, write);
    }

    /// Like [`Self::write_config`], but reports `if_panicked` if `write` panics.
    pub(super) fn write_config_or(
        &mut self,
        if_panicked: JobResult,
        write: impl FnOnce() -> JobResult + Send + 'static,
    ) {
        self.config_writes.begun += 1;
        // Dropped when the job ends, even by a panic.
        let (writing, next) = mpsc::channel::<()>();
        let earlier = self.last_config_write.replace(next);
        self.jobs.spawn_blocking_or(if_panicked, move || {
            let _writing = writing;
            // One after the other: an edit of a file must see the rejections decided before it.
            if let Some(earlier) = earlier {
                let _ = earlier.recv_timeout(EARLIER_WRITE_TIMEOUT);
            }
            write()
        });
    }

    /// Saves settings that are already active.
    pub(super) fn save_config(
        &mut self,
        write: impl FnOnce() -> Result<(), ConfigError> + Send + 'static,
    ) {
        self.write_config(move || JobResult::ConfigWritten(write()));
    }
}

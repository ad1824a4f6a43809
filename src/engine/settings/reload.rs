//! External edits of the settings files while the program runs. Harmless changes are applied
//! at once; the rest waits for the user. Exactly the changes that were shown are applied,
//! never those of a later read.

use super::{LiveSettings, apply_model_override, hide_secrets};
use crate::config::{
    self, ConfigLoad, ConfigSnapshot, EarlierEntries, SettingsWatcher, review_changes,
};
use crate::domain::{
    Advice, AskId, Banner, BannerCause, ChangeImpact, Notice, SettingsChange, Trust,
};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::{JobResult, SettingsResult};
use crate::engine::models::ModelRegistry;
use crate::engine::questions::PendingQuestion;
use crate::protocol::{Ask, QuestionOwner, UserChoice};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Changes listed in one notice.
const LISTED_CHANGES_MAX: usize = 6;

#[derive(Default)]
pub(super) struct SettingsReload {
    watcher: Option<SettingsWatcher>,
    previous_configs: EarlierEntries,
    /// The open question about changes.
    open_question: Option<AskId>,
    /// Changes that the user declined; they are not asked about again automatically.
    declined: Vec<SettingsChange>,
    /// The number of own writes when the running read started.
    reading_since_write: Option<u64>,
    /// Another read is due; true if it asks again about declined changes.
    queued_read: Option<bool>,
    /// Causes of the banners from the files.
    file_banner_causes: BTreeSet<BannerCause>,
}

impl SettingsReload {
    pub(super) fn remember(&mut self, now: &ConfigSnapshot) {
        self.previous_configs.record(now);
    }
}

/// The review of files that were read again.
pub struct RereadFiles {
    /// The settings to apply at once, if they differ from the active ones.
    pub to_apply: Option<ConfigSnapshot>,
    harmless: Vec<SettingsChange>,
    /// Changes that need the user's consent.
    needs_consent: Vec<SettingsChange>,
    on_disk: ConfigSnapshot,
    is_unchanged: bool,
    /// The user requested the reload.
    asks_again: bool,
}

impl LiveSettings {
    /// Waits until a file may have changed; pending forever without a watcher. Cancel-safe.
    pub async fn wait_for_edit(&mut self) {
        match &mut self.reload.watcher {
            Some(watcher) => watcher.changed().await,
            None => std::future::pending().await,
        }
    }

    /// Starts watching the files, if enabled.
    pub fn start_watching(&mut self, banners: &[Banner], trust: &Arc<Trust>, cx: &EngineCx) {
        let known = self.snapshot(trust, cx);
        self.reload.previous_configs.record(&known);
        let causes = banners.iter().map(|banner| banner.cause.clone());
        self.reload.file_banner_causes = causes.collect();
        if cx.options.watch {
            self.reload.watcher = Some(SettingsWatcher::new(&cx.home));
        }
    }

    /// One of humble's own writes ended.
    pub fn config_written(&mut self, cx: &mut EngineCx) {
        cx.config_writes.ended += 1;
        if let Some(asks) = self.reload.queued_read.take() {
            self.read_files(asks, cx);
        }
    }

    /// Reads the files again. With `asks`, declined changes are asked about again.
    pub fn read_files(&mut self, asks: bool, cx: &mut EngineCx) {
        let reload = &mut self.reload;
        if reload.reading_since_write.is_some() || cx.config_writes.is_under_way() {
            reload.queued_read = Some(asks || reload.queued_read == Some(true));
            return;
        }
        reload.reading_since_write = Some(cx.config_writes.begun);
        let home = cx.home.clone();
        cx.jobs.spawn_blocking(move || {
            JobResult::Settings(SettingsResult::Reread(
                Box::new(ConfigLoad::from_files(&home)),
                asks,
            ))
        });
    }

    /// Reviews files that were read again. The caller applies the result and then calls
    /// [`Self::finish_reload`]; None if they must be read once more.
    pub fn review_files(
        &mut self,
        read: ConfigLoad,
        asks: bool,
        models: &ModelRegistry,
        trust: &Arc<Trust>,
        cx: &mut EngineCx,
    ) -> Option<RereadFiles> {
        // The files may have been read before one of our own writes.
        let read_since = self.reload.reading_since_write.take();
        let is_stale = read_since != Some(cx.config_writes.begun);
        let queued = self.reload.queued_read.take();
        if let Some(queued) = queued.or(is_stale.then_some(false)) {
            self.read_files(asks || queued, cx);
            return None;
        }
        self.replace_file_banners(&read.banners, models, trust, cx);
        let active = self.snapshot(trust, cx);
        let mut on_disk = read.with_fallback(&active);
        apply_model_override(&mut on_disk.settings, &cx.options);
        hide_secrets(&on_disk, cx);
        let review = review_changes(&active, &on_disk, &self.reload.previous_configs);
        let count = review.changes.len();
        tracing::debug!("the settings files were read again: {count} changes");
        let harmless = review.changes_with_impact(ChangeImpact::Harmless);
        let mut needs_consent = review.changes_with_impact(ChangeImpact::NeedsConsent);
        needs_consent.extend(
            models
                .first_of(&on_disk.settings, cx)
                .map(config::model_use_change),
        );
        Some(RereadFiles {
            is_unchanged: review.changes.is_empty() && needs_consent.is_empty(),
            to_apply: (review.with_harmless_changes != active)
                .then_some(review.with_harmless_changes),
            harmless,
            needs_consent,
            on_disk,
            asks_again: asks,
        })
    }

    /// Reports the applied changes and asks about the others.
    pub fn finish_reload(&mut self, files: RereadFiles, trust: &Arc<Trust>, cx: &mut EngineCx) {
        report_applied(&files.harmless, cx);
        if files.asks_again {
            self.reload.declined.clear();
            if files.is_unchanged {
                cx.notice(Notice::info(
                    "The files match the active settings: nothing changes.",
                ));
            }
        }
        self.ask_about_changes(files, trust, cx);
    }

    /// Asks about changes that need consent, unless they were declined before. The question
    /// also lists `harmless` ones, because it hides their notice.
    fn ask_about_changes(&mut self, files: RereadFiles, trust: &Arc<Trust>, cx: &mut EngineCx) {
        let RereadFiles {
            needs_consent,
            harmless,
            on_disk,
            ..
        } = files;
        let declined = &mut self.reload.declined;
        declined.retain(|change| needs_consent.contains(change));
        let is_declined = needs_consent.iter().all(|change| declined.contains(change));
        let active = Box::new(self.snapshot(trust, cx));
        let on_disk = Box::new(on_disk);
        let open = self.reload.open_question;
        if let Some(PendingQuestion::OutsideEdit {
            edited,
            base,
            changes,
        }) = open.and_then(|open| cx.question(open))
            && *changes == needs_consent
            && config::grants_same_permissions(&active.trust, &edited.trust, &on_disk.trust)
        {
            (*edited, *base) = (on_disk, active);
            return;
        }
        // While it is open, the question replaces the banner.
        update_waiting_banner(if is_declined { &needs_consent } else { &[] }, cx);
        if let Some(open) = self.reload.open_question.take() {
            cx.withdraw(open);
        }
        if is_declined {
            return;
        }
        let question = Ask::ExternalEdit(Arc::new([needs_consent.as_slice(), &harmless].concat()));
        let pending = PendingQuestion::OutsideEdit {
            edited: on_disk,
            base: active,
            changes: needs_consent,
        };
        self.reload.open_question = Some(cx.ask(QuestionOwner::Program, question, pending));
    }

    /// Handles the user's answer. The caller applies the returned settings and then calls
    /// [`Self::changes_applied`].
    pub fn handle_edits_answer(
        &mut self,
        edited: ConfigSnapshot,
        base: &ConfigSnapshot,
        changes: &[SettingsChange],
        choice: UserChoice,
        trust: &Arc<Trust>,
        cx: &mut EngineCx,
    ) -> Option<ConfigSnapshot> {
        self.reload.open_question = None;
        if choice != UserChoice::ApplyChanges {
            self.reload.declined = changes.to_vec();
            update_waiting_banner(changes, cx);
            return None;
        }
        for change in changes {
            tracing::info!("applied: {}: {}", change.file, change.what);
        }
        Some(config::apply_consented(
            &self.snapshot(trust, cx),
            base,
            edited,
        ))
    }

    /// Reports that the accepted changes are active.
    pub fn changes_applied(&mut self, count: usize, cx: &mut EngineCx) {
        self.reload.declined.clear();
        update_waiting_banner(&[], cx);
        cx.notice(Notice::info(match count {
            1 => "The change was applied.".to_owned(),
            count => format!("The {count} changes were applied."),
        }));
        // The files may have changed while the question was open.
        self.read_files(false, cx);
    }

    /// Replaces the banners of the previous read.
    fn replace_file_banners(
        &mut self,
        banners: &[Banner],
        models: &ModelRegistry,
        trust: &Trust,
        cx: &mut EngineCx,
    ) {
        let before = cx.banners.clone();
        for cause in std::mem::take(&mut self.reload.file_banner_causes) {
            cx.banners.remove(&cause);
        }
        for banner in banners {
            // Irrelevant while a model is selected.
            if banner.cause == BannerCause::SeveralActiveModels && models.current().is_some() {
                continue;
            }
            self.reload.file_banner_causes.insert(banner.cause.clone());
            let is_unread =
                trust.unreadable.is_file_unreadable && banner.cause == BannerCause::UnreadableTrust;
            // A file that was broken from the start has no previous settings to keep.
            let earlier = before.get(&banner.cause);
            let is_unread = is_unread || earlier.is_some_and(config::is_started_without);
            let banner = match is_unread {
                true => banner.clone(),
                false => config::banner_while_running(banner.clone()),
            };
            cx.banners.insert(banner.cause.clone(), banner);
        }
        if before != cx.banners {
            cx.push_banners();
        }
    }
}

/// Reports all automatically applied changes in one notice.
fn report_applied(changes: &[SettingsChange], cx: &mut EngineCx) {
    let mut message = String::new();
    let mut file = "";
    for change in changes.iter().take(LISTED_CHANGES_MAX) {
        let separator = match (change.file == file, message.is_empty()) {
            (true, _) => "; ".to_owned(),
            (false, true) => format!("{}: ", change.file),
            (false, false) => format!(". {}: ", change.file),
        };
        file = &change.file;
        message += &separator;
        message += &change.what;
    }
    if changes.len() > LISTED_CHANGES_MAX {
        message += &format!("; and {} more changes", changes.len() - LISTED_CHANGES_MAX);
    }
    if !message.is_empty() {
        cx.notice(Notice::info(message + "."));
    }
}

/// One banner for all files with pending changes.
fn update_waiting_banner(waiting: &[SettingsChange], cx: &mut EngineCx) {
    const CAUSE: BannerCause = BannerCause::PendingSettings;
    let mut files: Vec<&str> = waiting.iter().map(|change| change.file.as_str()).collect();
    files.dedup();
    let message = match files[..] {
        [] => return cx.clear_banner(&CAUSE),
        [file] => format!("{file} has changes that apply at the next start."),
        _ => format!(
            "{} have changes that apply at the next start.",
            files.join(", ")
        ),
    };
    let notice = Notice::warning(message).with_advice(Advice::Reload);
    let banner = Banner::new(CAUSE, notice);
    if cx.banners.get(&CAUSE) != Some(&banner) {
        cx.set_banner(banner);
    }
}

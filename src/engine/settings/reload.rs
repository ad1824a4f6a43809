//! Reloads settings files that were edited while the program runs. Harmless changes are applied
//! at once; the others need the user's consent. Only the changes that were shown are applied,
//! never those of a later read. Rejected ones are recorded, so that no process uses them.

use super::awaited_vault::AwaitedVault;
use super::prompt_templates::KnownTemplates;
use super::{LiveSettings, apply_model_override, register_secrets};
use crate::config::{
    self, ConfigLoad, ConfigSnapshot, EarlierEntries, RejectedEdit, RejectedEntry, Settings,
    SettingsWatcher, TrustEdit, review_changes,
};
use crate::domain::{
    Advice, AskId, Banner, BannerCause, ChangeImpact, Notice, PromptTemplates, SettingsChange,
    Trust,
};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::{JobResult, SettingsResult};
use crate::engine::models::ModelRegistry;
use crate::engine::questions::PendingQuestion;
use crate::protocol::{Event, QuestionOwner, UserChoice};
use crate::questions;
use futures::future::OptionFuture;
use std::collections::BTreeSet;
use std::sync::Arc;

const LISTED_CHANGES_MAX: usize = 6;

#[derive(Default)]
pub(super) struct SettingsReload {
    watcher: Option<SettingsWatcher>,
    earlier_entries: EarlierEntries,
    open_question: Option<AskId>,
    /// Changes that the user declined. Only a requested reload asks about them again.
    declined: Vec<SettingsChange>,
    /// The records to store if the user rejects the changes of the last review.
    rejections: Vec<RejectedEdit>,
    /// The records of this process.
    recorded: Vec<RejectedEdit>,
    /// What the files contained at the last review although the user had rejected it.
    rejected: Vec<RejectedEntry>,
    /// For the running read, the number of the program's own writes begun before it.
    read_after_writes: Option<u64>,
    /// Another read is needed; true if the user requested it.
    queued_read: Option<bool>,
    /// Shown instead of the next report of changes.
    announcement: Option<Notice>,
    file_banner_causes: BTreeSet<BannerCause>,
    templates: KnownTemplates,
    /// The notes folder, while a banner reports that it cannot be used.
    awaited_vault: Option<AwaitedVault>,
}

impl SettingsReload {
    pub(super) fn remember(&mut self, config: &ConfigSnapshot) {
        self.earlier_entries.record(config);
    }
}

/// The result of reviewing files that were read again.
pub struct RereadFiles {
    /// The settings to apply at once, if they differ from the active ones.
    pub to_apply: Option<ConfigSnapshot>,
    harmless: Vec<SettingsChange>,
    needs_consent: Vec<SettingsChange>,
    on_disk: ConfigSnapshot,
    is_unchanged: bool,
    /// A file could not be read, so nothing is known about its changes.
    is_incomplete: bool,
    /// The user requested the reload, so declined changes are asked about again.
    is_requested: bool,
}

/// The result of an answer to the question about edits.
pub struct EditsDecision {
    /// The settings to apply if the user accepted the edits.
    pub to_apply: Option<ConfigSnapshot>,
    pub to_store: Vec<TrustEdit>,
}

impl LiveSettings {
    /// Waits until a file may have changed or the missing notes folder has appeared; pending forever
    /// without a watcher. Cancel-safe.
    pub async fn wait_for_edit(&mut self) {
        let reload = &mut self.reload;
        let Some(watcher) = &mut reload.watcher else {
            return std::future::pending().await;
        };
        let awaited_vault = reload.awaited_vault.as_mut().map(AwaitedVault::appeared);
        tokio::select! {
            () = watcher.changed() => return,
            Some(()) = OptionFuture::from(awaited_vault) => {}
        }
        reload.awaited_vault = None;
    }

    fn await_missing_vault(&mut self, settings: &Settings, cx: &EngineCx) {
        let is_missing = cx.banners.contains_key(&BannerCause::UnusableVault);
        self.reload.awaited_vault =
            (is_missing && cx.options.watch).then(|| AwaitedVault::new(settings.notes.clone()));
    }

    /// Starts watching the files, if enabled.
    pub fn start_watching(&mut self, banners: &[Banner], trust: &Arc<Trust>, cx: &EngineCx) {
        let active = self.snapshot(trust, cx);
        self.reload.earlier_entries.record(&active);
        let causes = banners.iter().map(|banner| banner.cause.clone());
        self.reload.file_banner_causes = causes.collect();
        if cx.options.watch {
            self.reload.watcher = Some(SettingsWatcher::new(&cx.home));
        }
        self.await_missing_vault(&active.settings, cx);
    }

    /// Counts the end of one of humble's own writes, and starts the read that waited for it.
    pub fn handle_config_written(&mut self, cx: &mut EngineCx) {
        cx.config_writes.ended += 1;
        if let Some(is_requested) = self.reload.queued_read.take() {
            self.read_files(is_requested, cx);
        }
    }

    /// Reads the files after the program itself added something to them. The notice replaces the
    /// report of the changes.
    pub fn read_own_additions(&mut self, announcement: Notice, cx: &mut EngineCx) {
        self.reload.announcement = Some(announcement);
        self.read_files(false, cx);
    }

    /// Reads the files again, now or after the running read or write. If the user requested it,
    /// declined changes are asked about again.
    pub fn read_files(&mut self, is_requested: bool, cx: &mut EngineCx) {
        let reload = &mut self.reload;
        if reload.read_after_writes.is_some() || cx.config_writes.is_in_progress() {
            reload.queued_read = Some(is_requested || reload.queued_read == Some(true));
            return;
        }
        reload.read_after_writes = Some(cx.config_writes.begun);
        let home = cx.home.clone();
        let if_panicked = JobResult::Settings(SettingsResult::NotReread);
        cx.jobs.spawn_blocking_or(if_panicked, move || {
            JobResult::Settings(SettingsResult::Reread(
                Box::new(ConfigLoad::as_written(&home)),
                config::read_prompt_templates(&home),
                is_requested,
            ))
        });
    }

    /// Reports that reading the files panicked, and starts the read that waited for it.
    pub fn handle_not_reread(&mut self, cx: &mut EngineCx) {
        self.reload.read_after_writes = None;
        let notice = Notice::failure("Reading the settings files failed unexpectedly.");
        cx.notice(notice.with_advice(Advice::ShowLog));
        if let Some(is_requested) = self.reload.queued_read.take() {
            self.read_files(is_requested, cx);
        }
    }

    /// Sends templates that were read again to the front end. Their changes are reported with those
    /// of the other files.
    pub fn set_templates(&mut self, templates: PromptTemplates, cx: &mut EngineCx) {
        if let Some(changed) = self.reload.templates.replace(templates) {
            cx.outbox.push(Event::PromptTemplatesListed(changed));
        }
    }

    /// Reviews files that were read again. The caller applies the result and then calls
    /// [`Self::finish_reload`]. `None` if the files must be read once more.
    pub fn review_files(
        &mut self,
        mut load: ConfigLoad,
        is_requested: bool,
        models: &ModelRegistry,
        trust: &Arc<Trust>,
        cx: &mut EngineCx,
    ) -> Option<RereadFiles> {
        // If a write of our own has begun since, the files may have been read before it.
        let writes_before_read = self.reload.read_after_writes.take();
        let is_stale = writes_before_read != Some(cx.config_writes.begun);
        let queued = self.reload.queued_read.take();
        if let Some(queued) = queued.or(is_stale.then_some(false)) {
            self.read_files(is_requested || queued, cx);
            return None;
        }
        self.replace_file_banners(&load.banners, models, trust, cx);
        let active = self.snapshot(trust, cx);
        let entries = std::mem::take(&mut load.entries);
        self.reload.rejected = std::mem::take(&mut load.rejected);
        let earlier = &mut self.reload.earlier_entries;
        earlier.set_rejected(&self.reload.rejected);
        let is_incomplete = load.has_unusable_file();
        let mut on_disk = load.with_fallback(&active);
        apply_model_override(&mut on_disk.settings, &cx.options);
        register_secrets(&on_disk, cx);
        self.await_missing_vault(&on_disk.settings, cx);
        let mut review = review_changes(&active, &on_disk, &self.reload.earlier_entries);
        let count = review.changes.len();
        tracing::debug!("the settings files were read again; changes: {count}");
        let mut harmless = review.changes_with_impact(ChangeImpact::Harmless);
        harmless.extend(self.reload.templates.take_changes());
        let mut needs_consent = review.changes_with_impact(ChangeImpact::NeedsConsent);
        if let Some(model) = models.first_of(&on_disk.settings, cx) {
            needs_consent.push(config::model_use_change(model));
            review.entries.insert(config::model_use_entry(model));
        }
        self.reload.rejections = entries.to_reject(&review.entries, &active);
        Some(RereadFiles {
            is_unchanged: harmless.is_empty() && needs_consent.is_empty(),
            is_incomplete,
            to_apply: (review.with_harmless_changes != active)
                .then_some(review.with_harmless_changes),
            harmless,
            needs_consent,
            on_disk,
            is_requested,
        })
    }

    /// Reports the applied changes and asks about the others. Returns what must be stored.
    pub fn finish_reload(
        &mut self,
        files: RereadFiles,
        trust: &Arc<Trust>,
        cx: &mut EngineCx,
    ) -> Vec<TrustEdit> {
        match self.reload.announcement.take() {
            Some(announcement) => cx.notice(announcement),
            None => report_applied(&files.harmless, cx),
        }
        if files.is_requested {
            self.reload.declined.clear();
            if files.is_unchanged {
                cx.notice(unchanged_notice(&self.reload.file_banner_causes));
            }
        }
        self.ask_about_changes(files, trust, cx);
        self.changed_records()
    }

    /// Keeps the records up to date: declined changes stay declined while other parts of their entries
    /// change, and entries that are in use now were accepted.
    fn changed_records(&mut self) -> Vec<TrustEdit> {
        let reload = &mut self.reload;
        let mut edits = Vec::new();
        let is_pending = |record: &RejectedEdit| {
            let entries = reload.rejected.iter();
            let mut entries = entries.filter(|entry| entry.record == *record);
            entries.any(|entry| reload.rejections.iter().any(|new| new.is_about(entry)))
        };
        let records = reload.rejected.iter().map(|entry| &entry.record);
        let accepted: Vec<RejectedEdit> = records
            .filter(|record| !is_pending(record))
            .cloned()
            .collect();
        if !accepted.is_empty() {
            reload.recorded.retain(|record| !accepted.contains(record));
            edits.push(TrustEdit::AcceptEdits(accepted));
        }
        if !reload.declined.is_empty() && reload.open_question.is_none() {
            let new = reload.rejections.iter();
            let new = new.filter(|record| !reload.recorded.contains(record));
            let new: Vec<RejectedEdit> = new.cloned().collect();
            if !new.is_empty() {
                reload.recorded.extend(new.iter().cloned());
                edits.push(TrustEdit::RejectEdits(new));
            }
        }
        edits
    }

    /// Asks about changes that need consent, unless they were declined before. The question
    /// also lists the harmless changes, because its dialog covers the notice about them.
    fn ask_about_changes(&mut self, files: RereadFiles, trust: &Arc<Trust>, cx: &mut EngineCx) {
        let RereadFiles {
            needs_consent,
            harmless,
            on_disk,
            is_incomplete,
            ..
        } = files;
        let declined = &mut self.reload.declined;
        declined.retain(|change| is_incomplete || needs_consent.contains(change));
        let are_all_declined = needs_consent.iter().all(|change| declined.contains(change));
        let active = Box::new(self.snapshot(trust, cx));
        let on_disk = Box::new(on_disk);
        let open_question = self.reload.open_question;
        if let Some(PendingQuestion::ExternalEdit {
            edited,
            base,
            changes,
        }) = open_question.and_then(|ask| cx.question(ask))
            && *changes == needs_consent
            && config::grants_same_permissions(&active.trust, &edited.trust, &on_disk.trust)
        {
            (*edited, *base) = (on_disk, active);
            return;
        }
        // An open question makes the banner unnecessary.
        update_pending_banner(
            if are_all_declined {
                &needs_consent
            } else {
                &[]
            },
            cx,
        );
        if let Some(ask) = self.reload.open_question.take() {
            cx.withdraw(ask);
        }
        if are_all_declined {
            return;
        }
        let question = questions::external_edit(&[needs_consent.as_slice(), &harmless].concat());
        let pending = PendingQuestion::ExternalEdit {
            edited: on_disk,
            base: active,
            changes: needs_consent,
        };
        self.reload.open_question = Some(cx.ask(QuestionOwner::Program, question, pending));
    }

    /// Handles the answer to the question about edits. The caller applies the returned settings, if
    /// any, and then calls [`Self::report_changes_applied`].
    pub fn handle_edits_answer(
        &mut self,
        edited: ConfigSnapshot,
        base: &ConfigSnapshot,
        changes: &[SettingsChange],
        choice: UserChoice,
        trust: &Arc<Trust>,
        cx: &mut EngineCx,
    ) -> EditsDecision {
        self.reload.open_question = None;
        let rejections = std::mem::take(&mut self.reload.rejections);
        if choice != UserChoice::ApplyChanges {
            self.reload.declined = changes.to_vec();
            update_pending_banner(changes, cx);
            if trust.unreadable.is_file_unreadable {
                cx.notice(Notice::warning(
                    "trust.json cannot be read, so this decision is lost when humble exits.",
                ));
            }
            let mut to_store = config::restoring_edits(trust, &edited.trust);
            if !rejections.is_empty() {
                self.reload.recorded.extend(rejections.iter().cloned());
                to_store.push(TrustEdit::RejectEdits(rejections));
            }
            return EditsDecision {
                to_apply: None,
                to_store,
            };
        }
        for change in changes {
            tracing::info!("applied: {}: {}", change.file, change.what);
        }
        let rejected = std::mem::take(&mut self.reload.rejected).into_iter();
        let mut accepted: Vec<RejectedEdit> = rejected.map(|entry| entry.record).collect();
        accepted.extend(rejections);
        self.reload.recorded.clear();
        let is_any = !accepted.is_empty();
        EditsDecision {
            to_apply: Some(config::apply_consented(
                &self.snapshot(trust, cx),
                base,
                edited,
            )),
            to_store: Vec::from_iter(is_any.then_some(TrustEdit::AcceptEdits(accepted))),
        }
    }

    pub fn report_changes_applied(&mut self, count: usize, cx: &mut EngineCx) {
        self.reload.declined.clear();
        update_pending_banner(&[], cx);
        cx.notice(Notice::info(match count {
            1 => "The change was applied.".to_owned(),
            count => format!("The {count} changes were applied."),
        }));
        // The files may have changed while the question was open.
        self.read_files(false, cx);
    }

    fn replace_file_banners(
        &mut self,
        banners: &[Banner],
        models: &ModelRegistry,
        trust: &Trust,
        cx: &mut EngineCx,
    ) {
        let previous = cx.banners.clone();
        for cause in std::mem::take(&mut self.reload.file_banner_causes) {
            cx.banners.remove(&cause);
        }
        for banner in banners {
            // This banner is irrelevant while a model is selected.
            if banner.cause == BannerCause::SeveralActiveModels && models.current().is_some() {
                continue;
            }
            self.reload.file_banner_causes.insert(banner.cause.clone());
            // A file that was unreadable from the start has no earlier version that is active.
            let was_never_read = match previous.get(&banner.cause) {
                Some(earlier) => config::started_without_file(earlier),
                None => false,
            } || (trust.unreadable.is_file_unreadable
                && banner.cause == BannerCause::UnreadableTrust);
            let banner = match was_never_read {
                true => banner.clone(),
                false => config::banner_while_running(banner.clone()),
            };
            cx.banners.insert(banner.cause.clone(), banner);
        }
        if previous != cx.banners {
            cx.push_banners();
        }
    }
}

/// The notice of a requested reload that changed nothing. Files that could not be read have banners
/// with these causes.
fn unchanged_notice(causes: &BTreeSet<BannerCause>) -> Notice {
    let unread = causes.iter().filter_map(|cause| match cause {
        BannerCause::UnreadableFile(file) => Some(file.as_str()),
        BannerCause::UnreadableTrust => Some("trust.json"),
        _ => None,
    });
    let unread: BTreeSet<&str> = unread.collect();
    let count = unread.len();
    let files = Vec::from_iter(unread).join(" and ");
    match files.as_str() {
        "" => Notice::info("The files match the active settings: nothing changes."),
        files => Notice::warning(format!("Nothing changed: {files} could not be read."))
            .with_advice(match count {
                1 => "See the warning about it.",
                _ => "See the warnings about them.",
            }),
    }
}

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
        message += &format!("; and {} more", changes.len() - LISTED_CHANGES_MAX);
    }
    if !message.is_empty() {
        cx.notice(Notice::info(message + "."));
    }
}

fn update_pending_banner(pending: &[SettingsChange], cx: &mut EngineCx) {
    const CAUSE: BannerCause = BannerCause::PendingSettings;
    let mut files: Vec<&str> = pending.iter().map(|change| change.file.as_str()).collect();
    files.dedup();
    let message = match files[..] {
        [] => return cx.clear_banner(&CAUSE),
        [file] => format!("{file} has changes that you rejected; they are not used."),
        _ => format!(
            "{} have changes that you rejected; they are not used.",
            files.join(", ")
        ),
    };
    let notice = Notice::warning(message).with_advice(Advice::Reload);
    let banner = Banner::new(CAUSE, notice);
    if cx.banners.get(&CAUSE) != Some(&banner) {
        cx.set_banner(banner);
    }
}

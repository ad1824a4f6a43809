//! Edits of the files from outside while the program runs: what is harmless comes into force at
//! once, the rest waits for the user. What was asked about is what comes into force, never a
//! file that was read again after the question.

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

/// Changes that one notice tells of.
const LISTED_CHANGES_MAX: usize = 6;

#[derive(Default)]
pub(super) struct SettingsReload {
    watcher: Option<SettingsWatcher>,
    previous_configs: EarlierEntries,
    /// The question that is open.
    open_question: Option<AskId>,
    /// What was asked about and not taken; it is not asked about again by itself.
    declined: Vec<SettingsChange>,
    /// The files are being read: the writes of our own that had begun by then.
    reading_since_write: Option<u64>,
    /// Another reading is due, and whether it asks again about what was declined.
    queued_read: Option<bool>,
    /// The causes of banners that the files gave.
    file_banner_causes: BTreeSet<BannerCause>,
}

impl SettingsReload {
    pub(super) fn remember(&mut self, now: &ConfigSnapshot) {
        self.previous_configs.record(now);
    }
}

/// Files that were read again.
pub struct RereadFiles {
    /// What comes into force by itself, where that is not what is in force already.
    pub to_apply: Option<ConfigSnapshot>,
    harmless: Vec<SettingsChange>,
    /// What the user has to agree to.
    needs_consent: Vec<SettingsChange>,
    on_disk: ConfigSnapshot,
    is_unchanged: bool,
    /// The user asked for it.
    asks_again: bool,
}

impl LiveSettings {
    /// Waits until a file may have changed; pending where nothing is watched. Cancel-safe.
    pub async fn wait_for_edit(&mut self) {
        match &mut self.reload.watcher {
            Some(watcher) => watcher.changed().await,
            None => std::future::pending().await,
        }
    }

    /// Begins to watch, where that is wanted.
    pub fn start_watching(&mut self, banners: &[Banner], trust: &Arc<Trust>, cx: &EngineCx) {
        let known = self.snapshot(trust, cx);
        self.reload.previous_configs.record(&known);
        let causes = banners.iter().map(|banner| banner.cause.clone());
        self.reload.file_banner_causes = causes.collect();
        if cx.options.watch {
            self.reload.watcher = Some(SettingsWatcher::new(&cx.home));
        }
    }

    /// A write of our own ended.
    pub fn config_written(&mut self, cx: &mut EngineCx) {
        cx.config_writes.ended += 1;
        if let Some(asks) = self.reload.queued_read.take() {
            self.read_files(asks, cx);
        }
    }

    /// Reads the files again; `asks` asks about what was declined, too.
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

    /// The files were read again. What comes into force by itself is returned: then
    /// [`Self::reread_in_force`] goes on.
    pub fn review_files(
        &mut self,
        read: ConfigLoad,
        asks: bool,
        models: &ModelRegistry,
        trust: &Arc<Trust>,
        cx: &mut EngineCx,
    ) -> Option<RereadFiles> {
        // What was read may be from before a write of our own.
        let began = self.reload.reading_since_write.take();
        let is_stale = began != Some(cx.config_writes.begun);
        let due = self.reload.queued_read.take();
        if let Some(due) = due.or(is_stale.then_some(false)) {
            self.read_files(asks || due, cx);
            return None;
        }
        self.replace_file_banners(&read.banners, models, trust, cx);
        let before = self.snapshot(trust, cx);
        let mut after = read.with_fallback(&before);
        apply_model_override(&mut after.settings, &cx.options);
        hide_secrets(&after, cx);
        let weighed = review_changes(&before, &after, &self.reload.previous_configs);
        let count = weighed.changes.len();
        tracing::debug!("the files of settings were read again: {count} changes");
        let harmless = weighed.changes_with_impact(ChangeImpact::Harmless);
        let mut waiting = weighed.changes_with_impact(ChangeImpact::NeedsConsent);
        waiting.extend(
            models
                .first_of(&after.settings, cx)
                .map(config::model_use_change),
        );
        Some(RereadFiles {
            is_unchanged: weighed.changes.is_empty() && waiting.is_empty(),
            to_apply: (weighed.with_harmless_changes != before)
                .then_some(weighed.with_harmless_changes),
            harmless,
            needs_consent: waiting,
            on_disk: after,
            asks_again: asks,
        })
    }

    /// What of the files comes into force by itself is in force.
    pub fn finish_reload(&mut self, files: RereadFiles, trust: &Arc<Trust>, cx: &mut EngineCx) {
        report_applied(&files.harmless, cx);
        if files.asks_again {
            self.reload.declined.clear();
            if files.is_unchanged {
                cx.notice(Notice::info(
                    "The files say what is in force: nothing changes.",
                ));
            }
        }
        self.ask_about_changes(files, trust, cx);
    }

    /// Keeps changes waiting: they are asked about unless they were declined before.
    /// The question tells of `harmless` ones, too: it hides the notice of them.
    fn ask_about_changes(&mut self, files: RereadFiles, trust: &Arc<Trust>, cx: &mut EngineCx) {
        let RereadFiles {
            needs_consent: waiting,
            harmless,
            on_disk: after,
            ..
        } = files;
        let declined = &mut self.reload.declined;
        declined.retain(|change| waiting.contains(change));
        let is_known = waiting.iter().all(|change| declined.contains(change));
        let now = Box::new(self.snapshot(trust, cx));
        let after = Box::new(after);
        let open = self.reload.open_question;
        if let Some(PendingQuestion::OutsideEdit {
            edited: known,
            base,
            changes,
        }) = open.and_then(|open| cx.question(open))
            && *changes == waiting
            && config::grants_same_permissions(&now.trust, &known.trust, &after.trust)
        {
            (*known, *base) = (after, now);
            return;
        }
        // While the question is open it says all that the banner would.
        update_waiting_banner(if is_known { &waiting } else { &[] }, cx);
        if let Some(open) = self.reload.open_question.take() {
            cx.withdraw(open);
        }
        if is_known {
            return;
        }
        let question = Ask::ExternalEdit(Arc::new([waiting.as_slice(), &harmless].concat()));
        let pending = PendingQuestion::OutsideEdit {
            edited: after,
            base: now,
            changes: waiting,
        };
        self.reload.open_question = Some(cx.ask(QuestionOwner::Program, question, pending));
    }

    /// The user has read the changes and decided. What comes into force is returned; then
    /// [`Self::taken`] goes on.
    pub fn handle_edits_answer(
        &mut self,
        known: ConfigSnapshot,
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
            tracing::info!("taken: {}: {}", change.file, change.what);
        }
        Some(config::apply_consented(
            &self.snapshot(trust, cx),
            base,
            known,
        ))
    }

    /// The changes that the user took are in force.
    pub fn changes_applied(&mut self, count: usize, cx: &mut EngineCx) {
        self.reload.declined.clear();
        update_waiting_banner(&[], cx);
        cx.notice(Notice::info(match count {
            1 => "The change is in force now.".to_owned(),
            count => format!("The {count} changes are in force now."),
        }));
        // The files may have moved on while the question was open.
        self.read_files(false, cx);
    }

    /// What the files have to say now takes the place of what they said before.
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
            // Who answers is settled while a model is in use.
            if banner.cause == BannerCause::SeveralActiveModels && models.current().is_some() {
                continue;
            }
            self.reload.file_banner_causes.insert(banner.cause.clone());
            let is_unread =
                trust.unreadable.is_file_unreadable && banner.cause == BannerCause::UnreadableTrust;
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

/// One notice for what came into force by itself.
fn report_applied(changes: &[SettingsChange], cx: &mut EngineCx) {
    let mut said = String::new();
    let mut file = "";
    for change in changes.iter().take(LISTED_CHANGES_MAX) {
        let lead = match (change.file == file, said.is_empty()) {
            (true, _) => "; ".to_owned(),
            (false, true) => format!("{}: ", change.file),
            (false, false) => format!(". {}: ", change.file),
        };
        file = &change.file;
        said += &lead;
        said += &change.what;
    }
    if changes.len() > LISTED_CHANGES_MAX {
        said += &format!("; and {} more changes", changes.len() - LISTED_CHANGES_MAX);
    }
    if !said.is_empty() {
        cx.notice(Notice::info(said + "."));
    }
}

/// One banner for all files that have something waiting.
fn update_waiting_banner(waiting: &[SettingsChange], cx: &mut EngineCx) {
    const CAUSE: BannerCause = BannerCause::PendingSettings;
    let mut files: Vec<&str> = waiting.iter().map(|change| change.file.as_str()).collect();
    files.dedup();
    let what = match files[..] {
        [] => return cx.clear_banner(&CAUSE),
        [file] => format!("{file} has changes that are not in force before the next start:"),
        _ => format!(
            "{} have changes that are not in force before the next start:",
            files.join(", ")
        ),
    };
    let notice = Notice::warning(what).with_advice(Advice::Reload);
    let banner = Banner::new(CAUSE, notice);
    if cx.banners.get(&CAUSE) != Some(&banner) {
        cx.set_banner(banner);
    }
}

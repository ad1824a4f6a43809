//! Edits of the files from outside while the program runs (S1.4): what is harmless
//! comes into force at once, the rest waits for the person. What was asked about is
//! what comes into force, never a file that was read again after the question.

use super::actor::Actor;
use super::jobs::{JobResult, SettingsResult};
use super::questions::PendingQuestion;
use super::turn::Input;
use crate::config::{self, Known, Memory, Read, Watcher, weigh};
use crate::domain::{Advice, AskId, Banner, BannerCause, Change, Notice, Weight};
use crate::protocol::{Ask, Choice, Event, Owner};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Changes that one notice tells of.
const TOLD_MAX: usize = 6;

/// What is known of edits from outside.
#[derive(Default)]
pub(super) struct Outside {
    watcher: Option<Watcher>,
    memory: Memory,
    /// The question that is open.
    open: Option<AskId>,
    /// What was asked about and not taken; it is not asked about again by itself.
    declined: Vec<Change>,
    /// The files are being read: the writes of our own that had begun by then.
    reading: Option<u64>,
    /// Another reading is due, and whether it asks again about what was declined.
    due: Option<bool>,
    /// The causes of banners that the files gave.
    causes: BTreeSet<BannerCause>,
}

impl Outside {
    /// Waits until a file may have changed; for ever where nothing is watched.
    pub(super) async fn changed(&mut self) {
        match &mut self.watcher {
            Some(watcher) => watcher.changed().await,
            None => std::future::pending().await,
        }
    }
}

impl Actor {
    /// What is in force.
    pub(super) fn known(&self) -> Known {
        Known {
            settings: self.settings.clone(),
            servers: self.servers.clone(),
            system_prompt: self.system_prompt.to_string(),
            personas: self.personas.clone(),
            trust: Arc::clone(self.trust.stored()),
        }
    }

    /// Begins to watch, where that is wanted.
    pub(super) fn watch(&mut self, banners: &[Banner]) {
        self.outside.memory.remember(&self.known());
        let causes = banners.iter().map(|banner| banner.cause.clone());
        self.outside.causes = causes.collect();
        if self.cx.options.watch {
            self.outside.watcher = Some(Watcher::new(&self.cx.home));
        }
    }

    /// A write of our own ended.
    pub(super) fn config_written(&mut self) {
        self.cx.config_writes.ended += 1;
        if let Some(asks) = self.outside.due.take() {
            self.look_outside(asks);
        }
    }

    /// Reads the files again; `asks` asks about what was declined, too.
    pub(super) fn look_outside(&mut self, asks: bool) {
        let outside = &mut self.outside;
        if outside.reading.is_some() || self.cx.config_writes.is_under_way() {
            outside.due = Some(asks || outside.due == Some(true));
            return;
        }
        outside.reading = Some(self.cx.config_writes.begun);
        let home = self.cx.home.clone();
        self.cx.jobs.spawn_blocking(move || {
            JobResult::Settings(SettingsResult::Reread(Box::new(Read::files(&home)), asks))
        });
    }

    pub(super) fn reread(&mut self, read: Read, asks: bool) {
        // What was read may be from before a write of our own.
        let began = self.outside.reading.take();
        let is_stale = began != Some(self.cx.config_writes.begun);
        let due = self.outside.due.take();
        if let Some(due) = due.or(is_stale.then_some(false)) {
            return self.look_outside(asks || due);
        }
        self.tell_of_files(&read.banners);
        let before = self.known();
        let mut after = read.or_else(&before);
        self.put_stand_in(&mut after.settings);
        self.hide_secrets(&after);
        let weighed = weigh(&before, &after, &self.outside.memory);
        let count = weighed.changes.len();
        tracing::debug!("the files of settings were read again: {count} changes");
        let harmless = weighed.of(Weight::Harmless);
        let mut waiting = weighed.of(Weight::NeedsConsent);
        waiting.extend(
            self.models
                .first_of(&after.settings, &self.cx)
                .map(config::use_of),
        );
        let is_same = weighed.changes.is_empty() && waiting.is_empty();
        if weighed.harmless != before {
            self.come_into_force(weighed.harmless);
        }
        self.tell(&harmless);
        if asks {
            self.outside.declined.clear();
            if is_same {
                self.cx.notice(Notice::info(
                    "The files say what is in force: nothing changes.",
                ));
            }
        }
        self.hold(waiting, &harmless, after);
    }

    /// Keeps changes waiting: they are asked about unless they were declined before.
    /// The question tells of `harmless` ones, too: it hides the notice of them.
    fn hold(&mut self, waiting: Vec<Change>, harmless: &[Change], after: Known) {
        let declined = &mut self.outside.declined;
        declined.retain(|change| waiting.contains(change));
        let is_known = waiting.iter().all(|change| declined.contains(change));
        let now = Box::new(self.known());
        let after = Box::new(after);
        let open = self.outside.open;
        if let Some(PendingQuestion::OutsideEdit {
            known,
            base,
            changes,
        }) = open.and_then(|open| self.cx.question(open))
            && *changes == waiting
            && config::is_same_leave(&now.trust, &known.trust, &after.trust)
        {
            (*known, *base) = (after, now);
            return;
        }
        // While the question is open it says all that the banner would.
        self.tell_of_waiting(if is_known { &waiting } else { &[] });
        if let Some(open) = self.outside.open.take() {
            self.cx.withdraw(open);
        }
        if is_known {
            return;
        }
        let question = Ask::OutsideEdit(Arc::new([&waiting, harmless].concat()));
        let pending = PendingQuestion::OutsideEdit {
            known: after,
            base: now,
            changes: waiting,
        };
        self.outside.open = Some(self.cx.ask(Owner::Program, question, pending));
    }

    /// The person has read the changes and decided.
    pub(super) fn outside_decided(
        &mut self,
        known: Known,
        base: &Known,
        changes: &[Change],
        choice: Choice,
    ) {
        self.outside.open = None;
        if choice != Choice::TakeChanges {
            self.outside.declined = changes.to_vec();
            return self.tell_of_waiting(changes);
        }
        for change in changes {
            tracing::info!("taken: {}: {}", change.file, change.what);
        }
        let known = config::taken(&self.known(), base, known);
        let first = self.models.first_of(&known.settings, &self.cx).cloned();
        self.come_into_force(known);
        if let Some(model) = first {
            let (settings, context) = (&self.settings, &mut self.context);
            self.models
                .take_model(model, settings, context, &mut self.cx);
        }
        self.outside.declined.clear();
        self.tell_of_waiting(&[]);
        self.cx.notice(Notice::info(match changes.len() {
            1 => "The change is in force now.".to_owned(),
            count => format!("The {count} changes are in force now."),
        }));
        // The files may have moved on while the question was open.
        self.look_outside(false);
    }

    fn come_into_force(&mut self, now: Known) {
        self.outside.memory.remember(&now);
        let Known {
            settings,
            servers,
            system_prompt,
            personas,
            trust,
        } = now;
        let before = std::mem::replace(&mut self.settings, settings);
        self.apply_log_level();
        let mode = self.settings.tool_mode;
        // The command line beats the file.
        if before.tool_mode != mode && self.cx.options.tool_mode.is_none() {
            self.trust.set_mode(mode);
            self.feed(Input::ModeChanged(mode));
            self.cx.outbox.push(Event::ToolModeChanged(mode));
        }
        if before.models != self.settings.models {
            let (settings, context) = (&self.settings, &mut self.context);
            self.models
                .settings_changed(&before.models, settings, context, &mut self.cx);
        }
        if servers != self.servers {
            self.servers = servers;
            self.configure_servers();
        }
        if *system_prompt != *self.system_prompt {
            self.system_prompt = system_prompt.into();
        }
        if personas != self.personas {
            self.personas = personas;
            self.personas_changed();
        }
        if trust != *self.trust.stored() {
            self.trust.replace_stored(trust);
            self.trust_changed();
        }
    }

    /// One notice for what came into force by itself.
    fn tell(&mut self, changes: &[Change]) {
        let mut said = String::new();
        let mut file = "";
        for change in changes.iter().take(TOLD_MAX) {
            let lead = match (change.file == file, said.is_empty()) {
                (true, _) => "; ".to_owned(),
                (false, true) => format!("{}: ", change.file),
                (false, false) => format!(". {}: ", change.file),
            };
            file = &change.file;
            said += &lead;
            said += &change.what;
        }
        if changes.len() > TOLD_MAX {
            said += &format!("; and {} more changes", changes.len() - TOLD_MAX);
        }
        if !said.is_empty() {
            self.cx.notice(Notice::info(said + "."));
        }
    }

    /// One banner for all files that have something waiting.
    fn tell_of_waiting(&mut self, waiting: &[Change]) {
        const CAUSE: BannerCause = BannerCause::NotInForce;
        let mut files: Vec<&str> = waiting.iter().map(|change| change.file.as_str()).collect();
        files.dedup();
        let what = match files[..] {
            [] => return self.cx.clear_banner(&CAUSE),
            [file] => format!("{file} has changes that are not in force before the next start:"),
            _ => format!(
                "{} have changes that are not in force before the next start:",
                files.join(", ")
            ),
        };
        let notice = Notice::warning(what).advise(Advice::Reload);
        let banner = Banner::new(CAUSE, notice);
        if self.cx.banners.get(&CAUSE) != Some(&banner) {
            self.cx.set_banner(banner);
        }
    }

    /// What the files have to say now takes the place of what they said before.
    fn tell_of_files(&mut self, banners: &[Banner]) {
        let before = self.cx.banners.clone();
        for cause in std::mem::take(&mut self.outside.causes) {
            self.cx.banners.remove(&cause);
        }
        for banner in banners {
            // Who answers is settled while a model is in use.
            if banner.cause == BannerCause::ActiveModel && self.models.current().is_some() {
                continue;
            }
            self.outside.causes.insert(banner.cause.clone());
            let is_unread =
                self.trust.stored().doubt.unread && banner.cause == BannerCause::UnreadableTrust;
            let banner = match is_unread {
                true => banner.clone(),
                false => config::while_running(banner.clone()),
            };
            self.cx.banners.insert(banner.cause.clone(), banner);
        }
        if before != self.cx.banners {
            self.cx.push_banners();
        }
    }

    /// Secrets are hidden before they are in force: a line may speak of them.
    pub(super) fn hide_secrets(&self, known: &Known) {
        if let Some(log) = &self.cx.log {
            let mut secrets = known.settings.secrets();
            secrets.extend(config::server_secrets(&known.servers));
            log.hide(secrets);
        }
    }

    /// A stand-in is the one model that there is, whatever the file lists.
    pub(super) fn put_stand_in(&self, settings: &mut config::Settings) {
        if let Some(model) = &self.cx.options.stand_in {
            settings.models = vec![model.clone()];
            settings.lists_models = true;
        }
    }
}

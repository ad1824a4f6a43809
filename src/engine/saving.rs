//! What of a conversation goes to the disk, and what is said when it does not get
//! there: the journal of the turn, the session's file, the last try at the end.

use super::actor::{Actor, Done};
use super::record;
use super::saver::{Saved, Saver, Ticket};
use crate::config;
use crate::domain::session::UNSAVED;
use crate::domain::{
    AnswerPlace, Banner, Notice, Prompt, Session, SessionId, TurnEnd, TurnEvent, Usage,
};
use crate::protocol::Event;
use crate::store::{Record, Sessions, StoreError};
use jiff::Timestamp;

const JOURNAL: &str = "journal";

impl Actor {
    fn saves(&self) -> bool {
        !self.options.no_save && !self.private
    }

    /// A turn begins: its prompt is in the journal before its first word can be.
    pub(super) fn begin_journal(&mut self, prompt: &Prompt, model: &str) {
        if !self.saves() {
            return;
        }
        let started = self.session.started_at.unwrap_or_else(Timestamp::now);
        let count = self.session.messages.len();
        let turn = Record::Turn {
            prompt: self.asked_as(prompt.shown()),
            model: model.to_owned(),
            session: self.session.id.clone(),
            started: started.to_string(),
            before: match prompt.place {
                AnswerPlace::Next => count,
                _ => self.session.last_prompt().unwrap_or(count),
            },
            at: Timestamp::now().to_string(),
        };
        self.journalist.begin(self.epoch, turn);
    }

    /// What the turn reports, on its way to the front end.
    pub(super) fn take_down(&mut self, event: &TurnEvent) {
        self.journalist.note(event);
        let TurnEvent::Ended { end, .. } = event else {
            return;
        };
        let kept = self.kept.take();
        if !matches!(end, TurnEnd::Answered { .. }) {
            // Only what nobody saw end is offered at the next start: this turn has ended.
            self.journalist.ended(kept);
        }
        // An answer that is shown as whole is on the disk.
        if self.journalist.holds() {
            self.outbox.hold();
        }
    }

    pub(super) fn save(&mut self, answer: &str, usage: Usage) {
        let Some(turn) = &mut self.turn else {
            return;
        };
        if let Some(covered) = turn.covers.take() {
            return self.compacted(&covered, answer);
        }
        let answered = record::Answered {
            model: &turn.model.name,
            prompt: &turn.prompt,
            answer,
            usage,
            turn: &turn.transcript,
        };
        let whole = record::answered(&mut self.session, turn.place, &answered);
        if let Some(ticket) = self.write() {
            let record = Record::answer(&whole, usage, Timestamp::now());
            self.journalist.answered(record, ticket);
        }
    }

    pub(super) fn keep(&mut self, words: &str) {
        let turn = self.turn.as_ref();
        // Half a summary is of no use to anybody.
        let Some(turn) = turn.filter(|turn| turn.covers.is_none()) else {
            return;
        };
        let (prompt, place) = (self.asked_as(&turn.prompt), turn.place);
        record::cancelled(&mut self.session, place, &prompt, words);
        self.kept = self.write();
    }

    /// Asks for the conversation to be written as it is now. None where it is not to be,
    /// or has no answer yet: the first answer makes the file.
    pub(super) fn write(&mut self) -> Option<Ticket> {
        let session = &self.session;
        let has_answer = !session.messages.is_empty() || !session.branches.is_empty();
        (self.saves() && has_answer).then(|| self.saver.save(self.epoch, written(session)))
    }

    /// Says which files could be read by other users until they were written just now.
    pub(super) fn tell_narrowed(&mut self) {
        let notices = config::narrowed(&self.home).into_iter();
        notices.for_each(|notice| self.outbox.push(Event::Mentioned(notice)));
    }

    pub(super) fn saved(&mut self, saved: Saved) {
        self.tell_narrowed();
        let (epoch, ticket) = (saved.epoch, saved.ticket);
        match saved.result {
            Ok(id) => {
                self.journalist.saved(epoch, ticket);
                self.prepare_again();
                if let Some(original) = saved.fork_of {
                    let said = went_elsewhere(&original, &id);
                    self.outbox.push(Event::Mentioned(said));
                }
                if let Some((_, original)) = self.forked.take_if(|(of, _)| *of == epoch) {
                    self.notice(forked_to(&id, original));
                }
                if epoch == self.epoch {
                    self.session.id = Some(id.clone());
                    self.outbox.push(Event::SessionSaved(id));
                }
                if self.banners.contains_key(UNSAVED) {
                    self.clear_banner(UNSAVED);
                    self.notice(Notice::info("The conversation is saved again."));
                }
            }
            Err(fault) => {
                tracing::error!("a session could not be saved: {fault}");
                let notice = fault
                    .notice()
                    .because("The conversation goes on, and is saved as soon as that can be.");
                let known = self.banners.get(UNSAVED);
                if known.is_none_or(|known| known.notice != notice) {
                    self.set_banner(Banner::new(UNSAVED, notice));
                }
            }
        }
    }

    /// A home that could not be written took a save: what else it lacks is seen anew.
    fn prepare_again(&mut self) {
        if self.banners.contains_key(config::UNWRITABLE) {
            let home = self.home.clone();
            self.jobs
                .spawn_blocking(move || Done::Prepared(home.prepare()));
        }
    }

    pub(super) fn prepared(&mut self, banners: Vec<Banner>) {
        self.banners.remove(config::UNWRITABLE);
        let banners = banners.into_iter();
        self.banners
            .extend(banners.map(|banner| (banner.cause.clone(), banner)));
        self.push_banners();
    }

    pub(super) fn journalled(&mut self, step: super::journalist::Step) {
        use super::journalist::Step;
        match step {
            Step::Written => self.clear_banner(JOURNAL),
            Step::Slow => tracing::warn!("the journal is slow"),
            Step::Failed(fault) => {
                tracing::warn!("the journal cannot be written: {fault}");
                let notice = Notice::warning(format!("The journal is not kept: {fault}."))
                    .because("Should the program be killed, the turn under way is lost.");
                if !self.banners.contains_key(JOURNAL) {
                    self.set_banner(Banner::new(JOURNAL, notice));
                }
            }
        }
        if !self.journalist.holds() {
            self.outbox.release();
        }
    }

    /// Nothing of the conversation is saved from now on, or again (S8.5).
    pub(super) fn set_private(&mut self, private: bool) {
        if std::mem::replace(&mut self.private, private) == private {
            let state = if private {
                "private already"
            } else {
                "not private"
            };
            return self.notice(Notice::info(format!("This conversation is {state}.")));
        }
        self.apply_log_level();
        self.outbox.push(Event::PrivateChanged(private));
        let notice = match (private, &self.session.id) {
            (true, Some(id)) => Notice::info("Private: nothing is saved from now on.")
                .because(format!("{id} stays as it is.")),
            (true, None) => Notice::info("Private: nothing of this conversation is saved."),
            (false, _) => Notice::info("This conversation is saved again with its next answer.")
                .because("What was said in private is part of it then."),
        };
        self.notice(notice);
        if private {
            self.journalist.discard();
            self.outbox.release();
        }
    }

    /// The level of the settings; at debug the log would hold what is said (S12.1),
    /// which nobody may find of a private conversation.
    pub(super) fn apply_log_level(&self) {
        if let Some(log) = &self.log {
            let level = self.settings.log_level;
            let capped = level.min(tracing::Level::INFO);
            log.set_level(if self.private { capped } else { level });
        }
    }

    /// The conversation goes on in a file of its own, which is named once it is there.
    pub(super) fn fork_session(&mut self) {
        if self.is_busy() {
            return;
        }
        if self.private {
            let notice = Notice::warning("A private conversation is not saved.");
            return self.notice(notice.advise("/private off saves it again."));
        }
        if self.session.messages.is_empty() {
            return self.notice(Notice::info("Nothing to fork: nothing was answered yet."));
        }
        let original = self.session.id.take();
        self.session = self.session.forked();
        self.epoch.0 += 1;
        self.forked = Some((self.epoch, original));
        self.write();
    }
}

/// The conversation as its file has it. Where every turn was taken back, the one that was
/// left last stays the active branch in the file until another answer comes: a file
/// without messages would be a nameless entry in the list.
fn written(session: &Session) -> Session {
    let mut session = session.clone();
    if session.messages.is_empty()
        && let Some(last) = session.branches.len().checked_sub(1)
    {
        session.switch(last, Timestamp::now());
    }
    session
}

/// Somebody else changed the file: the conversation was saved beside it.
pub(super) fn went_elsewhere(original: &SessionId, id: &SessionId) -> Notice {
    Notice::warning(format!("{original} was changed elsewhere meanwhile."))
        .advise(format!("This conversation goes on as {id}."))
}

fn forked_to(id: &SessionId, original: Option<SessionId>) -> Notice {
    let notice = Notice::info(format!("This conversation goes on as {id}."));
    match original {
        Some(original) => notice.because(format!("{original} stays as it is.")),
        None => notice,
    }
}

/// The last try is over: what is not saved, in a sentence that names where it is now.
/// `fault` is what the disk said of it.
pub(super) async fn give_up(
    saver: Saver,
    in_journal: bool,
    fault: Option<StoreError>,
) -> Vec<Notice> {
    let unsaved = saver.unsaved();
    if unsaved.is_empty() {
        return Vec::new();
    }
    if in_journal && unsaved.len() == 1 {
        let notice = Notice::failure("The last conversation could not be saved.");
        let notice = match fault {
            Some(fault) => notice.because(format!("{fault}.")),
            None => notice,
        };
        return vec![notice.advise("Its last turn is in the journal: the next start saves it.")];
    }
    let rescue = move || unsaved.iter().map(rescued).collect();
    let rescued = tokio::task::spawn_blocking(rescue).await;
    rescued.unwrap_or_default()
}

fn rescued(session: &Session) -> Notice {
    let title = session.title();
    let what = format!("The conversation \"{title}\" could not be saved.");
    match Sessions::rescue(session) {
        Ok(path) => Notice::failure(what).advise(format!(
            "All of it is in {}: move it from there.",
            path.display()
        )),
        Err(fault) => Notice::failure(what).because(format!("{fault}.")),
    }
}

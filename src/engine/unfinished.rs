//! Turns that an earlier run left in the middle because it crashed, was killed or lost its
//! terminal. Answers that were shown are saved, and so are the words of turns that had
//! ended; the rest is offered, one after the other, the newest first.

use super::actor::{Actor, Done};
use super::asking::Pending;
use crate::config::Home;
use crate::domain::session::CancelledTurn;
use crate::domain::{Advice, Notice, Session};
use crate::protocol::{Ask, CameTo, Choice, Event, LeftCall, Owner, Unfinished};
use crate::store::{
    Journal, JournaledTurn, Journals, OrphanedJournal, Recovered, Sessions, recover, recover_words,
};
use jiff::{Timestamp, Zoned};
use std::collections::VecDeque;

/// A journal with what it tells of its unanswered turns; held until it is dropped.
#[derive(Debug)]
pub(super) struct Left {
    journal: Journal,
    turns: Vec<JournaledTurn>,
}

/// What a start found.
#[derive(Debug, Default)]
pub(super) struct Leavings {
    left: VecDeque<Left>,
    notices: Vec<Notice>,
}

impl Actor {
    /// Looks for what an earlier run left. A single turn offers nothing: nobody is
    /// there to be asked at length.
    pub(super) fn look_for_unfinished(&mut self) {
        if self.options.no_save {
            return;
        }
        let (home, offers) = (self.home.clone(), !self.options.one_turn);
        self.jobs.spawn_blocking(move || {
            let mut leavings = look(&home);
            if !offers {
                leavings.left.clear();
            }
            Done::Left(leavings)
        });
    }

    pub(super) fn found(&mut self, leavings: Leavings) {
        leavings
            .notices
            .into_iter()
            .for_each(|one| self.notice(one));
        self.left.extend(leavings.left);
        self.offer_next();
    }

    fn offer_next(&mut self) {
        if let Some(left) = self.left.pop_front() {
            let question = Ask::Unfinished(Box::new(question(&left)));
            self.ask(Owner::Program, question, Pending::Unfinished(left));
        }
    }

    pub(super) fn unfinished_answered(&mut self, left: Left, choice: Choice) {
        match choice {
            Choice::Resume => self.resume(left),
            Choice::Discard => {
                let prompt = left.turns.last().map(|turn| turn.prompt.clone());
                let question = Ask::Discard {
                    prompt: prompt.unwrap_or_default(),
                };
                self.ask(Owner::Program, question, Pending::Discard(left));
            }
            // Dropped, it is held by nobody, and offered at the next start.
            _ => self.offer_next(),
        }
    }

    pub(super) fn discard_answered(&mut self, left: Left, choice: Choice) {
        if choice == Choice::Discard {
            self.jobs.spawn_blocking(move || {
                left.journal.remove();
                Done::Nothing
            });
        }
        self.offer_next();
    }

    fn resume(&mut self, left: Left) {
        let sessions = std::sync::Arc::clone(&self.sessions);
        self.jobs.spawn_blocking(move || {
            let id = left
                .turns
                .iter()
                .rev()
                .find_map(|turn| turn.session.clone());
            let opened = id.map(|id| sessions.open(&id));
            Done::Resumed(left, opened)
        });
    }

    /// The conversation goes on with the words marked, and the prompt to send again:
    /// nothing is asked and nothing approved unseen, tools may have changed since.
    pub(super) fn resumed(
        &mut self,
        left: Left,
        opened: Option<Result<Session, crate::store::StoreError>>,
    ) {
        let (mut session, fault) = match opened {
            Some(Ok(session)) => (session, None),
            Some(Err(fault)) => (Session::new(""), Some(fault)),
            None => (Session::new(""), None),
        };
        let last = left.turns.last();
        let prompt = last.map_or_else(String::new, |turn| turn.prompt.clone());
        let waited = last.is_some_and(|turn| turn.awaiting().next().is_some());
        for turn in &left.turns {
            if session.started_at.is_none() {
                session.started_at = turn.started;
                session.model.clone_from(&turn.model);
            }
            let note = CancelledTurn {
                at: turn.at.unwrap_or_else(Timestamp::now),
                after: session.messages.len(),
                prompt: turn.prompt.clone(),
                words: turn.words(),
                interrupted: true,
                replaces: turn.before < session.messages.len(),
            };
            session.metadata.add_cancelled(note);
        }
        self.begin_session(session);
        let until = self.write().unwrap_or_else(|| self.saver.next_ticket());
        self.journalist.adopt(self.epoch, until, left.journal);
        self.outbox.push(Event::PromptOffered(prompt));
        let notice = match fault {
            Some(fault) => fault.notice().advise("It goes on as a new conversation."),
            None if waited => Notice::info("The prompt is back in the message.")
                .advise(Advice::SendAgain)
                .because("The call that waited for you was not run."),
            None => Notice::info("The prompt is back in the message.").advise(Advice::SendAgain),
        };
        self.notice(notice);
        self.offer_next();
    }
}

fn look(home: &Home) -> Leavings {
    let mut leavings = Leavings::default();
    let sessions = Sessions::new(home.sessions());
    for found in Journals::new(home.journal()).left() {
        match found {
            OrphanedJournal::Foreign(notice) => leavings.notices.push(notice),
            OrphanedJournal::Left { journal, turns } => {
                sort(journal, turns, &sessions, &mut leavings)
            }
        }
    }
    leavings
}

/// Saves the answers of a journal, and the words of turns that ended without one; turns
/// that never ended are left to be offered.
fn sort(journal: Journal, turns: Vec<JournaledTurn>, sessions: &Sessions, leavings: &mut Leavings) {
    let (answered, mut turns): (Vec<_>, Vec<_>) =
        turns.into_iter().partition(|turn| turn.answer.is_some());
    for turn in answered {
        match recover(sessions, &turn, &Zoned::now()) {
            Ok(Some(Recovered::Saved(id))) => {
                for later in turns.iter_mut().filter(|it| it.started == turn.started) {
                    later.session.get_or_insert_with(|| id.clone());
                }
                let notice = Notice::info(format!("An answer of the last run is saved in {id}."));
                leavings.notices.push(notice);
            }
            Ok(_) => {}
            Err(fault) => {
                // The journal stays as it is, for the next start.
                leavings.notices.push(fault.notice());
                return;
            }
        }
    }
    let (ended, turns): (Vec<_>, Vec<_>) = turns.into_iter().partition(|turn| turn.ended);
    for turn in ended {
        if let Err(fault) = recover_words(sessions, &turn) {
            leavings.notices.push(fault.notice());
            return;
        }
    }
    if turns.is_empty() {
        journal.remove();
    } else {
        leavings.left.push_back(Left { journal, turns });
    }
}

fn question(left: &Left) -> Unfinished {
    let Some(turn) = left.turns.last() else {
        return Unfinished::default();
    };
    let text = |entry: &serde_json::Value, key: &str| {
        let text = entry.get(key).and_then(serde_json::Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let call = |(_, awaiting, entry): &(u64, bool, serde_json::Value)| LeftCall {
        server: text(entry, "server"),
        tool: text(entry, "tool"),
        arguments: entry.get("arguments").cloned().unwrap_or_default(),
        came_to: match (*awaiting, text(entry, "outcome")) {
            (true, _) => CameTo::Awaiting,
            (false, outcome) if outcome.is_empty() => CameTo::Running,
            (false, outcome) => CameTo::Ended(outcome),
        },
    };
    Unfinished {
        prompt: turn.prompt.clone(),
        words: turn.words(),
        thinking: turn.thinking(),
        session: turn.session.clone(),
        at: turn.at,
        calls: turn.calls.iter().map(call).collect(),
        more: left.turns.len() - 1,
    }
}

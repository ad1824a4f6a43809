//! Questions to the person that are not the turn's own: who asked, and what follows
//! from the answer. The turn puts its questions itself.

use super::actor::Actor;
use super::turn::Input;
use crate::config::Known;
use crate::domain::{AskId, Change};
use crate::protocol::{Answer, Ask, Choice, Event, Owner};
use std::sync::Arc;

/// What waits for an answer.
#[derive(Debug)]
pub(super) enum Pending {
    /// What would come into force, and what was said of it.
    OutsideEdit {
        known: Box<Known>,
        changes: Vec<Change>,
    },
    /// The text that was shown: another is not replaced.
    ReplacePrompt(Arc<str>),
}

impl Actor {
    /// Puts a question; its answer is handled by what is pending.
    pub(super) fn ask(&mut self, owner: Owner, question: Ask, pending: Pending) -> AskId {
        let ask = AskId(self.asks.mint());
        self.asked.insert(ask, pending);
        self.outbox.push(Event::Asked {
            ask,
            owner,
            question,
        });
        ask
    }

    /// Takes a question back whose reason is gone.
    pub(super) fn withdraw(&mut self, ask: AskId) -> Option<Pending> {
        let pending = self.asked.remove(&ask)?;
        self.outbox.push(Event::AskClosed(ask));
        Some(pending)
    }

    pub(super) fn answer(&mut self, ask: AskId, answer: Answer) {
        match self.withdraw(ask) {
            Some(Pending::OutsideEdit { known, changes }) => {
                self.outside_decided(*known, &changes, choice_of(&answer));
            }
            Some(Pending::ReplacePrompt(text)) => {
                self.prompt_decided(text, choice_of(&answer));
            }
            None => self.feed(Input::Answered { ask, answer }),
        }
    }
}

/// What was chosen; nothing chosen leaves everything as it is.
fn choice_of(answer: &Answer) -> Choice {
    match answer {
        Answer::Choice(choice) => *choice,
        Answer::Calls(_) | Answer::Dismissed => Choice::Keep,
    }
}

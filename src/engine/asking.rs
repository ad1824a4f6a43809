//! Questions to the person that are not the turn's own: who asked, and what follows
//! from the answer. The turn puts its questions itself.

use super::actor::Actor;
use super::turn::Input;
use crate::domain::AskId;
use crate::protocol::{Answer, Ask, Event, Owner};

/// What waits for an answer.
#[derive(Debug)]
pub(super) enum Pending {
    /// A conversation that does not fit into the context, which may grow to this.
    Context { to: u64 },
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
            Some(Pending::Context { to }) => self.context_answered(to, &answer),
            None => self.feed(Input::Answered { ask, answer }),
        }
    }
}

//! Questions to the person that are not the turn's own: who asked, and what follows
//! from the answer. The turn puts its questions itself.

use super::actor::Actor;
use super::turn::Input;
use super::unfinished::Left;
use crate::config::Known;
use crate::domain::trust::Agreed;
use crate::domain::{AskId, Change, Dialect, ModelRef, ModelServer, PinChange};
use crate::protocol::{Answer, Ask, Choice, Event, Owner};
use std::sync::Arc;

/// What waits for an answer.
#[derive(Debug)]
pub(super) enum Pending {
    /// A conversation that does not fit into the context, which may grow to this.
    Context {
        to: u64,
    },
    AddModel {
        server: ModelServer,
        name: String,
    },
    RemoveModel {
        server: ModelServer,
        name: String,
    },
    /// What a probe found, and what of it is worth storing.
    StoreDialect {
        model: ModelRef,
        to: Option<Dialect>,
    },
    /// What would come into force, and what was said of it.
    OutsideEdit {
        known: Box<Known>,
        /// What was in force when it was asked.
        base: Box<Known>,
        changes: Vec<Change>,
    },
    /// The text that was shown: another is not replaced.
    ReplacePrompt(Arc<str>),
    /// Whether a turn of an earlier run is taken up again.
    Unfinished(Left),
    /// Whether it is really to go.
    Discard(Left),
    /// What was shown of a tool that changed.
    PinChanged(Box<PinChange>),
    /// The text that was shown, by its hash.
    Instructions(Agreed),
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
            Some(pending) => self.answered(pending, &answer),
            None => self.feed(Input::Answered { ask, answer }),
        }
    }

    fn answered(&mut self, pending: Pending, answer: &Answer) {
        let choice = match &answer {
            Answer::Choice(choice) => *choice,
            Answer::Calls(_) | Answer::Dismissed => Choice::Stop,
        };
        match pending {
            Pending::Context { to } => self.context_answered(to, choice),
            Pending::AddModel { server, name } => self.add_model_answered(&server, &name, choice),
            Pending::RemoveModel { server, name } => self.remove_answered(server, name, choice),
            Pending::StoreDialect { model, to } => self.probe_answered(model, to, choice),
            Pending::OutsideEdit {
                known,
                base,
                changes,
            } => {
                self.outside_decided(*known, &base, &changes, choice);
            }
            Pending::ReplacePrompt(text) => self.prompt_decided(text, choice),
            Pending::Unfinished(left) => self.unfinished_answered(left, choice),
            Pending::Discard(left) => self.discard_answered(left, choice),
            Pending::PinChanged(change) => self.pin_answered(*change, answer),
            Pending::Instructions(agreed) => self.instructions_answered(agreed, answer),
        }
    }
}

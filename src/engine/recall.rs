//! What was quoted in a conversation that is left, for when it is opened again: S6.4
//! speaks of the conversation, not of how often the program was left meanwhile. Tool
//! results are in no file; what was piped in stands in the saved messages.

use super::actor::{Actor, Done};
use super::quotes::{Quote, Quotes};
use super::turn::Input;
use crate::domain::{QuotedIn, SessionId};
use std::sync::Arc;

/// Conversations of this run whose quotes are kept.
const KEPT_MAX: usize = 4;
/// Bytes of the newest messages that are read when a conversation is opened.
const MESSAGES_BYTES_MAX: usize = 1 << 20;

/// Quotes of conversations that were left, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Kept(Vec<(SessionId, Quotes)>);

impl Kept {
    fn keep(&mut self, of: SessionId, quotes: Quotes) {
        self.0.retain(|(id, _)| *id != of);
        self.0.push((of, quotes));
        if self.0.len() > KEPT_MAX {
            self.0.remove(0);
        }
    }

    fn take(&mut self, of: &SessionId) -> Option<Quotes> {
        let at = self.0.iter().position(|(id, _)| id == of)?;
        Some(self.0.remove(at).1)
    }
}

impl Actor {
    /// The conversation is about to be left.
    pub(super) fn keep_quotes(&mut self) {
        let quotes = std::mem::take(&mut self.quotes);
        if let Some(id) = &self.session.id {
            self.kept_quotes.keep(id.clone(), quotes);
        }
    }

    /// The conversation was opened.
    pub(super) fn recall_quotes(&mut self) {
        let id = self.session.id.as_ref();
        let kept = id.and_then(|id| self.kept_quotes.take(id));
        self.quotes = kept.unwrap_or_default();
        let mut bytes = 0;
        let messages = self.session.messages.iter().rev().take_while(|message| {
            bytes += message.content.len();
            bytes <= MESSAGES_BYTES_MAX
        });
        let texts: Vec<Arc<str>> = messages.map(|one| Arc::clone(&one.content)).collect();
        if texts.is_empty() {
            return;
        }
        let (epoch, offered) = (self.epoch, Arc::clone(&self.offered));
        self.jobs.spawn_blocking(move || {
            let text = texts.join("\n");
            let quote = Quote::of_text(QuotedIn::Earlier, &text, &offered);
            Done::Recalled(epoch, Arc::new(quote))
        });
    }

    pub(super) fn quotes_recalled(&mut self, epoch: super::saver::Epoch, quote: Arc<Quote>) {
        if epoch == self.epoch {
            self.quotes.add(Arc::clone(&quote));
            self.feed(Input::Quoted(quote));
        }
    }
}

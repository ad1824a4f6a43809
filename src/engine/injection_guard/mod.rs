//! The prompt-injection guard: untrusted text of the present conversation, from tool
//! results, pipes and saved messages. `quote` compares calls with it, `extract` finds the
//! calls that a text holds.

mod extract;
mod quote;

pub use quote::{Quote, Quotes, read, said};

use super::cx::EngineCx;
use super::jobs::JobResult;
use super::persist::session_writer::Epoch;
use crate::domain::{Offered, QuotedIn, Session, SessionId};
use std::sync::Arc;

/// Sessions of this run whose untrusted text is kept.
const SESSIONS_MAX: usize = 4;
/// Bytes of the newest messages that are read when a session is opened.
const MESSAGES_BYTES_MAX: usize = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct InjectionGuard {
    quotes: Quotes,
    /// Untrusted text of sessions that were left, so that the guard still works when one is
    /// reopened: tool results are in no file. The oldest comes first.
    left: Vec<(SessionId, Quotes)>,
}

impl InjectionGuard {
    pub(super) fn quotes(&self) -> &Quotes {
        &self.quotes
    }

    pub(super) fn add(&mut self, quote: Arc<Quote>) {
        self.quotes.add(quote);
    }

    /// The session is about to be left.
    pub(super) fn leave(&mut self, session: &Session) {
        let quotes = std::mem::take(&mut self.quotes);
        if let Some(id) = &session.id {
            self.left.retain(|(other, _)| other != id);
            self.left.push((id.clone(), quotes));
            if self.left.len() > SESSIONS_MAX {
                self.left.remove(0);
            }
        }
    }

    /// The session was opened. Its messages are read in the background: what was piped in
    /// stands there.
    pub(super) fn enter(
        &mut self,
        session: &Session,
        epoch: Epoch,
        offered: &Arc<Offered>,
        cx: &mut EngineCx,
    ) {
        let kept = self
            .left
            .iter()
            .position(|(id, _)| session.id.as_ref() == Some(id));
        self.quotes = kept.map(|at| self.left.remove(at).1).unwrap_or_default();
        let mut bytes = 0;
        let messages = session.messages.iter().rev().take_while(|message| {
            bytes += message.content.len();
            bytes <= MESSAGES_BYTES_MAX
        });
        let texts: Vec<Arc<str>> = messages.map(|one| Arc::clone(&one.content)).collect();
        if texts.is_empty() {
            return;
        }
        let offered = Arc::clone(offered);
        cx.jobs.spawn_blocking(move || {
            let quote = Quote::of_text(QuotedIn::Earlier, &texts.join("\n"), &offered);
            JobResult::MessagesRead(epoch, Arc::new(quote))
        });
    }
}

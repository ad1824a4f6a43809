//! The prompt-injection guard: untrusted text of the present conversation, from tool
//! results, pipes and saved messages. `quote` compares calls with it, `extract` finds the
//! calls that a text holds.

mod extract;
mod untrusted_text;

pub use untrusted_text::{UntrustedText, UntrustedTexts, scan_untrusted, untrusted_output};

use super::cx::EngineCx;
use super::jobs::JobResult;
use super::persist::session_writer::ConversationSeq;
use crate::domain::{QuoteSource, Session, SessionId, Toolset};
use std::sync::Arc;

/// Sessions of this run whose untrusted text is kept.
const SESSIONS_MAX: usize = 4;
/// Bytes of the newest messages that are read when a session is opened.
const MESSAGES_BYTES_MAX: usize = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct InjectionGuard {
    untrusted_texts: UntrustedTexts,
    /// Untrusted text of sessions that were left, so that the guard still works when one is
    /// reopened: tool results are in no file. The oldest comes first.
    other_sessions: Vec<(SessionId, UntrustedTexts)>,
}

impl InjectionGuard {
    pub(super) fn untrusted_texts(&self) -> &UntrustedTexts {
        &self.untrusted_texts
    }

    pub(super) fn add(&mut self, quote: Arc<UntrustedText>) {
        self.untrusted_texts.add(quote);
    }

    /// The session is about to be left.
    pub(super) fn leave_session(&mut self, session: &Session) {
        let quotes = std::mem::take(&mut self.untrusted_texts);
        if let Some(id) = &session.id {
            self.other_sessions.retain(|(other, _)| other != id);
            self.other_sessions.push((id.clone(), quotes));
            if self.other_sessions.len() > SESSIONS_MAX {
                self.other_sessions.remove(0);
            }
        }
    }

    /// The session was opened. Its messages are read in the background: what was piped in
    /// stands there.
    pub(super) fn enter_session(
        &mut self,
        session: &Session,
        epoch: ConversationSeq,
        offered: &Arc<Toolset>,
        cx: &mut EngineCx,
    ) {
        let kept = self
            .other_sessions
            .iter()
            .position(|(id, _)| session.id.as_ref() == Some(id));
        self.untrusted_texts = kept
            .map(|at| self.other_sessions.remove(at).1)
            .unwrap_or_default();
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
            let quote = UntrustedText::from_text(QuoteSource::Earlier, &texts.join("\n"), &offered);
            JobResult::MessagesRead(epoch, Arc::new(quote))
        });
    }
}

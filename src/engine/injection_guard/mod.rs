//! The prompt-injection guard. It keeps the untrusted text of the conversation, from tool results,
//! piped input, attached files, notes and saved messages, to detect calls that were copied from it.
//! `untrusted_text` compares calls with such text, `extract` finds the calls in it.

mod extract;
mod untrusted_text;

pub use untrusted_text::{UntrustedText, UntrustedTexts, scan_untrusted, untrusted_output};

use super::cx::EngineCx;
use super::jobs::JobResult;
use super::persist::session_writer::ConversationSeq;
use crate::domain::{QuoteSource, Session, SessionId, Toolset};
use futures::FutureExt;
use std::sync::Arc;

/// Maximum number of sessions, besides the open one, whose untrusted text is kept.
const SESSIONS_MAX: usize = 4;
/// Maximum bytes of messages scanned when a session is opened, newest first.
const MESSAGES_BYTES_MAX: usize = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct InjectionGuard {
    untrusted_texts: UntrustedTexts,
    /// Untrusted text of sessions opened before, oldest first. Session files contain no tool
    /// results, so in a reopened session this is how the guard finds calls copied from them.
    other_sessions: Vec<(SessionId, UntrustedTexts)>,
    /// The messages of the open session are being scanned. Until the scan ends, the guard would miss
    /// calls that are copied from them.
    is_scanning: bool,
}

impl InjectionGuard {
    pub(super) fn untrusted_texts(&self) -> &UntrustedTexts {
        &self.untrusted_texts
    }

    /// No request may be sent while this is true.
    pub(super) fn is_scanning(&self) -> bool {
        self.is_scanning
    }

    /// Adds the result of the scan that [`Self::enter_session`] started.
    pub(super) fn finish_scan(&mut self, untrusted_text: Arc<UntrustedText>) {
        self.is_scanning = false;
        self.add(untrusted_text);
    }

    pub(super) fn add(&mut self, untrusted_text: Arc<UntrustedText>) {
        self.untrusted_texts.add(untrusted_text);
    }

    /// Stores the untrusted text of the open session before another one replaces it.
    pub(super) fn leave_session(&mut self, session: &Session) {
        let untrusted_texts = std::mem::take(&mut self.untrusted_texts);
        if let Some(id) = &session.id {
            self.other_sessions.retain(|(other, _)| other != id);
            self.other_sessions.push((id.clone(), untrusted_texts));
            if self.other_sessions.len() > SESSIONS_MAX {
                self.other_sessions.remove(0);
            }
        }
    }

    /// Restores the untrusted text of an opened session, and scans its messages in the
    /// background, because they may contain untrusted text, such as piped input.
    pub(super) fn enter_session(
        &mut self,
        session: &Session,
        conversation: ConversationSeq,
        offered: &Arc<Toolset>,
        cx: &mut EngineCx,
    ) {
        let kept_index = self
            .other_sessions
            .iter()
            .position(|(id, _)| session.id.as_ref() == Some(id));
        self.untrusted_texts = kept_index
            .map(|index| self.other_sessions.remove(index).1)
            .unwrap_or_default();
        let mut bytes = 0;
        let messages = session.messages.iter().rev().take_while(|message| {
            bytes += message.content.len();
            let files = message.attachments.iter().filter_map(|file| file.text());
            bytes += files.map(|text| text.len()).sum::<usize>();
            bytes <= MESSAGES_BYTES_MAX
        });
        let texts: Vec<Arc<str>> = messages
            .flat_map(|message| {
                let files = message.attachments.iter().filter_map(|file| file.text());
                std::iter::once(&message.content).chain(files).cloned()
            })
            .collect();
        self.is_scanning = !texts.is_empty();
        if self.is_scanning {
            let offered = Arc::clone(offered);
            let scan = scan_untrusted(QuoteSource::Earlier, texts.join("\n"), offered);
            let result = scan.map(move |text| JobResult::MessagesScanned(conversation, text));
            cx.jobs.spawn(result);
        }
    }
}

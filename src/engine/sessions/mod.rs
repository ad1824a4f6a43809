//! The open conversation, and background jobs that open stored sessions. `branches` rewinds turns
//! and switches branches, `saved` lists, searches and changes saved sessions.

mod branches;
pub(super) mod saved;

use super::cx::EngineCx;
use super::deps::InitialSession;
use super::jobs::{JobResult, SessionsResult};
use super::persist::session_writer::ConversationSeq;
use crate::domain::session::SessionChoices;
use crate::domain::{Attachment, Notice, Prompt, PromptKind, Session, SessionId};
use crate::protocol::Event;
use crate::store::{SavedChoices, StoreError};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Opening a conversation is abandoned after this long, for example on a disconnected network
/// drive.
pub(super) const OPEN_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Conversation {
    session: Session,
    seq: ConversationSeq,
    /// The user's choices as last read from the file or written to it; `None` for one that the user has
    /// made here since, even if it is the same.
    read: SessionChoices,
}

impl Conversation {
    pub(super) fn new(session: Session) -> Self {
        Self {
            read: session.metadata.choices(),
            session,
            seq: ConversationSeq::default(),
        }
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    pub(super) fn seq(&self) -> ConversationSeq {
        self.seq
    }

    /// Replaces the session, which makes this a new conversation.
    pub(super) fn replace(&mut self, session: Session) {
        self.seq.0 += 1;
        self.read = session.metadata.choices();
        self.session = session;
    }

    pub(super) fn read_choices(&self) -> &SessionChoices {
        &self.read
    }

    pub(super) fn set_title(&mut self, title: &str) {
        self.session.metadata.title = Some(title.to_owned());
        self.read.title = None;
    }

    pub(super) fn set_consults_notes(&mut self, consults_notes: bool) {
        self.session.metadata.consults_notes = Some(consults_notes);
        self.read.consults_notes = None;
    }

    /// Takes over the title that another program gave the conversation, unless the user has chosen one
    /// since the save was requested.
    pub(super) fn choices_saved(&mut self, saved: SavedChoices, cx: &mut EngineCx) {
        let title = &mut self.session.metadata.title;
        let is_written = *title == saved.file.title;
        let is_chosen_since = self.read.title.is_none() && title.is_some();
        let is_renamed = !is_written && !is_chosen_since;
        if is_renamed {
            title.clone_from(&saved.file.title);
        }
        if is_written || is_renamed {
            self.read.title = saved.file.title;
        }
        if self.session.metadata.consults_notes == saved.ours.consults_notes {
            self.read.consults_notes = saved.ours.consults_notes;
        }
        if is_renamed {
            let title = self.session.title().to_owned();
            cx.outbox.push(Event::SessionRenamed(title.clone()));
            let text = format!("Another program has renamed this conversation: \"{title}\".");
            cx.outbox
                .push(Event::LowPriorityNoticePosted(Notice::info(text)));
        }
        if let Some(title) = saved.replaced_title {
            let text =
                format!("Your title replaces \"{title}\", which another program had chosen.");
            cx.notice(Notice::info(text));
        }
    }

    /// Detaches the conversation from its file. Returns the former title.
    pub(super) fn fork(&mut self, title: &str) -> String {
        let original = self.session.title().to_owned();
        self.replace(self.session.fork());
        self.session.metadata.title = Some(title.to_owned());
        original
    }

    /// A continuation answers the last prompt.
    pub(super) fn answered_prompt(&self, kind: PromptKind, prompt: &str) -> String {
        let continued_prompt = self
            .session
            .last_prompt_index()
            .filter(|_| kind == PromptKind::Continue)
            .map(|index| &*self.session.messages[index].content);
        continued_prompt.unwrap_or(prompt).to_owned()
    }

    pub(super) fn answered_attachments(&self, prompt: &Prompt) -> Vec<Arc<Attachment>> {
        let index = self.session.last_prompt_index();
        match index.filter(|_| prompt.kind == PromptKind::Continue) {
            Some(index) => self.session.messages[index].attachments.clone(),
            None => prompt.attachments.clone(),
        }
    }
}

pub(super) fn open(id: SessionId, cx: &mut EngineCx) {
    let sessions = Arc::clone(&cx.sessions);
    let opened = |result| JobResult::Sessions(SessionsResult::Opened(result));
    let if_panicked = opened(Err(StoreError::OpenPanicked));
    let open = move || opened(sessions.open(&id).map(Box::new));
    let open = within_timeout(open, move || opened(Err(StoreError::OpenTimedOut)));
    cx.jobs.spawn_or(if_panicked, open);
}

/// Opens the conversation named on the command line. Returns false if none was.
pub(super) fn open_initial(cx: &mut EngineCx) -> bool {
    let Some(initial) = cx.options.initial_session.clone() else {
        return false;
    };
    let sessions = Arc::clone(&cx.sessions);
    let index = Arc::clone(&cx.session_index);
    let opened = |result| JobResult::Sessions(SessionsResult::InitialOpened(result));
    let open = move || {
        let id = match &initial {
            InitialSession::Latest => index.latest(),
            InitialSession::Named(name) => index.find(name),
        };
        opened(id.map(|id| sessions.open(&id).map(Box::new)))
    };
    let if_panicked = opened(Ok(Err(StoreError::OpenPanicked)));
    let open = within_timeout(open, move || opened(Ok(Err(StoreError::OpenTimedOut))));
    cx.jobs.spawn_or(if_panicked, open);
    true
}

/// Runs `open` on a blocking thread. After [`OPEN_TIMEOUT`], returns `timed_out` instead, and drops
/// the late result.
pub(super) async fn within_timeout<T: Send + 'static>(
    open: impl FnOnce() -> T + Send + 'static,
    timed_out: impl FnOnce() -> T,
) -> T {
    match timeout(OPEN_TIMEOUT, spawn_blocking(open)).await {
        Ok(Ok(opened)) => opened,
        Ok(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Ok(Err(_)) | Err(_) => timed_out(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[tokio::test(start_paused = true)]
    async fn opening_a_conversation_is_abandoned_after_30_seconds() {
        let (release, released) = channel::<()>();
        let mut opening = Box::pin(within_timeout(move || released.recv().is_ok(), || false));
        assert!(timeout(Duration::ZERO, &mut opening).await.is_err());
        tokio::time::advance(Duration::from_secs(30)).await;
        let is_opened = opening.await;
        release.send(()).expect("the file is still being read");
        assert!(!is_opened);
    }

    #[tokio::test]
    async fn a_conversation_that_opens_in_time_is_used() {
        assert_eq!(within_timeout(|| 1, || 2).await, 1);
    }
}

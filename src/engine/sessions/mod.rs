//! The open conversation, and background jobs that open stored sessions. `branches` rewinds turns
//! and switches branches, `saved` lists, searches and changes saved sessions.

mod branches;
pub(super) mod saved;

use super::cx::EngineCx;
use super::deps::InitialSession;
use super::jobs::{JobResult, SessionsResult};
use super::persist::session_writer::ConversationSeq;
use crate::domain::{Attachment, Prompt, PromptKind, Session, SessionId};
use std::sync::Arc;

/// The open conversation.
pub(super) struct Conversation {
    session: Session,
    seq: ConversationSeq,
}

impl Conversation {
    pub(super) fn new(session: Session) -> Self {
        Self {
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
        self.session = session;
    }

    /// Detaches the conversation from its file and gives it another title. Returns the former
    /// title.
    pub(super) fn fork(&mut self, title: &str) -> String {
        let original = self.session.title().to_owned();
        self.replace(self.session.fork());
        self.session.metadata.title = Some(title.to_owned());
        original
    }

    /// The prompt that a turn answers. A continuation answers the last prompt.
    pub(super) fn answered_prompt(&self, kind: PromptKind, prompt: &str) -> String {
        let continued_prompt = self
            .session
            .last_prompt_index()
            .filter(|_| kind == PromptKind::Continue)
            .map(|index| &*self.session.messages[index].content);
        continued_prompt.unwrap_or(prompt).to_owned()
    }

    /// The attachments of the prompt that a turn answers.
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
    cx.jobs.spawn_blocking(move || {
        JobResult::Sessions(SessionsResult::Opened(sessions.open(&id).map(Box::new)))
    });
}

/// Opens the session selected on the command line.
pub(super) fn open_initial(cx: &mut EngineCx) {
    let Some(initial) = cx.options.initial_session.clone() else {
        return;
    };
    let sessions = Arc::clone(&cx.sessions);
    let index = Arc::clone(&cx.session_index);
    cx.jobs.spawn_blocking(move || {
        let id = match &initial {
            InitialSession::Latest => index.latest(),
            InitialSession::Named(name) => index.find(name),
        };
        JobResult::Sessions(SessionsResult::InitialOpened(
            id.map(|id| sessions.open(&id).map(Box::new)),
        ))
    });
}

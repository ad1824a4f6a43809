//! The open conversation, and background jobs that list, open and delete stored sessions.
//! `branches` rewinds turns and switches branches.

mod branches;

use super::cx::EngineCx;
use super::deps::InitialSession;
use super::jobs::{JobResult, SessionsResult};
use super::persist::session_writer::ConversationSeq;
use crate::domain::{Attachment, Prompt, PromptKind, QueryId, Session, SessionId};
use crate::protocol::Event;
use jiff::Timestamp;
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

    /// Detaches the conversation from its file. Returns the id of that file.
    pub(super) fn fork(&mut self) -> Option<SessionId> {
        let original = self.session.id.take();
        self.replace(self.session.fork());
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

pub(super) fn list(query: QueryId, cx: &mut EngineCx) {
    let sessions = Arc::clone(&cx.sessions);
    cx.jobs.spawn_blocking(move || {
        let sessions = Arc::new(sessions.list());
        JobResult::Events(vec![Event::SessionsListed {
            query,
            listed_at: Timestamp::now(),
            sessions,
        }])
    });
}

pub(super) fn preview(query: QueryId, id: SessionId, cx: &mut EngineCx) {
    let sessions = Arc::clone(&cx.sessions);
    cx.jobs.spawn_blocking(move || {
        JobResult::Events(match sessions.preview(&id) {
            Ok(session) => {
                let session = Arc::new(session);
                vec![Event::SessionPreviewed { query, session }]
            }
            // The list already shows why the session cannot be read.
            Err(_) => Vec::new(),
        })
    });
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
    cx.jobs.spawn_blocking(move || {
        let id = match &initial {
            InitialSession::Latest => sessions.latest(),
            InitialSession::Named(name) => sessions.find(name),
        };
        JobResult::Sessions(SessionsResult::InitialOpened(
            id.map(|id| sessions.open(&id).map(Box::new)),
        ))
    });
}

pub(super) fn delete(id: SessionId, cx: &mut EngineCx) {
    let sessions = Arc::clone(&cx.sessions);
    cx.jobs.spawn_blocking(move || {
        let result = sessions.delete(&id);
        JobResult::Sessions(SessionsResult::Deleted(id, result))
    });
}

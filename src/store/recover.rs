//! Saves an answer that was shown but not saved before the program ended, even if it is only
//! partial. It is added only once, and nothing else in the session is lost.

use super::journal::JournaledTurn;
use super::{SessionStore, StoreError};
use crate::domain::session::{CancelledTurn, TurnRecord};
use crate::domain::{SavedMessage, Session, SessionId, ToolCall};
use jiff::{Timestamp, Zoned};

/// The outcome of recovering an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovered {
    AlreadySaved(SessionId),
    Saved(SessionId),
}

/// Saves the answer of `turn` to its session, or to a new session if its own cannot be opened
/// or safely changed. Returns `None` if the turn has no answer.
///
/// # Errors
/// The sessions cannot be written.
pub fn recover_answer(
    sessions: &SessionStore,
    turn: &JournaledTurn,
    now: &Zoned,
) -> Result<Option<Recovered>, StoreError> {
    let Some(answer) = &turn.answer else {
        return Ok(None);
    };
    let exchange = [
        SavedMessage::user(turn.prompt.as_str()).with_attachments(turn.attachments.clone()),
        SavedMessage::assistant(answer.text.as_str()),
    ];
    let mut session = match session_of(sessions, turn) {
        Some(session) => session,
        None => Session {
            started_at: turn.session_started_at,
            ..Session::new("")
        },
    };
    let messages_before = turn.messages_before.min(session.messages.len());
    if let Some(id) = &session.id
        && session.preserves_branches(messages_before, &exchange, &[])
    {
        return Ok(Some(Recovered::AlreadySaved(id.clone())));
    }
    session.rewind(messages_before, now.timestamp());
    session.model.clone_from(&turn.model);
    session.messages.extend(exchange);
    let record = TurnRecord {
        message_index: session.messages.len() - 1,
        model: turn.model.clone(),
        usage: answer.usage,
        calls: turn.tool_calls(),
        thinking: turn.thinking_text(),
        agent_results: Vec::new(),
        ended_at: answer.ended_at,
        is_stopped: answer.is_stopped,
    };
    session.metadata.turns.push(record);
    let result = match &session.id {
        Some(id) => sessions.save(&session).map(|()| id.clone()),
        None => sessions.create(&session, &local_end_time(answer.ended_at, now)),
    };
    match result {
        Ok(id) => Ok(Some(Recovered::Saved(id))),
        Err(StoreError::Unreadable { .. } | StoreError::ChangedElsewhere(_)) => {
            let id = sessions.create(&session, now)?;
            Ok(Some(Recovered::Saved(id)))
        }
        Err(error) => Err(error),
    }
}

/// Saves the partial answer and the calls of an unanswered turn as a cancelled turn. Does nothing
/// if the turn has neither, or if its session already contains it, has no file or cannot be read
/// or safely changed.
///
/// # Errors
/// The sessions cannot be written.
pub fn recover_partial_answer(
    sessions: &SessionStore,
    turn: &JournaledTurn,
) -> Result<(), StoreError> {
    let partial_answer = turn.answer_text();
    let calls = turn.tool_calls();
    let is_empty = partial_answer.trim().is_empty() && !calls.iter().any(ToolCall::may_have_run);
    let session = session_of(sessions, turn).filter(|_| !is_empty);
    let Some(mut session) = session else {
        return Ok(());
    };
    let is_recovered = |cancelled: &CancelledTurn| {
        cancelled.prompt == turn.prompt && cancelled.partial_answer == partial_answer
    };
    if session.metadata.cancelled.iter().any(is_recovered) {
        return Ok(());
    }
    let cancelled = CancelledTurn {
        cancelled_at: turn.started_at.unwrap_or_else(Timestamp::now),
        messages_before: session.messages.len(),
        prompt: turn.prompt.clone(),
        attachments: turn.attachments.clone(),
        partial_answer,
        calls,
        was_interrupted: false,
        replaced_turns: session.prompts_replaced_by(turn.messages_before, turn.started_at),
    };
    session.metadata.add_cancelled(cancelled);
    match sessions.save(&session) {
        // Another program changed the file. A partial answer is not worth a new session.
        Err(StoreError::Unreadable { .. } | StoreError::ChangedElsewhere(_)) => Ok(()),
        result => result,
    }
}

/// The session of a turn. If it had no file yet when the turn started, it is identified by the
/// time of its first prompt.
fn session_of(sessions: &SessionStore, turn: &JournaledTurn) -> Option<Session> {
    if let Some(id) = &turn.session {
        return sessions.open(id).ok();
    }
    let started_at = turn.session_started_at?;
    let summaries = sessions.list();
    let mut matching = summaries
        .iter()
        .filter(|summary| summary.started_at == Some(started_at));
    matching.find_map(|summary| sessions.open(&summary.id).ok())
}

fn local_end_time(ended_at: Option<Timestamp>, now: &Zoned) -> Zoned {
    ended_at.map_or_else(
        || now.clone(),
        |ended_at| ended_at.to_zoned(now.time_zone().clone()),
    )
}

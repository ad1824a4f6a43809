//! Saves an answer that was shown but not saved before the program ended. Adds it once, and
//! leaves everything else in the session unchanged.

use super::journal::JournaledTurn;
use super::{SessionStore, StoreError, call_json};
use crate::domain::session::{CancelledTurn, TurnRecord};
use crate::domain::{SavedMessage, Session, SessionId};
use jiff::{Timestamp, Zoned};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovered {
    /// It was already saved.
    AlreadySaved(SessionId),
    Saved(SessionId),
}

/// Saves the answer of `turn` to its session, or to a new one if that is gone. Returns
/// `None` if the turn has no answer.
///
/// # Errors
/// The sessions cannot be written.
pub fn recover_answer(
    sessions: &SessionStore,
    turn: &JournaledTurn,
    now: &Zoned,
) -> Result<Option<Recovered>, StoreError> {
    let Some((answer, ended, usage)) = &turn.answer else {
        return Ok(None);
    };
    let exchange = [
        SavedMessage::user(turn.prompt.as_str()),
        SavedMessage::assistant(answer.as_str()),
    ];
    let mut session = match session_of(sessions, turn) {
        Some(session) => session,
        None => Session {
            started_at: turn.session_started_at,
            ..Session::new("")
        },
    };
    let before = turn.messages_before.min(session.messages.len());
    if let Some(id) = &session.id
        && session.preserves_branches(before, &exchange, &[])
    {
        return Ok(Some(Recovered::AlreadySaved(id.clone())));
    }
    session.rewind(before, now.timestamp());
    session.model.clone_from(&turn.model);
    session.messages.extend(exchange);
    let note = TurnRecord {
        message_index: session.messages.len() - 1,
        model: turn.model.clone(),
        usage: *usage,
        calls: turn
            .calls
            .iter()
            .filter_map(|(_, _, entry)| call_json::from_json(entry))
            .collect(),
        thinking: turn.thinking_text(),
        ended_at: *ended,
    };
    session.metadata.turns.push(note);
    let id = match &session.id {
        Some(id) => sessions.save(&session).map(|()| id.clone()),
        None => sessions.create(&session, &local_end_time(*ended, now)),
    };
    match id {
        Ok(id) => Ok(Some(Recovered::Saved(id))),
        Err(StoreError::Unreadable { .. } | StoreError::ChangedElsewhere(_)) => {
            let id = sessions.create(&session, now)?;
            Ok(Some(Recovered::Saved(id)))
        }
        Err(fault) => Err(fault),
    }
}

/// Saves the partial answer of an unanswered turn, unless its session already contains it
/// or has no file.
///
/// # Errors
/// The sessions cannot be written.
pub fn recover_partial_answer(
    sessions: &SessionStore,
    turn: &JournaledTurn,
) -> Result<(), StoreError> {
    let words = turn.answer_text();
    let session = session_of(sessions, turn).filter(|_| !words.trim().is_empty());
    let Some(mut session) = session else {
        return Ok(());
    };
    let is_there =
        |note: &CancelledTurn| note.prompt == turn.prompt && note.partial_answer == words;
    if session.metadata.cancelled.iter().any(is_there) {
        return Ok(());
    }
    let note = CancelledTurn {
        cancelled_at: turn.started_at.unwrap_or_else(Timestamp::now),
        messages_before: session.messages.len(),
        prompt: turn.prompt.clone(),
        partial_answer: words,
        was_interrupted: false,
        was_replacement: turn.messages_before < session.messages.len(),
    };
    session.metadata.add_cancelled(note);
    match sessions.save(&session) {
        // Another program changed the file.
        Err(StoreError::Unreadable { .. } | StoreError::ChangedElsewhere(_)) => Ok(()),
        saved => saved,
    }
}

/// The session of a turn. If it had no file yet, the time of its first prompt identifies
/// it.
fn session_of(sessions: &SessionStore, turn: &JournaledTurn) -> Option<Session> {
    if let Some(id) = &turn.session {
        return sessions.open(id).ok();
    }
    let started = turn.session_started_at?;
    let list = sessions.list();
    let mut same = list
        .iter()
        .filter(|summary| summary.started_at == Some(started));
    same.find_map(|summary| sessions.open(&summary.id).ok())
}

fn local_end_time(ended: Option<Timestamp>, now: &Zoned) -> Zoned {
    ended.map_or_else(
        || now.clone(),
        |ended| ended.to_zoned(now.time_zone().clone()),
    )
}

//! Adds a finished turn to the session: prompt and final answer as messages, everything else
//! as metadata.

use crate::domain::session::{CancelledTurn, MessageRole, TurnRecord};
use crate::domain::{EntryBody, PromptKind, SavedMessage, Session, Transcript, Usage};
use jiff::Timestamp;
use std::sync::Arc;

/// The data of a turn that is saved.
pub struct TurnToSave<'a> {
    pub prompt: &'a str,
    pub kind: PromptKind,
    pub model: &'a str,
    /// Built from its events.
    pub transcript: &'a Transcript,
}

/// Adds an answered turn to the conversation. Returns the complete answer.
pub(super) fn add_answered_turn(
    session: &mut Session,
    turn: &TurnToSave,
    answer: &str,
    usage: Usage,
) -> Arc<str> {
    session.model = turn.model.to_owned();
    let at = session.last_prompt_index();
    match (turn.kind, at) {
        (PromptKind::Replace, Some(at)) => session.rewind(at, Timestamp::now()),
        (PromptKind::Continue, Some(at)) => return extend_answer(session, at, turn, answer, usage),
        _ => {}
    }
    session.messages.push(SavedMessage::user(turn.prompt));
    let answer = SavedMessage::assistant(answer);
    let whole = Arc::clone(&answer.content);
    session.messages.push(answer);
    let record = turn_record(turn, usage, session.messages.len() - 1);
    session.metadata.turns.push(record);
    whole
}

/// Appends a continuation to the truncated answer of the prompt at index `at`.
fn extend_answer(
    session: &mut Session,
    at: usize,
    turn: &TurnToSave,
    answer: &str,
    usage: Usage,
) -> Arc<str> {
    let is_answer = |message: &SavedMessage| message.role == MessageRole::Assistant;
    let found = session.messages[at..].iter().rposition(is_answer);
    let message = match found {
        Some(offset) => at + offset,
        None => {
            session.messages.push(SavedMessage::assistant(""));
            session.messages.len() - 1
        }
    };
    let whole: Arc<str> = [&session.messages[message].content, answer].concat().into();
    session.messages[message].content = Arc::clone(&whole);
    session
        .metadata
        .extend_turn(turn_record(turn, usage, message));
    whole
}

fn turn_record(turn: &TurnToSave, usage: Usage, message: usize) -> TurnRecord {
    let (mut tools, mut thoughts) = (Vec::new(), Vec::new());
    for entry in turn.transcript.entries() {
        match &entry.body {
            EntryBody::Tool(call) => tools.push(call.without_results()),
            EntryBody::Thinking { text, .. } if !text.trim().is_empty() => {
                thoughts.push(text.trim_matches('\n'));
            }
            _ => {}
        }
    }
    TurnRecord {
        message_index: message,
        model: turn.model.to_owned(),
        usage,
        calls: tools,
        // A blank line separates the thinking of the rounds.
        thinking: thoughts.join("\n\n"),
        ended_at: Some(Timestamp::now()),
    }
}

/// Records the partial answer of a turn that ended without an answer. It is never sent.
pub(super) fn add_cancelled_turn(
    session: &mut Session,
    kind: PromptKind,
    prompt: &str,
    words: &str,
) {
    let cancelled = CancelledTurn {
        cancelled_at: Timestamp::now(),
        messages_before: session.messages.len(),
        prompt: prompt.to_owned(),
        partial_answer: words.to_owned(),
        was_interrupted: false,
        was_replacement: kind != PromptKind::Ask,
    };
    session.metadata.add_cancelled(cancelled);
}

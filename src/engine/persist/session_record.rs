//! Adds a finished turn to the session: prompt and final answer as messages, everything else
//! as metadata.

use crate::domain::session::{CancelledTurn, MessageRole, TurnRecord};
use crate::domain::{Attachment, EntryBody, PromptKind, SavedMessage, Session, Transcript, Usage};
use jiff::Timestamp;
use std::sync::Arc;

/// The data of a turn that is saved.
pub struct TurnToSave<'a> {
    pub prompt: &'a str,
    pub attachments: &'a [Arc<Attachment>],
    pub kind: PromptKind,
    pub replaced_turns: usize,
    pub model: &'a str,
    pub persona: Option<&'a str>,
    /// Built from the turn's events.
    pub transcript: &'a Transcript,
    /// The user stopped the answer.
    pub is_stopped: bool,
}

/// Returns the complete answer, which for a continuation includes the answer it continues.
pub(super) fn add_answered_turn(
    session: &mut Session,
    turn: &TurnToSave,
    answer: &str,
    usage: Usage,
) -> Arc<str> {
    session.model = turn.model.to_owned();
    session.metadata.persona = turn.persona.map(str::to_owned);
    let prompt_index = match turn.kind {
        PromptKind::Replace => session.nth_last_prompt_index(turn.replaced_turns),
        _ => session.last_prompt_index(),
    };
    match (turn.kind, prompt_index) {
        (PromptKind::Replace, Some(prompt_index)) => session.rewind(prompt_index, Timestamp::now()),
        (PromptKind::Continue, Some(prompt_index)) => {
            return extend_answer(session, prompt_index, turn, answer, usage);
        }
        (PromptKind::Retry, _) => {
            let messages = session.messages.len();
            session
                .metadata
                .remove_failed_attempts(messages, turn.prompt, |_| true);
        }
        _ => {}
    }
    let prompt = SavedMessage::user(turn.prompt).with_attachments(turn.attachments.to_vec());
    session.messages.push(prompt);
    let answer = SavedMessage::assistant(answer);
    let complete_answer = Arc::clone(&answer.content);
    session.messages.push(answer);
    let record = turn_record(turn, usage, session.messages.len() - 1);
    session.metadata.turns.push(record);
    complete_answer
}

fn extend_answer(
    session: &mut Session,
    prompt_index: usize,
    turn: &TurnToSave,
    answer: &str,
    usage: Usage,
) -> Arc<str> {
    let is_answer = |message: &SavedMessage| message.role == MessageRole::Assistant;
    let answer_offset = session.messages[prompt_index..].iter().rposition(is_answer);
    let answer_index = match answer_offset {
        Some(offset) => prompt_index + offset,
        None => {
            session.messages.push(SavedMessage::assistant(""));
            session.messages.len() - 1
        }
    };
    let complete_answer: Arc<str> = [&session.messages[answer_index].content, answer]
        .concat()
        .into();
    session.messages[answer_index].content = Arc::clone(&complete_answer);
    session
        .metadata
        .extend_turn(turn_record(turn, usage, answer_index));
    complete_answer
}

fn turn_record(turn: &TurnToSave, usage: Usage, message_index: usize) -> TurnRecord {
    let (mut calls, mut thoughts, mut agent_results) = (Vec::new(), Vec::new(), Vec::new());
    for entry in turn.transcript.entries() {
        match &entry.body {
            EntryBody::Tool(call) => calls.push(call.without_results()),
            EntryBody::Agent(result) => agent_results.push(result.clone()),
            EntryBody::Thinking { text, .. } if !text.trim().is_empty() => {
                thoughts.push(text.trim_matches('\n'));
            }
            _ => {}
        }
    }
    TurnRecord {
        message_index,
        model: turn.model.to_owned(),
        usage,
        calls,
        // A blank line separates the thinking of the rounds.
        thinking: thoughts.join("\n\n"),
        agent_results,
        ended_at: Some(Timestamp::now()),
        is_stopped: turn.is_stopped,
    }
}

/// Records a turn that ended without an answer. Its text is never sent to the model.
pub(super) fn add_cancelled_turn(
    session: &mut Session,
    turn: &TurnToSave,
    prompt: &str,
    partial_answer: &str,
) {
    let kind = turn.kind;
    let cancelled = CancelledTurn {
        cancelled_at: Timestamp::now(),
        messages_before: session.messages.len(),
        prompt: prompt.to_owned(),
        attachments: turn.attachments.to_vec(),
        partial_answer: partial_answer.to_owned(),
        calls: turn_record(turn, Usage::default(), 0).calls,
        was_interrupted: false,
        replaced_turns: match kind {
            PromptKind::Ask | PromptKind::Retry => 0,
            PromptKind::Replace => turn.replaced_turns,
            _ => 1,
        },
    };
    if kind == PromptKind::Retry {
        let is_empty =
            |earlier: &CancelledTurn| earlier.partial_answer.is_empty() && earlier.calls.is_empty();
        session
            .metadata
            .remove_failed_attempts(session.messages.len(), prompt, is_empty);
    }
    session.metadata.add_cancelled(cancelled);
}

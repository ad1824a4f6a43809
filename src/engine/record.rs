//! What a turn leaves in the session: the prompt and the final answer as
//! messages, everything else beside them (S9.3).

use crate::domain::session::{CancelledTurn, Role, TurnRecord};
use crate::domain::{Body, PromptKind, SavedMessage, Session, Transcript, Usage};
use jiff::Timestamp;
use std::sync::Arc;

/// A turn that was answered.
pub struct Answered<'a> {
    pub model: &'a str,
    pub prompt: &'a str,
    pub answer: &'a str,
    pub usage: Usage,
    /// The fold of its events.
    pub turn: &'a Transcript,
}

/// Adds the turn to the conversation. Returns its whole answer.
pub fn answered(session: &mut Session, kind: PromptKind, answered: &Answered) -> Arc<str> {
    session.model = answered.model.to_owned();
    let at = session.last_prompt();
    match (kind, at) {
        (PromptKind::Replace, Some(at)) => session.rewind(at, Timestamp::now()),
        (PromptKind::Continue, Some(at)) => return extended(session, at, answered),
        _ => {}
    }
    session.messages.push(SavedMessage::user(answered.prompt));
    let answer = SavedMessage::assistant(answered.answer);
    let whole = Arc::clone(&answer.content);
    session.messages.push(answer);
    let note = note(answered, session.messages.len() - 1);
    session.metadata.turns.push(note);
    whole
}

/// The second half of the answer to the prompt at `at`, which was cut.
fn extended(session: &mut Session, at: usize, answered: &Answered) -> Arc<str> {
    let is_answer = |message: &SavedMessage| message.role == Role::Assistant;
    let answer = session.messages[at..].iter().rposition(is_answer);
    let message = match answer {
        Some(behind) => at + behind,
        None => {
            session.messages.push(SavedMessage::assistant(""));
            session.messages.len() - 1
        }
    };
    let whole: Arc<str> = [&session.messages[message].content, answered.answer]
        .concat()
        .into();
    session.messages[message].content = Arc::clone(&whole);
    session.metadata.extend_turn(note(answered, message));
    whole
}

fn note(answered: &Answered, message: usize) -> TurnRecord {
    let (mut tools, mut thoughts) = (Vec::new(), Vec::new());
    for entry in answered.turn.entries() {
        match &entry.body {
            Body::Tool(call) => tools.push(call.without_results()),
            Body::Thinking { text, .. } if !text.trim().is_empty() => {
                thoughts.push(text.trim_matches('\n'));
            }
            _ => {}
        }
    }
    TurnRecord {
        message,
        model: answered.model.to_owned(),
        usage: answered.usage,
        tools,
        // Each round thinks for itself: without a break its first word would run into
        // the last one of the round before.
        thinking: thoughts.join("\n\n"),
        at: Some(Timestamp::now()),
    }
}

/// Keeps the words of a turn that ended without an answer; never sent.
pub fn cancelled(session: &mut Session, kind: PromptKind, prompt: &str, words: &str) {
    let note = CancelledTurn {
        at: Timestamp::now(),
        after: session.messages.len(),
        prompt: prompt.to_owned(),
        words: words.to_owned(),
        interrupted: false,
        replaces: kind != PromptKind::Ask,
    };
    session.metadata.add_cancelled(note);
}

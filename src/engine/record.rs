//! What a turn leaves in the session: the prompt and the final answer as
//! messages, everything else beside them (S9.3).

use crate::domain::session::{CancelledNote, TurnNote};
use crate::domain::{Body, SavedMessage, Session, Transcript, Usage};
use crate::store::beside;
use jiff::Timestamp;

/// A turn that was answered.
pub struct Answered<'a> {
    pub model: &'a str,
    pub prompt: &'a str,
    pub answer: &'a str,
    pub usage: Usage,
    /// The fold of its events.
    pub turn: &'a Transcript,
}

pub fn answered(session: &mut Session, answered: &Answered) {
    session.model = answered.model.to_owned();
    session.messages.push(SavedMessage::user(answered.prompt));
    session
        .messages
        .push(SavedMessage::assistant(answered.answer));
    let (mut tools, mut thoughts) = (Vec::new(), Vec::new());
    for entry in answered.turn.entries() {
        match &entry.body {
            Body::Tool(call) => tools.push(call.as_ref().clone()),
            Body::Thinking { text, .. } if !text.trim().is_empty() => {
                thoughts.push(text.trim_matches('\n'));
            }
            _ => {}
        }
    }
    let note = TurnNote {
        message: session.messages.len() - 1,
        model: answered.model.to_owned(),
        usage: answered.usage,
        tools,
        // Each round thinks for itself: without a break its first word would run into
        // the last one of the round before.
        thinking: thoughts.join("\n\n"),
        at: Some(Timestamp::now()),
    };
    beside::add_turn(&mut session.humble, &note);
}

/// Keeps the words of a turn that ended without an answer; never sent.
pub fn cancelled(session: &mut Session, prompt: &str, words: &str, at: Timestamp) {
    let note = CancelledNote {
        at,
        after: session.messages.len(),
        prompt: prompt.to_owned(),
        words: words.to_owned(),
        interrupted: false,
    };
    beside::add_cancelled(&mut session.humble, &note);
}

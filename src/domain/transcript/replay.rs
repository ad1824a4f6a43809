//! Builds a transcript from a saved session: its messages and records.

use super::super::session::{CancelledTurn, MessageRole, TurnRecord};
use super::super::{
    CallId, Notice, PieceId, PromptKind, SavedMessage, Session, TurnId, compaction,
};
use super::{EntryBody, Transcript};
use std::collections::HashMap;

/// Ids that the generator never produces, counting down from the maximum.
struct PlaceholderIds(u64);

impl PlaceholderIds {
    fn next(&mut self) -> u64 {
        self.0 -= 1;
        self.0
    }
}

impl Transcript {
    /// The transcript of a saved session. Partial answers appear where they were cancelled.
    pub fn from_session(session: &Session) -> Self {
        let mut this = Self::default();
        let numbers = &mut PlaceholderIds(u64::MAX);
        let notes = session
            .metadata
            .turns
            .iter()
            .map(|note| (note.message_index, note));
        let notes: HashMap<usize, &TurnRecord> = notes.collect();
        let summary_notice = compaction::summary_notice(session);
        for (index, message) in session.messages.iter().enumerate() {
            this.replay_summary_notice(summary_notice.as_ref(), index, numbers);
            this.replay_cancelled_turns(session, index, numbers);
            this.replay_message(session, message, notes.get(&index).copied(), numbers);
        }
        this.replay_summary_notice(summary_notice.as_ref(), session.messages.len(), numbers);
        this.replay_cancelled_turns(session, session.messages.len(), numbers);
        this
    }

    /// Shows from where on the model sees a summary instead of the messages.
    fn replay_summary_notice(
        &mut self,
        mark: Option<&(usize, Notice)>,
        index: usize,
        numbers: &mut PlaceholderIds,
    ) {
        if let Some((_, notice)) = mark.filter(|(messages, _)| *messages == index) {
            self.push(TurnId(numbers.next()), EntryBody::Note(notice.clone()));
        }
    }

    fn replay_message(
        &mut self,
        session: &Session,
        message: &SavedMessage,
        note: Option<&TurnRecord>,
        numbers: &mut PlaceholderIds,
    ) {
        let turn = TurnId(numbers.next());
        let text = message.content.to_string();
        let model = match (&message.role, note) {
            (MessageRole::User, _) => {
                let kind = PromptKind::Ask;
                self.push(turn, EntryBody::Prompt { kind, text });
                return;
            }
            (MessageRole::Other(name), _) => name.clone(),
            (MessageRole::Assistant, Some(note)) if !note.model.is_empty() => note.model.clone(),
            (MessageRole::Assistant, _) => session.model.clone(),
        };
        if let Some(note) = note {
            self.replay_turn_record(turn, note, numbers);
        }
        self.push(turn, text_body(model, text, false, numbers));
    }

    fn replay_turn_record(
        &mut self,
        turn: TurnId,
        note: &TurnRecord,
        numbers: &mut PlaceholderIds,
    ) {
        if !note.thinking.is_empty() {
            let (piece, text) = (PieceId(numbers.next()), note.thinking.clone());
            self.push(
                turn,
                EntryBody::Thinking {
                    piece,
                    text,
                    is_open: false,
                },
            );
        }
        for call in &note.calls {
            let mut call = call.clone();
            call.id = CallId(numbers.next());
            self.push(turn, EntryBody::Tool(Box::new(call)));
        }
    }

    fn replay_cancelled_turns(
        &mut self,
        session: &Session,
        index: usize,
        numbers: &mut PlaceholderIds,
    ) {
        let is_here = |note: &&CancelledTurn| note.messages_before == index;
        for note in session.metadata.cancelled.iter().filter(is_here) {
            let turn = TurnId(numbers.next());
            self.unanswered_turns.insert(turn);
            if note.was_replacement {
                self.replacement_turns.insert(turn);
            }
            self.push(
                turn,
                EntryBody::Prompt {
                    kind: PromptKind::Ask,
                    text: note.prompt.clone(),
                },
            );
            let model = session.model.clone();
            if !note.was_interrupted {
                self.push(
                    turn,
                    text_body(model, note.partial_answer.clone(), true, numbers),
                );
                continue;
            }
            if !note.partial_answer.is_empty() {
                self.push(
                    turn,
                    text_body(model, note.partial_answer.clone(), false, numbers),
                );
            }
            self.push(turn, EntryBody::Note(Notice::info("(interrupted)")));
        }
    }
}

fn text_body(
    model: String,
    text: String,
    cancelled: bool,
    numbers: &mut PlaceholderIds,
) -> EntryBody {
    EntryBody::Text {
        piece: PieceId(numbers.next()),
        round: 1,
        model,
        text,
        is_cancelled: cancelled,
    }
}

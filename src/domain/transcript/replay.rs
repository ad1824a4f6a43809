//! Builds a transcript from a saved session: its messages and records.

use super::super::session::{CancelledTurn, Role, TurnRecord};
use super::super::{
    CallId, Notice, PieceId, PromptKind, SavedMessage, Session, TurnId, compaction,
};
use super::{Body, Transcript};
use std::collections::HashMap;

/// Ids that the generator never produces, counting down from the maximum.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 -= 1;
        self.0
    }
}

impl Transcript {
    /// The transcript of a saved session. Partial answers appear where they were cancelled.
    pub fn from_session(session: &Session) -> Self {
        let mut this = Self::default();
        let numbers = &mut Numbers(u64::MAX);
        let notes = session
            .metadata
            .turns
            .iter()
            .map(|note| (note.message, note));
        let notes: HashMap<usize, &TurnRecord> = notes.collect();
        let mark = compaction::summary_notice(session);
        for (index, message) in session.messages.iter().enumerate() {
            this.recall_mark(mark.as_ref(), index, numbers);
            this.recall_cancelled(session, index, numbers);
            this.recall_message(session, message, notes.get(&index).copied(), numbers);
        }
        this.recall_mark(mark.as_ref(), session.messages.len(), numbers);
        this.recall_cancelled(session, session.messages.len(), numbers);
        this
    }

    /// Shows from where on the model sees a summary instead of the messages.
    fn recall_mark(&mut self, mark: Option<&(usize, Notice)>, index: usize, numbers: &mut Numbers) {
        if let Some((_, notice)) = mark.filter(|(messages, _)| *messages == index) {
            self.push(TurnId(numbers.next()), Body::Note(notice.clone()));
        }
    }

    fn recall_message(
        &mut self,
        session: &Session,
        message: &SavedMessage,
        note: Option<&TurnRecord>,
        numbers: &mut Numbers,
    ) {
        let turn = TurnId(numbers.next());
        let text = message.content.to_string();
        let model = match (&message.role, note) {
            (Role::User, _) => {
                let kind = PromptKind::Ask;
                self.push(turn, Body::Prompt { kind, text });
                return;
            }
            (Role::Other(name), _) => name.clone(),
            (Role::Assistant, Some(note)) if !note.model.is_empty() => note.model.clone(),
            (Role::Assistant, _) => session.model.clone(),
        };
        if let Some(note) = note {
            self.recall_note(turn, note, numbers);
        }
        self.push(turn, words(model, text, false, numbers));
    }

    fn recall_note(&mut self, turn: TurnId, note: &TurnRecord, numbers: &mut Numbers) {
        if !note.thinking.is_empty() {
            let (piece, text) = (PieceId(numbers.next()), note.thinking.clone());
            self.push(
                turn,
                Body::Thinking {
                    piece,
                    text,
                    open: false,
                },
            );
        }
        for call in &note.tools {
            let mut call = call.clone();
            call.id = CallId(numbers.next());
            self.push(turn, Body::Tool(Box::new(call)));
        }
    }

    fn recall_cancelled(&mut self, session: &Session, index: usize, numbers: &mut Numbers) {
        let is_here = |note: &&CancelledTurn| note.after == index;
        for note in session.metadata.cancelled.iter().filter(is_here) {
            let turn = TurnId(numbers.next());
            self.unanswered.insert(turn);
            if note.replaces {
                self.replacing.insert(turn);
            }
            self.push(
                turn,
                Body::Prompt {
                    kind: PromptKind::Ask,
                    text: note.prompt.clone(),
                },
            );
            let model = session.model.clone();
            if !note.interrupted {
                self.push(turn, words(model, note.words.clone(), true, numbers));
                continue;
            }
            if !note.words.is_empty() {
                self.push(turn, words(model, note.words.clone(), false, numbers));
            }
            self.push(turn, Body::Note(Notice::info("(interrupted)")));
        }
    }
}

fn words(model: String, text: String, cancelled: bool, numbers: &mut Numbers) -> Body {
    Body::Text {
        piece: PieceId(numbers.next()),
        round: 1,
        model,
        text,
        cancelled,
    }
}

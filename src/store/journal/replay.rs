//! Folds the records of a journal into turns.

use super::JournalRecord;
use crate::domain::{SessionId, Usage};
use jiff::Timestamp;
use serde_json::Value;

/// A turn reconstructed from its journal.
#[derive(Debug, Clone, PartialEq)]
pub struct JournaledTurn {
    pub prompt: String,
    pub model: String,
    pub session: Option<SessionId>,
    /// The time of the conversation's first prompt.
    pub session_started_at: Option<Timestamp>,
    /// The number of earlier messages.
    pub messages_before: usize,
    pub started_at: Option<Timestamp>,
    pub pieces: Vec<JournaledPiece>,
    /// Calls: id, whether it awaits approval, and its JSON.
    pub calls: Vec<(u64, bool, Value)>,
    /// The final answer, the time it ended, and its usage.
    pub answer: Option<(String, Option<Timestamp>, Usage)>,
    pub ended_unanswered: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct JournaledPiece {
    pub id: u64,
    pub thinking: bool,
    pub text: String,
}

impl JournaledTurn {
    /// The partial answer.
    pub fn answer_text(&self) -> String {
        self.join_pieces(false)
    }

    pub fn thinking_text(&self) -> String {
        self.join_pieces(true)
    }

    fn join_pieces(&self, thinking: bool) -> String {
        let pieces = self.pieces.iter();
        let texts = pieces
            .filter(|piece| piece.thinking == thinking)
            .map(|piece| piece.text.trim_matches('\n'));
        let texts: Vec<&str> = texts.filter(|text| !text.trim().is_empty()).collect();
        texts.join("\n\n")
    }

    /// Calls that await the user's approval.
    pub fn calls_awaiting_approval(&self) -> impl Iterator<Item = &Value> {
        let waiting = self.calls.iter().filter(|(_, awaiting, _)| *awaiting);
        waiting.map(|(_, _, entry)| entry)
    }

    fn apply(&mut self, record: JournalRecord) {
        match record {
            JournalRecord::Turn { .. } => {}
            JournalRecord::Text {
                piece,
                thinking,
                text,
            } => match self.pieces.iter_mut().rfind(|known| known.id == piece) {
                Some(known) => known.text.push_str(&text),
                None => self.pieces.push(JournaledPiece {
                    id: piece,
                    thinking,
                    text,
                }),
            },
            JournalRecord::Reclassified { piece, thinking } => {
                let known = self.pieces.iter_mut().rfind(|known| known.id == piece);
                if let Some(known) = known {
                    known.thinking = thinking;
                }
            }
            JournalRecord::Restored { piece, text } => {
                let known = self.pieces.iter_mut().rfind(|known| known.id == piece);
                if let Some(known) = known {
                    known.text = text;
                }
            }
            JournalRecord::Call {
                call,
                awaiting,
                entry,
            } => match self.calls.iter_mut().find(|(id, ..)| *id == call) {
                Some(known) => *known = (call, awaiting, entry),
                None => self.calls.push((call, awaiting, entry)),
            },
            JournalRecord::Answer {
                text,
                input,
                output,
                at,
            } => self.answer = Some((text, at.parse().ok(), Usage { input, output })),
            JournalRecord::Ended => self.ended_unanswered = true,
        }
    }
}

/// The turns of a journal; empty if it does not begin with a turn. Skips partial and
/// unknown records.
pub(super) fn read_turns(bytes: &[u8]) -> Vec<JournaledTurn> {
    let mut turns: Vec<JournaledTurn> = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(record) = serde_json::from_slice::<JournalRecord>(line) else {
            if turns.is_empty() {
                return turns;
            }
            continue;
        };
        match record {
            JournalRecord::Turn {
                prompt,
                model,
                session,
                started,
                before,
                at,
            } => turns.push(JournaledTurn {
                prompt,
                model,
                session,
                session_started_at: started.parse().ok(),
                messages_before: before,
                started_at: at.parse().ok(),
                pieces: Vec::new(),
                calls: Vec::new(),
                answer: None,
                ended_unanswered: false,
            }),
            other => match turns.last_mut() {
                Some(turn) => turn.apply(other),
                None => return turns,
            },
        }
    }
    turns
}

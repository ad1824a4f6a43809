//! Folds the records of a journal into turns.

use super::Record;
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
    pub started: Option<Timestamp>,
    /// The number of earlier messages.
    pub before: usize,
    pub at: Option<Timestamp>,
    pub pieces: Vec<Piece>,
    /// Calls: id, whether it awaits approval, and its JSON.
    pub calls: Vec<(u64, bool, Value)>,
    /// The final answer, the time it ended, and its usage.
    pub answer: Option<(String, Option<Timestamp>, Usage)>,
    pub ended: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub id: u64,
    pub thinking: bool,
    pub text: String,
}

impl JournaledTurn {
    /// The partial answer.
    pub fn words(&self) -> String {
        self.joined(false)
    }

    pub fn thinking(&self) -> String {
        self.joined(true)
    }

    fn joined(&self, thinking: bool) -> String {
        let pieces = self.pieces.iter();
        let texts = pieces
            .filter(|piece| piece.thinking == thinking)
            .map(|piece| piece.text.trim_matches('\n'));
        let texts: Vec<&str> = texts.filter(|text| !text.trim().is_empty()).collect();
        texts.join("\n\n")
    }

    /// Calls that await the user's approval.
    pub fn awaiting(&self) -> impl Iterator<Item = &Value> {
        let waiting = self.calls.iter().filter(|(_, awaiting, _)| *awaiting);
        waiting.map(|(_, _, entry)| entry)
    }

    fn take(&mut self, record: Record) {
        match record {
            Record::Turn { .. } => {}
            Record::Words {
                piece,
                thinking,
                text,
            } => match self.pieces.iter_mut().rfind(|known| known.id == piece) {
                Some(known) => known.text.push_str(&text),
                None => self.pieces.push(Piece {
                    id: piece,
                    thinking,
                    text,
                }),
            },
            Record::Turned { piece, thinking } => {
                let known = self.pieces.iter_mut().rfind(|known| known.id == piece);
                if let Some(known) = known {
                    known.thinking = thinking;
                }
            }
            Record::Restored { piece, text } => {
                let known = self.pieces.iter_mut().rfind(|known| known.id == piece);
                if let Some(known) = known {
                    known.text = text;
                }
            }
            Record::Call {
                call,
                awaiting,
                entry,
            } => match self.calls.iter_mut().find(|(id, ..)| *id == call) {
                Some(known) => *known = (call, awaiting, entry),
                None => self.calls.push((call, awaiting, entry)),
            },
            Record::Answer {
                text,
                input,
                output,
                at,
            } => self.answer = Some((text, at.parse().ok(), Usage { input, output })),
            Record::Ended => self.ended = true,
        }
    }
}

/// The turns of a journal; empty if it does not begin with a turn. Skips partial and
/// unknown records.
pub(super) fn read(bytes: &[u8]) -> Vec<JournaledTurn> {
    let mut turns: Vec<JournaledTurn> = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(record) = serde_json::from_slice::<Record>(line) else {
            if turns.is_empty() {
                return turns;
            }
            continue;
        };
        match record {
            Record::Turn {
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
                started: started.parse().ok(),
                before,
                at: at.parse().ok(),
                pieces: Vec::new(),
                calls: Vec::new(),
                answer: None,
                ended: false,
            }),
            other => match turns.last_mut() {
                Some(turn) => turn.take(other),
                None => return turns,
            },
        }
    }
    turns
}

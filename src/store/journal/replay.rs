//! Reconstructs turns from the records of a journal.

use super::JournalRecord;
use crate::domain::{Attachment, SessionId, Usage};
use crate::domain::{ToolCall, ToolOutcome, ToolState};
use crate::store::{attachment_json, call_json};
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;

/// A turn reconstructed from its journal.
#[derive(Debug, Clone, PartialEq)]
pub struct JournaledTurn {
    pub prompt: String,
    /// The contents of the files have not been read yet.
    pub attachments: Vec<Arc<Attachment>>,
    pub model: String,
    pub session: Option<SessionId>,
    /// The time of the conversation's first prompt.
    pub session_started_at: Option<Timestamp>,
    /// The number of messages before the prompt.
    pub messages_before: usize,
    pub started_at: Option<Timestamp>,
    pub pieces: Vec<JournaledPiece>,
    /// For each call: its id, whether it awaits approval, and its JSON.
    pub calls: Vec<(u64, bool, Value)>,
    pub answer: Option<JournaledAnswer>,
    pub has_ended_unanswered: bool,
}

/// The final answer of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct JournaledAnswer {
    pub text: String,
    pub ended_at: Option<Timestamp>,
    pub usage: Usage,
    /// The user stopped it.
    pub is_stopped: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct JournaledPiece {
    pub id: u64,
    pub is_thinking: bool,
    pub text: String,
}

impl JournaledTurn {
    /// The streamed text of the answer, possibly partial.
    pub fn answer_text(&self) -> String {
        self.join_pieces(false)
    }

    pub fn thinking_text(&self) -> String {
        self.join_pieces(true)
    }

    /// The non-blank pieces of one kind, separated by blank lines.
    fn join_pieces(&self, is_thinking: bool) -> String {
        let pieces = self.pieces.iter();
        let texts = pieces
            .filter(|piece| piece.is_thinking == is_thinking)
            .map(|piece| piece.text.trim_matches('\n'));
        let texts: Vec<&str> = texts.filter(|text| !text.trim().is_empty()).collect();
        texts.join("\n\n")
    }

    pub fn calls_awaiting_approval(&self) -> impl Iterator<Item = &Value> {
        let waiting = self.calls.iter().filter(|(_, awaiting, _)| *awaiting);
        waiting.map(|(_, _, entry)| entry)
    }

    /// All calls in order. A call without an outcome may have run, unless it awaited approval.
    pub fn tool_calls(&self) -> Vec<ToolCall> {
        let calls = self.calls.iter().filter_map(|(_, awaiting, entry)| {
            let mut call = call_json::from_json(entry)?;
            if *awaiting {
                let why = "the program ended".to_owned();
                call.state = ToolState::Done(ToolOutcome::NotRun { why });
            }
            Some(call)
        });
        calls.collect()
    }

    /// Whether the server runs the call of this entry as a task.
    pub fn has_task(entry: &Value) -> bool {
        call_json::from_json(entry).is_some_and(|call| call.task.is_some())
    }

    fn piece_mut(&mut self, id: u64) -> Option<&mut JournaledPiece> {
        self.pieces.iter_mut().rfind(|piece| piece.id == id)
    }

    fn apply(&mut self, record: JournalRecord) {
        match record {
            JournalRecord::Turn { .. } => {}
            JournalRecord::Text {
                piece,
                thinking,
                text,
            } => match self.piece_mut(piece) {
                Some(existing) => existing.text.push_str(&text),
                None => self.pieces.push(JournaledPiece {
                    id: piece,
                    is_thinking: thinking,
                    text,
                }),
            },
            JournalRecord::Reclassified { piece, thinking } => {
                if let Some(existing) = self.piece_mut(piece) {
                    existing.is_thinking = thinking;
                }
            }
            JournalRecord::Restored { piece, text } => {
                if let Some(existing) = self.piece_mut(piece) {
                    existing.text = text;
                }
            }
            JournalRecord::Call {
                call,
                awaiting,
                entry,
            } => match self.calls.iter_mut().find(|(id, ..)| *id == call) {
                Some(existing) => *existing = (call, awaiting, entry),
                None => self.calls.push((call, awaiting, entry)),
            },
            JournalRecord::Answer {
                text,
                input,
                output,
                at,
                stopped,
            } => {
                self.answer = Some(JournaledAnswer {
                    text,
                    ended_at: at.parse().ok(),
                    usage: Usage {
                        input,
                        output,
                        prefix: None,
                    },
                    is_stopped: stopped,
                })
            }
            JournalRecord::Ended => self.has_ended_unanswered = true,
        }
    }
}

/// The turns of a journal. Skips partial and unknown records. Returns no turns if the journal
/// does not begin with one.
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
                attachments,
                model,
                session,
                started,
                before,
                at,
            } => turns.push(JournaledTurn {
                prompt,
                attachments: attachment_json::list_from_json(&attachments),
                model,
                session,
                session_started_at: started.parse().ok(),
                messages_before: before,
                started_at: at.parse().ok(),
                pieces: Vec::new(),
                calls: Vec::new(),
                answer: None,
                has_ended_unanswered: false,
            }),
            record => match turns.last_mut() {
                Some(turn) => turn.apply(record),
                None => return turns,
            },
        }
    }
    turns
}

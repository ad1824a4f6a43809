//! Builds a transcript from the messages and records of a saved session.

use super::super::session::{CancelledTurn, MessageRole, TurnRecord};
use super::super::{
    CallId, Notice, PieceId, PromptKind, SavedMessage, Session, ToolCall, TurnId, compaction,
};
use super::{EntryBody, StopMark, Transcript};
use std::collections::HashMap;

/// Generates IDs down from the maximum, which an `IdGenerator` never reaches.
struct PlaceholderIds(u64);

impl PlaceholderIds {
    fn next(&mut self) -> u64 {
        self.0 -= 1;
        self.0
    }
}

impl Transcript {
    /// Partial answers appear where they were cancelled.
    pub fn from_session(session: &Session) -> Self {
        let mut transcript = Self::default();
        let ids = &mut PlaceholderIds(u64::MAX);
        let turn_records: HashMap<usize, &TurnRecord> = session
            .metadata
            .turns
            .iter()
            .map(|record| (record.message_index, record))
            .collect();
        let summary_notice = compaction::summary_notice(session);
        for (index, message) in session.messages.iter().enumerate() {
            transcript.replay_summary_notice(summary_notice.as_ref(), index, ids);
            transcript.replay_cancelled_turns(session, index, ids);
            transcript.replay_message(session, message, turn_records.get(&index).copied(), ids);
        }
        transcript.replay_summary_notice(summary_notice.as_ref(), session.messages.len(), ids);
        transcript.replay_cancelled_turns(session, session.messages.len(), ids);
        if !session.branches.is_empty() {
            transcript.set_branch_counts(&session.branch_counts());
        }
        transcript
    }

    /// Adds the notice at `index` if the summary ends there.
    fn replay_summary_notice(
        &mut self,
        summary_notice: Option<&(usize, Notice)>,
        index: usize,
        ids: &mut PlaceholderIds,
    ) {
        if let Some((_, notice)) = summary_notice.filter(|(summary_end, _)| *summary_end == index) {
            self.push(TurnId(ids.next()), EntryBody::Note(notice.clone()));
        }
    }

    fn replay_message(
        &mut self,
        session: &Session,
        message: &SavedMessage,
        record: Option<&TurnRecord>,
        ids: &mut PlaceholderIds,
    ) {
        let turn = TurnId(ids.next());
        let text = message.content.to_string();
        let model = match (&message.role, record) {
            (MessageRole::User, _) => {
                let body = EntryBody::Prompt {
                    kind: PromptKind::Ask,
                    text,
                    attachments: message.attachments.clone(),
                };
                self.push(turn, body);
                return;
            }
            (MessageRole::Other(name), _) => name.clone(),
            (MessageRole::Assistant, Some(record)) if !record.model.is_empty() => {
                record.model.clone()
            }
            (MessageRole::Assistant, _) => session.model.clone(),
        };
        if let Some(record) = record {
            self.replay_turn_record(turn, record, ids);
        }
        let mark = match record.is_some_and(|record| record.is_stopped) {
            true => StopMark::Stopped,
            false => StopMark::None,
        };
        self.push(turn, text_body(model, text, mark, ids));
        for result in record.map_or(&[][..], |record| &record.agent_results) {
            self.push(turn, EntryBody::Agent(result.clone()));
        }
    }

    fn replay_turn_record(&mut self, turn: TurnId, record: &TurnRecord, ids: &mut PlaceholderIds) {
        if !record.thinking.is_empty() {
            let (piece, text) = (PieceId(ids.next()), record.thinking.clone());
            self.push(
                turn,
                EntryBody::Thinking {
                    piece,
                    text,
                    is_open: false,
                },
            );
        }
        self.replay_calls(turn, &record.calls, ids);
    }

    fn replay_calls(&mut self, turn: TurnId, calls: &[ToolCall], ids: &mut PlaceholderIds) {
        for call in calls {
            let mut call = call.clone();
            call.id = CallId(ids.next());
            self.push(turn, EntryBody::Tool(Box::new(call)));
        }
    }

    fn replay_cancelled_turns(
        &mut self,
        session: &Session,
        index: usize,
        ids: &mut PlaceholderIds,
    ) {
        let is_at_index = |cancelled: &&CancelledTurn| cancelled.messages_before == index;
        for cancelled in session.metadata.cancelled.iter().filter(is_at_index) {
            let turn = TurnId(ids.next());
            self.unanswered_turns.insert(turn);
            if cancelled.replaced_turns > 0 {
                let replaced = cancelled.replaced_turns;
                self.replacement_turns.insert(turn, replaced);
            }
            self.push(
                turn,
                EntryBody::Prompt {
                    kind: PromptKind::Ask,
                    text: cancelled.prompt.clone(),
                    attachments: cancelled.attachments.clone(),
                },
            );
            self.replay_calls(turn, &cancelled.calls, ids);
            let model = session.model.clone();
            if !cancelled.was_interrupted {
                self.push(
                    turn,
                    text_body(
                        model,
                        cancelled.partial_answer.clone(),
                        StopMark::Cancelled,
                        ids,
                    ),
                );
                continue;
            }
            if !cancelled.partial_answer.is_empty() {
                self.push(
                    turn,
                    text_body(model, cancelled.partial_answer.clone(), StopMark::None, ids),
                );
            }
            self.push(turn, EntryBody::Note(Notice::info("(interrupted)")));
        }
    }
}

fn text_body(model: String, text: String, mark: StopMark, ids: &mut PlaceholderIds) -> EntryBody {
    EntryBody::Text {
        piece: PieceId(ids.next()),
        round: 1,
        model,
        text,
        mark,
    }
}

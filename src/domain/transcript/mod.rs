//! Folds turn events into a transcript, which the screen, the saved session and headless
//! output all use. No other code folds turn events.

mod last_prompt;
mod replacement;
mod replay;
mod running_calls;
mod stopped;
mod waiting;

use super::{
    AgentResult, Attachment, CallId, Notice, PieceId, PieceKind, Prompt, PromptKind, ToolCall,
    ToolState, TurnEnd, TurnEvent, TurnId, Usage, WaitReason, compaction,
};
pub use last_prompt::LastPrompt;
use replacement::DetachedEntries;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
pub use stopped::StopMark;

/// The note on a cancelled turn that has no text to mark.
pub const CANCELLED_NOTE: &str = "(cancelled)";

/// One item of the conversation. `revision` increases with every change, so a renderer can
/// cache its output.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptEntry {
    pub turn: TurnId,
    pub revision: u64,
    /// Since this revision, text has only been appended.
    pub append_only_since: u64,
    /// The number of other branches that leave the conversation at this prompt.
    pub other_branches: usize,
    pub body: EntryBody,
}

impl TranscriptEntry {
    fn is_compaction_prompt(&self) -> bool {
        matches!(
            self.body,
            EntryBody::Prompt {
                kind: PromptKind::Compact,
                ..
            }
        )
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum EntryBody {
    Prompt {
        kind: PromptKind,
        /// Empty for commands.
        text: String,
        attachments: Vec<Arc<Attachment>>,
    },
    Thinking {
        piece: PieceId,
        text: String,
        is_open: bool,
    },
    /// Streamed text: the final answer, or text before a call.
    Text {
        piece: PieceId,
        round: u32,
        model: String,
        text: String,
        mark: StopMark,
    },
    Tool(Box<ToolCall>),
    Note(Notice),
    Agent(AgentResult),
}

#[derive(Debug, Clone, Default)]
pub struct Transcript {
    entries: Vec<TranscriptEntry>,
    piece_indices: HashMap<PieceId, usize>,
    call_indices: HashMap<CallId, usize>,
    prompt_indices: HashMap<TurnId, usize>,
    pub(super) unanswered_turns: HashSet<TurnId>,
    /// The unanswered turns that were meant to replace answered ones, and how many.
    pub(super) replacement_turns: HashMap<TurnId, usize>,
    /// Entries that the running turn replaces once it is answered.
    detached: Option<DetachedEntries>,
    reindex_count: u64,
    running_turn: Option<TurnId>,
    /// The kind of prompt that started the current or last turn.
    prompt_kind: PromptKind,
    /// See [`Prompt::replaced_turns`].
    replaced_turns: usize,
    wait: Option<WaitReason>,
    /// The activity of a note agent before the first request.
    agent_activity: Option<String>,
    round: u32,
    model: String,
    usage: Usage,
    revision: u64,
}

impl Transcript {
    pub fn entries(&self) -> &[TranscriptEntry] {
        &self.entries
    }

    pub fn running_turn(&self) -> Option<TurnId> {
        self.running_turn
    }

    /// The index of the entry to which streamed text is appended.
    pub fn open_entry(&self) -> Option<usize> {
        self.running_turn?;
        let last = self.entries.len().checked_sub(1)?;
        match self.entries[last].body {
            EntryBody::Text { .. } | EntryBody::Thinking { is_open: true, .. } => Some(last),
            _ => None,
        }
    }

    pub fn usage(&self) -> Usage {
        self.usage
    }

    pub fn call(&self, id: CallId) -> Option<&ToolCall> {
        match &self.entries.get(*self.call_indices.get(&id)?)?.body {
            EntryBody::Tool(call) => Some(call),
            _ => None,
        }
    }

    pub fn last_answer(&self) -> Option<&str> {
        let mut entries = self.entries.iter().rev();
        entries.find_map(|entry| match &entry.body {
            EntryBody::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    /// The latest call that ran and is over. It may have no result, for example after a timeout.
    pub fn last_run_call(&self) -> Option<&ToolCall> {
        let mut entries = self.entries.iter().rev();
        entries.find_map(|entry| match &entry.body {
            EntryBody::Tool(call) => match &call.state {
                ToolState::Done(outcome) => outcome.elapsed().map(|_| &**call),
                _ => None,
            },
            _ => None,
        })
    }

    /// The number of entries before the running turn, or of all entries if none runs. Their texts
    /// are final until [`Transcript::reindex_count`] changes.
    pub fn settled_len(&self) -> usize {
        self.running_turn
            .and_then(|turn| self.prompt_indices.get(&turn).copied())
            .unwrap_or(self.entries.len())
    }

    /// Counts how often [`Transcript::apply`] moved or removed entries. A cache keyed by
    /// index is invalid once this changes.
    pub fn reindex_count(&self) -> u64 {
        self.reindex_count
    }

    fn last_prompt_index(&self) -> Option<usize> {
        // A request for a summary is not part of the conversation.
        let is_prompt = |entry: &TranscriptEntry| match &entry.body {
            EntryBody::Prompt { kind, .. } => *kind != PromptKind::Compact,
            _ => false,
        };
        self.entries.iter().rposition(is_prompt)
    }

    /// Whether the last request for a summary succeeded; `None` if the last prompt was not
    /// such a request.
    pub fn is_last_summary_answered(&self) -> Option<bool> {
        let entry = &self.entries[self.last_summary_index()?];
        Some(!self.unanswered_turns.contains(&entry.turn))
    }

    fn last_summary_index(&self) -> Option<usize> {
        let is_prompt = |entry: &TranscriptEntry| matches!(entry.body, EntryBody::Prompt { .. });
        let last = self.entries.iter().rposition(is_prompt)?;
        self.entries[last].is_compaction_prompt().then_some(last)
    }

    /// Removes the last prompt and everything after it, unless a turn is running.
    pub fn remove_last_prompt(&mut self) {
        let Some(count) = self
            .last_prompt_index()
            .filter(|_| self.running_turn.is_none())
        else {
            return;
        };
        let turn = self.entries[count].turn;
        let has_summary = self.has_summary_from(count);
        self.truncate(count);
        // The remaining entries are the ones covered by the summary.
        if has_summary {
            self.push(turn, EntryBody::Note(compaction::summary_in_use_notice()));
        }
    }

    fn has_summary_from(&self, start: usize) -> bool {
        self.entries[start..].iter().any(|entry| {
            entry.is_compaction_prompt() && !self.unanswered_turns.contains(&entry.turn)
        })
    }

    /// Removes the last prompt if it requested a summary, unless a turn is running.
    pub fn remove_last_summary(&mut self) {
        if let Some(count) = self
            .last_summary_index()
            .filter(|_| self.running_turn.is_none())
        {
            self.truncate(count);
        }
    }

    fn truncate(&mut self, count: usize) {
        self.entries.truncate(count);
        self.piece_indices.retain(|_, index| *index < count);
        self.call_indices.retain(|_, index| *index < count);
        self.prompt_indices.retain(|_, index| *index < count);
    }

    /// Folds `event` of `turn` into the transcript.
    pub fn apply(&mut self, turn: TurnId, event: &TurnEvent) {
        match event {
            TurnEvent::Started { prompt, model } => self.start_turn(turn, prompt, model),
            TurnEvent::RoundStarted { round } => {
                self.round = *round;
                self.agent_activity = None;
                self.wait = Some(WaitReason::Response);
            }
            TurnEvent::Waiting { wait } => {
                if self.wait.is_some() {
                    self.wait = Some(*wait);
                }
            }
            TurnEvent::Delta { piece, kind, text } => self.apply_delta(turn, *piece, *kind, text),
            TurnEvent::Reclassified { piece, to } => self.reclassify(*piece, *to),
            TurnEvent::Restored { piece, text } => self.restore(*piece, text),
            TurnEvent::Tool(call) => self.apply_tool_call(turn, call),
            TurnEvent::Noted(notice) | TurnEvent::AgentFailed(notice) => {
                self.push(turn, EntryBody::Note(notice.clone()));
            }
            TurnEvent::AgentWorking { text } => self.agent_activity = Some(text.clone()),
            TurnEvent::AgentActed(done) => _ = self.push(turn, EntryBody::Agent(done.clone())),
            TurnEvent::Retrying { .. } => self.wait = Some(WaitReason::Retrying),
            TurnEvent::RoundEnded { .. } => {
                self.wait = None;
                self.close_thinking(turn);
            }
            TurnEvent::Ended { end, usage } => self.end_turn(turn, end, *usage),
        }
    }

    fn start_turn(&mut self, turn: TurnId, prompt: &Prompt, model: &str) {
        self.model = model.to_owned();
        self.running_turn = Some(turn);
        self.wait = Some(WaitReason::Response);
        self.round = 1;
        if !self.prompt_indices.contains_key(&turn) {
            (self.prompt_kind, self.replaced_turns) = (prompt.kind, prompt.replaced_turns);
            match prompt.kind {
                PromptKind::Replace => self.detach_last_turns(prompt.replaced_turns),
                PromptKind::Retry => self.detach_failed_attempts(prompt.typed_text()),
                _ => {}
            }
            let body = EntryBody::Prompt {
                kind: prompt.kind,
                text: prompt.typed_text().to_owned(),
                attachments: prompt.attachments.clone(),
            };
            let index = self.push(turn, body);
            self.prompt_indices.insert(turn, index);
        }
    }

    fn apply_delta(&mut self, turn: TurnId, piece: PieceId, kind: PieceKind, delta: &str) {
        self.wait = None;
        let Some(&index) = self.piece_indices.get(&piece) else {
            self.close_thinking(turn);
            let index = self.push(turn, self.new_piece_body(piece, kind, delta.to_owned()));
            self.piece_indices.insert(piece, index);
            return;
        };
        if let EntryBody::Thinking { text, .. } | EntryBody::Text { text, .. } =
            &mut self.entries[index].body
        {
            text.push_str(delta);
        }
        self.bump_revision(index);
    }

    fn new_piece_body(&self, piece: PieceId, kind: PieceKind, text: String) -> EntryBody {
        match kind {
            PieceKind::Thinking => EntryBody::Thinking {
                piece,
                text,
                is_open: true,
            },
            PieceKind::Text => EntryBody::Text {
                piece,
                round: self.round,
                model: self.model.clone(),
                text,
                mark: StopMark::None,
            },
        }
    }

    fn reclassify(&mut self, piece: PieceId, to: PieceKind) {
        let Some(&index) = self.piece_indices.get(&piece) else {
            return;
        };
        if let EntryBody::Thinking { text, .. } | EntryBody::Text { text, .. } =
            &mut self.entries[index].body
        {
            let text = std::mem::take(text);
            self.entries[index].body = self.new_piece_body(piece, to, text);
            self.bump_revision(index);
        }
    }

    fn restore(&mut self, piece: PieceId, complete_text: &str) {
        let Some(&index) = self.piece_indices.get(&piece) else {
            return;
        };
        if let EntryBody::Text { text, .. } = &mut self.entries[index].body {
            complete_text.clone_into(text);
            self.bump_revision(index);
            self.entries[index].append_only_since = self.revision;
        }
    }

    fn apply_tool_call(&mut self, turn: TurnId, call: &ToolCall) {
        self.wait = None;
        if let Some(&index) = self.call_indices.get(&call.id) {
            self.entries[index].body = EntryBody::Tool(Box::new(call.clone()));
            self.bump_revision(index);
        } else {
            self.close_thinking(turn);
            let index = self.push(turn, EntryBody::Tool(Box::new(call.clone())));
            self.call_indices.insert(call.id, index);
        }
    }

    /// Shows the result of a call that the user left running, if the call is still shown.
    pub fn end_left_call(&mut self, call: &ToolCall) {
        if let Some(&index) = self.call_indices.get(&call.id) {
            self.entries[index].body = EntryBody::Tool(Box::new(call.clone()));
            self.bump_revision(index);
        }
    }

    fn end_turn(&mut self, turn: TurnId, end: &TurnEnd, usage: Usage) {
        if self.running_turn != Some(turn) {
            return;
        }
        self.close_thinking(turn);
        match end {
            TurnEnd::Answered { text, .. } => self.finish_answered(turn, text, StopMark::None),
            TurnEnd::Cancelled | TurnEnd::Stopped => self.stop_turn(turn),
            TurnEnd::Refused | TurnEnd::Failed { .. } => self.finish_unanswered(turn),
        }
        if let TurnEnd::Failed { notice } = end {
            self.push(turn, EntryBody::Note(notice.clone()));
        }
        self.running_turn = None;
        self.agent_activity = None;
        self.wait = None;
        self.usage = usage;
    }

    /// Closes the newest thinking entry of `turn`. Only the running turn can have an open
    /// one, so this never scans the whole transcript.
    fn close_thinking(&mut self, turn: TurnId) {
        for index in (0..self.entries.len()).rev() {
            if self.entries[index].turn != turn {
                break;
            }
            if let EntryBody::Thinking { is_open, .. } = &mut self.entries[index].body {
                if *is_open {
                    *is_open = false;
                    self.bump_revision(index);
                }
                break;
            }
        }
    }

    pub(super) fn push(&mut self, turn: TurnId, body: EntryBody) -> usize {
        self.revision += 1;
        self.entries.push(TranscriptEntry {
            turn,
            revision: self.revision,
            append_only_since: self.revision,
            other_branches: 0,
            body,
        });
        self.entries.len() - 1
    }

    fn bump_revision(&mut self, index: usize) {
        self.revision += 1;
        self.entries[index].revision = self.revision;
    }
}

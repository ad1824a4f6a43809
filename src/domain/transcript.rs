//! The only code that folds turn events. The screen, the saved session and headless output
//! all use the resulting transcript.

mod replaced;
mod replay;

use super::{
    CallId, Notice, PieceId, PieceKind, Prompt, PromptKind, ToolCall, TurnEnd, TurnEvent, TurnId,
    Usage, Wait, compaction,
};
use replaced::SetAside;
use std::collections::{HashMap, HashSet};

/// One item of the conversation. `revision` increases with every change, so a renderer can
/// cache its output.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub turn: TurnId,
    pub revision: u64,
    /// Since this revision, text was only appended.
    pub grows_since: u64,
    pub body: Body,
}

impl Entry {
    fn asks_for_summary(&self) -> bool {
        matches!(
            self.body,
            Body::Prompt {
                kind: PromptKind::Compact,
                ..
            }
        )
    }
}

/// The last prompt of the conversation and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastPrompt<'a> {
    pub kind: PromptKind,
    /// Empty for commands.
    pub text: &'a str,
    pub is_answered: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    Prompt {
        kind: PromptKind,
        /// Empty for commands.
        text: String,
    },
    Thinking {
        piece: PieceId,
        text: String,
        open: bool,
    },
    /// Streamed text: the final answer, or text before a call.
    Text {
        piece: PieceId,
        round: u32,
        model: String,
        text: String,
        cancelled: bool,
    },
    Tool(Box<ToolCall>),
    Note(Notice),
}

#[derive(Debug, Clone, Default)]
pub struct Transcript {
    entries: Vec<Entry>,
    pieces: HashMap<PieceId, usize>,
    calls: HashMap<CallId, usize>,
    prompts: HashMap<TurnId, usize>,
    /// Turns that ended without an answer.
    pub(super) unanswered: HashSet<TurnId>,
    /// The subset of them that was meant to replace the last answered turn.
    pub(super) replacing: HashSet<TurnId>,
    /// Entries that the running turn replaces once it is answered.
    set_aside: Option<SetAside>,
    moves: u64,
    /// The running turn and its kind.
    running: Option<TurnId>,
    kind: PromptKind,
    wait: Option<Wait>,
    round: u32,
    model: String,
    usage: Usage,
    revision: u64,
}

impl Transcript {
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The running turn.
    pub fn running(&self) -> Option<TurnId> {
        self.running
    }

    /// Set until the first data of the current round arrives.
    pub fn wait(&self) -> Option<Wait> {
        self.wait
    }

    /// The index of the entry to which streamed text is appended.
    pub fn open(&self) -> Option<usize> {
        self.running?;
        let last = self.entries.len().checked_sub(1)?;
        match self.entries[last].body {
            Body::Text { .. } | Body::Thinking { open: true, .. } => Some(last),
            _ => None,
        }
    }

    pub fn usage(&self) -> Usage {
        self.usage
    }

    pub fn call(&self, id: CallId) -> Option<&ToolCall> {
        match &self.entries.get(*self.calls.get(&id)?)?.body {
            Body::Tool(call) => Some(call),
            _ => None,
        }
    }

    /// The index of the first entry that `apply` may still change. Everything before the
    /// running turn is final.
    pub fn settled(&self) -> usize {
        self.running
            .and_then(|turn| self.prompts.get(&turn).copied())
            .unwrap_or(self.entries.len())
    }

    /// Counts how often [`Transcript::apply`] moved or removed entries. A cache keyed by
    /// index is invalid once this changes.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// The last prompt of the conversation.
    pub fn last_prompt(&self) -> Option<LastPrompt<'_>> {
        let entry = &self.entries[self.last_prompt_at()?];
        match &entry.body {
            Body::Prompt { kind, text } => Some(LastPrompt {
                kind: *kind,
                text,
                is_answered: !self.unanswered.contains(&entry.turn),
            }),
            _ => None,
        }
    }

    fn last_prompt_at(&self) -> Option<usize> {
        // A summary is not a turn of the conversation.
        let is_prompt = |entry: &Entry| match &entry.body {
            Body::Prompt { kind, .. } => *kind != PromptKind::Compact,
            _ => false,
        };
        self.entries.iter().rposition(is_prompt)
    }

    /// Whether the last request for a summary succeeded; `None` if the last prompt was not
    /// such a request.
    pub fn last_summary(&self) -> Option<bool> {
        let entry = &self.entries[self.last_summary_at()?];
        Some(!self.unanswered.contains(&entry.turn))
    }

    fn last_summary_at(&self) -> Option<usize> {
        let is_prompt = |entry: &Entry| matches!(entry.body, Body::Prompt { .. });
        let last = self.entries.iter().rposition(is_prompt)?;
        self.entries[last].asks_for_summary().then_some(last)
    }

    /// Removes the last prompt and everything after it, unless a turn is running.
    pub fn take_back(&mut self) {
        let Some(count) = self.last_prompt_at().filter(|_| self.running.is_none()) else {
            return;
        };
        let (turn, summed_up) = (self.entries[count].turn, self.has_summary(count));
        self.truncate(count);
        // The remaining entries are the ones covered by the summary.
        if summed_up {
            self.push(turn, Body::Note(compaction::sent_instead()));
        }
    }

    /// Whether a summary was made among the entries from `from` on.
    fn has_summary(&self, from: usize) -> bool {
        self.entries[from..]
            .iter()
            .any(|entry| entry.asks_for_summary() && !self.unanswered.contains(&entry.turn))
    }

    /// Removes the last prompt if it requested a summary, unless a turn is running.
    pub fn take_back_summary(&mut self) {
        if let Some(count) = self.last_summary_at().filter(|_| self.running.is_none()) {
            self.truncate(count);
        }
    }

    fn truncate(&mut self, count: usize) {
        self.entries.truncate(count);
        self.pieces.retain(|_, index| *index < count);
        self.calls.retain(|_, index| *index < count);
        self.prompts.retain(|_, index| *index < count);
    }

    pub fn apply(&mut self, turn: TurnId, event: &TurnEvent) {
        match event {
            TurnEvent::Started { prompt, model } => self.start(turn, prompt, model),
            TurnEvent::RoundStarted { round } => {
                self.round = *round;
                self.wait = Some(Wait::Response);
            }
            TurnEvent::Waiting { wait } => {
                if self.wait.is_some() {
                    self.wait = Some(*wait);
                }
            }
            TurnEvent::Delta { piece, kind, text } => self.delta(turn, *piece, *kind, text),
            TurnEvent::Reclassified { piece, to } => self.reclassify(*piece, *to),
            TurnEvent::Restored { piece, text } => self.restore(*piece, text),
            TurnEvent::Tool(call) => self.tool(turn, call),
            TurnEvent::Noted(notice) => {
                self.push(turn, Body::Note(notice.clone()));
            }
            TurnEvent::Retrying { .. } => self.wait = Some(Wait::Retrying),
            TurnEvent::RoundEnded { .. } => {
                self.wait = None;
                self.close_thinking(turn);
            }
            TurnEvent::Ended { end, usage } => self.end(turn, end, *usage),
        }
    }

    fn start(&mut self, turn: TurnId, prompt: &Prompt, model: &str) {
        self.model = model.to_owned();
        self.running = Some(turn);
        self.wait = Some(Wait::Response);
        self.round = 1;
        if !self.prompts.contains_key(&turn) {
            self.kind = prompt.kind;
            if prompt.kind == PromptKind::Replace {
                self.set_aside();
            }
            let (kind, text) = (prompt.kind, prompt.typed().to_owned());
            let index = self.push(turn, Body::Prompt { kind, text });
            self.prompts.insert(turn, index);
        }
    }

    fn delta(&mut self, turn: TurnId, piece: PieceId, kind: PieceKind, delta: &str) {
        self.wait = None;
        let Some(&index) = self.pieces.get(&piece) else {
            self.close_thinking(turn);
            let index = self.push(turn, self.new_piece(piece, kind, delta.to_owned()));
            self.pieces.insert(piece, index);
            return;
        };
        if let Body::Thinking { text, .. } | Body::Text { text, .. } = &mut self.entries[index].body
        {
            text.push_str(delta);
        }
        self.touch(index);
    }

    fn new_piece(&self, piece: PieceId, kind: PieceKind, text: String) -> Body {
        match kind {
            PieceKind::Thinking => Body::Thinking {
                piece,
                text,
                open: true,
            },
            PieceKind::Text => Body::Text {
                piece,
                round: self.round,
                model: self.model.clone(),
                text,
                cancelled: false,
            },
        }
    }

    fn reclassify(&mut self, piece: PieceId, to: PieceKind) {
        let Some(&index) = self.pieces.get(&piece) else {
            return;
        };
        if let Body::Thinking { text, .. } | Body::Text { text, .. } = &mut self.entries[index].body
        {
            let text = std::mem::take(text);
            self.entries[index].body = self.new_piece(piece, to, text);
            self.touch(index);
        }
    }

    fn restore(&mut self, piece: PieceId, whole: &str) {
        let Some(&index) = self.pieces.get(&piece) else {
            return;
        };
        if let Body::Text { text, .. } = &mut self.entries[index].body {
            whole.clone_into(text);
            self.touch(index);
            self.entries[index].grows_since = self.revision;
        }
    }

    fn tool(&mut self, turn: TurnId, call: &ToolCall) {
        self.wait = None;
        if let Some(&index) = self.calls.get(&call.id) {
            self.entries[index].body = Body::Tool(Box::new(call.clone()));
            self.touch(index);
        } else {
            self.close_thinking(turn);
            let index = self.push(turn, Body::Tool(Box::new(call.clone())));
            self.calls.insert(call.id, index);
        }
    }

    fn end(&mut self, turn: TurnId, end: &TurnEnd, usage: Usage) {
        if self.running != Some(turn) {
            return;
        }
        self.close_thinking(turn);
        match end {
            TurnEnd::Answered { text, .. } => self.answered(turn, text),
            _ => self.unanswered(turn),
        }
        if matches!(end, TurnEnd::Cancelled | TurnEnd::Stopped) {
            self.mark_cancelled(turn);
        }
        if let TurnEnd::Failed { notice } = end {
            self.push(turn, Body::Note(notice.clone()));
        }
        self.running = None;
        self.wait = None;
        self.usage = usage;
    }

    /// Marks text that was streaming when the turn was interrupted.
    fn mark_cancelled(&mut self, turn: TurnId) {
        let last = self.entries.iter().rposition(|entry| entry.turn == turn);
        let Some(index) = last else { return };
        if let Body::Text { cancelled, .. } = &mut self.entries[index].body {
            *cancelled = true;
            self.touch(index);
        } else {
            self.push(turn, Body::Note(Notice::info("(cancelled)")));
        }
    }

    /// Only the newest entries of the running turn can be open, so this never scans the
    /// whole transcript.
    fn close_thinking(&mut self, turn: TurnId) {
        for index in (0..self.entries.len()).rev() {
            if self.entries[index].turn != turn {
                break;
            }
            if let Body::Thinking { open, .. } = &mut self.entries[index].body {
                if *open {
                    *open = false;
                    self.touch(index);
                }
                break;
            }
        }
    }

    pub(super) fn push(&mut self, turn: TurnId, body: Body) -> usize {
        self.revision += 1;
        self.entries.push(Entry {
            turn,
            revision: self.revision,
            grows_since: self.revision,
            body,
        });
        self.entries.len() - 1
    }

    fn touch(&mut self, index: usize) {
        self.revision += 1;
        self.entries[index].revision = self.revision;
    }
}

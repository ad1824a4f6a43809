//! The visible conversation: the transcript, the viewports on it and on its thinking, and
//! the state of its calls.

use crate::domain::{
    Body, CallId, PieceId, Session, ToolCall, ToolMode, ToolState, Transcript, TurnEvent, TurnId,
};
use crate::text::markdown::MarkdownGlyphs;
use crate::tui::chat::layout_input::Source;
use crate::tui::chat::timing::TurnTiming;
use crate::tui::chat::viewport::Flow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Chat {
    pub transcript: Transcript,
    /// Indices of thinking entries.
    thoughts: Vec<usize>,
    /// First entry of the current round.
    round_from: usize,
    pub viewport: Flow,
    pub thinking: Flow,
    /// Show the raw text of answers.
    pub raw: bool,
    pub timing: TurnTiming,
    /// Calls that required approval, and calls that ran without it.
    asked: HashSet<CallId>,
    unasked: HashSet<CallId>,
    /// Calls that ran before all of their arguments were drawn, with the number of undrawn
    /// rows.
    unread: HashMap<CallId, usize>,
}

impl Chat {
    pub fn of_session(session: &Session, raw: bool) -> Self {
        let mut chat = Self {
            transcript: Transcript::from_session(session),
            raw,
            ..Self::default()
        };
        chat.note_thoughts(0);
        chat
    }

    /// Applies a turn event to the transcript and its timing.
    pub fn take(&mut self, id: TurnId, event: &TurnEvent, mode: ToolMode, now: Duration) {
        let known = self.transcript.entries().len();
        let is_new = self.transcript.running() != Some(id);
        let (lingering, moves) = (self.lingering(), self.transcript.moves());
        let newest = self.thoughts.last().copied();
        self.transcript.apply(id, event);
        if let TurnEvent::RoundStarted { .. } = event {
            self.round_from = known;
        }
        if self.transcript.moves() == moves {
            // Entries before the running turn no longer change.
            let from = match event {
                TurnEvent::Reclassified { .. } => self.transcript.settled().min(known),
                _ => known,
            };
            self.note_thoughts(from);
            if let (Some(_), Some(newest)) = (lingering, newest)
                && self.lingering() != lingering
            {
                self.viewport.folds(newest);
            }
        } else {
            self.entries_moved();
        }
        self.note_unasked(event, mode);
        self.timing.take(event, is_new, self.open_thinking(), now);
    }

    /// Discards everything cached by entry index after entries moved. Only rows in view are
    /// laid out again.
    pub fn entries_moved(&mut self) {
        self.note_thoughts(0);
        self.round_from = self.transcript.entries().len();
        self.viewport = Flow::default();
        self.thinking = Flow::default();
    }

    /// Rebuilds the thinking indices from entry `from` on.
    fn note_thoughts(&mut self, from: usize) {
        let keep = self.thoughts.partition_point(|index| *index < from);
        self.thoughts.truncate(keep);
        let entries = self.transcript.entries().iter().enumerate().skip(from);
        let thinking = entries.filter(|(_, entry)| matches!(entry.body, Body::Thinking { .. }));
        self.thoughts.extend(thinking.map(|(index, _)| index));
    }

    /// Indices of thinking entries.
    pub fn thoughts(&self) -> &[usize] {
        &self.thoughts
    }

    /// The thinking block that is still streaming.
    fn open_thinking(&self) -> Option<PieceId> {
        let newest = *self.thoughts.last()?;
        match &self.transcript.entries()[newest].body {
            Body::Thinking {
                piece, open: true, ..
            } => Some(*piece),
            _ => None,
        }
    }

    /// Tracks calls that ran without approval; the chat shows their arguments.
    fn note_unasked(&mut self, event: &TurnEvent, mode: ToolMode) {
        let TurnEvent::Tool(call) = event else { return };
        match call.state {
            ToolState::AwaitingApproval => {
                self.asked.insert(call.id);
            }
            ToolState::Running { .. }
                if mode == ToolMode::Auto && !self.asked.contains(&call.id) =>
            {
                self.unasked.insert(call.id);
            }
            _ => {}
        }
    }

    /// Calls that required approval or were auto-approved.
    pub fn known_calls(&self) -> impl Iterator<Item = CallId> {
        self.asked.iter().chain(&self.unasked).copied()
    }

    /// Records that a call ran with this many rows undrawn.
    pub fn ran_unread(&mut self, call: CallId, rows: usize) {
        self.unread.insert(call, rows);
    }

    pub fn unread(&self) -> &HashMap<CallId, usize> {
        &self.unread
    }

    /// The running calls in chat order.
    pub fn running_calls(&self) -> impl Iterator<Item = &ToolCall> {
        let entries = self.transcript.entries();
        let open = &entries[self.transcript.settled().min(entries.len())..];
        open.iter().filter_map(|entry| match &entry.body {
            Body::Tool(call) if matches!(call.state, ToolState::Running { .. }) => Some(&**call),
            _ => None,
        })
    }

    pub fn selected_call(&self) -> Option<&ToolCall> {
        match &self.transcript.entries().get(self.viewport.selected?)?.body {
            Body::Tool(call) => Some(call),
            _ => None,
        }
    }

    /// Raw text of the latest answer.
    pub fn last_answer(&self) -> Option<&str> {
        let mut entries = self.transcript.entries().iter().rev();
        entries.find_map(|entry| match &entry.body {
            Body::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    pub fn last_result(&self) -> Option<&ToolCall> {
        let mut entries = self.transcript.entries().iter().rev();
        entries.find_map(|entry| match &entry.body {
            Body::Tool(call) if matches!(call.state, ToolState::Done(_)) => Some(&**call),
            _ => None,
        })
    }

    /// Layout input for the whole chat, without thinking if that has its own pane.
    pub fn source(&self, width: u16, aside: bool, marks: MarkdownGlyphs) -> Source<'_> {
        let waits = self.transcript.wait().is_some();
        Source {
            entries: self.transcript.entries(),
            list: None,
            width: width.max(1),
            aside,
            unasked: &self.unasked,
            tail: if waits { 2 } else { 0 },
            raw: self.raw,
            open: self.transcript.open(),
            lingering: self.lingering(),
            marks,
            hidden: Cell::default(),
        }
    }

    /// Layout input for the thinking pane.
    pub fn thinking_source(&self, width: u16, marks: MarkdownGlyphs) -> Source<'_> {
        Source {
            list: Some(&self.thoughts),
            tail: 0,
            lingering: None,
            ..self.source(width, false, marks)
        }
    }

    /// The newest thinking of the current round. It folds when newer thinking starts or the
    /// round ends.
    fn lingering(&self) -> Option<PieceId> {
        let turn = self.transcript.running()?;
        let newest = *self.thoughts.last().filter(|at| **at >= self.round_from)?;
        let newest = self.transcript.entries().get(newest)?;
        match &newest.body {
            Body::Thinking { piece, .. } if newest.turn == turn => Some(*piece),
            _ => None,
        }
    }
}

//! The conversation as it is shown: the transcript, the windows on it and on its thinking,
//! and what is known of its calls.

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
    /// Entries that are thinking, by index.
    thoughts: Vec<usize>,
    /// The first entry of the round under way.
    round_from: usize,
    pub viewport: Flow,
    pub thinking: Flow,
    /// Answers are shown as they were written.
    pub raw: bool,
    pub timing: TurnTiming,
    /// Calls that the user was asked about, and those that ran without.
    asked: HashSet<CallId>,
    unasked: HashSet<CallId>,
    /// Calls that were run though not all of their arguments had been drawn, with the
    /// rows that were left.
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

    /// Folds one event of a turn in: the transcript, and the times beside it.
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
            // Entries before the turn under way are settled.
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

    /// Entries have other places now: nothing kept by their index holds any more. Rows are
    /// made again for what is in view alone.
    pub fn entries_moved(&mut self) {
        self.note_thoughts(0);
        self.round_from = self.transcript.entries().len();
        self.viewport = Flow::default();
        self.thinking = Flow::default();
    }

    /// Which entries, from this one on, are thinking.
    fn note_thoughts(&mut self, from: usize) {
        let keep = self.thoughts.partition_point(|index| *index < from);
        self.thoughts.truncate(keep);
        let entries = self.transcript.entries().iter().enumerate().skip(from);
        let thinking = entries.filter(|(_, entry)| matches!(entry.body, Body::Thinking { .. }));
        self.thoughts.extend(thinking.map(|(index, _)| index));
    }

    /// Entries that are thinking, by index.
    pub fn thoughts(&self) -> &[usize] {
        &self.thoughts
    }

    /// The newest thinking, while more of it may come.
    fn open_thinking(&self) -> Option<PieceId> {
        let newest = *self.thoughts.last()?;
        match &self.transcript.entries()[newest].body {
            Body::Thinking {
                piece, open: true, ..
            } => Some(*piece),
            _ => None,
        }
    }

    /// Which calls ran though nobody was asked: their arguments stand in the chat.
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

    /// Calls that waited for a decision or ran without one.
    pub fn known_calls(&self) -> impl Iterator<Item = CallId> {
        self.asked.iter().chain(&self.unasked).copied()
    }

    /// This call was run although so many rows of it were not drawn.
    pub fn ran_unread(&mut self, call: CallId, rows: usize) {
        self.unread.insert(call, rows);
    }

    pub fn unread(&self) -> &HashMap<CallId, usize> {
        &self.unread
    }

    /// The calls that run, in the order of the chat.
    pub fn running_calls(&self) -> impl Iterator<Item = &ToolCall> {
        let entries = self.transcript.entries();
        let open = &entries[self.transcript.settled().min(entries.len())..];
        open.iter().filter_map(|entry| match &entry.body {
            Body::Tool(call) if matches!(call.state, ToolState::Running { .. }) => Some(&**call),
            _ => None,
        })
    }

    /// The call whose line is selected.
    pub fn selected_call(&self) -> Option<&ToolCall> {
        match &self.transcript.entries().get(self.viewport.selected?)?.body {
            Body::Tool(call) => Some(call),
            _ => None,
        }
    }

    /// The text of the newest answer, raw.
    pub fn last_answer(&self) -> Option<&str> {
        let mut entries = self.transcript.entries().iter().rev();
        entries.find_map(|entry| match &entry.body {
            Body::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    /// The last call that has a result.
    pub fn last_result(&self) -> Option<&ToolCall> {
        let mut entries = self.transcript.entries().iter().rev();
        entries.find_map(|entry| match &entry.body {
            Body::Tool(call) if matches!(call.state, ToolState::Done(_)) => Some(&**call),
            _ => None,
        })
    }

    /// What the chat lays out: everything. `aside`: thinking has a pane of its own.
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

    /// What the thinking pane lays out.
    pub fn thinking_source(&self, width: u16, marks: MarkdownGlyphs) -> Source<'_> {
        Source {
            list: Some(&self.thoughts),
            tail: 0,
            lingering: None,
            ..self.source(width, false, marks)
        }
    }

    /// The newest thinking of the round under way: it is folded when there is newer
    /// thinking or the round is over.
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

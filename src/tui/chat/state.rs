//! The conversation as it is shown: the transcript, the windows on it and on its thinking,
//! and what is known of its calls.

use crate::domain::{
    CallId, EntryBody, PieceId, Session, ToolCall, ToolMode, ToolState, Transcript, TurnEvent,
    TurnId,
};
use crate::text::markdown::MarkdownGlyphs;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::timing::TurnTiming;
use crate::tui::chat::viewport::Viewport;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Chat {
    pub transcript: Transcript,
    /// Entries that are thinking, by index.
    thinking_entries: Vec<usize>,
    /// The first entry of the round under way.
    round_first_entry: usize,
    pub viewport: Viewport,
    pub thinking: Viewport,
    /// Answers are shown as they were written.
    pub shows_raw_text: bool,
    pub timing: TurnTiming,
    /// Calls that the user was asked about, and those that ran without.
    approval_requested: HashSet<CallId>,
    auto_approved: HashSet<CallId>,
    /// Calls that were run though not all of their arguments had been drawn, with the
    /// rows that were left.
    undrawn_rows: HashMap<CallId, usize>,
}

impl Chat {
    pub fn from_session(session: &Session, raw: bool) -> Self {
        let mut chat = Self {
            transcript: Transcript::from_session(session),
            shows_raw_text: raw,
            ..Self::default()
        };
        chat.reindex_thinking(0);
        chat
    }

    /// Folds one event of a turn in: the transcript, and the times beside it.
    pub fn apply(&mut self, id: TurnId, event: &TurnEvent, mode: ToolMode, now: Duration) {
        let known = self.transcript.entries().len();
        let is_new = self.transcript.running_turn() != Some(id);
        let (lingering, moves) = (self.expanded_thinking(), self.transcript.reindex_count());
        let newest = self.thinking_entries.last().copied();
        self.transcript.apply(id, event);
        if let TurnEvent::RoundStarted { .. } = event {
            self.round_first_entry = known;
        }
        if self.transcript.reindex_count() == moves {
            // Entries before the turn under way are settled.
            let from = match event {
                TurnEvent::Reclassified { .. } => self.transcript.settled_len().min(known),
                _ => known,
            };
            self.reindex_thinking(from);
            if let (Some(_), Some(newest)) = (lingering, newest)
                && self.expanded_thinking() != lingering
            {
                self.viewport.keep_open_if_in_view(newest);
            }
        } else {
            self.rebuild_indices();
        }
        self.note_auto_approved(event, mode);
        self.timing.apply(event, is_new, self.open_thinking(), now);
    }

    /// Entries have other places now: nothing kept by their index holds any more. Rows are
    /// made again for what is in view alone.
    pub fn rebuild_indices(&mut self) {
        self.reindex_thinking(0);
        self.round_first_entry = self.transcript.entries().len();
        self.viewport = Viewport::default();
        self.thinking = Viewport::default();
    }

    /// Which entries, from this one on, are thinking.
    fn reindex_thinking(&mut self, from: usize) {
        let keep = self.thinking_entries.partition_point(|index| *index < from);
        self.thinking_entries.truncate(keep);
        let entries = self.transcript.entries().iter().enumerate().skip(from);
        let thinking =
            entries.filter(|(_, entry)| matches!(entry.body, EntryBody::Thinking { .. }));
        self.thinking_entries
            .extend(thinking.map(|(index, _)| index));
    }

    /// Entries that are thinking, by index.
    pub fn thinking_entries(&self) -> &[usize] {
        &self.thinking_entries
    }

    /// The newest thinking, while more of it may come.
    fn open_thinking(&self) -> Option<PieceId> {
        let newest = *self.thinking_entries.last()?;
        match &self.transcript.entries()[newest].body {
            EntryBody::Thinking {
                piece,
                is_open: true,
                ..
            } => Some(*piece),
            _ => None,
        }
    }

    /// Which calls ran though nobody was asked: their arguments stand in the chat.
    fn note_auto_approved(&mut self, event: &TurnEvent, mode: ToolMode) {
        let TurnEvent::Tool(call) = event else { return };
        match call.state {
            ToolState::AwaitingApproval => {
                self.approval_requested.insert(call.id);
            }
            ToolState::Running { .. }
                if mode == ToolMode::Auto && !self.approval_requested.contains(&call.id) =>
            {
                self.auto_approved.insert(call.id);
            }
            _ => {}
        }
    }

    /// Calls that waited for a decision or ran without one.
    pub fn tracked_calls(&self) -> impl Iterator<Item = CallId> {
        self.approval_requested
            .iter()
            .chain(&self.auto_approved)
            .copied()
    }

    /// This call was run although so many rows of it were not drawn.
    pub fn record_undrawn_rows(&mut self, call: CallId, rows: usize) {
        self.undrawn_rows.insert(call, rows);
    }

    pub fn undrawn_rows(&self) -> &HashMap<CallId, usize> {
        &self.undrawn_rows
    }

    /// The calls that run, in the order of the chat.
    pub fn running_calls(&self) -> impl Iterator<Item = &ToolCall> {
        let entries = self.transcript.entries();
        let open = &entries[self.transcript.settled_len().min(entries.len())..];
        open.iter().filter_map(|entry| match &entry.body {
            EntryBody::Tool(call) if matches!(call.state, ToolState::Running { .. }) => {
                Some(&**call)
            }
            _ => None,
        })
    }

    /// The call whose line is selected.
    pub fn selected_call(&self) -> Option<&ToolCall> {
        match &self.transcript.entries().get(self.viewport.selected?)?.body {
            EntryBody::Tool(call) => Some(call),
            _ => None,
        }
    }

    /// The text of the newest answer, raw.
    pub fn last_answer(&self) -> Option<&str> {
        let mut entries = self.transcript.entries().iter().rev();
        entries.find_map(|entry| match &entry.body {
            EntryBody::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    /// The last call that has a result.
    pub fn last_result(&self) -> Option<&ToolCall> {
        let mut entries = self.transcript.entries().iter().rev();
        entries.find_map(|entry| match &entry.body {
            EntryBody::Tool(call) if matches!(call.state, ToolState::Done(_)) => Some(&**call),
            _ => None,
        })
    }

    /// What the chat lays out: everything. `aside`: thinking has a pane of its own.
    pub fn layout_input(&self, width: u16, aside: bool, marks: MarkdownGlyphs) -> LayoutInput<'_> {
        let waits = self.transcript.wait().is_some();
        LayoutInput {
            entries: self.transcript.entries(),
            visible_indices: None,
            width: width.max(1),
            has_thinking_pane: aside,
            auto_approved: &self.auto_approved,
            tail_rows: if waits { 2 } else { 0 },
            raw: self.shows_raw_text,
            open_entry: self.transcript.open_entry(),
            expanded_thinking: self.expanded_thinking(),
            markdown_glyphs: marks,
            hidden_run: Cell::default(),
        }
    }

    /// What the thinking pane lays out.
    pub fn thinking_layout_input(&self, width: u16, marks: MarkdownGlyphs) -> LayoutInput<'_> {
        LayoutInput {
            visible_indices: Some(&self.thinking_entries),
            tail_rows: 0,
            expanded_thinking: None,
            ..self.layout_input(width, false, marks)
        }
    }

    /// The newest thinking of the round under way: it is folded when there is newer
    /// thinking or the round is over.
    fn expanded_thinking(&self) -> Option<PieceId> {
        let turn = self.transcript.running_turn()?;
        let newest = *self
            .thinking_entries
            .last()
            .filter(|at| **at >= self.round_first_entry)?;
        let newest = self.transcript.entries().get(newest)?;
        match &newest.body {
            EntryBody::Thinking { piece, .. } if newest.turn == turn => Some(*piece),
            _ => None,
        }
    }
}

//! The visible conversation: the transcript, the viewports on it and on its thinking, and
//! the state of its calls.

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
    /// Indices of thinking entries.
    thinking_entries: Vec<usize>,
    /// First entry of the current round.
    round_first_entry: usize,
    pub viewport: Viewport,
    pub thinking: Viewport,
    /// Show the raw text of answers.
    pub shows_raw_text: bool,
    pub timing: TurnTiming,
    /// Calls that required approval, and calls that ran without it.
    approval_requested: HashSet<CallId>,
    auto_approved: HashSet<CallId>,
    /// Calls that ran before all of their arguments were drawn, with the number of undrawn
    /// rows.
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

    /// Applies a turn event to the transcript and its timing.
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
            // Entries before the running turn no longer change.
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

    /// Discards everything cached by entry index after entries moved. Only rows in view are
    /// laid out again.
    pub fn rebuild_indices(&mut self) {
        self.reindex_thinking(0);
        self.round_first_entry = self.transcript.entries().len();
        self.viewport = Viewport::default();
        self.thinking = Viewport::default();
    }

    /// Rebuilds the thinking indices from entry `from` on.
    fn reindex_thinking(&mut self, from: usize) {
        let keep = self.thinking_entries.partition_point(|index| *index < from);
        self.thinking_entries.truncate(keep);
        let entries = self.transcript.entries().iter().enumerate().skip(from);
        let thinking =
            entries.filter(|(_, entry)| matches!(entry.body, EntryBody::Thinking { .. }));
        self.thinking_entries
            .extend(thinking.map(|(index, _)| index));
    }

    /// Whether the current turn, or the last one, contains thinking.
    pub fn has_recent_thinking(&self) -> bool {
        let entries = self.transcript.entries();
        let newest = self.thinking_entries.last().and_then(|at| entries.get(*at));
        let (Some(newest), Some(last)) = (newest, entries.last()) else {
            return false;
        };
        let is_blank = |text: &str| text.chars().all(char::is_whitespace);
        let has_text = matches!(&newest.body, EntryBody::Thinking { text, .. } if !is_blank(text));
        newest.turn == last.turn && has_text
    }

    /// Indices of thinking entries.
    pub fn thinking_entries(&self) -> &[usize] {
        &self.thinking_entries
    }

    /// The thinking block that is still streaming.
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

    /// Tracks calls that ran without approval; the chat shows their arguments.
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

    /// Calls that required approval or were auto-approved.
    pub fn tracked_calls(&self) -> impl Iterator<Item = CallId> {
        self.approval_requested
            .iter()
            .chain(&self.auto_approved)
            .copied()
    }

    /// Records that a call ran with this many rows undrawn.
    pub fn record_undrawn_rows(&mut self, call: CallId, rows: usize) {
        self.undrawn_rows.insert(call, rows);
    }

    pub fn undrawn_rows(&self) -> &HashMap<CallId, usize> {
        &self.undrawn_rows
    }

    /// The running calls in chat order.
    pub fn running_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.transcript.running_calls()
    }

    pub fn selected_call(&self) -> Option<&ToolCall> {
        match &self.transcript.entries().get(self.viewport.selected?)?.body {
            EntryBody::Tool(call) => Some(call),
            _ => None,
        }
    }

    /// Raw text of the latest answer.
    pub fn last_answer(&self) -> Option<&str> {
        let mut entries = self.transcript.entries().iter().rev();
        entries.find_map(|entry| match &entry.body {
            EntryBody::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    pub fn last_result(&self) -> Option<&ToolCall> {
        let mut entries = self.transcript.entries().iter().rev();
        entries.find_map(|entry| match &entry.body {
            EntryBody::Tool(call) if matches!(call.state, ToolState::Done(_)) => Some(&**call),
            _ => None,
        })
    }

    /// Layout input for the whole chat, without thinking if that has its own pane.
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

    /// Layout input for the thinking pane.
    pub fn thinking_layout_input(&self, width: u16, marks: MarkdownGlyphs) -> LayoutInput<'_> {
        LayoutInput {
            visible_indices: Some(&self.thinking_entries),
            tail_rows: 0,
            expanded_thinking: None,
            ..self.layout_input(width, false, marks)
        }
    }

    /// The newest thinking of the current round. It folds when newer thinking starts or the
    /// round ends.
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

//! The state of the chat: the transcript, the viewports of the chat and of the thinking pane,
//! and which calls ran because of the tool mode `auto`.

use crate::domain::{
    CallId, EntryBody, PieceId, Session, ToolCall, ToolMode, ToolState, Transcript, TurnEvent,
    TurnId,
};
use crate::text::markdown::MarkdownGlyphs;
use crate::tui::chat::find::Find;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::selection::mouse::MouseSelection;
use crate::tui::chat::timing::TurnTiming;
use crate::tui::chat::viewport::Viewport;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Chat {
    pub transcript: Transcript,
    thinking_entries: Vec<usize>,
    round_first_entry: usize,
    pub viewport: Viewport,
    /// The viewport of the thinking pane.
    pub thinking: Viewport,
    pub mouse: MouseSelection,
    /// The find bar, while it is open.
    pub find: Option<Find>,
    /// Whether answers are shown as raw text.
    pub shows_raw_text: bool,
    pub timing: TurnTiming,
    /// Calls for which the user was asked.
    approval_requested: HashSet<CallId>,
    /// Calls that ran without asking, because of the tool mode `auto`.
    auto_approved: HashSet<CallId>,
    /// Calls that ran before all of their arguments were drawn, with the number of undrawn
    /// rows.
    undrawn_rows: HashMap<CallId, usize>,
}

impl Chat {
    pub fn from_session(session: &Session, shows_raw_text: bool) -> Self {
        let mut chat = Self {
            transcript: Transcript::from_session(session),
            shows_raw_text,
            ..Self::default()
        };
        chat.reindex_thinking(0);
        chat
    }

    /// Applies a turn event to the transcript and its timing.
    pub fn apply(&mut self, id: TurnId, event: &TurnEvent, mode: ToolMode, now: Duration) {
        let entries_before = self.transcript.entries().len();
        let is_new = self.transcript.running_turn() != Some(id);
        let (expanded_before, reindex_count) =
            (self.expanded_thinking(), self.transcript.reindex_count());
        let newest = self.thinking_entries.last().copied();
        self.transcript.apply(id, event);
        if let TurnEvent::RoundStarted { .. } = event {
            self.round_first_entry = entries_before;
        }
        if self.transcript.reindex_count() == reindex_count {
            // Entries before the running turn no longer change.
            let from = match event {
                TurnEvent::Reclassified { .. } => self.transcript.settled_len().min(entries_before),
                _ => entries_before,
            };
            self.reindex_thinking(from);
            if let (Some(_), Some(newest)) = (expanded_before, newest)
                && self.expanded_thinking() != expanded_before
            {
                self.viewport.keep_open_if_in_view(newest);
            }
        } else {
            self.rebuild_indices();
        }
        self.track_approval(event, mode);
        self.timing.apply(event, is_new, self.open_thinking(), now);
    }

    /// Discards everything cached by entry index, because entries moved. Only the rows in view
    /// are laid out again.
    pub fn rebuild_indices(&mut self) {
        self.reindex_thinking(0);
        self.round_first_entry = self.transcript.entries().len();
        self.viewport = Viewport::default();
        self.thinking = Viewport::default();
        self.find = None;
    }

    fn reindex_thinking(&mut self, from: usize) {
        let kept = self.thinking_entries.partition_point(|index| *index < from);
        self.thinking_entries.truncate(kept);
        let entries = self.transcript.entries().iter().enumerate().skip(from);
        let thinking =
            entries.filter(|(_, entry)| matches!(entry.body, EntryBody::Thinking { .. }));
        self.thinking_entries
            .extend(thinking.map(|(index, _)| index));
    }

    /// Whether the current turn, or the last one, contains thinking.
    pub fn has_recent_thinking(&self) -> bool {
        let entries = self.transcript.entries();
        let newest = self
            .thinking_entries
            .last()
            .and_then(|index| entries.get(*index));
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

    /// Tracks calls for which the user is asked, and calls that run because of the tool mode `auto`;
    /// the chat shows the arguments of the latter.
    fn track_approval(&mut self, event: &TurnEvent, mode: ToolMode) {
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
        let stop = self.viewport.stop.filter(|stop| stop.block.is_none())?;
        match &self.transcript.entries().get(stop.index)?.body {
            EntryBody::Tool(call) => Some(call),
            _ => None,
        }
    }

    /// Raw text of the latest answer.
    /// Layout input for the chat; thinking is left out if it has its own pane.
    pub fn layout_input(
        &self,
        width: u16,
        has_thinking_pane: bool,
        glyphs: MarkdownGlyphs,
    ) -> LayoutInput<'_> {
        let is_waiting = self.transcript.wait_reason().is_some();
        LayoutInput {
            entries: self.transcript.entries(),
            visible_indices: None,
            width: width.max(1),
            has_thinking_pane,
            auto_approved: &self.auto_approved,
            tail_rows: if is_waiting { 2 } else { 0 },
            shows_raw_text: self.shows_raw_text,
            open_entry: self.transcript.open_entry(),
            expanded_thinking: self.expanded_thinking(),
            markdown_glyphs: glyphs,
            hidden_run: Cell::default(),
        }
    }

    /// Layout input for the thinking pane.
    pub fn thinking_layout_input(&self, width: u16, glyphs: MarkdownGlyphs) -> LayoutInput<'_> {
        LayoutInput {
            visible_indices: Some(&self.thinking_entries),
            tail_rows: 0,
            expanded_thinking: None,
            ..self.layout_input(width, false, glyphs)
        }
    }

    /// The newest thinking of the current round, which stays unfolded until newer thinking or the
    /// next round starts, or the turn ends.
    fn expanded_thinking(&self) -> Option<PieceId> {
        let turn = self.transcript.running_turn()?;
        let newest = *self
            .thinking_entries
            .last()
            .filter(|index| **index >= self.round_first_entry)?;
        let newest = self.transcript.entries().get(newest)?;
        match &newest.body {
            EntryBody::Thinking { piece, .. } if newest.turn == turn => Some(*piece),
            _ => None,
        }
    }
}

//! The find bar of the chat: its field, the search behind it, and the current match.

mod engine;
mod index;
pub mod marks;

pub use engine::MatchId;

use crate::domain::Transcript;
use crate::text::find_query::FindQuery;
use crate::text::markdown::{MarkdownGlyphs, RowOffset};
use crate::tui::chat::entry_rows::is_foldable;
use crate::tui::chat::find::engine::{FindEngine, LineMatch};
use crate::tui::chat::find::index::LineSpot;
use crate::tui::chat::selection::geometry::PaneView;
use crate::tui::chat::selection::{ChatPlace, LaidOutPlace, PlaceRange};
use crate::tui::chat::stops::Stop;
use crate::tui::chat::viewport::{RowPosition, Viewport};
use crate::tui::panes::Focus;
use crate::tui::widgets::editor::Editor;

/// Rows above and below a match that are scrolled into view with it.
const CONTEXT_ROWS: usize = 3;

#[derive(Debug)]
pub struct Find {
    pub field: Editor,
    /// Whether the field has the focus.
    pub is_typing: bool,
    /// The chat was following its end when the find bar was opened.
    followed_end: bool,
    /// The first row in view at that time.
    origin: ChatPlace,
    origin_stop: Option<Stop>,
    /// The search looks for the first match in a conversation that was just opened.
    pub is_for_opened_session: bool,
    /// The pane that had the focus.
    pub focus_before: Focus,
    engine: FindEngine,
    /// The pane and the place of the current match.
    current: Option<(Focus, PlaceRange)>,
    /// Entries that were unfolded to show a match.
    unfolded: Vec<usize>,
}

impl Find {
    /// Opens the find bar. `view` is the chat; its position is restored by [`Self::go_back`].
    pub fn new(view: &mut PaneView, glyphs: MarkdownGlyphs, focus_before: Focus) -> Self {
        let height = view.height();
        let top = view.viewport.top_position(view.input, height);
        let origin = LaidOutPlace {
            position: top,
            offset: RowOffset::BeforeMarker,
        };
        Self {
            field: Editor::default(),
            is_typing: true,
            followed_end: view.viewport.follows_end,
            origin: view.viewport.anchor_place(origin),
            origin_stop: view.viewport.stop,
            is_for_opened_session: false,
            focus_before,
            engine: FindEngine::new(top.index, glyphs),
            current: None,
            unfolded: Vec::new(),
        }
    }

    /// Searches for the first match in a conversation that was just opened.
    pub fn find_first(&mut self, text: &str) {
        self.is_for_opened_session = true;
        self.is_typing = false;
        self.engine.start_at_first_entry();
        self.field.set(text);
        self.update_query();
    }

    /// Searches for the current text of the field.
    pub fn update_query(&mut self) {
        let query = FindQuery::new(&self.field.text());
        if query.as_ref() != self.engine.query() {
            self.engine.set_query(query);
            self.current = None;
        }
    }

    pub fn query(&self) -> Option<&FindQuery> {
        self.engine.query()
    }

    pub fn label(&self, transcript: &Transcript) -> String {
        self.engine.label(transcript)
    }

    /// Whether the search is unfinished.
    pub fn is_searching(&self, transcript: &Transcript) -> bool {
        !self.engine.is_done(transcript)
    }

    /// Searches a little further. Returns whether this step selected the first match.
    pub fn advance(&mut self, transcript: &Transcript) -> bool {
        self.engine.step(transcript);
        let origin = self.origin.source_byte();
        let origin = origin.filter(|_| !self.is_for_opened_session);
        let is_above = |spot: LineSpot| match (spot, origin) {
            (LineSpot::Source(byte), Some(origin)) => byte < origin,
            (LineSpot::Head, Some(_)) => true,
            _ => false,
        };
        self.engine.select_first(transcript, is_above)
    }

    /// Selects the next or the previous match. Returns whether there is one.
    pub fn select_adjacent(&mut self, step: isize) -> bool {
        self.engine.select_adjacent(step).is_some()
    }

    pub fn current_match(&self) -> Option<MatchId> {
        self.engine.current()
    }

    /// The current match, if it is in this pane.
    pub fn current_in(&self, pane: Focus) -> Option<PlaceRange> {
        let (current_pane, range) = self.current?;
        (current_pane == pane).then_some(range)
    }

    /// Unfolds the entry with the current match, and scrolls the match into view. Unless the user is
    /// typing in the field, also selects the message or block with the match. `index` is the index
    /// of its entry in the pane.
    pub fn show_current(&mut self, view: &mut PaneView, pane: Focus, index: usize) {
        let Some(found) = self.engine.current().and_then(|id| self.engine.get(id)) else {
            return;
        };
        let height = view.height();
        let is_folded = view.viewport.height_of(view.input, index) > 0
            && found.spot != LineSpot::Head
            && is_foldable(view.input, index)
            && !view.viewport.is_unfolded(index)
            && view.viewport.hides(index, found.spot);
        view.viewport.pin_position(view.input, height);
        if is_folded {
            view.viewport.toggle_fold(index);
            if pane == Focus::Chat {
                self.unfolded.push(index);
            }
        }
        let Some(range) = self.place_of(view, index, found) else {
            return;
        };
        self.current = Some((pane, range));
        let position = view
            .viewport
            .lay_out_place(view.input, range.start)
            .position;
        if !self.is_typing && pane == Focus::Chat {
            // The keys of the chat act on the message or block with the match.
            view.viewport.stop = view.viewport.stop_at(position);
        }
        let row = position.row;
        let last = view.viewport.height_of(view.input, index).saturating_sub(1);
        let rows = row.saturating_sub(CONTEXT_ROWS)..=(row + CONTEXT_ROWS).min(last);
        view.viewport.reveal(view.input, height, index, rows);
        view.viewport.pin_position(view.input, height);
    }

    /// Where a match is in the layout.
    fn place_of(&self, view: &mut PaneView, index: usize, found: LineMatch) -> Option<PlaceRange> {
        let query = self.engine.query()?;
        view.viewport.height_of(view.input, index);
        view.viewport.restore_evicted(view.input, index);
        let layout = view.viewport.layout_at(index)?;
        let text_row = layout.key.gap_rows + layout.head_rows;
        let text = layout.text.as_ref().filter(|text| text.len() > 0);
        let row = match (found.spot, text) {
            (LineSpot::Source(byte), Some(text)) => Some(text.row_at_byte(byte)),
            (LineSpot::PlainLine(line), Some(text)) => {
                let line = layout.fold.map_or(line, |fold| fold.laid_out_line(line));
                Some(text.row_of_plain_line(line))
            }
            _ => None,
        };
        let (start, end) = match (row, text) {
            (Some(row), Some(text)) => {
                let rows = text.line_rows(row.min(text.len() - 1));
                let line: String = rows.clone().map(|row| text.row(row).text).collect();
                let ranges = query.ranges_in(&line);
                let range = ranges.get(found.nth_in_line).or(ranges.last());
                let range = range.cloned().unwrap_or(0..line.len());
                let place = |mut byte: usize| {
                    let mut row = *rows.start();
                    while byte > text.row(row).text.len() && row < *rows.end() {
                        byte -= text.row(row).text.len();
                        row += 1;
                    }
                    let row = text_row + row;
                    LaidOutPlace {
                        position: RowPosition { index, row },
                        offset: RowOffset::Text(byte),
                    }
                };
                (place(range.start), place(range.end))
            }
            _ => {
                let row = layout.key.gap_rows;
                let place = |column: usize| LaidOutPlace {
                    position: RowPosition { index, row },
                    offset: RowOffset::Text(column),
                };
                (place(0), place(view.input.width.into()))
            }
        };
        Some(PlaceRange {
            start: view.viewport.anchor_place(start),
            end: view.viewport.anchor_place(end),
        })
    }

    /// Folds the entries that were unfolded and restores the position from before the search.
    pub fn go_back(self, view: &mut PaneView) {
        for index in self.unfolded {
            if view.viewport.is_unfolded(index) {
                view.viewport.toggle_fold(index);
            }
        }
        view.viewport.stop = self.origin_stop;
        let top = view
            .viewport
            .lay_out_place(view.input, self.origin)
            .position;
        view.viewport.scroll_to(view.input, top, self.followed_end);
    }
}

impl Viewport {
    /// Whether a line of an entry that is not unfolded is hidden.
    fn hides(&self, index: usize, spot: LineSpot) -> bool {
        let fold = self.layout_at(index).and_then(|layout| layout.fold);
        match (fold, spot) {
            (Some(fold), LineSpot::PlainLine(line)) => fold.hides(line),
            _ => true,
        }
    }
}

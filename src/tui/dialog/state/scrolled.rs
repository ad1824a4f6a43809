//! The scrolling body of a dialog: its wrapped rows, the scroll position, and which part of
//! a call's arguments has been drawn.

use crate::domain::CallId;
use crate::text::styled_line::StyledLine;
use crate::tui::dialog::arguments::{Coverage, DrawnArguments};
use crate::tui::dialog::state::{Dialog, DialogPage};
use std::time::Duration;

/// The body as wrapped rows.
#[derive(Debug, Clone, Default)]
pub struct DialogBody {
    pub rows: Vec<StyledLine>,
    /// Rows at the top that name the subject.
    pub heading_rows: usize,
    /// Index of the first argument row, and for each argument row the byte offset in the
    /// arguments' text at which it starts.
    pub arguments: Option<(usize, Vec<usize>)>,
    /// On a page of choices: the index of each, and the row at which it begins.
    pub choice_starts: Vec<(usize, usize)>,
}

/// Parts that are shown in the body because there is no room for them outside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BodyExtras {
    /// The subject of the question, if the title has no room for it.
    pub has_heading: bool,
    /// Notes on the call, if the rule below has no room for them.
    pub has_notes: bool,
}

#[derive(Debug, Clone)]
pub struct DialogBodyLayout {
    columns: u16,
    extras: BodyExtras,
    page: DialogPage,
    body: DialogBody,
}

impl Dialog {
    /// Wraps the body unless the cached layout is still valid. Keeps the top row's text in view.
    pub fn lay_out(
        &mut self,
        columns: u16,
        extras: BodyExtras,
        wrap: impl Fn(&Self) -> DialogBody,
    ) {
        let page = self.page();
        let cached = self.laid_out.as_ref();
        let wanted = (columns, extras, page);
        if cached.is_none_or(|old| (old.columns, old.extras, old.page) != wanted) {
            let top = self.top_byte();
            let body = wrap(self);
            self.laid_out = Some(DialogBodyLayout {
                columns,
                extras,
                page,
                body,
            });
            self.count_undrawn();
            self.drawn_rows = Coverage::new(self.body_rows().len());
            if let Some(row) = top.and_then(|byte| self.row_at_byte(byte)) {
                self.scroll = row;
            }
        }
    }

    /// The byte of the arguments at which the first visible row starts.
    fn top_byte(&self) -> Option<usize> {
        let (_, first, starts) = self.arguments()?;
        starts.get(self.scroll.checked_sub(first)?).copied()
    }

    /// The body row that contains this byte of the arguments.
    fn row_at_byte(&self, byte: usize) -> Option<usize> {
        let (_, first, starts) = self.arguments()?;
        let row = starts.partition_point(|at| *at <= byte);
        Some(first + row.saturating_sub(1))
    }

    /// Whether the body must be wrapped again, whatever its width.
    pub fn is_stale(&self) -> bool {
        self.laid_out.is_none()
    }

    pub fn body_rows(&self) -> &[StyledLine] {
        self.laid_out
            .as_ref()
            .map_or(&[], |layout| &layout.body.rows)
    }

    /// The body row of the selected choice, on a page of choices.
    pub fn selected_body_row(&self) -> Option<usize> {
        let selected = self.highlighted_choice()?;
        let starts = &self.laid_out.as_ref()?.body.choice_starts;
        let (_, row) = starts.iter().find(|(index, _)| *index == selected)?;
        Some(*row)
    }

    /// Whether the last row of a choice on the page is in view or above the view.
    pub fn shows_end_of(&self, choice: usize) -> bool {
        let starts = self
            .laid_out
            .iter()
            .flat_map(|page| &page.body.choice_starts);
        let mut starts = starts.skip_while(|(index, _)| *index != choice);
        let is_listed = starts.next().is_some();
        let end = starts
            .next()
            .map_or(self.body_rows().len(), |(_, row)| *row);
        is_listed && end <= self.scroll + self.body_height
    }

    /// Selects a choice of a page and scrolls its row into view.
    pub fn select_row(&mut self, choice: usize) {
        self.selected_choice = Some(choice);
        let Some(row) = self.selected_body_row() else {
            return;
        };
        let height = self.body_height.max(1);
        self.scroll = self.scroll.clamp((row + 1).saturating_sub(height), row);
    }

    pub fn shows_json(&self) -> bool {
        let current = self.drawn_arguments.get(self.call_index);
        current
            .and_then(Option::as_ref)
            .is_some_and(DrawnArguments::shows_json)
    }

    /// Number of rows at the top that name the subject.
    pub fn heading_rows(&self) -> usize {
        self.laid_out
            .as_ref()
            .map_or(0, |layout| layout.body.heading_rows)
    }

    /// Switches between the readable arguments and their exact JSON.
    pub fn toggle_json(&mut self) {
        let current = self.drawn_arguments.get_mut(self.call_index);
        if let Some(arguments) = current.and_then(Option::as_mut) {
            arguments.toggle_json();
            self.scroll = 0;
            self.laid_out = None;
        }
    }

    /// Discards the layout if it shows a call that changed.
    pub fn call_changed(&mut self, call: CallId) {
        if self.call_ids().any(|id| id == call) {
            self.laid_out = None;
        }
    }

    /// The current call's arguments, their first body row, and the byte at which each of
    /// their rows starts.
    fn arguments(&self) -> Option<(&DrawnArguments, usize, &[usize])> {
        let (first, starts) = self.laid_out.as_ref()?.body.arguments.as_ref()?;
        let drawn = self.drawn_arguments.get(self.call_index)?.as_ref()?;
        Some((drawn, *first, starts))
    }

    fn count_undrawn(&mut self) {
        if let Some((drawn, _, starts)) = self.arguments() {
            self.undrawn_rows = drawn.undrawn_rows(starts);
        }
    }

    /// Rows still to be drawn before the call may run, including rows around the arguments, so that
    /// the number agrees with the scroll marks; 0 if the call may run.
    pub fn rows_to_read(&self) -> usize {
        let rows = self.body_rows().len();
        let bottom = self.scroll + self.body_height;
        let (before, after) = self.arguments().map_or((0, 0), |(_, first, starts)| {
            let after = rows.saturating_sub(first + starts.len());
            (first.saturating_sub(bottom), after)
        });
        let below = rows.saturating_sub(bottom);
        match self.undrawn_rows {
            0 => 0,
            undrawn => before + undrawn + after.min(below),
        }
    }

    /// Whether the first row that must still be drawn is above the visible ones.
    pub fn is_unread_above(&self) -> bool {
        let first = match self.call() {
            Some(_) => self.first_undrawn_row(),
            None => self.drawn_rows.first_gap(),
        };
        first.is_some_and(|row| row < self.scroll)
    }

    /// The body row with the first undrawn part of the arguments.
    fn first_undrawn_row(&self) -> Option<usize> {
        let (drawn, _, _) = self.arguments()?;
        self.row_at_byte(drawn.first_undrawn()?)
    }

    /// Makes the next frame scroll to the first undrawn part of the arguments.
    pub fn scroll_to_undrawn_arguments(&mut self) {
        self.show_page(DialogPage::Subject);
        self.scrolls_to_undrawn = true;
    }

    /// The largest possible scroll offset.
    pub fn last_top(&self) -> usize {
        self.body_rows().len().saturating_sub(self.body_height)
    }

    /// Whether some rows of the body have never been drawn.
    pub fn is_unread(&self) -> bool {
        !self.was_fully_drawn()
    }

    /// Whether the user must still read to the end before accepting.
    pub fn must_be_read(&self) -> bool {
        self.requires_full_reading() && self.is_unread()
    }

    /// Whether the subject can be accepted only after it has been read to the end.
    pub fn requires_full_reading(&self) -> bool {
        self.question.read_first
    }

    /// Records that a frame shows the body in `height` rows.
    pub fn mark_drawn(&mut self, height: usize, is_readable: bool, now: Duration) {
        self.body_height = height;
        if std::mem::take(&mut self.scrolls_to_undrawn) {
            self.scroll = self.first_undrawn_row().unwrap_or(self.scroll);
        }
        self.scroll = self.scroll.min(self.last_top());
        if !is_readable {
            return;
        }
        let view = self.scroll..self.scroll + height;
        let rows = self.body_rows().len();
        if height > 0 && rows > 0 && self.page() == DialogPage::Subject {
            self.drawn_rows
                .add(view.start.min(rows)..view.end.min(rows));
            if self.drawn_rows.first_gap().is_none() {
                self.fully_drawn_at.get_or_insert(now);
            }
        }
        let laid_out = self.laid_out.as_ref();
        let arguments = laid_out.and_then(|layout| layout.body.arguments.as_ref());
        let drawn = self
            .drawn_arguments
            .get_mut(self.call_index)
            .and_then(Option::as_mut);
        if let (Some((first, starts)), Some(drawn)) = (arguments, drawn) {
            let row = |at: usize| at.saturating_sub(*first).min(starts.len());
            drawn.mark_drawn(row(view.start)..row(view.end), starts, now);
            self.count_undrawn();
        }
    }

    /// Whether every row of the body has been drawn.
    pub fn was_fully_drawn(&self) -> bool {
        self.fully_drawn_at.is_some()
    }

    /// When every row of the body had been drawn for the first time; `None` before that.
    pub fn fully_drawn_at(&self) -> Option<Duration> {
        self.fully_drawn_at
    }

    /// Scrolls to the first row that has not been drawn, unless another page is open.
    pub fn scroll_to_first_undrawn_row(&mut self) {
        if let (DialogPage::Subject, Some(row)) = (self.page(), self.drawn_rows.first_gap()) {
            self.scroll = row;
        }
    }

    /// Scrolls by rows. Several keys can arrive between two frames, so scrolling down stops
    /// at the first undrawn row instead of skipping it.
    pub fn scroll_by(&mut self, rows: isize) {
        let to = self.scroll.saturating_add_signed(rows).min(self.last_top());
        let undrawn = self.first_undrawn_row().filter(|row| *row >= self.scroll);
        self.scroll = match undrawn {
            Some(row) if rows > 0 => to.min(row),
            _ => to,
        };
    }

    /// Rows per page. One row stays visible for continuity.
    pub fn page_rows(&self) -> isize {
        isize::try_from(self.body_height.saturating_sub(1).max(1)).unwrap_or(isize::MAX)
    }
}

//! The part of a dialog that scrolls: its rows, what of them is in view, and which part
//! of a call's arguments has been drawn.

use crate::domain::CallId;
use crate::protocol::Ask;
use crate::tui::dialog::arguments::DrawnArguments;
use crate::tui::dialog::state::Dialog;
use std::time::Duration;

/// The scrolled part as rows.
#[derive(Debug, Clone, Default)]
pub struct DialogBody {
    pub rows: Vec<String>,
    /// Rows at the top that name what is asked about.
    pub heading_rows: usize,
    /// Where the arguments of a call stand among the rows, and the byte of their text
    /// at which each of these rows begins.
    pub arguments: Option<(usize, Vec<usize>)>,
}

#[derive(Debug, Clone)]
pub struct DialogBodyLayout {
    columns: u16,
    /// The footer is read with the rest, for want of a row.
    with_footer: bool,
    is_choice_list: bool,
    body: DialogBody,
}

impl Dialog {
    /// Wraps the scrolled part, unless that was done for this width already.
    pub fn lay_out(&mut self, columns: u16, with_footer: bool, wrap: impl Fn(&Self) -> DialogBody) {
        let lists = self.shows_choice_list();
        let known = self.laid_out.as_ref();
        let wanted = (columns, with_footer, lists);
        if known.is_none_or(|it| (it.columns, it.with_footer, it.is_choice_list) != wanted) {
            let top = self.top_byte();
            let body = wrap(self);
            self.laid_out = Some(DialogBodyLayout {
                columns,
                with_footer,
                is_choice_list: lists,
                body,
            });
            self.count_undrawn();
            if let Some(row) = top.and_then(|byte| self.row_at_byte(byte)) {
                self.scroll = row;
            }
        }
    }

    /// The byte of the arguments that the first row in view begins with: what stays in
    /// view when the width changes.
    fn top_byte(&self) -> Option<usize> {
        let (_, first, starts) = self.arguments()?;
        starts.get(self.scroll.checked_sub(first)?).copied()
    }

    /// The row of the scrolled part that holds this byte of the arguments.
    fn row_at_byte(&self, byte: usize) -> Option<usize> {
        let (_, first, starts) = self.arguments()?;
        let row = starts.partition_point(|at| *at <= byte);
        Some(first + row.saturating_sub(1))
    }

    /// Must the scrolled part be wrapped anew, whatever the width is?
    pub fn is_stale(&self) -> bool {
        self.laid_out.is_none()
    }

    /// The rows of the scrolled part.
    pub fn body_rows(&self) -> &[String] {
        self.laid_out.as_ref().map_or(&[], |it| &it.body.rows)
    }

    /// Rows of it that name what is asked about.
    pub fn heading_rows(&self) -> usize {
        self.laid_out.as_ref().map_or(0, |it| it.body.heading_rows)
    }

    /// A call has changed: what was wrapped of it is of no use any more.
    pub fn call_changed(&mut self, call: CallId) {
        let failed = matches!(&self.question, Ask::AfterError { failed, .. } if *failed == call);
        if failed || self.call_ids().any(|id| id == call) {
            self.laid_out = None;
        }
    }

    /// The arguments of the call shown, with the byte at which each row of them begins
    /// and the first of these rows.
    fn arguments(&self) -> Option<(&DrawnArguments, usize, &[usize])> {
        let (first, starts) = self.laid_out.as_ref()?.body.arguments.as_ref()?;
        let argued = self.drawn_arguments.get(self.call_index)?.as_ref()?;
        Some((argued, *first, starts))
    }

    fn count_undrawn(&mut self) {
        if let Some((argued, _, starts)) = self.arguments() {
            self.undrawn_rows = argued.undrawn_rows(starts);
        }
    }

    /// The row of the scrolled part with the first part of the arguments that was not
    /// drawn.
    fn first_undrawn_row(&self) -> Option<usize> {
        let (argued, _, _) = self.arguments()?;
        self.row_at_byte(argued.first_undrawn()?)
    }

    /// Scrolls to the first part of the arguments that was not drawn, in the next frame.
    pub fn scroll_to_undrawn(&mut self) {
        self.set_choice_list(false);
        self.scrolls_to_undrawn = true;
    }

    /// The last row that the scrolled part can begin with.
    pub fn last_top(&self) -> usize {
        self.body_rows().len().saturating_sub(self.body_height)
    }

    /// Is the end of what is asked about yet to be seen? A list of choices in its place
    /// shows nothing of it.
    pub fn is_unread(&self) -> bool {
        !self.was_read_to_end && (self.shows_choice_list() || self.scroll < self.last_top())
    }

    /// Must it be read to its end, and was not?
    pub fn must_be_read(&self) -> bool {
        let is_read_first = matches!(
            self.question,
            Ask::PinChanged(_) | Ask::SendInstructions { .. } | Ask::ExternalEdit(_)
        );
        is_read_first && self.is_unread()
    }

    /// It is drawn now, in so many rows.
    pub fn mark_drawn(&mut self, height: usize, now: Duration) {
        self.body_height = height;
        if std::mem::take(&mut self.scrolls_to_undrawn) {
            self.scroll = self.first_undrawn_row().unwrap_or(self.scroll);
        }
        self.scroll = self.scroll.min(self.last_top());
        let is_end = height > 0 && !self.shows_choice_list() && self.scroll == self.last_top();
        self.was_read_to_end |= is_end && !self.body_rows().is_empty();
        let view = self.scroll..self.scroll + height;
        let laid_out = self.laid_out.as_ref();
        let arguments = laid_out.and_then(|it| it.body.arguments.as_ref());
        let argued = self
            .drawn_arguments
            .get_mut(self.call_index)
            .and_then(Option::as_mut);
        if let (Some((first, starts)), Some(argued)) = (arguments, argued) {
            let row = |at: usize| at.saturating_sub(*first).min(starts.len());
            argued.mark_drawn(row(view.start)..row(view.end), starts, now);
            self.count_undrawn();
        }
    }

    /// Was the dialog's end in view? Unlike [`Self::is_unread`] this holds only for what
    /// was drawn already.
    pub fn was_read_to_end(&self) -> bool {
        self.was_read_to_end
    }

    /// Several keys can arrive between two frames: scrolling down stops at the first row
    /// that was not drawn, so that none is skipped.
    pub fn scroll_by(&mut self, rows: isize) {
        let to = self.scroll.saturating_add_signed(rows).min(self.last_top());
        let undrawn = self.first_undrawn_row().filter(|row| *row >= self.scroll);
        self.scroll = match undrawn {
            Some(row) if rows > 0 => to.min(row),
            _ => to,
        };
    }

    /// Rows of a page: one stays in view, so that none is skipped.
    pub fn page_rows(&self) -> isize {
        isize::try_from(self.body_height.saturating_sub(1).max(1)).unwrap_or(isize::MAX)
    }
}

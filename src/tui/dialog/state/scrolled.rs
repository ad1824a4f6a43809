//! The part of a dialog that scrolls: its rows, what of them is in view, and which part
//! of a call's arguments has been drawn.

use crate::domain::CallId;
use crate::protocol::Ask;
use crate::tui::dialog::arguments::Argued;
use crate::tui::dialog::state::OpenAsk;
use std::time::Duration;

/// The scrolled part as rows.
#[derive(Debug, Clone, Default)]
pub struct Body {
    pub rows: Vec<String>,
    /// Rows at the top that name what is asked about.
    pub head: usize,
    /// Where the arguments of a call stand among the rows, and the byte of their text
    /// at which each of these rows begins.
    pub arguments: Option<(usize, Vec<usize>)>,
}

#[derive(Debug, Clone)]
pub struct LaidOut {
    columns: u16,
    /// The footer is read with the rest, for want of a row.
    with_footer: bool,
    lists: bool,
    body: Body,
}

impl OpenAsk {
    /// Wraps the scrolled part, unless that was done for this width already.
    pub fn lay_out(&mut self, columns: u16, with_footer: bool, wrap: impl Fn(&Self) -> Body) {
        let lists = self.lists_choices();
        let known = self.laid_out.as_ref();
        let wanted = (columns, with_footer, lists);
        if known.is_none_or(|it| (it.columns, it.with_footer, it.lists) != wanted) {
            let top = self.top_byte();
            let body = wrap(self);
            self.laid_out = Some(LaidOut {
                columns,
                with_footer,
                lists,
                body,
            });
            self.count_left();
            if let Some(row) = top.and_then(|byte| self.row_of(byte)) {
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
    fn row_of(&self, byte: usize) -> Option<usize> {
        let (_, first, starts) = self.arguments()?;
        let row = starts.partition_point(|at| *at <= byte);
        Some(first + row.saturating_sub(1))
    }

    /// Must the scrolled part be wrapped anew, whatever the width is?
    pub fn is_stale(&self) -> bool {
        self.laid_out.is_none()
    }

    /// The rows of the scrolled part.
    pub fn body(&self) -> &[String] {
        self.laid_out.as_ref().map_or(&[], |it| &it.body.rows)
    }

    /// Rows of it that name what is asked about.
    pub fn head(&self) -> usize {
        self.laid_out.as_ref().map_or(0, |it| it.body.head)
    }

    /// A call has changed: what was wrapped of it is of no use any more.
    pub fn changed(&mut self, call: CallId) {
        let failed = matches!(&self.question, Ask::AfterError { failed, .. } if *failed == call);
        if failed || self.ids().any(|id| id == call) {
            self.laid_out = None;
        }
    }

    /// The arguments of the call shown, with the byte at which each row of them begins
    /// and the first of these rows.
    fn arguments(&self) -> Option<(&Argued, usize, &[usize])> {
        let (first, starts) = self.laid_out.as_ref()?.body.arguments.as_ref()?;
        let argued = self.argued.get(self.at)?.as_ref()?;
        Some((argued, *first, starts))
    }

    fn count_left(&mut self) {
        if let Some((argued, _, starts)) = self.arguments() {
            self.rows_left = argued.rows_left(starts);
        }
    }

    /// The row of the scrolled part with the first part of the arguments that was not
    /// drawn.
    fn first_undrawn(&self) -> Option<usize> {
        let (argued, _, _) = self.arguments()?;
        self.row_of(argued.first_undrawn()?)
    }

    /// Scrolls to the first part of the arguments that was not drawn, in the next frame.
    pub fn seek(&mut self) {
        self.list_choices(false);
        self.seeks = true;
    }

    /// The last row that the scrolled part can begin with.
    pub fn last_top(&self) -> usize {
        self.body().len().saturating_sub(self.height)
    }

    /// Is the end of what is asked about yet to be seen? A list of choices in its place
    /// shows nothing of it.
    pub fn is_unread(&self) -> bool {
        !self.was_read && (self.lists_choices() || self.scroll < self.last_top())
    }

    /// Must it be read to its end, and was not?
    pub fn ends_unread(&self) -> bool {
        let is_read_first = matches!(
            self.question,
            Ask::PinChanged(_) | Ask::Instructions { .. } | Ask::OutsideEdit(_)
        );
        is_read_first && self.is_unread()
    }

    /// It is drawn now, in so many rows.
    pub fn drawn(&mut self, height: usize, now: Duration) {
        self.height = height;
        if std::mem::take(&mut self.seeks) {
            self.scroll = self.first_undrawn().unwrap_or(self.scroll);
        }
        self.scroll = self.scroll.min(self.last_top());
        let is_end = height > 0 && !self.lists_choices() && self.scroll == self.last_top();
        self.was_read |= is_end && !self.body().is_empty();
        let view = self.scroll..self.scroll + height;
        let laid_out = self.laid_out.as_ref();
        let arguments = laid_out.and_then(|it| it.body.arguments.as_ref());
        let argued = self.argued.get_mut(self.at).and_then(Option::as_mut);
        if let (Some((first, starts)), Some(argued)) = (arguments, argued) {
            let row = |at: usize| at.saturating_sub(*first).min(starts.len());
            argued.drew(row(view.start)..row(view.end), starts, now);
            self.count_left();
        }
    }

    /// Was the dialog's end in view? Unlike [`Self::is_unread`] this holds only for what
    /// was drawn already.
    pub fn was_read(&self) -> bool {
        self.was_read
    }

    /// Several keys can arrive between two frames: scrolling down stops at the first row
    /// that was not drawn, so that none is skipped.
    pub fn scroll_by(&mut self, rows: isize) {
        let to = self.scroll.saturating_add_signed(rows).min(self.last_top());
        let undrawn = self.first_undrawn().filter(|row| *row >= self.scroll);
        self.scroll = match undrawn {
            Some(row) if rows > 0 => to.min(row),
            _ => to,
        };
    }

    /// Rows of a page: one stays in view, so that none is skipped.
    pub fn page(&self) -> isize {
        isize::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(isize::MAX)
    }
}

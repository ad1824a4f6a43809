//! The log pane: the latest lines of the log, or what the last answer was made of.

use crate::domain::trace::TraceLine;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogTab {
    #[default]
    Log,
    LastAnswer,
}

/// The pane as it lies over the others.
#[derive(Debug, Clone, Default)]
pub struct LogPane {
    pub tab: LogTab,
    /// Lines of the log below what is in view: it is read from its end.
    pub back: usize,
    /// The first line in view of the last answer.
    pub top: usize,
    /// The lines that were in view of it.
    pub shown: usize,
}

impl LogPane {
    pub fn turn(&mut self) {
        self.tab = match self.tab {
            LogTab::Log => LogTab::LastAnswer,
            LogTab::LastAnswer => LogTab::Log,
        };
    }

    pub fn scroll(&mut self, rows: isize) {
        match self.tab {
            LogTab::Log => self.back = self.back.saturating_add_signed(-rows),
            LogTab::LastAnswer => {
                // A page goes on where the view ended, however its lines were wrapped.
                let page = isize::try_from(self.shown).unwrap_or(isize::MAX).max(1);
                self.top = self.top.saturating_add_signed(rows.clamp(-page, page));
            }
        }
    }

    /// To the beginning or the end of what is shown.
    pub fn jump(&mut self, to_end: bool) {
        let far = if to_end { usize::MAX } else { 0 };
        match self.tab {
            LogTab::Log => self.back = usize::MAX - far,
            LogTab::LastAnswer => self.top = far,
        }
    }
}

/// What the engine told of the last answer; None until it did.
pub type Trace = Option<Arc<Vec<TraceLine>>>;

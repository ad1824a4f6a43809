//! Fences and code spans around calls: held back until what they hold is told, and
//! swallowed with a call that they hold.

use super::super::code_context::BacktickRun;
use super::super::recognizer::Opening;
use super::{Scanner, State};

impl Scanner {
    /// Whether the backtick is held back.
    pub(super) fn in_backtick(&mut self, c: char, at_start: bool) -> bool {
        if self.closing.is_some() && at_start {
            self.hold_closing(c, 1);
            return true;
        }
        let opens = !self.output.page.in_fence() && self.output.page.last != Some('`');
        if opens {
            let mut ticks = BacktickRun::default();
            ticks.takes(c);
            self.held.push(c);
            self.state = State::Opening(ticks);
        }
        opens
    }

    pub(super) fn in_opening(&mut self, c: char, mut ticks: BacktickRun) -> bool {
        let info = self.held.trim_start_matches('`').trim();
        let opening = Opening {
            before: if ticks.run < 3 {
                Some('`')
            } else {
                self.output.page.last
            },
            // Only behind its first line; before, the info word may still go on.
            at_line_start: ticks.run >= 3 && self.held.contains('\n'),
            in_code: true,
            fence: (ticks.run >= 3).then_some(info),
            ..self.opening(c)
        };
        let forms = if ticks.may_hold_form() {
            self.open(&opening)
        } else {
            Vec::new()
        };
        if !forms.is_empty() {
            self.fence = Some(ticks.run);
            self.hold_form(c, forms);
            return true;
        }
        if ticks.takes(c) {
            self.held.push(c);
            self.state = State::Opening(ticks);
            return true;
        }
        self.release();
        false
    }

    fn hold_closing(&mut self, c: char, run: usize) {
        self.held.push(c);
        if self.closing == Some(run) {
            self.closing = None;
            self.within = None;
            self.output.mark(&self.held);
            self.held.clear();
            self.output.start_seam(true);
        } else {
            self.state = State::Closing(run);
        }
    }

    pub(super) fn in_closing(&mut self, c: char, run: usize) -> bool {
        if c == '`' {
            self.hold_closing(c, run + 1);
            return true;
        }
        self.release();
        false
    }
}

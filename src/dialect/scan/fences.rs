//! Fences and code spans around calls. Their backticks are withheld until their contents are known,
//! and hidden together with a call inside.

use super::super::code_context::BacktickRun;
use super::super::recognizer::OpeningContext;
use super::{CallScanner, ScanState};

impl CallScanner {
    /// Withholds the backtick `c` if it may begin or end a fence around a call. Returns whether it
    /// was withheld.
    pub(super) fn withhold_backtick(&mut self, c: char, is_at_line_start: bool) -> bool {
        if self.hidden_fence.is_some() && is_at_line_start {
            self.withhold_fence_end(c, 1);
            return true;
        }
        let may_open =
            !self.output.fences.is_in_fence() && self.output.fences.last_char != Some('`');
        if may_open {
            let mut ticks = BacktickRun::default();
            ticks.push(c);
            self.withheld.push(c);
            self.state = ScanState::FenceStart(ticks);
        }
        may_open
    }

    pub(super) fn step_fence_start(&mut self, c: char, mut ticks: BacktickRun) -> bool {
        let info = self.withheld.trim_start_matches('`').trim();
        let opening = OpeningContext {
            previous_char: if ticks.length < 3 {
                Some('`')
            } else {
                self.output.fences.last_char
            },
            // On the fence's first line, the text may still be the info word.
            is_at_line_start: ticks.length >= 3 && self.withheld.contains('\n'),
            is_in_fence: true,
            fence_info: (ticks.length >= 3).then_some(info),
            ..self.opening_context(c)
        };
        let candidates = if ticks.can_precede_call() {
            self.open_recognizers(&opening)
        } else {
            Vec::new()
        };
        if !candidates.is_empty() {
            self.withheld_fence = Some(ticks.length);
            self.start_form(c, candidates);
            return true;
        }
        if ticks.push(c) {
            self.withheld.push(c);
            self.state = ScanState::FenceStart(ticks);
            return true;
        }
        self.release();
        false
    }

    /// Withholds `c`, the last of `ticks` backticks. Hides them once they close the hidden fence.
    fn withhold_fence_end(&mut self, c: char, ticks: usize) {
        self.withheld.push(c);
        if self.hidden_fence == Some(ticks) {
            self.hidden_fence = None;
            self.open_wrapper = None;
            self.output.push_marker(&self.withheld);
            self.withheld.clear();
            self.output.start_holdback(true);
        } else {
            self.state = ScanState::FenceEnd(ticks);
        }
    }

    pub(super) fn step_fence_end(&mut self, c: char, ticks: usize) -> bool {
        if c == '`' {
            self.withhold_fence_end(c, ticks + 1);
            return true;
        }
        self.release();
        false
    }
}

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
        let may_open = !self.output.code.is_in_fence() && self.output.code.last_char != Some('`');
        if may_open {
            let mut run = BacktickRun::default();
            run.push(c);
            self.withheld.push(c);
            self.state = ScanState::FenceStart(run);
        }
        may_open
    }

    pub(super) fn step_fence_start(&mut self, c: char, mut run: BacktickRun) -> bool {
        let info = self.withheld.trim_start_matches('`').trim();
        let opening = OpeningContext {
            previous_char: if run.backticks < 3 {
                Some('`')
            } else {
                self.output.code.last_char
            },
            // On the fence's first line, the text may still be the info word.
            is_at_line_start: run.backticks >= 3 && self.withheld.contains('\n'),
            is_in_fence: true,
            fence_info: (run.backticks >= 3).then_some(info),
            ..self.opening_context(c)
        };
        let candidates = if run.can_precede_call() {
            self.open_recognizers(&opening)
        } else {
            Vec::new()
        };
        if !candidates.is_empty() {
            self.withheld_fence = Some(run.backticks);
            self.start_form(c, candidates);
            return true;
        }
        if run.push(c) {
            self.withheld.push(c);
            self.state = ScanState::FenceStart(run);
            return true;
        }
        self.release();
        false
    }

    /// `backticks` is the length of the run so far; the run is hidden once it closes the
    /// hidden fence.
    fn withhold_fence_end(&mut self, c: char, backticks: usize) {
        self.withheld.push(c);
        if self.hidden_fence == Some(backticks) {
            self.hidden_fence = None;
            self.open_wrapper = None;
            self.output.push_marker(&self.withheld);
            self.withheld.clear();
            self.output.start_holdback(true);
        } else {
            self.state = ScanState::FenceEnd(backticks);
        }
    }

    pub(super) fn step_fence_end(&mut self, c: char, backticks: usize) -> bool {
        if c == '`' {
            self.withhold_fence_end(c, backticks + 1);
            return true;
        }
        self.release();
        false
    }
}

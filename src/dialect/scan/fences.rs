//! Fences and code spans around calls. They are withheld until their contents are known, and
//! dropped together with a call inside.

use super::super::code_context::BacktickRun;
use super::super::recognizer::OpeningContext;
use super::{CallScanner, ScanState};

impl CallScanner {
    /// Returns whether the backtick is withheld.
    pub(super) fn withhold_backtick(&mut self, c: char, at_start: bool) -> bool {
        if self.open_fence.is_some() && at_start {
            self.withhold_fence_end(c, 1);
            return true;
        }
        let opens = !self.output.fences.is_in_fence() && self.output.fences.last_char != Some('`');
        if opens {
            let mut ticks = BacktickRun::default();
            ticks.push(c);
            self.withheld.push(c);
            self.state = ScanState::FenceStart(ticks);
        }
        opens
    }

    pub(super) fn step_fence_start(&mut self, c: char, mut ticks: BacktickRun) -> bool {
        let info = self.withheld.trim_start_matches('`').trim();
        let opening = OpeningContext {
            previous_char: if ticks.length < 3 {
                Some('`')
            } else {
                self.output.fences.last_char
            },
            // Only after its first line; until then, the info word may continue.
            at_line_start: ticks.length >= 3 && self.withheld.contains('\n'),
            is_in_fence: true,
            fence_info: (ticks.length >= 3).then_some(info),
            ..self.opening(c)
        };
        let forms = if ticks.can_contain_call() {
            self.open(&opening)
        } else {
            Vec::new()
        };
        if !forms.is_empty() {
            self.fence = Some(ticks.length);
            self.withhold_form(c, forms);
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

    fn withhold_fence_end(&mut self, c: char, run: usize) {
        self.withheld.push(c);
        if self.open_fence == Some(run) {
            self.open_fence = None;
            self.open_wrapper = None;
            self.output.push_marker(&self.withheld);
            self.withheld.clear();
            self.output.start_holdback(true);
        } else {
            self.state = ScanState::FenceEnd(run);
        }
    }

    pub(super) fn step_fence_end(&mut self, c: char, run: usize) -> bool {
        if c == '`' {
            self.withhold_fence_end(c, run + 1);
            return true;
        }
        self.release();
        false
    }
}

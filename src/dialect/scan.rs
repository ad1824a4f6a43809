//! From a stream of text to text, thinking and calls. The one place that decides
//! what is held back: a suffix that may still become a marker, a form that some
//! family may still find, and white space at a seam. `fences` sees to code fences,
//! `candidates` to what families find.

mod candidates;
mod fences;

use super::code_context::BacktickRun;
use super::json;
use super::markers::Wrapper;
use super::recognizer::{BoxedRecognizer, OpeningContext, ThinkingEnd};
use super::registry::{MARKERS, RECOGNIZERS};
use super::scan_event::ScanOutput;
use crate::domain::Toolset;
use std::sync::Arc;

pub use super::scan_event::{ScanEvent, TextCall, UnusableCall};

/// A form that grows longer is text: memory is bounded, whatever is sent.
const HELD_BYTES_MAX: usize = 1 << 20;
/// Wrappers in wrappers.
const WRAPPERS_MAX: usize = 4;
/// White space in a wrapper before its call.
const BLANK_CHARS_MAX: usize = 256;

/// Incremental and linear in the text.
#[derive(Debug)]
pub struct CallScanner {
    offered: Arc<Toolset>,
    state: ScanState,
    /// What is not decided yet, from the fence before a form on.
    withheld: String,
    /// Where in `held` the form begins.
    body: usize,
    /// Backticks of the fence that is held before the form.
    fence: Option<usize>,
    /// The wrappers that are held before the form.
    wrappers: Vec<&'static Wrapper>,
    /// Backticks of the fence that was swallowed with a call and is still open.
    open_fence: Option<usize>,
    /// A lone `</think>` means something only before any thinking.
    is_thinking_settled: bool,
    /// A call was found.
    has_call: bool,
    /// The wrapper around the last call, if statements may follow in it.
    open_wrapper: Option<&'static Wrapper>,
    /// A header of gpt-oss's came.
    has_message_header: bool,
    output: ScanOutput,
    #[cfg(test)]
    steps: u64,
}

#[derive(Debug)]
enum ScanState {
    Text,
    /// A fence or a code span may open.
    FenceStart(BacktickRun),
    /// A swallowed fence may close; so many backticks are held.
    FenceEnd(usize),
    /// A wrapper was opened; so much white space came since, and perhaps the start of
    /// a fence.
    InWrapper {
        blank: usize,
        fence: Option<BacktickRun>,
    },
    Recognizing {
        candidates: Vec<BoxedRecognizer>,
        /// What follows is text to this one, unless another finds something.
        pass_through: Option<BoxedRecognizer>,
    },
    PassThrough(BoxedRecognizer),
    Thinking {
        until: &'static ThinkingEnd,
    },
}

impl CallScanner {
    pub fn new(offered: Arc<Toolset>) -> Self {
        Self {
            offered,
            state: ScanState::Text,
            withheld: String::new(),
            body: 0,
            fence: None,
            wrappers: Vec::new(),
            open_fence: None,
            is_thinking_settled: false,
            has_call: false,
            open_wrapper: None,
            has_message_header: false,
            output: ScanOutput::default(),
            #[cfg(test)]
            steps: 0,
        }
    }

    pub fn push(&mut self, text: &str) -> Vec<ScanEvent> {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let plain = self.plain_run(rest);
            if plain > 0 {
                self.pass_plain(&rest[..plain]);
                rest = &rest[plain..];
                continue;
            }
            self.take(c);
            rest = &rest[c.len_utf8()..];
        }
        self.output.take()
    }

    /// The end of the stream: what was held back is decided.
    pub fn finish(mut self) -> Vec<ScanEvent> {
        match std::mem::replace(&mut self.state, ScanState::Text) {
            ScanState::Text | ScanState::PassThrough(_) => {}
            ScanState::FenceEnd(_) | ScanState::FenceStart(_) => self.release(),
            ScanState::Thinking { .. } => self.output.push_thinking(&self.withheld),
            ScanState::InWrapper { .. } => self.finish_candidates(Vec::new()),
            ScanState::Recognizing {
                candidates: forms, ..
            } => self.finish_candidates(forms),
        }
        self.output.end_holdback();
        self.output.take()
    }

    /// A character that ends one form may begin the next: at most two steps, since
    /// text takes everything.
    fn take(&mut self, c: char) {
        while !self.step(c) {}
    }

    /// Bytes at the start of `rest` that can be passed on without a look.
    fn plain_run(&self, rest: &str) -> usize {
        let tools = !self.offered.is_empty();
        let end = match &self.state {
            ScanState::Text if !self.output.is_holding_whitespace() && tools => {
                rest.find(|c| c == '`' || MARKERS.contains(&c))
            }
            ScanState::Text if !self.output.is_holding_whitespace() => rest.find(['<', '[']),
            ScanState::Thinking { .. }
                if self.withheld.is_empty() && !self.output.is_holding_whitespace() =>
            {
                rest.find(['<', '['])
            }
            _ => return 0,
        };
        end.unwrap_or(rest.len())
    }

    fn pass_plain(&mut self, text: &str) {
        #[cfg(test)]
        {
            self.steps += text.chars().count() as u64;
        }
        match self.state {
            ScanState::Thinking { .. } => self.output.push_thinking(text),
            _ => self.show(text),
        }
    }

    /// Takes one character; false where it was only found not to belong to what
    /// was held, and is to be taken again.
    fn step(&mut self, c: char) -> bool {
        #[cfg(test)]
        {
            self.steps += 1;
        }
        match std::mem::replace(&mut self.state, ScanState::Text) {
            ScanState::Text => {
                self.in_text(c);
                true
            }
            ScanState::FenceStart(ticks) => self.step_fence_start(c, ticks),
            ScanState::FenceEnd(run) => self.step_fence_end(c, run),
            ScanState::InWrapper { blank, fence } => self.in_wrapped(c, blank, fence),
            ScanState::Recognizing {
                candidates: forms,
                pass_through: passing,
            } => self.step_candidates(c, forms, passing),
            ScanState::PassThrough(form) => self.step_pass_through(c, form),
            ScanState::Thinking { until } => self.in_thinking(c, until),
        }
    }

    fn in_text(&mut self, c: char) {
        let at_start = self.at_line_start();
        if c == '`' && !self.offered.is_empty() && self.withhold_backtick(c, at_start) {
            return;
        }
        let opening = self.opening(c);
        if opening.is_in_fence && !at_start || opening.is_in_code_span {
            // In code, an object is part of the code.
            let passing = json::open(&opening);
            self.show_char(c);
            if let Some(form) = passing {
                self.state = ScanState::PassThrough(form);
            }
            return;
        }
        // Behind other code in its fence, a tag or a token is part of that code.
        let forms = if self.output.fences.is_in_fence() {
            json::open(&opening).into_iter().collect()
        } else {
            self.open(&opening)
        };
        if forms.is_empty() {
            self.show_char(c);
        } else {
            self.withhold_form(c, forms);
        }
    }

    fn at_line_start(&self) -> bool {
        self.output.fences.at_line_start || self.output.is_holding_whitespace()
    }

    /// Where `marker` stands in the text that was shown.
    fn opening(&self, marker: char) -> OpeningContext<'_> {
        OpeningContext {
            marker,
            previous_char: self.output.fences.last_char,
            at_stream_start: self.output.is_empty() && !self.is_thinking_settled,
            at_line_start: self.at_line_start(),
            after_colon: self.output.fences.is_after_colon(),
            is_in_fence: self.output.fences.is_in_fence()
                || self.open_fence.is_some_and(|run| run >= 3),
            is_in_code_span: self.output.fences.is_in_code_span(),
            fence_info: None,
            wrapper: None,
            open_wrapper: self.open_wrapper.filter(|_| self.output.is_after_call()),
            after_call: self.output.is_after_call(),
            has_message_header: self.has_message_header,
            offered: &self.offered,
        }
    }

    fn open(&self, opening: &OpeningContext<'_>) -> Vec<BoxedRecognizer> {
        RECOGNIZERS
            .iter()
            .filter_map(|open| open(opening))
            .collect()
    }

    fn withhold_form(&mut self, c: char, forms: Vec<BoxedRecognizer>) {
        self.body = self.withheld.len();
        self.withheld.push(c);
        self.state = ScanState::Recognizing {
            candidates: forms,
            pass_through: None,
        };
    }

    fn in_wrapped(&mut self, c: char, blank: usize, mut fence: Option<BacktickRun>) -> bool {
        if c == '`' && fence.is_none() && self.fence.is_none() {
            fence = Some(BacktickRun::default());
        }
        // The call may stand in a fence of its own.
        let stays = match &mut fence {
            None => c.is_whitespace() && blank < BLANK_CHARS_MAX,
            Some(ticks) if ticks.can_end_before(c) => false,
            Some(ticks) => {
                if !ticks.accepts(c) {
                    self.release();
                    return false;
                }
                true
            }
        };
        if stays {
            let blank = blank + 1;
            self.withheld.push(c);
            self.state = ScanState::InWrapper { blank, fence };
            return true;
        }
        let opening = OpeningContext {
            wrapper: self.wrappers.last().copied(),
            open_wrapper: None,
            after_call: false,
            ..self.opening(c)
        };
        let forms = self.open(&opening);
        if forms.is_empty() {
            self.release();
            return false;
        }
        self.fence = self.fence.or(fence.map(|ticks| ticks.length));
        self.withhold_form(c, forms);
        true
    }

    fn in_thinking(&mut self, c: char, until: &'static ThinkingEnd) -> bool {
        self.withheld.push(c);
        if until.tags.contains(&self.withheld.as_str()) {
            self.output.push_marker(&self.withheld);
            self.withheld.clear();
            self.output.start_holdback(false);
            return true;
        }
        if until.reread.contains(&self.withheld.as_str()) {
            let held = std::mem::take(&mut self.withheld);
            self.output.start_holdback(false);
            held.chars().for_each(|c| self.take(c));
            return true;
        }
        self.state = ScanState::Thinking { until };
        let mut ends = until.tags.iter().chain(until.reread);
        if ends.any(|tag| tag.starts_with(&self.withheld)) {
            return true;
        }
        let again = self.withheld.len() > c.len_utf8();
        if again {
            self.withheld.pop();
        }
        let held = std::mem::take(&mut self.withheld);
        self.output.push_thinking(&held);
        !again
    }

    /// What was held is text.
    fn release(&mut self) {
        self.fence = None;
        self.wrappers.clear();
        let held = std::mem::take(&mut self.withheld);
        self.show(&held);
    }

    fn show_char(&mut self, c: char) {
        self.show(c.encode_utf8(&mut [0; 4]));
    }

    fn show(&mut self, text: &str) {
        // A code span ends with what it quotes; a fence may hold more.
        if self.output.push_text(text) {
            self.open_fence = self.open_fence.filter(|&run| run >= 3);
        }
    }
}

#[cfg(test)]
mod tests;

//! Splits a text stream into text, thinking and calls. Only this module decides which text is
//! withheld: a suffix that may become a marker, a form that some recognizer may still match, and
//! whitespace next to a call. `fences` handles code fences, `candidates` runs the recognizers.

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

/// A longer form is plain text, so memory is bounded for any input.
const HELD_BYTES_MAX: usize = 1 << 20;
/// Maximum nesting of wrappers.
const WRAPPERS_MAX: usize = 4;
/// Maximum whitespace between a wrapper and its call.
const BLANK_CHARS_MAX: usize = 256;

/// Finds calls and thinking in streamed text, in linear time.
#[derive(Debug)]
pub struct CallScanner {
    offered: Arc<Toolset>,
    state: ScanState,
    /// Undecided text, starting at the fence before a form.
    withheld: String,
    /// Offset of the form in `withheld`.
    body: usize,
    /// Number of backticks of the fence that is withheld before the form.
    fence: Option<usize>,
    /// Wrappers that are withheld before the form.
    wrappers: Vec<&'static Wrapper>,
    /// Number of backticks of the fence that was dropped together with a call and is still open.
    open_fence: Option<usize>,
    /// A lone `</think>` counts only before any other thinking.
    is_thinking_settled: bool,
    has_call: bool,
    /// The wrapper of the last call, if more statements may follow in it.
    open_wrapper: Option<&'static Wrapper>,
    /// A gpt-oss message header came before.
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
    /// A dropped fence may close; the field is the number of withheld backticks.
    FenceEnd(usize),
    /// In a wrapper before its call. `blank` counts the whitespace since; a fence may have started.
    InWrapper {
        blank: usize,
        fence: Option<BacktickRun>,
    },
    Recognizing {
        candidates: Vec<BoxedRecognizer>,
        /// A recognizer that passes the text through unless another one finds a form.
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

    /// Decides the withheld text at the end of the stream.
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

    /// Takes `c`. A character that ends one form may begin the next; that is at most two steps,
    /// since text accepts everything.
    fn take(&mut self, c: char) {
        while !self.step(c) {}
    }

    /// Number of bytes at the start of `rest` that need no scanning.
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

    /// Processes one character. Returns false if the character does not belong to the withheld text
    /// and must be processed again.
    fn step(&mut self, c: char) -> bool {
        #[cfg(test)]
        {
            self.steps += 1;
        }
        match std::mem::replace(&mut self.state, ScanState::Text) {
            ScanState::Text => {
                self.step_text(c);
                true
            }
            ScanState::FenceStart(ticks) => self.step_fence_start(c, ticks),
            ScanState::FenceEnd(run) => self.step_fence_end(c, run),
            ScanState::InWrapper { blank, fence } => self.step_in_wrapper(c, blank, fence),
            ScanState::Recognizing {
                candidates: forms,
                pass_through: passing,
            } => self.step_candidates(c, forms, passing),
            ScanState::PassThrough(form) => self.step_pass_through(c, form),
            ScanState::Thinking { until } => self.step_thinking(c, until),
        }
    }

    fn step_text(&mut self, c: char) {
        let at_start = self.at_line_start();
        if c == '`' && !self.offered.is_empty() && self.withhold_backtick(c, at_start) {
            return;
        }
        let opening = self.opening(c);
        if opening.is_in_fence && !at_start || opening.is_in_code_span {
            // Inside code, an object is part of the code.
            let passing = json::open(&opening);
            self.show_char(c);
            if let Some(form) = passing {
                self.state = ScanState::PassThrough(form);
            }
            return;
        }
        // After other code in the same fence, a tag or token is part of that code.
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

    /// Context of `marker` at the end of the shown text.
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

    fn step_in_wrapper(&mut self, c: char, blank: usize, mut fence: Option<BacktickRun>) -> bool {
        if c == '`' && fence.is_none() && self.fence.is_none() {
            fence = Some(BacktickRun::default());
        }
        // The call may be in its own fence inside the wrapper.
        let continues = match &mut fence {
            None => c.is_whitespace() && blank < BLANK_CHARS_MAX,
            Some(ticks) if ticks.can_start_call(c) => false,
            Some(ticks) => {
                if !ticks.push(c) {
                    self.release();
                    return false;
                }
                true
            }
        };
        if continues {
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

    fn step_thinking(&mut self, c: char, until: &'static ThinkingEnd) -> bool {
        self.withheld.push(c);
        if until.tags.contains(&self.withheld.as_str()) {
            self.output.push_marker(&self.withheld);
            self.withheld.clear();
            self.output.start_holdback(false);
            return true;
        }
        if until.reread.contains(&self.withheld.as_str()) {
            let text = std::mem::take(&mut self.withheld);
            self.output.start_holdback(false);
            text.chars().for_each(|c| self.take(c));
            return true;
        }
        self.state = ScanState::Thinking { until };
        let mut ends = until.tags.iter().chain(until.reread);
        if ends.any(|tag| tag.starts_with(&self.withheld)) {
            return true;
        }
        let must_retry = self.withheld.len() > c.len_utf8();
        if must_retry {
            self.withheld.pop();
        }
        let text = std::mem::take(&mut self.withheld);
        self.output.push_thinking(&text);
        !must_retry
    }

    /// Shows the withheld text.
    fn release(&mut self) {
        self.fence = None;
        self.wrappers.clear();
        let text = std::mem::take(&mut self.withheld);
        self.show(&text);
    }

    fn show_char(&mut self, c: char) {
        self.show(c.encode_utf8(&mut [0; 4]));
    }

    fn show(&mut self, text: &str) {
        // A code span ends with its contents; a fence may contain more.
        if self.output.push_text(text) {
            self.open_fence = self.open_fence.filter(|&run| run >= 3);
        }
    }
}

#[cfg(test)]
mod tests;

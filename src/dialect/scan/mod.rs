//! Splits a text stream into text, thinking and calls. Only this module decides which text is
//! withheld: the beginning of a marker, text that a recognizer may still match, and whitespace next
//! to a call. `fences` handles code fences, `candidates` runs the recognizers.

mod candidates;
mod fences;

use super::code_context::BacktickRun;
use super::json;
use super::markers::OpeningMarker;
use super::recognizer::{BoxedRecognizer, OpeningContext, ThinkingEnd};
use super::registry::{MARKER_TEXT, MARKERS, RECOGNIZERS};
use super::scan_event::ScanOutput;
use crate::domain::Toolset;
use std::sync::Arc;

pub use super::scan_event::{ScanEvent, TextCall, UnusableCall};

/// Longer forms are released as plain text, so memory is bounded for any input.
const WITHHELD_BYTES_MAX: usize = 1 << 20;
/// Maximum nesting of wrappers.
const WRAPPERS_MAX: usize = 4;
/// Maximum length of the whitespace between a wrapper and its call.
const WHITESPACE_CHARS_MAX: usize = 256;

/// Finds calls and thinking in streamed text, in time linear in its length.
#[derive(Debug)]
pub struct CallScanner {
    offered: Arc<Toolset>,
    state: ScanState,
    /// Text that may still become a form, including the fence and the wrappers before the form.
    withheld: String,
    /// The offset of the form in `withheld`.
    form_start: usize,
    /// The number of backticks of the fence that is withheld before the form.
    withheld_fence: Option<usize>,
    /// The wrappers that are withheld before the form.
    wrappers: Vec<&'static OpeningMarker>,
    /// The number of backticks of the fence that was hidden together with a call and is still open.
    hidden_fence: Option<usize>,
    /// Thinking has begun or ended, so a lone `</think>` is text from now on.
    is_thinking_settled: bool,
    has_call: bool,
    /// The wrapper of the last call, if more statements may follow in it.
    open_wrapper: Option<&'static OpeningMarker>,
    has_message_header: bool,
    output: ScanOutput,
    #[cfg(test)]
    steps: u64,
}

#[derive(Debug)]
enum ScanState {
    Text,
    /// The withheld backticks may open a fence or a code span around a call.
    FenceStart(BacktickRun),
    /// This number of backticks is withheld, because they may close the hidden fence.
    FenceEnd(usize),
    /// After the opening marker of a wrapper, before its call.
    InWrapper {
        whitespace_chars: usize,
        /// The fence that may have opened around the call.
        fence: Option<BacktickRun>,
    },
    Recognizing {
        candidates: Vec<BoxedRecognizer>,
        /// The recognizer that passes the text through unless a candidate finds a form.
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
            form_start: 0,
            withheld_fence: None,
            wrappers: Vec::new(),
            hidden_fence: None,
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
            let plain_bytes = self.plain_prefix_length(rest);
            if plain_bytes > 0 {
                self.emit_plain(&rest[..plain_bytes]);
                rest = &rest[plain_bytes..];
                continue;
            }
            self.push_char(c);
            rest = &rest[c.len_utf8()..];
        }
        self.output.take_events()
    }

    /// Ends the stream. Returns the events for the withheld text.
    pub fn finish(mut self) -> Vec<ScanEvent> {
        match std::mem::replace(&mut self.state, ScanState::Text) {
            ScanState::Text | ScanState::PassThrough(_) => {}
            ScanState::FenceEnd(_) | ScanState::FenceStart(_) => self.release(),
            ScanState::Thinking { .. } => self.output.push_thinking(&self.withheld),
            ScanState::InWrapper { .. } => self.finish_candidates(Vec::new()),
            ScanState::Recognizing { candidates, .. } => self.finish_candidates(candidates),
        }
        self.output.end_holdback();
        self.output.take_events()
    }

    /// A character that ends one form may begin the next, so it is processed until some state
    /// accepts it.
    fn push_char(&mut self, c: char) {
        while !self.step(c) {}
    }

    /// The number of bytes at the start of `rest` that need no scanning.
    fn plain_prefix_length(&self, rest: &str) -> usize {
        let has_tools = !self.offered.is_empty();
        let end = match &self.state {
            ScanState::Text if has_tools && self.is_at_line_start() => return 0,
            ScanState::Text if has_tools => find_marker(rest),
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

    fn emit_plain(&mut self, text: &str) {
        #[cfg(test)]
        {
            self.steps += text.chars().count() as u64;
        }
        match self.state {
            ScanState::Thinking { .. } => self.output.push_thinking(text),
            _ => self.show(text),
        }
    }

    /// Returns false if `c` ended the state without being consumed: it must be processed again.
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
            ScanState::FenceStart(run) => self.step_fence_start(c, run),
            ScanState::FenceEnd(backticks) => self.step_fence_end(c, backticks),
            ScanState::InWrapper {
                whitespace_chars,
                fence,
            } => self.step_in_wrapper(c, whitespace_chars, fence),
            ScanState::Recognizing {
                candidates,
                pass_through,
            } => self.step_candidates(c, candidates, pass_through),
            ScanState::PassThrough(recognizer) => self.step_pass_through(c, recognizer),
            ScanState::Thinking { until } => self.step_thinking(c, until),
        }
    }

    fn step_text(&mut self, c: char) {
        let is_at_line_start = self.is_at_line_start();
        if c == '`' && !self.offered.is_empty() && self.withhold_backtick(c, is_at_line_start) {
            return;
        }
        let opening = self.opening_context(c);
        if opening.is_in_fence && !is_at_line_start || opening.is_in_code_span {
            // Inside code, an object is part of the code.
            let pass_through = json::open(&opening);
            self.show_char(c);
            if let Some(recognizer) = pass_through {
                self.state = ScanState::PassThrough(recognizer);
            }
            return;
        }
        // After other code in the same fence, a tag or token is part of that code.
        let candidates = if self.output.code.is_in_fence() {
            json::open(&opening).into_iter().collect()
        } else {
            self.open_recognizers(&opening)
        };
        if candidates.is_empty() {
            self.show_char(c);
        } else {
            self.start_form(c, candidates);
        }
    }

    fn is_at_line_start(&self) -> bool {
        self.output.code.is_at_line_start || self.output.is_holding_whitespace()
    }

    fn opening_context(&self, first_char: char) -> OpeningContext<'_> {
        OpeningContext {
            first_char,
            previous_char: self.output.code.last_char,
            is_at_stream_start: self.output.is_empty() && !self.is_thinking_settled,
            is_at_line_start: self.is_at_line_start(),
            is_after_colon: self.output.code.is_after_colon(),
            is_in_fence: self.output.code.is_in_fence()
                || self.hidden_fence.is_some_and(|backticks| backticks >= 3),
            is_in_code_span: self.output.code.is_in_code_span(),
            fence_info: None,
            wrapper: None,
            open_wrapper: self.open_wrapper.filter(|_| self.output.is_after_call()),
            is_after_call: self.output.is_after_call(),
            has_message_header: self.has_message_header,
            is_after_header: self.output.code.is_after_header(),
            offered: &self.offered,
        }
    }

    fn open_recognizers(&self, opening: &OpeningContext<'_>) -> Vec<BoxedRecognizer> {
        RECOGNIZERS
            .iter()
            .filter_map(|open| open(opening))
            .collect()
    }

    fn start_form(&mut self, c: char, candidates: Vec<BoxedRecognizer>) {
        self.form_start = self.withheld.len();
        self.withheld.push(c);
        self.state = ScanState::Recognizing {
            candidates,
            pass_through: None,
        };
    }

    fn step_in_wrapper(
        &mut self,
        c: char,
        whitespace_chars: usize,
        mut fence: Option<BacktickRun>,
    ) -> bool {
        // The call may be in a fence inside the wrapper.
        if c == '`' && fence.is_none() && self.withheld_fence.is_none() {
            fence = Some(BacktickRun::default());
        }
        let is_before_call = match &mut fence {
            None => c.is_whitespace() && whitespace_chars < WHITESPACE_CHARS_MAX,
            Some(run) if run.can_start_call(c) => false,
            Some(run) => {
                if !run.push(c) {
                    self.release();
                    return false;
                }
                true
            }
        };
        if is_before_call {
            self.withheld.push(c);
            self.state = ScanState::InWrapper {
                whitespace_chars: whitespace_chars + 1,
                fence,
            };
            return true;
        }
        let opening = OpeningContext {
            wrapper: self.wrappers.last().copied(),
            open_wrapper: None,
            is_after_call: false,
            ..self.opening_context(c)
        };
        let candidates = self.open_recognizers(&opening);
        if candidates.is_empty() {
            self.release();
            return false;
        }
        self.withheld_fence = self.withheld_fence.or(fence.map(|run| run.backticks));
        self.start_form(c, candidates);
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
            let marker = std::mem::take(&mut self.withheld);
            self.output.start_holdback(false);
            marker.chars().for_each(|c| self.push_char(c));
            return true;
        }
        self.state = ScanState::Thinking { until };
        let mut markers = until.tags.iter().chain(until.reread);
        if markers.any(|marker| marker.starts_with(&self.withheld)) {
            return true;
        }
        // `c` may still begin a marker, unless it was the only withheld character.
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
        self.withheld_fence = None;
        self.wrappers.clear();
        let text = std::mem::take(&mut self.withheld);
        self.show(&text);
    }

    fn show_char(&mut self, c: char) {
        self.show(c.encode_utf8(&mut [0; 4]));
    }

    fn show(&mut self, text: &str) {
        // Text after the call shows that a code span has ended; a fence may contain more.
        if self.output.push_text(text) {
            self.hidden_fence = self.hidden_fence.filter(|&backticks| backticks >= 3);
        }
    }
}

/// The offset at which scanning must continue: a marker, or the end of the line.
fn find_marker(text: &str) -> Option<usize> {
    let is_marker = |(offset, c): &(usize, char)| {
        let rest = &text[*offset..];
        matches!(c, '`' | '\n')
            || MARKERS.contains(c)
            || rest.starts_with(MARKER_TEXT)
            || MARKER_TEXT.starts_with(rest)
    };
    text.char_indices()
        .find(is_marker)
        .map(|(offset, _)| offset)
}

#[cfg(test)]
mod tests;

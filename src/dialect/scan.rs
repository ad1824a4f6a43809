//! From a stream of text to text, thinking and calls. The one place that decides
//! what is held back: a suffix that may still become a marker, a form that some
//! family may still find, and white space at a seam. `fences` sees to code fences,
//! `candidates` to what families find.

mod candidates;
mod fences;

use super::code_context::BacktickRun;
use super::json;
use super::markers::Wrapper;
use super::recognizer::{Candidate, Opening, ThinkingEnd};
use super::registry::{MARKERS, RECOGNIZERS};
use super::scan_event::ScanOutput;
use crate::domain::Offered;
use std::sync::Arc;

pub use super::scan_event::{Piece, TextCall, UnusableCall};

/// A form that grows longer is text: memory is bounded, whatever is sent.
const HELD_BYTES_MAX: usize = 1 << 20;
/// Wrappers in wrappers.
const WRAPPERS_MAX: usize = 4;
/// White space in a wrapper before its call.
const BLANK_CHARS_MAX: usize = 256;

/// Incremental and linear in the text.
#[derive(Debug)]
pub struct Scanner {
    offered: Arc<Offered>,
    state: State,
    /// What is not decided yet, from the fence before a form on.
    held: String,
    /// Where in `held` the form begins.
    body: usize,
    /// Backticks of the fence that is held before the form.
    fence: Option<usize>,
    /// The wrappers that are held before the form.
    wrappers: Vec<&'static Wrapper>,
    /// Backticks of the fence that was swallowed with a call and is still open.
    closing: Option<usize>,
    /// A lone `</think>` means something only before any thinking.
    settled: bool,
    /// A call was found.
    called: bool,
    /// The wrapper around the last call, if statements may follow in it.
    within: Option<&'static Wrapper>,
    /// A header of gpt-oss's came.
    framed: bool,
    output: ScanOutput,
    #[cfg(test)]
    steps: u64,
}

#[derive(Debug)]
enum State {
    Text,
    /// A fence or a code span may open.
    Opening(BacktickRun),
    /// A swallowed fence may close; so many backticks are held.
    Closing(usize),
    /// A wrapper was opened; so much white space came since, and perhaps the start of
    /// a fence.
    Wrapped {
        blank: usize,
        fence: Option<BacktickRun>,
    },
    Candidate {
        forms: Vec<Candidate>,
        /// What follows is text to this one, unless another finds something.
        passing: Option<Candidate>,
    },
    Passing(Candidate),
    Thinking {
        until: &'static ThinkingEnd,
    },
}

impl Scanner {
    pub fn new(offered: Arc<Offered>) -> Self {
        Self {
            offered,
            state: State::Text,
            held: String::new(),
            body: 0,
            fence: None,
            wrappers: Vec::new(),
            closing: None,
            settled: false,
            called: false,
            within: None,
            framed: false,
            output: ScanOutput::default(),
            #[cfg(test)]
            steps: 0,
        }
    }

    pub fn push(&mut self, text: &str) -> Vec<Piece> {
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
    pub fn finish(mut self) -> Vec<Piece> {
        match std::mem::replace(&mut self.state, State::Text) {
            State::Text | State::Passing(_) => {}
            State::Closing(_) | State::Opening(_) => self.release(),
            State::Thinking { .. } => self.output.think(&self.held),
            State::Wrapped { .. } => self.end_stream_in_form(Vec::new()),
            State::Candidate { forms, .. } => self.end_stream_in_form(forms),
        }
        self.output.end_seam();
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
            State::Text if !self.output.at_seam() && tools => {
                rest.find(|c| c == '`' || MARKERS.contains(&c))
            }
            State::Text if !self.output.at_seam() => rest.find(['<', '[']),
            State::Thinking { .. } if self.held.is_empty() && !self.output.at_seam() => {
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
            State::Thinking { .. } => self.output.think(text),
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
        match std::mem::replace(&mut self.state, State::Text) {
            State::Text => {
                self.in_text(c);
                true
            }
            State::Opening(ticks) => self.in_opening(c, ticks),
            State::Closing(run) => self.in_closing(c, run),
            State::Wrapped { blank, fence } => self.in_wrapped(c, blank, fence),
            State::Candidate { forms, passing } => self.in_form(c, forms, passing),
            State::Passing(form) => self.in_passing(c, form),
            State::Thinking { until } => self.in_thinking(c, until),
        }
    }

    fn in_text(&mut self, c: char) {
        let at_start = self.at_line_start();
        if c == '`' && !self.offered.is_empty() && self.in_backtick(c, at_start) {
            return;
        }
        let opening = self.opening(c);
        if opening.in_code && !at_start || opening.in_span {
            // In code, an object is part of the code.
            let passing = json::open(&opening);
            self.show_char(c);
            if let Some(form) = passing {
                self.state = State::Passing(form);
            }
            return;
        }
        // Behind other code in its fence, a tag or a token is part of that code.
        let forms = if self.output.page.in_fence() {
            json::open(&opening).into_iter().collect()
        } else {
            self.open(&opening)
        };
        if forms.is_empty() {
            self.show_char(c);
        } else {
            self.hold_form(c, forms);
        }
    }

    fn at_line_start(&self) -> bool {
        self.output.page.at_line_start || self.output.at_seam()
    }

    /// Where `marker` stands in the text that was shown.
    fn opening(&self, marker: char) -> Opening<'_> {
        Opening {
            marker,
            before: self.output.page.last,
            at_stream_start: self.output.is_empty() && !self.settled,
            at_line_start: self.at_line_start(),
            after_colon: self.output.page.after_colon(),
            in_code: self.output.page.in_fence() || self.closing.is_some_and(|run| run >= 3),
            in_span: self.output.page.in_span(),
            fence: None,
            wrapper: None,
            within: self.within.filter(|_| self.output.after_call()),
            after_call: self.output.after_call(),
            framed: self.framed,
            offered: &self.offered,
        }
    }

    fn open(&self, opening: &Opening<'_>) -> Vec<Candidate> {
        RECOGNIZERS
            .iter()
            .filter_map(|open| open(opening))
            .collect()
    }

    fn hold_form(&mut self, c: char, forms: Vec<Candidate>) {
        self.body = self.held.len();
        self.held.push(c);
        self.state = State::Candidate {
            forms,
            passing: None,
        };
    }

    fn in_wrapped(&mut self, c: char, blank: usize, mut fence: Option<BacktickRun>) -> bool {
        if c == '`' && fence.is_none() && self.fence.is_none() {
            fence = Some(BacktickRun::default());
        }
        // The call may stand in a fence of its own.
        let stays = match &mut fence {
            None => c.is_whitespace() && blank < BLANK_CHARS_MAX,
            Some(ticks) if ticks.may_end_before(c) => false,
            Some(ticks) => {
                if !ticks.takes(c) {
                    self.release();
                    return false;
                }
                true
            }
        };
        if stays {
            let blank = blank + 1;
            self.held.push(c);
            self.state = State::Wrapped { blank, fence };
            return true;
        }
        let opening = Opening {
            wrapper: self.wrappers.last().copied(),
            within: None,
            after_call: false,
            ..self.opening(c)
        };
        let forms = self.open(&opening);
        if forms.is_empty() {
            self.release();
            return false;
        }
        self.fence = self.fence.or(fence.map(|ticks| ticks.run));
        self.hold_form(c, forms);
        true
    }

    fn in_thinking(&mut self, c: char, until: &'static ThinkingEnd) -> bool {
        self.held.push(c);
        if until.tags.contains(&self.held.as_str()) {
            self.output.mark(&self.held);
            self.held.clear();
            self.output.start_seam(false);
            return true;
        }
        if until.reread.contains(&self.held.as_str()) {
            let held = std::mem::take(&mut self.held);
            self.output.start_seam(false);
            held.chars().for_each(|c| self.take(c));
            return true;
        }
        self.state = State::Thinking { until };
        let mut ends = until.tags.iter().chain(until.reread);
        if ends.any(|tag| tag.starts_with(&self.held)) {
            return true;
        }
        let again = self.held.len() > c.len_utf8();
        if again {
            self.held.pop();
        }
        let held = std::mem::take(&mut self.held);
        self.output.think(&held);
        !again
    }

    /// What was held is text.
    fn release(&mut self) {
        self.fence = None;
        self.wrappers.clear();
        let held = std::mem::take(&mut self.held);
        self.show(&held);
    }

    fn show_char(&mut self, c: char) {
        self.show(c.encode_utf8(&mut [0; 4]));
    }

    fn show(&mut self, text: &str) {
        // A code span ends with what it quotes; a fence may hold more.
        if self.output.show(text) {
            self.closing = self.closing.filter(|&run| run >= 3);
        }
    }
}

#[cfg(test)]
mod tests;

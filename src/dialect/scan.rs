//! From a stream of text to text, thinking and calls. The one place that decides
//! what is held back: a suffix that may still become a marker, a form that some
//! family may still find, and white space at a seam.

use super::code::Ticks;
use super::family::{FAMILIES, Form, Found, MARKERS, Opening, Passed, Step};
use super::piece::Output;
use crate::domain::Offered;
use std::sync::Arc;

pub use super::piece::{Piece, TextCall, UnusableCall};

/// A form that grows longer is text: memory is bounded, whatever is sent.
const HELD_BYTES_MAX: usize = 1 << 20;

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
    /// Backticks of the fence that was swallowed with a call and is still open.
    closing: Option<usize>,
    /// A lone `</think>` means something only before any thinking or call.
    settled: bool,
    output: Output,
    #[cfg(test)]
    steps: u64,
}

#[derive(Debug)]
enum State {
    Text,
    /// A fence or a code span may open.
    Opening(Ticks),
    /// A swallowed fence may close; so many backticks are held.
    Closing(usize),
    Form(Vec<Form>),
    Passing(Form),
    Thinking {
        until: &'static [&'static str],
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
            closing: None,
            settled: false,
            output: Output::default(),
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
            // A character that ends one form may begin the next: at most two
            // steps, since text takes everything.
            while !self.step(c) {}
            rest = &rest[c.len_utf8()..];
        }
        self.output.take()
    }

    /// The end of the stream: what was held back is decided.
    pub fn finish(mut self) -> Vec<Piece> {
        let held = std::mem::take(&mut self.held);
        match std::mem::replace(&mut self.state, State::Text) {
            State::Text | State::Passing(_) | State::Closing(_) => {}
            State::Opening(_) => self.show(&held),
            State::Thinking { .. } => self.output.think(&held),
            State::Form(forms) => {
                self.held = held;
                self.end_forms(forms);
            }
        }
        self.output.take()
    }

    /// Bytes at the start of `rest` that can be passed on without a look.
    fn plain_run(&self, rest: &str) -> usize {
        let tools = !self.offered.is_empty();
        let end = match &self.state {
            State::Text if !self.output.at_seam() && tools => {
                rest.find(|c| c == '`' || MARKERS.contains(&c))
            }
            State::Text if !self.output.at_seam() => rest.find('<'),
            State::Thinking { .. } if self.held.is_empty() && !self.output.at_seam() => {
                rest.find('<')
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
            State::Form(forms) => self.in_form(c, forms),
            State::Passing(form) => self.in_passing(c, form),
            State::Thinking { until } => self.in_thinking(c, until),
        }
    }

    fn in_text(&mut self, c: char) {
        let at_start = self.output.page.at_line_start || self.output.at_seam();
        if c == '`' && !self.offered.is_empty() {
            if self.closing.is_some() && at_start {
                self.hold_closing(c, 1);
                return;
            }
            if !self.output.page.in_fence() && self.output.page.last != Some('`') {
                let mut ticks = Ticks::default();
                ticks.takes(c);
                self.held.push(c);
                self.state = State::Opening(ticks);
                return;
            }
        }
        let in_code = self.output.page.in_fence() || self.closing.is_some_and(|run| run >= 3);
        let mut forms = self.open(c, in_code);
        if forms.is_empty() {
            self.show_char(c);
        } else if in_code && !at_start {
            // In a line of code, an object is part of the code.
            self.show_char(c);
            self.state = State::Passing(forms.swap_remove(0));
        } else {
            self.hold_form(c, forms, None);
        }
    }

    fn open(&self, marker: char, in_code: bool) -> Vec<Form> {
        if !MARKERS.contains(&marker) {
            return Vec::new();
        }
        let opening = Opening {
            marker,
            before: self.output.page.last,
            in_code,
            offered: &self.offered,
        };
        FAMILIES.iter().filter_map(|open| open(&opening)).collect()
    }

    fn hold_form(&mut self, c: char, forms: Vec<Form>, fence: Option<usize>) {
        self.body = self.held.len();
        self.fence = fence;
        self.held.push(c);
        self.state = State::Form(forms);
    }

    fn in_opening(&mut self, c: char, mut ticks: Ticks) -> bool {
        let forms = self.open(c, true);
        if !forms.is_empty() && ticks.may_hold_form() {
            self.hold_form(c, forms, Some(ticks.run));
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
        if self.closing == Some(run) {
            self.held.clear();
            self.closing = None;
            self.output.start_seam(true);
        } else {
            self.held.push(c);
            self.state = State::Closing(run);
        }
    }

    fn in_closing(&mut self, c: char, run: usize) -> bool {
        if c == '`' {
            self.hold_closing(c, run + 1);
            return true;
        }
        self.release();
        false
    }

    fn in_form(&mut self, c: char, forms: Vec<Form>) -> bool {
        self.held.push(c);
        let body = &self.held[self.body..];
        let mut holding = Vec::with_capacity(forms.len());
        let mut rejected = Vec::new();
        let mut passing = None;
        let mut is_text = false;
        for mut form in forms {
            match form.step(c, body, &self.offered) {
                Step::Hold => holding.push(form),
                Step::Reject => rejected.push(form),
                Step::Text => is_text = true,
                Step::Pass => passing = Some(form),
                Step::Found(found) => {
                    let held = std::mem::take(&mut self.held);
                    self.found(found, &held);
                    return true;
                }
            }
        }
        if !holding.is_empty() && self.held.len() <= HELD_BYTES_MAX {
            self.state = State::Form(holding);
            return true;
        }
        if let Some(form) = passing.or_else(|| holding.pop()) {
            self.release();
            self.state = State::Passing(form);
            return true;
        }
        if is_text {
            self.release();
            return true;
        }
        self.held.pop();
        self.end_forms(rejected);
        false
    }

    /// No more can come for `forms`: what was complete in them is found.
    fn end_forms(&mut self, mut forms: Vec<Form>) {
        let held = std::mem::take(&mut self.held);
        let body = &held[self.body..];
        let found = forms
            .iter_mut()
            .find_map(|form| form.finish(body, &self.offered));
        match found {
            Some(found) => self.found(found, &held),
            None => {
                self.fence = None;
                self.show(&held);
            }
        }
    }

    fn in_passing(&mut self, c: char, mut form: Form) -> bool {
        match form.pass(c) {
            Passed::Inside => {
                self.show_char(c);
                self.state = State::Passing(form);
                true
            }
            Passed::Ends => {
                self.show_char(c);
                true
            }
            Passed::Outside => false,
        }
    }

    fn in_thinking(&mut self, c: char, until: &'static [&'static str]) -> bool {
        self.held.push(c);
        if until.contains(&self.held.as_str()) {
            self.held.clear();
            self.output.start_seam(false);
            return true;
        }
        self.state = State::Thinking { until };
        if until.iter().any(|tag| tag.starts_with(&self.held)) {
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

    /// What `held` turned out to be.
    fn found(&mut self, found: Found, held: &str) {
        if !matches!(found, Found::ThinkingEnds) {
            self.output.page.start_line();
        }
        match found {
            Found::Calls(pieces) => {
                self.closing = self.fence.take().or(self.closing);
                pieces.into_iter().for_each(|piece| self.output.push(piece));
                self.output.start_seam(true);
                self.settled = true;
            }
            Found::ThinkingStarts { until } => {
                self.state = State::Thinking { until };
                self.output.start_seam(false);
                self.settled = true;
            }
            Found::ThinkingEnds if self.settled => self.show(held),
            Found::ThinkingEnds => {
                if self.output.has_text {
                    self.output.push(Piece::TextWasThinking);
                }
                self.output.start_seam(false);
                self.settled = true;
            }
        }
    }

    /// What was held is text.
    fn release(&mut self) {
        self.fence = None;
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

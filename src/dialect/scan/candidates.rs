//! Follows the forms that opened at one character until one of them is found or all
//! are text, and cuts what was held into pieces.

use super::super::json_call;
use super::super::recognizer::{Advance, Candidate, End, Match, Passed};
use super::{HELD_BYTES_MAX, Piece, Scanner, State, WRAPPERS_MAX};

impl Scanner {
    pub(super) fn in_form(
        &mut self,
        c: char,
        mut forms: Vec<Candidate>,
        passing: Option<Candidate>,
    ) -> bool {
        self.held.push(c);
        let body = &self.held[self.body..];
        let mut passing =
            passing.and_then(|mut form| matches!(form.pass(c), Passed::Inside).then_some(form));
        let mut rejected = Vec::new();
        let mut is_text = false;
        let mut at = 0;
        while let Some(form) = forms.get_mut(at) {
            match form.step(c, body, &self.offered) {
                Advance::Hold => {
                    at += 1;
                    continue;
                }
                Advance::Found(found) => {
                    self.found(found);
                    return true;
                }
                Advance::Reject => rejected.push(forms.remove(at)),
                Advance::Pass => passing = Some(forms.remove(at)),
                Advance::Text => {
                    is_text = true;
                    forms.remove(at);
                }
            }
        }
        if !forms.is_empty() && self.held.len() <= HELD_BYTES_MAX {
            self.state = State::Candidate { forms, passing };
            return true;
        }
        let complete = &self.held[self.body..self.held.len() - c.len_utf8()];
        let again = rejected.iter().map(|form| form.again(complete)).max();
        let again = complete.len() - again.unwrap_or_default() + self.body;
        let found = finished(&mut rejected, complete, &self.offered, End::Rejected);
        if let Some(found) = found {
            let tail = self.held.split_off(again);
            self.found(found);
            return self.take_again(&tail, c);
        }
        if let Some(form) = passing.or_else(|| forms.pop()) {
            self.release();
            self.state = State::Passing(form);
            return true;
        }
        if is_text {
            self.release();
            return true;
        }
        let tail = self.held.split_off(again);
        self.release();
        self.take_again(&tail, c)
    }

    /// Takes what `c` ends again, up to `c`, which is then to be taken again too.
    fn take_again(&mut self, tail: &str, c: char) -> bool {
        let before = &tail[..tail.len() - c.len_utf8()];
        before.chars().for_each(|c| self.take(c));
        false
    }

    /// The stream ended in a form, or in a wrapper before its form.
    pub(super) fn end_stream_in_form(&mut self, mut forms: Vec<Candidate>) {
        let body = self.held.get(self.body..).unwrap_or_default();
        let found = finished(&mut forms, body, &self.offered, End::Stream);
        match found {
            Some(found) => self.found(found),
            // Some close with what opens.
            None if forms.is_empty() && self.called && self.wrappers.len() == 1 => {
                self.found(Match::Closes);
            }
            None if self.wrappers.iter().any(|wrapper| wrapper.is_certain) => {
                self.body = 0;
                let raw = self.held.trim_end();
                let cut = json_call::unusable(raw, json_call::CUT_OFF);
                self.found(Match::Calls(vec![cut]));
            }
            None => self.release(),
        }
    }

    pub(super) fn in_passing(&mut self, c: char, mut form: Candidate) -> bool {
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

    /// What is held turned out to be this.
    fn found(&mut self, found: Match) {
        if let Match::Opens(wrapper) = found {
            if self.wrappers.len() == WRAPPERS_MAX {
                return self.release();
            }
            self.wrappers.push(wrapper);
            self.body = self.held.len();
            self.state = State::Wrapped {
                blank: 0,
                fence: None,
            };
            return;
        }
        let wrapper = self.wrappers.last().copied();
        self.wrappers.clear();
        let held = std::mem::take(&mut self.held);
        let fence = self.fence.take();
        if !matches!(found, Match::ThinkingEnds) {
            self.output.page.start_line();
        }
        match found {
            Match::Opens(_) => {}
            Match::Statement(piece) => {
                self.within = wrapper.or(self.within);
                self.calls(&held, vec![piece], fence);
            }
            Match::Calls(pieces) => {
                self.within = None;
                self.calls(&held, pieces, fence);
            }
            Match::Closes | Match::Frames => {
                self.framed |= matches!(found, Match::Frames);
                self.within = None;
                let after_call = self.output.after_call();
                self.output.mark(&held);
                self.output.start_seam(after_call);
            }
            Match::ThinkingStarts { until } => {
                self.output.mark(&held);
                self.framed |= !until.reread.is_empty();
                self.state = State::Thinking { until };
                self.output.start_seam(false);
                self.settled = true;
            }
            Match::ThinkingEnds if self.settled => self.show(&held),
            Match::ThinkingEnds => {
                self.output.mark(&held);
                if self.output.has_text || self.called {
                    self.output.push(Piece::TextWasThinking);
                }
                self.output.start_seam(false);
                self.settled = true;
            }
        }
    }

    fn calls(&mut self, held: &str, pieces: Vec<Piece>, fence: Option<usize>) {
        self.closing = fence.or(self.closing);
        self.cut(held, pieces);
        self.output.start_seam(true);
        self.called = true;
    }

    /// The pieces in their places; what stands between them is marks.
    fn cut(&mut self, held: &str, pieces: Vec<Piece>) {
        let mut at = 0;
        for piece in pieces {
            let from = at.max(self.body);
            let found = held.get(from..).and_then(|rest| rest.find(piece.raw()));
            let start = from + found.unwrap_or_default();
            self.output.mark(&held[at..start]);
            at = start + piece.raw().len();
            self.output.push(piece);
        }
        self.output.mark(&held[at..]);
    }
}

fn finished(
    forms: &mut [Candidate],
    body: &str,
    offered: &crate::domain::Offered,
    end: End,
) -> Option<Match> {
    forms
        .iter_mut()
        .find_map(|form| form.finish(body, offered, end))
}

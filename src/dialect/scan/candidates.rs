//! Runs the recognizers that opened at one character until one matches or all give up, and splits
//! the withheld text into events.

use super::super::json_call;
use super::super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, PassThroughStatus, RecognizedForm,
};
use super::{CallScanner, HELD_BYTES_MAX, ScanEvent, ScanState, WRAPPERS_MAX};

impl CallScanner {
    pub(super) fn step_candidates(
        &mut self,
        c: char,
        mut forms: Vec<BoxedRecognizer>,
        passing: Option<BoxedRecognizer>,
    ) -> bool {
        self.withheld.push(c);
        let body = &self.withheld[self.body..];
        let mut passing = passing
            .and_then(|mut form| matches!(form.pass(c), PassThroughStatus::Inside).then_some(form));
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
                    self.accept(found);
                    return true;
                }
                Advance::Reject => rejected.push(forms.remove(at)),
                Advance::PassThrough => passing = Some(forms.remove(at)),
                Advance::Text => {
                    is_text = true;
                    forms.remove(at);
                }
            }
        }
        if !forms.is_empty() && self.withheld.len() <= HELD_BYTES_MAX {
            self.state = ScanState::Recognizing {
                candidates: forms,
                pass_through: passing,
            };
            return true;
        }
        let complete = &self.withheld[self.body..self.withheld.len() - c.len_utf8()];
        let unconsumed = rejected
            .iter()
            .map(|form| form.unconsumed_bytes(complete))
            .max();
        let retry_from = self.body + complete.len() - unconsumed.unwrap_or_default();
        let found = first_finished(&mut rejected, complete, &self.offered, FormEnd::Rejected);
        if let Some(found) = found {
            let tail = self.withheld.split_off(retry_from);
            self.accept(found);
            return self.push_again(&tail, c);
        }
        if let Some(form) = passing.or_else(|| forms.pop()) {
            self.release();
            self.state = ScanState::PassThrough(form);
            return true;
        }
        if is_text {
            self.release();
            return true;
        }
        let tail = self.withheld.split_off(retry_from);
        self.release();
        self.push_again(&tail, c)
    }

    /// Processes `tail` up to its last character `c`, which the caller must then process again.
    fn push_again(&mut self, tail: &str, c: char) -> bool {
        let before = &tail[..tail.len() - c.len_utf8()];
        before.chars().for_each(|c| self.take(c));
        false
    }

    /// Handles a stream that ended in a form, or in a wrapper before its form.
    pub(super) fn finish_candidates(&mut self, mut forms: Vec<BoxedRecognizer>) {
        let body = self.withheld.get(self.body..).unwrap_or_default();
        let found = first_finished(&mut forms, body, &self.offered, FormEnd::Stream);
        match found {
            Some(found) => self.accept(found),
            // Some models repeat the opening marker to close.
            None if forms.is_empty() && self.has_call && self.wrappers.len() == 1 => {
                self.accept(RecognizedForm::Delimiter);
            }
            None if self.wrappers.iter().any(|wrapper| wrapper.is_certain) => {
                self.body = 0;
                let raw = self.withheld.trim_end();
                let cut = json_call::unusable_call(raw, json_call::CUT_OFF);
                self.accept(RecognizedForm::Calls(vec![cut]));
            }
            None => self.release(),
        }
    }

    pub(super) fn step_pass_through(&mut self, c: char, mut form: BoxedRecognizer) -> bool {
        match form.pass(c) {
            PassThroughStatus::Inside => {
                self.show_char(c);
                self.state = ScanState::PassThrough(form);
                true
            }
            PassThroughStatus::Ends => {
                self.show_char(c);
                true
            }
            PassThroughStatus::Outside => false,
        }
    }

    /// Handles a match.
    fn accept(&mut self, found: RecognizedForm) {
        if let RecognizedForm::WrapperStart(wrapper) = found {
            if self.wrappers.len() == WRAPPERS_MAX {
                return self.release();
            }
            self.wrappers.push(wrapper);
            self.body = self.withheld.len();
            self.state = ScanState::InWrapper {
                blank: 0,
                fence: None,
            };
            return;
        }
        let wrapper = self.wrappers.last().copied();
        self.wrappers.clear();
        let raw = std::mem::take(&mut self.withheld);
        let fence = self.fence.take();
        if !matches!(found, RecognizedForm::ThinkingEnds) {
            self.output.fences.start_line();
        }
        match found {
            RecognizedForm::WrapperStart(_) => {}
            RecognizedForm::Statement(piece) => {
                self.open_wrapper = wrapper.or(self.open_wrapper);
                self.emit_calls(&raw, vec![piece], fence);
            }
            RecognizedForm::Calls(pieces) => {
                self.open_wrapper = None;
                self.emit_calls(&raw, pieces, fence);
            }
            RecognizedForm::Delimiter | RecognizedForm::MessageHeader => {
                self.has_message_header |= matches!(found, RecognizedForm::MessageHeader);
                self.open_wrapper = None;
                let after_call = self.output.is_after_call();
                self.output.push_marker(&raw);
                self.output.start_holdback(after_call);
            }
            RecognizedForm::ThinkingStarts { until } => {
                self.output.push_marker(&raw);
                self.has_message_header |= !until.reread.is_empty();
                self.state = ScanState::Thinking { until };
                self.output.start_holdback(false);
                self.is_thinking_settled = true;
            }
            RecognizedForm::ThinkingEnds if self.is_thinking_settled => self.show(&raw),
            RecognizedForm::ThinkingEnds => {
                self.output.push_marker(&raw);
                if self.output.has_text || self.has_call {
                    self.output.push(ScanEvent::TextWasThinking);
                }
                self.output.start_holdback(false);
                self.is_thinking_settled = true;
            }
        }
    }

    fn emit_calls(&mut self, raw: &str, pieces: Vec<ScanEvent>, fence: Option<usize>) {
        self.open_fence = fence.or(self.open_fence);
        self.emit_in_order(raw, pieces);
        self.output.start_holdback(true);
        self.has_call = true;
    }

    /// Emits the pieces in order; the text between them is markup.
    fn emit_in_order(&mut self, raw: &str, pieces: Vec<ScanEvent>) {
        let mut at = 0;
        for piece in pieces {
            let from = at.max(self.body);
            let found = raw.get(from..).and_then(|rest| rest.find(piece.raw()));
            let start = from + found.unwrap_or_default();
            self.output.push_marker(&raw[at..start]);
            at = start + piece.raw().len();
            self.output.push(piece);
        }
        self.output.push_marker(&raw[at..]);
    }
}

fn first_finished(
    forms: &mut [BoxedRecognizer],
    body: &str,
    offered: &crate::domain::Toolset,
    end: FormEnd,
) -> Option<RecognizedForm> {
    forms
        .iter_mut()
        .find_map(|form| form.finish(body, offered, end))
}

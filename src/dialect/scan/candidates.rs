//! Runs the recognizers that opened at one character until one matches or all reject the text, and
//! splits the withheld text into events.

use super::super::json_call;
use super::super::recognizer::{
    Advance, BoxedRecognizer, FormEnd, PassThroughStatus, RecognizedForm,
};
use super::{CallScanner, ScanEvent, ScanState, WITHHELD_BYTES_MAX, WRAPPERS_MAX};

impl CallScanner {
    pub(super) fn step_candidates(
        &mut self,
        c: char,
        mut candidates: Vec<BoxedRecognizer>,
        pass_through: Option<BoxedRecognizer>,
    ) -> bool {
        self.withheld.push(c);
        let body = &self.withheld[self.form_start..];
        let mut pass_through = pass_through.and_then(|mut recognizer| {
            matches!(recognizer.pass(c), PassThroughStatus::Inside).then_some(recognizer)
        });
        let mut rejected = Vec::new();
        let mut is_text = false;
        let mut index = 0;
        while let Some(candidate) = candidates.get_mut(index) {
            match candidate.step(c, body, &self.offered) {
                Advance::Hold => {
                    index += 1;
                    continue;
                }
                Advance::Found(form) => {
                    self.accept(form);
                    return true;
                }
                Advance::Reject => rejected.push(candidates.remove(index)),
                Advance::PassThrough => pass_through = Some(candidates.remove(index)),
                Advance::Text => {
                    is_text = true;
                    candidates.remove(index);
                }
            }
        }
        if !candidates.is_empty() && self.withheld.len() <= WITHHELD_BYTES_MAX {
            self.state = ScanState::Recognizing {
                candidates,
                pass_through,
            };
            return true;
        }
        let before = &self.withheld[self.form_start..self.withheld.len() - c.len_utf8()];
        let unconsumed = rejected
            .iter()
            .map(|candidate| candidate.unconsumed_bytes(before))
            .max();
        let retry_from = self.form_start + before.len() - unconsumed.unwrap_or_default();
        let form = first_finished(&mut rejected, before, &self.offered, FormEnd::Rejected);
        if let Some(form) = form {
            let tail = self.withheld.split_off(retry_from);
            self.accept(form);
            return self.push_again(&tail, c);
        }
        if let Some(recognizer) = pass_through.or_else(|| candidates.pop()) {
            self.release();
            self.state = ScanState::PassThrough(recognizer);
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

    /// Processes `tail` again, except its last character `c`. Returns false, so that `c` is processed
    /// again too.
    fn push_again(&mut self, tail: &str, c: char) -> bool {
        let before = &tail[..tail.len() - c.len_utf8()];
        before.chars().for_each(|c| self.push_char(c));
        false
    }

    /// Handles a stream that ended in a form, or after a wrapper without its call.
    pub(super) fn finish_candidates(&mut self, mut candidates: Vec<BoxedRecognizer>) {
        let body = self.withheld.get(self.form_start..).unwrap_or_default();
        let form = first_finished(&mut candidates, body, &self.offered, FormEnd::Stream);
        match form {
            Some(form) => self.accept(form),
            // Some models repeat the opening marker instead of writing a closing one.
            None if candidates.is_empty() && self.has_call && self.wrappers.len() == 1 => {
                self.accept(RecognizedForm::Delimiter);
            }
            None if self.wrappers.iter().any(|wrapper| wrapper.is_certain) => {
                self.form_start = 0;
                let raw = self.withheld.trim_end();
                let call = json_call::unusable_call(raw, json_call::CUT_OFF);
                self.accept(RecognizedForm::Calls(vec![call]));
            }
            None => self.release(),
        }
    }

    pub(super) fn step_pass_through(&mut self, c: char, mut recognizer: BoxedRecognizer) -> bool {
        match recognizer.pass(c) {
            PassThroughStatus::Inside => {
                self.show_char(c);
                self.state = ScanState::PassThrough(recognizer);
                true
            }
            PassThroughStatus::Ends => {
                self.show_char(c);
                true
            }
            PassThroughStatus::Outside => false,
        }
    }

    /// Emits a recognized form and the text withheld before it.
    fn accept(&mut self, form: RecognizedForm) {
        if let RecognizedForm::WrapperStart(wrapper) = form {
            if self.wrappers.len() == WRAPPERS_MAX {
                return self.release();
            }
            self.wrappers.push(wrapper);
            self.form_start = self.withheld.len();
            self.state = ScanState::InWrapper {
                whitespace_chars: 0,
                fence: None,
            };
            return;
        }
        let wrapper = self.wrappers.last().copied();
        self.wrappers.clear();
        let raw = std::mem::take(&mut self.withheld);
        let fence = self.withheld_fence.take();
        if !matches!(form, RecognizedForm::ThinkingEnds) {
            self.output.code.start_line();
        }
        match form {
            RecognizedForm::WrapperStart(_) => {}
            RecognizedForm::Statement(event) => {
                self.open_wrapper = wrapper.or(self.open_wrapper);
                self.emit_calls(&raw, vec![event], fence);
            }
            RecognizedForm::Calls(events) => {
                self.open_wrapper = None;
                self.emit_calls(&raw, events, fence);
            }
            RecognizedForm::Delimiter | RecognizedForm::MessageHeader => {
                self.has_message_header |= matches!(form, RecognizedForm::MessageHeader);
                self.open_wrapper = None;
                let is_after_call = self.output.is_after_call();
                self.output.push_marker(&raw);
                self.output.start_holdback(is_after_call);
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

    fn emit_calls(&mut self, raw: &str, events: Vec<ScanEvent>, fence: Option<usize>) {
        self.hidden_fence = fence.or(self.hidden_fence);
        self.emit_with_markers(raw, events);
        self.output.start_holdback(true);
        self.has_call = true;
    }

    /// Emits the events, and the text between them as markers.
    fn emit_with_markers(&mut self, raw: &str, events: Vec<ScanEvent>) {
        let mut previous_end = 0;
        for event in events {
            let search_start = previous_end.max(self.form_start);
            let rest = raw.get(search_start..);
            let offset = rest.and_then(|rest| rest.find(event.raw()));
            let start = search_start + offset.unwrap_or_default();
            self.output.push_marker(&raw[previous_end..start]);
            previous_end = start + event.raw().len();
            self.output.push(event);
        }
        self.output.push_marker(&raw[previous_end..]);
    }
}

fn first_finished(
    candidates: &mut [BoxedRecognizer],
    body: &str,
    offered: &crate::domain::Toolset,
    end: FormEnd,
) -> Option<RecognizedForm> {
    candidates
        .iter_mut()
        .find_map(|candidate| candidate.finish(body, offered, end))
}

//! The engine's questions with their full texts. They are asked and answered as in
//! `humble ask`. Until a question is answered, nothing else is printed.

use super::state::Linear;
use crate::domain::{AskId, CallId, CallOrigin, Decision, ToolCall};
use crate::front_end::advice;
use crate::headless::summaries::approval_text;
use crate::headless::tty_prompt::{CallTexts, ExtraCallChoices, question_rows};
use crate::protocol::{CallToApprove, Command, Question, UserAnswer};

impl Linear {
    /// Asks at once, unless the user may be typing: half a message must neither be lost nor be taken
    /// for an answer.
    pub fn asked(&mut self, ask: AskId, question: Question) {
        if self.confirmation.is_open() {
            return self.waiting_questions.push_back((ask, question));
        }
        if !self.output.is_prompt_shown {
            return self.open_question(ask, question);
        }
        self.say("A question waits for your answer. Press Enter to read it.");
        self.waiting_questions.push_back((ask, question));
    }

    /// Asks the questions that arrived while the user was typing.
    pub fn ask_waiting(&mut self) {
        if self.expected.is_some() || !self.message.is_empty() {
            return;
        }
        for (ask, question) in std::mem::take(&mut self.waiting_questions) {
            self.open_question(ask, question);
        }
    }

    fn open_question(&mut self, ask: AskId, question: Question) {
        self.end_thinking();
        self.finish_text();
        if let [_] = question.choices {
            // It only has to be read.
            let rows = question_rows(&question, self.tty.columns(), advice::notice_line);
            rows.iter().for_each(|row| self.say(row));
            let answer = UserAnswer::Dismissed;
            return self.send(Command::Answer { ask, answer });
        }
        let Some(texts) = self.call_texts(question.calls()) else {
            return self.refuse_unknown_calls(ask, question.calls());
        };
        self.output.hold();
        self.questions.ask(ask, question, texts);
    }

    /// Each call with every argument. `None` if one of them is unknown.
    fn call_texts(&mut self, calls: &[CallToApprove]) -> Option<CallTexts> {
        let columns = self.tty.columns();
        let mut texts = CallTexts::default();
        for request in calls {
            let call = self.transcript.call(request.call)?;
            let mut text = approval_text(call, &request.tool, columns);
            let extra = extra_choices_of(call);
            if extra.reuses_result {
                text += "\nIt repeats an earlier call. u: use the earlier result.";
            }
            if extra.can_be_text {
                text += "\nThe model wrote it as text. t: treat it as text.";
            }
            texts.summaries.push(text);
            texts.extra_choices.push(extra);
        }
        let ids = calls.iter().map(|request| request.call);
        self.turn.printed_calls.extend(ids);
        Some(texts)
    }

    /// Nobody may approve a call that was not shown.
    fn refuse_unknown_calls(&mut self, ask: AskId, calls: &[CallToApprove]) {
        let refuse = |id: CallId| (id, Decision::Refuse);
        let refused = calls.iter().map(|request| refuse(request.call)).collect();
        self.say("A call was refused, because it could not be shown.");
        self.send(Command::Answer {
            ask,
            answer: UserAnswer::Calls(refused),
        });
    }

    pub fn send_answer(&mut self, ask: AskId, answer: UserAnswer, report: Option<String>) {
        self.send(Command::Answer { ask, answer });
        self.question_closed();
        if let Some(report) = report {
            self.say(&report);
        }
    }

    /// The engine withdrew the question, or it was answered.
    pub fn ask_closed(&mut self, ask: AskId) {
        self.waiting_questions
            .retain(|(waiting, _)| *waiting != ask);
        if self.questions.open_question() == Some(ask) {
            self.questions.close(ask);
        }
        self.question_closed();
    }

    /// Prints the held text, unless another question is open.
    fn question_closed(&mut self) {
        if self.takes_lines() {
            self.output.release();
        }
    }
}

fn extra_choices_of(call: &ToolCall) -> ExtraCallChoices {
    ExtraCallChoices {
        reuses_result: call.repeats.is_some(),
        can_be_text: call.origin != CallOrigin::Native,
    }
}

//! Observes the turn of a trial: the call as written, the secret word that only a call
//! reveals, and the answer. Also answers the turn's questions. Pure.

use crate::domain::probe::{CallOutcome, DialectTrial, SECRET_FIELD, contains_secret};
use crate::domain::{
    CallOrigin, Decision, Dialect, ToolCall, ToolOutcome, ToolState, TurnEnd, TurnEvent,
};
use crate::engine::turn::TurnInput;
use crate::protocol::{CallToApprove, Question, UserAnswer, UserChoice};
use crate::provider::FailureCause;
use serde_json::{Map, Value};
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Observation {
    /// The first call of this round, as the model wrote it.
    requested_call: Option<String>,
    /// This round contains a call that was not run, at least not yet.
    has_call_not_run: bool,
    /// An earlier round contained a call that could not be run.
    had_call_not_run: bool,
    /// How the first call that could be run was written.
    call_outcome: Option<CallOutcome>,
    secret_words: Vec<String>,
    answer: Option<String>,
    /// The last reply was cut short by a timeout or by a failure that the model did not cause.
    is_interrupted: bool,
    retry_reason: Option<String>,
    /// The last notice, reported if the trial did not succeed and has no `problem`.
    last_notice: Option<String>,
    problem: Option<String>,
}

impl Observation {
    pub(super) fn into_trial(self, dialect: Dialect, elapsed: Duration) -> DialectTrial {
        let answer = self.answer.as_deref().unwrap_or_default();
        let used_result = self
            .secret_words
            .iter()
            .any(|word| contains_secret(answer, word));
        let call = match self.call_outcome {
            Some(_) if self.had_call_not_run => CallOutcome::OtherForm("second try".to_owned()),
            Some(outcome) => outcome,
            None if self.had_call_not_run || self.has_call_not_run => CallOutcome::InvalidCall,
            None => CallOutcome::NoCall,
        };
        let is_correct = used_result && call == CallOutcome::WellFormed;
        let last_notice = self.last_notice.filter(|_| !is_correct);
        DialectTrial {
            dialect,
            call,
            used_result,
            elapsed,
            is_complete: !self.is_interrupted,
            problem: self.problem.or(last_notice),
        }
    }

    pub(super) fn give_up(&mut self, problem: String) {
        // Add the reason for a pending retry, which is more useful than the timeout.
        let reason = self.retry_reason.take().map(|reason| format!(" {reason}"));
        self.problem = Some(problem + &reason.unwrap_or_default());
        self.is_interrupted = true;
    }

    /// A server that does not support tools is a valid result, not an interruption.
    pub(super) fn record_reply_failure(&mut self, cause: &FailureCause) {
        self.is_interrupted = !matches!(cause, FailureCause::ToolsUnsupported { .. });
    }

    pub(super) fn begin_round(&mut self) {
        self.requested_call = None;
        self.is_interrupted = false;
        self.retry_reason = None;
        self.had_call_not_run |= std::mem::take(&mut self.has_call_not_run);
    }

    pub(super) fn observe_input(&mut self, input: &TurnInput) {
        match input {
            TurnInput::Call(call) => {
                self.has_call_not_run |= self.call_outcome.is_none();
                self.requested_call.get_or_insert_with(|| call.raw.clone());
            }
            TurnInput::UnusableCall { .. } => self.has_call_not_run |= self.call_outcome.is_none(),
            _ => {}
        }
    }

    pub(super) fn observe_event(&mut self, dialect: Dialect, event: &TurnEvent) {
        match event {
            TurnEvent::Tool(call) => self.observe_call(dialect, call),
            TurnEvent::Retrying { why, .. } => self.retry_reason = Some(why.what.clone()),
            TurnEvent::Noted(notice) => self.last_notice = Some(notice.what.clone()),
            TurnEvent::Ended { end, .. } => match end {
                TurnEnd::Answered { text, .. } => self.answer = Some(text.clone()),
                TurnEnd::Failed { notice } => {
                    let why = notice.why.iter().map(|why| format!(" {why}"));
                    let sentences = std::iter::once(notice.what.clone()).chain(why);
                    self.problem = Some(sentences.collect());
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn observe_call(&mut self, dialect: Dialect, call: &ToolCall) {
        if let ToolState::Done(ToolOutcome::Succeeded { text, .. }) = &call.state {
            let result: Option<Value> = serde_json::from_str(text).ok();
            let word = result
                .as_ref()
                .and_then(|result| result.get(SECRET_FIELD)?.as_str());
            self.secret_words.extend(word.map(str::to_owned));
        }
        if self.call_outcome.is_none() {
            self.has_call_not_run = false;
            let raw = self.requested_call.as_deref().unwrap_or_default();
            self.call_outcome = Some(judge_call(dialect, &call.origin, raw));
        }
    }

    /// Answers a question of the turn in place of the user.
    pub(super) fn answer_to(&mut self, question: &Question) -> UserAnswer {
        // The only tool offered is the probe's own.
        let calls = question.calls();
        if !calls.is_empty() {
            let run = |call: &CallToApprove| (call.call, Decision::Run);
            return UserAnswer::Calls(calls.iter().map(run).collect());
        }
        self.problem = Some(question.summary());
        UserAnswer::Choice(UserChoice::Stop)
    }
}

fn judge_call(dialect: Dialect, origin: &CallOrigin, raw: &str) -> CallOutcome {
    let (form, was_repaired) = match origin {
        CallOrigin::Native if dialect == Dialect::Native => return CallOutcome::WellFormed,
        CallOrigin::Native => return CallOutcome::OtherForm("native".to_owned()),
        CallOrigin::Text { form, repaired, .. } => (*form, *repaired),
    };
    if was_repaired {
        return CallOutcome::OtherForm(format!("{form}, repaired"));
    }
    // JSON inside a tag has the form of that tag, such as Hermes.
    if dialect.taught_form() != Some(form) {
        return CallOutcome::OtherForm(form.to_owned());
    }
    match dialect {
        Dialect::Prompt => {
            match serde_json::from_str::<Map<String, Value>>(without_code_fence(raw)) {
                Ok(call) if call.contains_key("name") && call.contains_key("arguments") => {
                    match call.contains_key("server") {
                        true => CallOutcome::WellFormed,
                        false => CallOutcome::OtherForm("no server".to_owned()),
                    }
                }
                _ => CallOutcome::OtherForm(form.to_owned()),
            }
        }
        Dialect::Native | Dialect::Xml => CallOutcome::WellFormed,
    }
}

fn without_code_fence(raw: &str) -> &str {
    let raw = raw.trim();
    let inner = raw.strip_prefix("```").and_then(|rest| {
        let (_, body) = rest.split_once('\n')?;
        body.trim_end().strip_suffix("```")
    });
    inner.unwrap_or(raw).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(form: &'static str, repaired: bool) -> CallOrigin {
        CallOrigin::Text {
            form,
            repaired,
            is_taught: false,
        }
    }

    #[test]
    fn call_is_well_formed_only_in_the_form_its_dialect_prescribes() {
        use Dialect::{Native, Prompt, Xml};
        let json = r#"{"server": "humble", "name": "say_hello", "arguments": {}}"#;
        let fenced = format!("```json\n{json}\n```");
        let bare = r#"{"name": "say_hello", "arguments": {}}"#;
        let xml = "<mcp-request>\n  <tool name=\"say_hello\" />\n</mcp-request>";
        let other = |form: &str| CallOutcome::OtherForm(form.to_owned());
        let cases = [
            (Native, CallOrigin::Native, "", CallOutcome::WellFormed),
            (Prompt, CallOrigin::Native, "", other("native")),
            (Native, text("JSON", false), json, other("JSON")),
            (Prompt, text("JSON", false), json, CallOutcome::WellFormed),
            (
                Prompt,
                text("JSON", false),
                &fenced,
                CallOutcome::WellFormed,
            ),
            (Prompt, text("JSON", true), json, other("JSON, repaired")),
            (Prompt, text("JSON", false), bare, other("no server")),
            (
                Prompt,
                text("mcp-request", false),
                xml,
                other("mcp-request"),
            ),
            (
                Xml,
                text("mcp-request", false),
                xml,
                CallOutcome::WellFormed,
            ),
            (Prompt, text("Hermes", false), json, other("Hermes")),
            (Xml, text("JSON", false), json, other("JSON")),
        ];
        for (dialect, origin, raw, expected) in cases {
            assert_eq!(
                judge_call(dialect, &origin, raw),
                expected,
                "{dialect:?} {raw}"
            );
        }
    }
}

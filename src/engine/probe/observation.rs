//! What an attempt has shown so far: the call as the model wrote it, the words that only a
//! call can tell, and the answer. It answers the turn's questions, too. Pure.

use crate::domain::probe::{CallOutcome, DialectTrial, PROBE_TOOL, SECRET_FIELD, contains_secret};
use crate::domain::{
    CallOrigin, Decision, Dialect, ToolCall, ToolOutcome, ToolState, TurnEnd, TurnEvent,
};
use crate::engine::turn::TurnInput;
use crate::protocol::{Ask, CallToApprove, UserAnswer, UserChoice};
use crate::provider::FailureCause;
use serde_json::{Map, Value};
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Observation {
    /// The first call of this round, in the model's words.
    requested_call: Option<String>,
    has_unrunnable_request: bool,
    /// A round before this one asked for something that could not be run.
    had_unrunnable_request: bool,
    call_outcome: Option<CallOutcome>,
    secret_words: Vec<String>,
    answer: Option<String>,
    /// Time, or a fault that is not the model's, cut the last reply short.
    is_interrupted: bool,
    /// Why the present request was sent again.
    retry_reason: Option<String>,
    /// The last thing that was noted, for want of a fault.
    last_notice: Option<String>,
    fault: Option<String>,
}

impl Observation {
    /// What came of it, after so long.
    pub(super) fn into_dialect_result(self, dialect: Dialect, elapsed: Duration) -> DialectTrial {
        let answer = self.answer.as_deref().unwrap_or_default();
        let answered = self
            .secret_words
            .iter()
            .any(|word| contains_secret(answer, word));
        let wrote = match self.call_outcome {
            Some(_) if self.had_unrunnable_request => {
                CallOutcome::OtherForm("second try".to_owned())
            }
            Some(wrote) => wrote,
            None if self.had_unrunnable_request || self.has_unrunnable_request => {
                CallOutcome::InvalidCall
            }
            None => CallOutcome::NoCall,
        };
        let is_well = answered && wrote == CallOutcome::WellFormed;
        let noted = self.last_notice.filter(|_| !is_well);
        DialectTrial {
            dialect,
            call: wrote,
            used_result: answered,
            elapsed,
            is_complete: !self.is_interrupted,
            fault: self.fault.or(noted),
        }
    }

    pub(super) fn give_up(&mut self, fault: String) {
        // What it waited for tells more than that it did.
        let why = self.retry_reason.take().map(|why| format!(" {why}"));
        self.fault = Some(fault + &why.unwrap_or_default());
        self.is_interrupted = true;
    }

    /// The reply broke off. That a server takes no tools is an answer, too.
    pub(super) fn reply_failed(&mut self, cause: &FailureCause) {
        self.is_interrupted = !matches!(cause, FailureCause::ToolsUnsupported { .. });
    }

    pub(super) fn begin_round(&mut self) {
        self.requested_call = None;
        self.is_interrupted = false;
        self.retry_reason = None;
        self.had_unrunnable_request |= std::mem::take(&mut self.has_unrunnable_request);
    }

    pub(super) fn input(&mut self, input: &TurnInput) {
        match input {
            TurnInput::Call(call) => {
                self.has_unrunnable_request |= self.call_outcome.is_none();
                self.requested_call.get_or_insert_with(|| call.raw.clone());
            }
            TurnInput::UnusableCall { .. } => {
                self.has_unrunnable_request |= self.call_outcome.is_none()
            }
            _ => {}
        }
    }

    pub(super) fn event(&mut self, dialect: Dialect, event: &TurnEvent) {
        match event {
            TurnEvent::Tool(call) => self.tool(dialect, call),
            TurnEvent::Retrying { why, .. } => self.retry_reason = Some(why.what.clone()),
            TurnEvent::Noted(notice) => self.last_notice = Some(notice.what.clone()),
            TurnEvent::Ended { end, .. } => match end {
                TurnEnd::Answered { text, .. } => self.answer = Some(text.clone()),
                TurnEnd::Failed { notice } => {
                    let why = notice.why.iter().map(|why| format!(" {why}"));
                    let what = std::iter::once(notice.what.clone()).chain(why);
                    self.fault = Some(what.collect());
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn tool(&mut self, dialect: Dialect, call: &ToolCall) {
        if let ToolState::Done(ToolOutcome::Succeeded { text, .. }) = &call.state {
            let told: Option<Value> = serde_json::from_str(text).ok();
            let word = told
                .as_ref()
                .and_then(|told| told.get(SECRET_FIELD)?.as_str());
            self.secret_words.extend(word.map(str::to_owned));
        }
        if self.call_outcome.is_none() {
            self.has_unrunnable_request = false;
            let raw = self.requested_call.as_deref().unwrap_or_default();
            self.call_outcome = Some(judge_call(dialect, &call.origin, raw));
        }
    }

    /// What is answered for the user, who was told what a probe does.
    pub(super) fn answer_to(&mut self, question: &Ask) -> UserAnswer {
        let (choice, fault) = match question {
            // Nothing else is on offer.
            Ask::ApproveCalls(calls) => {
                let run = |call: &CallToApprove| (call.call, Decision::Run);
                return UserAnswer::Calls(calls.iter().map(run).collect());
            }
            Ask::InvalidCall { why, .. } => {
                (UserChoice::Stop, format!("its call cannot be used: {why}."))
            }
            Ask::RoundLimit { rounds, .. } => (
                UserChoice::Stop,
                format!("it called {PROBE_TOOL} in {rounds} rounds without an answer."),
            ),
            Ask::AfterError { .. } => (UserChoice::Stop, format!("{PROBE_TOOL} itself failed.")),
            _ => (UserChoice::Stop, "the turn needed a person.".to_owned()),
        };
        self.fault = Some(fault);
        UserAnswer::Choice(choice)
    }
}

/// Was the call written as the dialect teaches it?
fn judge_call(dialect: Dialect, origin: &CallOrigin, raw: &str) -> CallOutcome {
    let (form, repaired) = match origin {
        CallOrigin::Native if dialect == Dialect::Native => return CallOutcome::WellFormed,
        CallOrigin::Native => return CallOutcome::OtherForm("native".to_owned()),
        CallOrigin::Text { form, repaired } => (*form, *repaired),
    };
    if repaired {
        return CallOutcome::OtherForm(format!("{form}, repaired"));
    }
    match dialect {
        Dialect::Xml if form == "mcp-request" => CallOutcome::WellFormed,
        // Inside a tag of another form, the same object is that form.
        Dialect::Prompt if form == "JSON" => {
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
        _ => CallOutcome::OtherForm(form.to_owned()),
    }
}

/// What stands in a code fence counts like what stands outside one.
fn without_code_fence(raw: &str) -> &str {
    let raw = raw.trim();
    let inside = raw.strip_prefix("```").and_then(|rest| {
        let (_, body) = rest.split_once('\n')?;
        body.trim_end().strip_suffix("```")
    });
    inside.unwrap_or(raw).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(form: &'static str, repaired: bool) -> CallOrigin {
        CallOrigin::Text { form, repaired }
    }

    #[test]
    fn call_is_correct_only_in_the_form_its_dialect_teaches() {
        use Dialect::{Native, Prompt, Xml};
        let json = r#"{"server": "humble", "name": "say_hello", "arguments": {}}"#;
        let fenced = format!("```json\n{json}\n```");
        let bare = r#"{"name": "say_hello", "arguments": {}}"#;
        let xml = "<mcp-request>\n  <tool name=\"say_hello\" />\n</mcp-request>";
        let other = |how: &str| CallOutcome::OtherForm(how.to_owned());
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

//! What an attempt has shown so far: the call as the model wrote it, the words that only a
//! call can tell, and the answer. It answers the turn's questions, too. Pure.

use crate::domain::probe::{SECRET, TOOL, Trial, Wrote, holds};
use crate::domain::{
    CallOrigin, Decision, Dialect, ToolCall, ToolOutcome, ToolState, TurnEnd, TurnEvent,
};
use crate::engine::turn::Input;
use crate::protocol::{Answer, ApproveCall, Ask, Choice};
use crate::provider::FailureCause;
use serde_json::{Map, Value};
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Observation {
    /// The first call of this round, in the model's words.
    asked: Option<String>,
    asks_in_vain: bool,
    /// A round before this one asked for something that could not be run.
    asked_in_vain: bool,
    called: Option<Wrote>,
    words: Vec<String>,
    answer: Option<String>,
    /// Time, or a fault that is not the model's, cut the last reply short.
    is_cut: bool,
    /// Why the present request was sent again.
    retries: Option<String>,
    /// The last thing that was noted, for want of a fault.
    noted: Option<String>,
    fault: Option<String>,
}

impl Observation {
    /// What came of it, after so long.
    pub(super) fn trial(self, dialect: Dialect, elapsed: Duration) -> Trial {
        let answer = self.answer.as_deref().unwrap_or_default();
        let answered = self.words.iter().any(|word| holds(answer, word));
        let wrote = match self.called {
            Some(_) if self.asked_in_vain => Wrote::Otherwise("second try".to_owned()),
            Some(wrote) => wrote,
            None if self.asked_in_vain || self.asks_in_vain => Wrote::Unusable,
            None => Wrote::Nothing,
        };
        let is_well = answered && wrote == Wrote::AsTaught;
        let noted = self.noted.filter(|_| !is_well);
        Trial {
            dialect,
            wrote,
            answered,
            elapsed,
            is_whole: !self.is_cut,
            fault: self.fault.or(noted),
        }
    }

    pub(super) fn gives_up(&mut self, fault: String) {
        // What it waited for tells more than that it did.
        let why = self.retries.take().map(|why| format!(" {why}"));
        self.fault = Some(fault + &why.unwrap_or_default());
        self.is_cut = true;
    }

    /// The reply broke off. That a server takes no tools is an answer, too.
    pub(super) fn breaks_off(&mut self, cause: &FailureCause) {
        self.is_cut = !matches!(cause, FailureCause::ToolsUnsupported { .. });
    }

    pub(super) fn begin_round(&mut self) {
        self.asked = None;
        self.is_cut = false;
        self.retries = None;
        self.asked_in_vain |= std::mem::take(&mut self.asks_in_vain);
    }

    pub(super) fn input(&mut self, input: &Input) {
        match input {
            Input::Call(call) => {
                self.asks_in_vain |= self.called.is_none();
                self.asked.get_or_insert_with(|| call.raw.clone());
            }
            Input::Unusable { .. } => self.asks_in_vain |= self.called.is_none(),
            _ => {}
        }
    }

    pub(super) fn event(&mut self, dialect: Dialect, event: &TurnEvent) {
        match event {
            TurnEvent::Tool(call) => self.tool(dialect, call),
            TurnEvent::Retrying { why, .. } => self.retries = Some(why.what.clone()),
            TurnEvent::Noted(notice) => self.noted = Some(notice.what.clone()),
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
            let word = told.as_ref().and_then(|told| told.get(SECRET)?.as_str());
            self.words.extend(word.map(str::to_owned));
        }
        if self.called.is_none() {
            self.asks_in_vain = false;
            let raw = self.asked.as_deref().unwrap_or_default();
            self.called = Some(judge(dialect, &call.origin, raw));
        }
    }

    /// What is answered for the user, who was told what a probe does.
    pub(super) fn answer_to(&mut self, question: &Ask) -> Answer {
        let (choice, fault) = match question {
            // Nothing else is on offer.
            Ask::Approve(calls) => {
                let run = |call: &ApproveCall| (call.call, Decision::Run);
                return Answer::Calls(calls.iter().map(run).collect());
            }
            Ask::Repair { why, .. } => (Choice::Stop, format!("its call cannot be used: {why}.")),
            Ask::Bound { rounds, .. } => (
                Choice::Stop,
                format!("it called {TOOL} in {rounds} rounds without an answer."),
            ),
            Ask::AfterError { .. } => (Choice::Stop, format!("{TOOL} itself failed.")),
            _ => (Choice::Stop, "the turn needed a person.".to_owned()),
        };
        self.fault = Some(fault);
        Answer::Choice(choice)
    }
}

/// Was the call written as the dialect teaches it?
fn judge(dialect: Dialect, origin: &CallOrigin, raw: &str) -> Wrote {
    let (form, repaired) = match origin {
        CallOrigin::Native if dialect == Dialect::Native => return Wrote::AsTaught,
        CallOrigin::Native => return Wrote::Otherwise("native".to_owned()),
        CallOrigin::Text { form, repaired } => (*form, *repaired),
    };
    if repaired {
        return Wrote::Otherwise(format!("{form}, repaired"));
    }
    match dialect {
        Dialect::Xml if form == "mcp-request" => Wrote::AsTaught,
        // Inside a tag of another form, the same object is that form.
        Dialect::Prompt if form == "JSON" => {
            match serde_json::from_str::<Map<String, Value>>(unfenced(raw)) {
                Ok(call) if call.contains_key("name") && call.contains_key("arguments") => {
                    match call.contains_key("server") {
                        true => Wrote::AsTaught,
                        false => Wrote::Otherwise("no server".to_owned()),
                    }
                }
                _ => Wrote::Otherwise(form.to_owned()),
            }
        }
        _ => Wrote::Otherwise(form.to_owned()),
    }
}

/// What stands in a code fence counts like what stands outside one.
fn unfenced(raw: &str) -> &str {
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
    fn a_call_is_well_formed_where_it_stands_in_the_form_that_was_taught() {
        use Dialect::{Native, Prompt, Xml};
        let json = r#"{"server": "humble", "name": "say_hello", "arguments": {}}"#;
        let fenced = format!("```json\n{json}\n```");
        let bare = r#"{"name": "say_hello", "arguments": {}}"#;
        let xml = "<mcp-request>\n  <tool name=\"say_hello\" />\n</mcp-request>";
        let other = |how: &str| Wrote::Otherwise(how.to_owned());
        let cases = [
            (Native, CallOrigin::Native, "", Wrote::AsTaught),
            (Prompt, CallOrigin::Native, "", other("native")),
            (Native, text("JSON", false), json, other("JSON")),
            (Prompt, text("JSON", false), json, Wrote::AsTaught),
            (Prompt, text("JSON", false), &fenced, Wrote::AsTaught),
            (Prompt, text("JSON", true), json, other("JSON, repaired")),
            (Prompt, text("JSON", false), bare, other("no server")),
            (
                Prompt,
                text("mcp-request", false),
                xml,
                other("mcp-request"),
            ),
            (Xml, text("mcp-request", false), xml, Wrote::AsTaught),
            (Prompt, text("Hermes", false), json, other("Hermes")),
            (Xml, text("JSON", false), json, other("JSON")),
        ];
        for (dialect, origin, raw, expected) in cases {
            assert_eq!(judge(dialect, &origin, raw), expected, "{dialect:?} {raw}");
        }
    }
}

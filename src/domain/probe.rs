//! What a probe of a model found (S6.6): how each dialect did, which is the best, and
//! what that means to a person who wants to know whether the model works with tools.

use super::{Dialect, ModelRef, Notice};
use serde::Serialize;
use std::time::Duration;

/// The tool that a probe has the model call.
pub const PROBE_TOOL: &str = "say_hello";
/// The field of its result that nobody can know without a call.
pub const SECRET_FIELD: &str = "secret_word";

/// What came of the call that was asked for, the worst first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOutcome {
    /// The dialect was not tried.
    Skipped,
    NoCall,
    /// A call, but none that could be run.
    InvalidCall,
    /// A call that ran, in these words not quite as it was taught: `Hermes`.
    OtherForm(String),
    WellFormed,
}

/// How one dialect did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectTrial {
    pub dialect: Dialect,
    pub call: CallOutcome,
    /// The secret word came back in the final answer.
    pub used_result: bool,
    /// Without the time in which a server loaded the model.
    pub elapsed: Duration,
    /// The model was heard out: what it did not do, it would not do. False where time or
    /// a fault cut it short.
    pub is_complete: bool,
    /// Why it was not tried, or where it failed; raw.
    pub fault: Option<String>,
}

impl DialectTrial {
    /// A dialect that was not tried, for this reason.
    pub fn skipped(dialect: Dialect, why: impl Into<String>) -> Self {
        Self {
            dialect,
            call: CallOutcome::Skipped,
            used_result: false,
            elapsed: Duration::ZERO,
            is_complete: false,
            fault: Some(why.into()),
        }
    }

    /// A call came, and ran.
    pub fn made_call(&self) -> bool {
        matches!(
            self.call,
            CallOutcome::OtherForm(_) | CallOutcome::WellFormed
        )
    }

    pub fn was_tried(&self) -> bool {
        self.call != CallOutcome::Skipped
    }

    /// What is compared: answered beats called, called beats nothing, and a call as it
    /// was taught beats another.
    fn rank(&self) -> (bool, bool, bool) {
        let well_formed = self.call == CallOutcome::WellFormed;
        (self.used_result, self.made_call(), well_formed)
    }

    /// Its row of the table.
    fn table_row(&self) -> [String; 5] {
        let yes_no = |yes| if yes { "yes" } else { "no" }.to_owned();
        if !self.was_tried() {
            let dialect = self.dialect.name().to_owned();
            return [dialect, "-".into(), "-".into(), "-".into(), "-".into()];
        }
        let well_formed = match &self.call {
            CallOutcome::WellFormed => "yes".to_owned(),
            CallOutcome::OtherForm(how) => format!("no: {how}"),
            CallOutcome::InvalidCall => "no".to_owned(),
            CallOutcome::NoCall | CallOutcome::Skipped => "-".to_owned(),
        };
        [
            self.dialect.name().to_owned(),
            yes_no(self.made_call()),
            well_formed,
            yes_no(self.used_result),
            format!("{:.1}", self.elapsed.as_secs_f64()),
        ]
    }
}

/// The rows of the table of trials, its head first; raw.
pub fn trial_rows(trials: &[DialectTrial]) -> impl Iterator<Item = [String; 5]> {
    let head = ["dialect", "called", "well-formed", "answered", "seconds"];
    std::iter::once(head.map(str::to_owned)).chain(trials.iter().map(DialectTrial::table_row))
}

/// What is known of a model, complete or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeReport {
    pub model: ModelRef,
    pub trials: Vec<DialectTrial>,
    /// The dialect that the model is used with.
    pub current_dialect: Dialect,
    /// It ended before every dialect was tried: by the person or by a fault.
    pub is_partial: bool,
    /// What ended it.
    pub fault: Option<Notice>,
}

/// In words whether the model works with tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeVerdict {
    Works,
    /// It calls, and does not use what comes back.
    CallsOnly,
    CallsNothing,
    /// It called nothing, and was heard out in no dialect.
    Unknown,
}

impl ProbeReport {
    pub fn new(model: ModelRef, in_force: Dialect) -> Self {
        Self {
            model,
            trials: Vec::new(),
            current_dialect: in_force,
            is_partial: false,
            fault: None,
        }
    }

    /// The dialect that did best, where the model called at all. Of those that did
    /// alike, it is the provider's own, else the first of native, prompt and xml.
    pub fn best_dialect(&self) -> Option<Dialect> {
        self.best_trial().map(|trial| trial.dialect)
    }

    fn best_trial(&self) -> Option<&DialectTrial> {
        let usual = self.model.provider.default_dialect();
        let place = |trial: &DialectTrial| {
            let mut order = Dialect::ALL.iter();
            let place = order.position(|one| *one == trial.dialect);
            (trial.dialect != usual, place)
        };
        let called = self.trials.iter().filter(|trial| trial.made_call());
        called.min_by(|one, other| {
            let by_rank = other.rank().cmp(&one.rank());
            by_rank.then_with(|| place(one).cmp(&place(other)))
        })
    }

    /// The dialect that is worth storing: the best, where it did better than the one in
    /// force. What is known of some dialects alone changes nothing.
    pub fn recommended_dialect(&self) -> Option<Dialect> {
        let best = self.best_trial().filter(|_| !self.is_partial)?;
        let mut trials = self.trials.iter();
        let in_force = trials.find(|trial| trial.dialect == self.current_dialect);
        let is_better = in_force.is_none_or(|present| present.rank() < best.rank());
        (is_better && best.dialect != self.current_dialect).then_some(best.dialect)
    }

    pub fn verdict(&self) -> ProbeVerdict {
        match self.best_trial() {
            Some(trial) if trial.used_result => ProbeVerdict::Works,
            Some(_) => ProbeVerdict::CallsOnly,
            None if self.trials.iter().any(|trial| trial.is_complete) => ProbeVerdict::CallsNothing,
            None => ProbeVerdict::Unknown,
        }
    }

    /// The verdict as a sentence, with advice where there is some; raw.
    pub fn verdict_text(&self) -> String {
        let model = &self.model.name;
        let best = self.best_dialect().map_or("", Dialect::name);
        let any = if self.is_partial {
            "any dialect that was tried"
        } else {
            "any dialect"
        };
        match self.verdict() {
            ProbeVerdict::Works => format!("{model} works with tools: best in `{best}`."),
            ProbeVerdict::CallsOnly => format!(
                "{model} calls tools but does not use what they return; it came furthest in `{best}`. \
                 A larger model may do better."
            ),
            ProbeVerdict::CallsNothing
                if self
                    .trials
                    .iter()
                    .any(|one| one.call == CallOutcome::InvalidCall) =>
            {
                format!(
                    "{model} tried to call a tool, but no call of it in {any} could be used. \
                     A larger model, or one that was trained for tools, may do better."
                )
            }
            ProbeVerdict::CallsNothing => format!(
                "{model} did not call a tool in {any}. \
                 A larger model, or one that was trained for tools, is more likely to."
            ),
            ProbeVerdict::Unknown if self.trials.iter().any(DialectTrial::was_tried) => format!(
                "It is not known whether {model} works with tools: no reply came to its end."
            ),
            ProbeVerdict::Unknown => format!("It is not known whether {model} works with tools."),
        }
    }

    /// What is to be said of the setting; none where there is nothing to say.
    pub fn recommendation_text(&self) -> Option<String> {
        let (best, present) = (self.best_dialect()?, self.current_dialect);
        Some(if self.is_partial {
            "Not every dialect was tried: nothing is stored.".to_owned()
        } else if let Some(better) = self.recommended_dialect() {
            format!(
                "`{}` is in use: `{}` does better.",
                present.name(),
                better.name()
            )
        } else if best == present {
            format!("`{}` is in use already.", present.name())
        } else {
            format!("`{}`, which is in use, does as well.", present.name())
        })
    }

    /// Why dialects were not tried or failed, a line each; raw.
    pub fn failure_lines(&self) -> impl Iterator<Item = String> {
        self.trials.iter().filter_map(|trial| {
            let fault = trial.fault.as_ref()?;
            Some(format!("{}: {fault}", trial.dialect.name()))
        })
    }
}

/// How far a probe has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeState {
    /// The model's name.
    pub model: String,
    /// The dialect that is tried; none while the probe begins.
    pub dialect: Option<Dialect>,
    /// The server loads the model.
    pub is_loading: bool,
    /// The last dialect was tried, and the person reads what came of it.
    pub is_finished: bool,
}

/// Does a final answer hold the secret word? Case, spaces and signs between its letters
/// do not count: models spell such a word out, or set it in bold.
pub fn contains_secret(answer: &str, secret: &str) -> bool {
    let letters = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let secret = letters(secret);
    !secret.is_empty() && letters(answer).contains(&secret)
}

#[cfg(test)]
mod tests;

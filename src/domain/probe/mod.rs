//! The result of probing a model: how each tool-call dialect performed, which one is best,
//! and whether the model works with tools at all.

use super::{Dialect, ModelRef, Notice};
use serde::Serialize;
use std::time::Duration;

/// The tool that the probe asks the model to call.
pub const PROBE_TOOL: &str = "say_hello";
/// The field of the result whose value the model cannot know without making the call.
pub const SECRET_FIELD: &str = "secret_word";

/// The outcome of the requested call, worst first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOutcome {
    /// The dialect was not tested.
    Skipped,
    NoCall,
    InvalidCall,
    /// A call that ran but used another form, such as `Hermes`.
    OtherForm(String),
    WellFormed,
}

/// The result of testing one dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectTrial {
    pub dialect: Dialect,
    pub call: CallOutcome,
    /// The final answer contained the secret word.
    pub used_result: bool,
    /// Excludes the time a server needed to load the model.
    pub elapsed: Duration,
    /// The reply was completed, so a missing call is the model's fault. False after a timeout
    /// or an error.
    pub is_complete: bool,
    /// Why the dialect was skipped or failed; unsanitized.
    pub problem: Option<String>,
}

impl DialectTrial {
    pub fn skipped(dialect: Dialect, why: impl Into<String>) -> Self {
        Self {
            dialect,
            call: CallOutcome::Skipped,
            used_result: false,
            elapsed: Duration::ZERO,
            is_complete: false,
            problem: Some(why.into()),
        }
    }

    /// Whether a call arrived and ran.
    pub fn made_call(&self) -> bool {
        matches!(
            self.call,
            CallOutcome::OtherForm(_) | CallOutcome::WellFormed
        )
    }

    pub fn was_tried(&self) -> bool {
        self.call != CallOutcome::Skipped
    }

    /// The sort key: using the result beats only calling, calling beats not calling, and a
    /// well-formed call beats another form.
    fn rank(&self) -> (bool, bool, bool) {
        let is_well_formed = self.call == CallOutcome::WellFormed;
        (self.used_result, self.made_call(), is_well_formed)
    }

    fn table_row(&self) -> [String; 5] {
        let yes_no = |yes| if yes { "yes" } else { "no" }.to_owned();
        if !self.was_tried() {
            let dialect = self.dialect.name().to_owned();
            return [dialect, "-".into(), "-".into(), "-".into(), "-".into()];
        }
        let well_formed = match &self.call {
            CallOutcome::WellFormed => "yes".to_owned(),
            CallOutcome::OtherForm(form) => format!("no: {form}"),
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

/// The rows of the results table, header first; unsanitized.
pub fn trial_rows(trials: &[DialectTrial]) -> impl Iterator<Item = [String; 5]> {
    let header = ["dialect", "called", "well-formed", "answered", "seconds"];
    std::iter::once(header.map(str::to_owned)).chain(trials.iter().map(DialectTrial::table_row))
}

/// The results for one model, possibly incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeReport {
    pub model: ModelRef,
    pub trials: Vec<DialectTrial>,
    /// The dialect currently used with the model.
    pub current_dialect: Dialect,
    /// The user or an error ended the probe before every dialect was tested.
    pub is_partial: bool,
    /// The error that ended the probe.
    pub error: Option<Notice>,
}

/// Whether the model works with tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeVerdict {
    Works,
    /// It calls tools but ignores their results.
    CallsOnly,
    CallsNothing,
    /// It made no call, and no reply was completed.
    Unknown,
}

impl ProbeReport {
    pub fn new(model: ModelRef, current_dialect: Dialect) -> Self {
        Self {
            model,
            trials: Vec::new(),
            current_dialect,
            is_partial: false,
            error: None,
        }
    }

    /// The best dialect, if the model made any call. Ties go to the provider's default,
    /// then to the order native, prompt, xml.
    pub fn best_dialect(&self) -> Option<Dialect> {
        self.best_trial().map(|trial| trial.dialect)
    }

    fn best_trial(&self) -> Option<&DialectTrial> {
        let default = self.model.provider.default_dialect();
        let tie_order = |trial: &DialectTrial| {
            let mut order = Dialect::ALL.iter();
            let position = order.position(|dialect| *dialect == trial.dialect);
            (trial.dialect != default, position)
        };
        let trials_with_call = self.trials.iter().filter(|trial| trial.made_call());
        trials_with_call.min_by(|one, other| {
            let by_rank = other.rank().cmp(&one.rank());
            by_rank.then_with(|| tie_order(one).cmp(&tie_order(other)))
        })
    }

    /// The best dialect if it did better than the current one. An incomplete probe
    /// recommends nothing.
    pub fn recommended_dialect(&self) -> Option<Dialect> {
        let best = self.best_trial().filter(|_| !self.is_partial)?;
        let mut trials = self.trials.iter();
        let current = trials.find(|trial| trial.dialect == self.current_dialect);
        let is_better = current.is_none_or(|current| current.rank() < best.rank());
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

    /// The verdict in one or two sentences; unsanitized.
    pub fn verdict_text(&self) -> String {
        let model = &self.model.name;
        let best = self.best_dialect().map_or("", Dialect::name);
        let any_dialect = if self.is_partial {
            "any tested dialect"
        } else {
            "any dialect"
        };
        match self.verdict() {
            ProbeVerdict::Works => format!("{model} works with tools: best in `{best}`."),
            ProbeVerdict::CallsOnly => format!(
                "{model} calls tools but does not use their results; `{best}` came closest. \
                 A larger model may do better."
            ),
            ProbeVerdict::CallsNothing
                if self
                    .trials
                    .iter()
                    .any(|trial| trial.call == CallOutcome::InvalidCall) =>
            {
                format!(
                    "{model} tried to call a tool, but made no valid call in {any_dialect}. \
                     A larger model or one trained for tool use may do better."
                )
            }
            ProbeVerdict::CallsNothing => format!(
                "{model} did not call a tool in {any_dialect}. \
                 A larger model or one trained for tool use is more likely to."
            ),
            ProbeVerdict::Unknown if self.trials.iter().any(DialectTrial::was_tried) => {
                format!("It is not known whether {model} works with tools: no reply was complete.")
            }
            ProbeVerdict::Unknown => format!("It is not known whether {model} works with tools."),
        }
    }

    /// A remark about the `toolCalls` setting, if there is one to make.
    pub fn recommendation_text(&self) -> Option<String> {
        let (best, current) = (self.best_dialect()?, self.current_dialect);
        Some(if self.is_partial {
            "Not every dialect was tested, so nothing was saved.".to_owned()
        } else if let Some(better) = self.recommended_dialect() {
            format!(
                "`{}` is in use, but `{}` does better.",
                current.name(),
                better.name()
            )
        } else if best == current {
            format!("`{}` is already in use.", current.name())
        } else {
            format!(
                "`{}` is already in use and does just as well.",
                current.name()
            )
        })
    }

    /// Why dialects were skipped or failed, one line each; unsanitized.
    pub fn failure_lines(&self) -> impl Iterator<Item = String> {
        self.trials.iter().filter_map(|trial| {
            let problem = trial.problem.as_ref()?;
            Some(format!("{}: {problem}", trial.dialect.name()))
        })
    }
}

/// The progress of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeState {
    /// The model's name.
    pub model: String,
    /// The dialect being tested; `None` before the first.
    pub dialect: Option<Dialect>,
    /// The server is loading the model.
    pub is_loading: bool,
    /// All dialects were tested, and the user is reading the result.
    pub is_finished: bool,
}

/// Whether a final answer contains the secret word. Ignores case, spaces and punctuation,
/// because models may spell out or format the word.
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

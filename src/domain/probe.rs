//! The result of probing a model: how each tool-call dialect performed, which one is best,
//! and whether the model works with tools at all.

use super::{Dialect, ModelRef, Notice};
use serde::Serialize;
use std::time::Duration;

/// The tool that the probe asks the model to call.
pub const TOOL: &str = "say_hello";
/// The result field that the model cannot know without making the call.
pub const SECRET: &str = "secret_word";

/// The outcome of the requested call, worst first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrote {
    /// The dialect was not tested.
    Skipped,
    Nothing,
    /// A call that could not be run.
    Unusable,
    /// A call that ran but used another form, such as `Hermes`.
    Otherwise(String),
    AsTaught,
}

/// The result of one dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    pub dialect: Dialect,
    pub wrote: Wrote,
    /// The final answer contained the secret word.
    pub answered: bool,
    /// Excludes the time a server needed to load the model.
    pub elapsed: Duration,
    /// The reply completed, so a missing call is the model's fault. False after a timeout
    /// or an error.
    pub is_whole: bool,
    /// Why the dialect was skipped or failed; raw.
    pub fault: Option<String>,
}

impl Trial {
    /// A dialect skipped for this reason.
    pub fn skipped(dialect: Dialect, why: impl Into<String>) -> Self {
        Self {
            dialect,
            wrote: Wrote::Skipped,
            answered: false,
            elapsed: Duration::ZERO,
            is_whole: false,
            fault: Some(why.into()),
        }
    }

    /// A call arrived and ran.
    pub fn called(&self) -> bool {
        matches!(self.wrote, Wrote::Otherwise(_) | Wrote::AsTaught)
    }

    pub fn was_tried(&self) -> bool {
        self.wrote != Wrote::Skipped
    }

    /// Sort key: using the result beats calling, calling beats nothing, and a well-formed
    /// call beats another form.
    fn rank(&self) -> (bool, bool, bool) {
        let well_formed = self.wrote == Wrote::AsTaught;
        (self.answered, self.called(), well_formed)
    }

    /// One row of the results table.
    fn row(&self) -> [String; 5] {
        let yes_no = |yes| if yes { "yes" } else { "no" }.to_owned();
        if !self.was_tried() {
            let dialect = self.dialect.name().to_owned();
            return [dialect, "-".into(), "-".into(), "-".into(), "-".into()];
        }
        let well_formed = match &self.wrote {
            Wrote::AsTaught => "yes".to_owned(),
            Wrote::Otherwise(how) => format!("no: {how}"),
            Wrote::Unusable => "no".to_owned(),
            Wrote::Nothing | Wrote::Skipped => "-".to_owned(),
        };
        [
            self.dialect.name().to_owned(),
            yes_no(self.called()),
            well_formed,
            yes_no(self.answered),
            format!("{:.1}", self.elapsed.as_secs_f64()),
        ]
    }
}

/// The rows of the results table, header first; raw.
pub fn trial_rows(trials: &[Trial]) -> impl Iterator<Item = [String; 5]> {
    let head = ["dialect", "called", "well-formed", "answered", "seconds"];
    std::iter::once(head.map(str::to_owned)).chain(trials.iter().map(Trial::row))
}

/// The results for one model, possibly incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub model: ModelRef,
    pub trials: Vec<Trial>,
    /// The dialect currently used with the model.
    pub in_force: Dialect,
    /// The user or an error ended the probe before every dialect was tested.
    pub is_cut: bool,
    /// The error that ended the probe.
    pub fault: Option<Notice>,
}

/// Whether the model works with tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Works,
    /// It calls tools but ignores their results.
    CallsOnly,
    CallsNothing,
    /// It made no call, and no reply completed.
    Unknown,
}

impl Report {
    pub fn new(model: ModelRef, in_force: Dialect) -> Self {
        Self {
            model,
            trials: Vec::new(),
            in_force,
            is_cut: false,
            fault: None,
        }
    }

    /// The best dialect, if the model made any call. Ties go to the provider's default,
    /// then to the order native, prompt, xml.
    pub fn best(&self) -> Option<Dialect> {
        self.best_trial().map(|trial| trial.dialect)
    }

    fn best_trial(&self) -> Option<&Trial> {
        let default = self.model.provider.default_dialect();
        let tie_order = |trial: &Trial| {
            let mut order = Dialect::ALL.iter();
            let position = order.position(|dialect| *dialect == trial.dialect);
            (trial.dialect != default, position)
        };
        let called = self.trials.iter().filter(|trial| trial.called());
        called.min_by(|one, other| {
            let by_rank = other.rank().cmp(&one.rank());
            by_rank.then_with(|| tie_order(one).cmp(&tie_order(other)))
        })
    }

    /// The best dialect if it did better than the current one. An incomplete probe
    /// recommends nothing.
    pub fn worth_storing(&self) -> Option<Dialect> {
        let best = self.best_trial().filter(|_| !self.is_cut)?;
        let mut trials = self.trials.iter();
        let in_force = trials.find(|trial| trial.dialect == self.in_force);
        let is_better = in_force.is_none_or(|present| present.rank() < best.rank());
        (is_better && best.dialect != self.in_force).then_some(best.dialect)
    }

    pub fn verdict(&self) -> Verdict {
        match self.best_trial() {
            Some(trial) if trial.answered => Verdict::Works,
            Some(_) => Verdict::CallsOnly,
            None if self.trials.iter().any(|trial| trial.is_whole) => Verdict::CallsNothing,
            None => Verdict::Unknown,
        }
    }

    /// The verdict as a sentence, with advice if there is any; raw.
    pub fn words(&self) -> String {
        let model = &self.model.name;
        let best = self.best().map_or("", Dialect::name);
        let any = if self.is_cut {
            "any tested dialect"
        } else {
            "any dialect"
        };
        match self.verdict() {
            Verdict::Works => format!("{model} works with tools: best in `{best}`."),
            Verdict::CallsOnly => format!(
                "{model} calls tools but does not use their results; `{best}` came closest. \
                 A larger model may do better."
            ),
            Verdict::CallsNothing
                if self
                    .trials
                    .iter()
                    .any(|trial| trial.wrote == Wrote::Unusable) =>
            {
                format!(
                    "{model} tried to call a tool, but made no valid call in {any}. \
                     A larger model or one trained for tool use may do better."
                )
            }
            Verdict::CallsNothing => format!(
                "{model} did not call a tool in {any}. \
                 A larger model or one trained for tool use is more likely to."
            ),
            Verdict::Unknown if self.trials.iter().any(Trial::was_tried) => {
                format!("It is not known whether {model} works with tools: no reply was complete.")
            }
            Verdict::Unknown => format!("It is not known whether {model} works with tools."),
        }
    }

    /// A remark about the `toolCalls` setting, if there is one to make.
    pub fn setting_words(&self) -> Option<String> {
        let (best, present) = (self.best()?, self.in_force);
        Some(if self.is_cut {
            "Not every dialect was tested, so nothing was saved.".to_owned()
        } else if let Some(better) = self.worth_storing() {
            format!(
                "`{}` is in use: `{}` does better.",
                present.name(),
                better.name()
            )
        } else if best == present {
            format!("`{}` is already in use.", present.name())
        } else {
            format!("`{}` is already in use and does as well.", present.name())
        })
    }

    /// Why dialects were skipped or failed, one line each; raw.
    pub fn faults(&self) -> impl Iterator<Item = String> {
        self.trials.iter().filter_map(|trial| {
            let fault = trial.fault.as_ref()?;
            Some(format!("{}: {fault}", trial.dialect.name()))
        })
    }
}

/// The progress of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeState {
    /// The model's name.
    pub model: String,
    /// The dialect being tested; none before the first.
    pub dialect: Option<Dialect>,
    /// The server is loading the model.
    pub is_loading: bool,
    /// All dialects were tested, and the user is reading the result.
    pub is_over: bool,
}

/// Whether a final answer contains the secret word. Ignores case, spaces and punctuation,
/// because models spell such a word out or format it.
pub fn holds(answer: &str, secret: &str) -> bool {
    let letters = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let secret = letters(secret);
    !secret.is_empty() && letters(answer).contains(&secret)
}

#[cfg(test)]
mod tests;

//! Progress of a running model probe, with the start times for the display.

use crate::domain::Dialect;
use crate::domain::probe::ProbeState;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct ProbeProgress {
    pub state: ProbeState,
    pub started_at: Duration,
    /// Start of the current step: a dialect, or loading the model.
    pub step_started_at: Duration,
}

impl ProbeProgress {
    /// A short label of the current step.
    pub fn label(&self) -> String {
        let number_of = |wanted: Dialect| {
            Dialect::ALL
                .iter()
                .position(|dialect| *dialect == wanted)
                .map_or(0, |index| index + 1)
        };
        match self.state.dialect {
            _ if self.state.is_loading => "probe: loading the model".to_owned(),
            None => "probe".to_owned(),
            Some(dialect) => format!(
                "probe: {}, {} of {}",
                dialect.name(),
                number_of(dialect),
                Dialect::ALL.len()
            ),
        }
    }
}

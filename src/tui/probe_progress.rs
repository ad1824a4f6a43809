//! A probe of the model as the screen knows it: how far it is, and since when.

use crate::domain::Dialect;
use crate::domain::probe::ProbeState;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct ProbeProgress {
    pub state: ProbeState,
    pub started_at: Duration,
    /// When the present dialect's turn came, or the loading of the model began or ended.
    pub step_started_at: Duration,
}

impl ProbeProgress {
    /// What is being done, in a few words.
    pub fn label(&self) -> String {
        let place = |wanted: Dialect| {
            let mut order = Dialect::ALL.iter();
            order.position(|one| *one == wanted).map_or(0, |at| at + 1)
        };
        match self.state.dialect {
            _ if self.state.is_loading => "probe: the model is being loaded".to_owned(),
            None => "probe".to_owned(),
            Some(dialect) => format!(
                "probe: {}, {} of {}",
                dialect.name(),
                place(dialect),
                Dialect::ALL.len()
            ),
        }
    }
}

//! Refuses server requests without asking the user, so that a server that asks in a loop cannot
//! flood the user with questions or occupy the model.

use crate::domain::{ModelConfig, Notice, ServerId};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of answers from the model that a server may ask for within [`SAMPLING_PERIOD`].
const SAMPLING_REQUESTS_MAX: usize = 10;
const SAMPLING_PERIOD: Duration = Duration::from_secs(600);

#[derive(Debug, Default)]
pub struct RequestLimits {
    sampling: HashMap<ServerId, SamplingHistory>,
    /// Servers whose requests the user declines until the end of the conversation.
    declined: HashSet<ServerId>,
}

#[derive(Debug, Default)]
struct SamplingHistory {
    /// When the server asked for an answer from the model, oldest first.
    asked_at: VecDeque<Instant>,
    /// The user knows that requests are being refused.
    is_refusal_reported: bool,
}

/// Why a request for an answer from the model is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplingRefusal {
    NoModel,
    TooOften { is_first: bool },
}

impl RequestLimits {
    pub fn decline_all(&mut self, server: ServerId) {
        self.declined.insert(server);
    }

    pub fn declines(&self, server: &ServerId) -> bool {
        self.declined.contains(server)
    }

    pub fn begin_conversation(&mut self) {
        self.declined.clear();
    }

    /// Counts a request for an answer from the model. Returns the model that may be asked.
    ///
    /// # Errors
    /// No model is selected, or the server asked too often.
    pub fn check_sampling<'a>(
        &mut self,
        server: &ServerId,
        model: Option<&'a Arc<ModelConfig>>,
    ) -> Result<&'a Arc<ModelConfig>, SamplingRefusal> {
        let history = self.sampling.entry(server.clone()).or_default();
        history
            .asked_at
            .retain(|time| time.elapsed() < SAMPLING_PERIOD);
        if history.asked_at.len() >= SAMPLING_REQUESTS_MAX {
            let is_first = !std::mem::replace(&mut history.is_refusal_reported, true);
            return Err(SamplingRefusal::TooOften { is_first });
        }
        history.is_refusal_reported = false;
        history.asked_at.push_back(Instant::now());
        model.ok_or(SamplingRefusal::NoModel)
    }
}

impl SamplingRefusal {
    /// The refusal as a sentence for the server.
    pub fn sentence(self) -> String {
        match self {
            Self::NoModel => "The request was refused: no model is selected.".to_owned(),
            Self::TooOften { .. } => {
                let minutes = SAMPLING_PERIOD.as_secs() / 60;
                format!(
                    "The request was refused: at most {SAMPLING_REQUESTS_MAX} are allowed in \
                     {minutes} minutes."
                )
            }
        }
    }

    /// A notice for the user; `None` for refusals directly after a reported one.
    pub fn notice(self, server: &ServerId) -> Option<Notice> {
        let text = format!("Server `{server}` asked for an answer from the model.");
        let why = match self {
            Self::NoModel => "It was refused: no model is selected.".to_owned(),
            Self::TooOften { is_first: false } => return None,
            Self::TooOften { is_first: true } => format!(
                "It was refused: more than {SAMPLING_REQUESTS_MAX} requests in {} minutes.",
                SAMPLING_PERIOD.as_secs() / 60
            ),
        };
        Some(Notice::warning(text).with_reason(why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ProviderKind;
    use crate::fixtures::model_config;

    #[tokio::test(start_paused = true)]
    async fn a_server_may_ask_the_model_ten_times_in_ten_minutes() {
        let mut limits = RequestLimits::default();
        let model = Arc::new(model_config(ProviderKind::Ollama, "http://localhost:11434"));
        let (parcels, shop) = (ServerId::from("parcels"), ServerId::from("shop"));
        let mut refusal = |server: &ServerId| limits.check_sampling(server, Some(&model)).err();
        assert!((0..10).all(|_| refusal(&parcels).is_none()));
        let too_often = |is_first| Some(SamplingRefusal::TooOften { is_first });
        assert_eq!(refusal(&parcels), too_often(true));
        assert_eq!(refusal(&parcels), too_often(false), "reported once");
        assert_eq!(refusal(&shop), None, "each server has its own limit");
        tokio::time::advance(SAMPLING_PERIOD).await;
        assert_eq!(refusal(&parcels), None);
        assert_eq!(
            limits.check_sampling(&parcels, None).err(),
            Some(SamplingRefusal::NoModel)
        );
    }
}

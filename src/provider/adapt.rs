//! Parameters that a server refuses: which one it was, what is sent instead, and
//! the words for the person (S2.6). Pure.

use super::complaint::Complaint;
use super::error::Place;
use crate::domain::Notice;
use serde_json::Value;

/// Sent with every request (S2.6).
pub const TEMPERATURE: f64 = 0.1;

/// How requests to one model at one address differ from the usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Adapted {
    pub omits_temperature: bool,
    /// `max_tokens` goes as `max_completion_tokens`.
    pub renames_max_tokens: bool,
    pub effort: Effort,
}

/// What becomes of `reasoning_effort`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    #[default]
    AsConfigured,
    Omitted,
    /// The newest models of OpenAI take tools here only with `"none"`.
    None,
}

impl Adapted {
    /// The next thing to try after this complaint about `body`; none where nothing
    /// new could help. Each parameter is adapted once.
    pub fn after(self, complaint: &Complaint, body: &Value) -> Option<Self> {
        let has = |pointer: &str| body.pointer(pointer).is_some();
        let has_temperature = has("/temperature") || has("/options/temperature");
        if has_temperature && complaint.is_about("temperature") {
            return Some(Self {
                omits_temperature: true,
                ..self
            });
        }
        if has("/max_tokens") && complaint.is_about("max_tokens") {
            return Some(Self {
                renames_max_tokens: true,
                ..self
            });
        }
        if self.effort != Effort::AsConfigured || !complaint.is_about("reasoning_effort") {
            return None;
        }
        let wants_none = ["'none'", "\"none\"", "`none`"]
            .iter()
            .any(|word| complaint.message.contains(word));
        match (wants_none, has("/reasoning_effort")) {
            (true, _) if body["reasoning_effort"] != "none" => Some(Self {
                effort: Effort::None,
                ..self
            }),
            (_, true) => Some(Self {
                effort: Effort::Omitted,
                ..self
            }),
            _ => None,
        }
    }

    /// What the person is told about the step from `before` to this.
    pub fn notices(self, before: Self, place: &Place) -> Vec<Notice> {
        let Place { url, model, .. } = place;
        let refused = |parameter: &str, instead: &str| {
            Notice::info(format!("`{model}` at {url} does not take {parameter}."))
                .because(format!("{instead} until humble ends."))
        };
        let mut notices = Vec::new();
        if self.omits_temperature != before.omits_temperature {
            notices.push(refused(
                &format!("the temperature {TEMPERATURE}"),
                "It was asked again without it, and will be",
            ));
        }
        if self.renames_max_tokens != before.renames_max_tokens {
            notices.push(refused(
                "max_tokens",
                "It was asked again with max_completion_tokens, and will be",
            ));
        }
        if self.effort != before.effort {
            let instead = match self.effort {
                Effort::None => "It was asked again with \"none\", and will be",
                _ => "It was asked again without it, and will be",
            };
            notices.push(refused("this reasoning_effort", instead));
        }
        notices
    }
}

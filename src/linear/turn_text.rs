//! The printed and the waiting parts of the running turn.

use super::sentences::SentenceBuffer;
use crate::domain::{CallId, ModelRef, WaitReason};
use crate::headless::think_buffer::ThinkBuffer;
use crate::text::Clean;
use crate::text::sanitize::Sanitizer;
use std::collections::HashSet;
use tokio::time::Instant;

/// The parts of the running turn that were printed, and those that wait.
#[derive(Debug, Default)]
pub struct TurnText {
    pub printed_calls: HashSet<CallId>,
    /// `/thinking` switches the thinking off.
    pub hides_thinking: bool,
    /// The part of the text that may turn out to be thinking.
    pub think_buffer: ThinkBuffer,
    pub sentences: SentenceBuffer,
    pub sanitizer: Sanitizer,
    pub model: String,
    pub is_thinking: bool,
    /// Text was printed since the last line of another kind.
    pub is_in_text: bool,
    pub last_wait: Option<WaitReason>,
    /// The text of this round, in case it turns out to be thinking.
    pub round_text: String,
    /// Text of this round was printed as an answer.
    pub has_text: bool,
    pub progress_printed_at: Option<Instant>,
    /// The last step of a probe.
    pub last_step: String,
}

impl TurnText {
    /// Whether thinking or an answer is being printed.
    pub fn is_open(&self) -> bool {
        self.is_thinking || self.is_in_text
    }

    pub fn for_model(model: Option<&ModelRef>, hides_thinking: bool) -> Self {
        let name = model.map_or("", |model| model.name.as_str());
        Self {
            hides_thinking,
            think_buffer: model.map_or_else(ThinkBuffer::default, |model| {
                ThinkBuffer::for_model([&model.name, &model.model])
            }),
            model: Clean::single_line(name).as_str().to_owned(),
            ..Self::default()
        }
    }
}

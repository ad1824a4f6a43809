//! A finished call, as the turn receives it.

use crate::domain::{CallId, ToolOutcome};
use crate::engine::injection_guard::UntrustedText;
use crate::engine::result_images::ResultImages;
use crate::engine::turn::TurnInput;
use std::sync::Arc;

#[derive(Debug)]
pub(in crate::engine) struct FinishedCall {
    pub(in crate::engine) call: CallId,
    pub(in crate::engine) outcome: ToolOutcome,
    /// The untrusted part of the outcome, if any, scanned for calls.
    pub(in crate::engine) untrusted_text: Option<Arc<UntrustedText>>,
    pub(in crate::engine) images: ResultImages,
}

impl From<FinishedCall> for TurnInput {
    fn from(finished: FinishedCall) -> Self {
        Self::CallDone {
            call: finished.call,
            outcome: finished.outcome,
            untrusted_text: finished.untrusted_text,
            images: finished.images,
        }
    }
}

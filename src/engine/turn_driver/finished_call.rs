//! A finished call, as the turn receives it.

use crate::domain::{CallId, ToolOutcome};
use crate::engine::result_images::ResultImages;
use crate::engine::turn::TurnInput;

#[derive(Debug)]
pub(in crate::engine) struct FinishedCall {
    pub(in crate::engine) call: CallId,
    pub(in crate::engine) outcome: ToolOutcome,
    pub(in crate::engine) images: ResultImages,
}

impl From<FinishedCall> for TurnInput {
    fn from(finished: FinishedCall) -> Self {
        Self::CallDone {
            call: finished.call,
            outcome: finished.outcome,
            images: finished.images,
        }
    }
}

//! A server's request from its arrival to its reply.

use crate::domain::{CallId, ModelConfig, SampledAnswer, ServerId, ServerRequest, ServerRequestId};
use std::sync::Arc;

/// A request that waits for its reply.
#[derive(Debug, Clone)]
pub struct OpenServerRequest {
    pub id: ServerRequestId,
    pub server: ServerId,
    pub request: ServerRequest,
    pub(super) stage: RequestStage,
    /// The calls of this server that were running when the request arrived. In the legacy era a
    /// request names no call, so it counts as part of all of them.
    calls: Vec<CallId>,
}

/// How far a request has come. Only requests for an answer from the model have several stages.
#[derive(Debug, Clone)]
pub(super) enum RequestStage {
    Received,
    /// The question names this model. No other may be asked, even if another one is selected now.
    ModelShown(Arc<ModelConfig>),
    /// The user decides whether to send this answer.
    Answered(Arc<SampledAnswer>),
}

impl OpenServerRequest {
    pub fn new(
        id: ServerRequestId,
        server: ServerId,
        request: ServerRequest,
        calls: Vec<CallId>,
    ) -> Self {
        let stage = RequestStage::Received;
        Self {
            id,
            server,
            request,
            stage,
            calls,
        }
    }

    /// Whether the request belongs to calls that the user has stopped, and to none that still runs.
    pub(super) fn ended_with(&self, stopped: &[CallId], running: &[CallId]) -> bool {
        let is_any = |calls: &[CallId]| self.calls.iter().any(|call| calls.contains(call));
        is_any(stopped) && !is_any(running)
    }
}

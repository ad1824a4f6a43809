//! A server's request from its arrival to its reply.

use crate::domain::{ModelConfig, SampledAnswer, ServerId, ServerRequest, ServerRequestId};
use std::sync::Arc;

/// A request that waits for its reply.
#[derive(Debug)]
pub struct OpenServerRequest {
    pub id: ServerRequestId,
    pub server: ServerId,
    pub request: ServerRequest,
    pub(super) stage: RequestStage,
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
    pub fn new(id: ServerRequestId, server: ServerId, request: ServerRequest) -> Self {
        let stage = RequestStage::Received;
        Self {
            id,
            server,
            request,
            stage,
        }
    }
}

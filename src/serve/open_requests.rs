//! The unanswered requests of a session. `rmcp` mixes up two requests with the same id, so the
//! second one is refused while the first one runs.

use super::message::RpcErrorResponse;
use crate::sync::lock_ignoring_poison;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// Cheap to clone; clones share the ids.
#[derive(Debug, Clone, Default)]
pub struct OpenRequests(Arc<Mutex<HashSet<RequestId>>>);

impl OpenRequests {
    /// Records a message from the client: a request opens its id, a cancellation closes it.
    ///
    /// # Errors
    /// The error response for a request whose id is open.
    pub fn record_incoming(
        &self,
        message: &ClientJsonRpcMessage,
    ) -> Result<(), Box<RpcErrorResponse>> {
        match message {
            JsonRpcMessage::Request(request) => {
                let is_new = lock_ignoring_poison(&self.0).insert(request.id.clone());
                is_new.then_some(()).ok_or_else(|| id_in_use(&request.id))
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.close(id);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Checks a message from the client without recording it.
    ///
    /// # Errors
    /// As for [`Self::record_incoming`].
    pub fn check(&self, message: &ClientJsonRpcMessage) -> Result<(), Box<RpcErrorResponse>> {
        match message {
            JsonRpcMessage::Request(request)
                if lock_ignoring_poison(&self.0).contains(&request.id) =>
            {
                Err(id_in_use(&request.id))
            }
            _ => Ok(()),
        }
    }

    /// Records a message to the client: a response closes its id.
    pub fn record_outgoing(&self, message: &ServerJsonRpcMessage) {
        match message {
            JsonRpcMessage::Response(response) => self.close(&response.id),
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.close(id);
                }
            }
            _ => {}
        }
    }

    fn close(&self, id: &RequestId) {
        lock_ignoring_poison(&self.0).remove(id);
    }
}

fn id_in_use(id: &RequestId) -> Box<RpcErrorResponse> {
    let why = "A request with this id is still running: give each request an id of its own";
    let id = serde_json::to_value(id).unwrap_or_default();
    let error = ErrorData::invalid_request(why, None);
    Box::new(RpcErrorResponse::new(id, error))
}

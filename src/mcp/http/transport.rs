//! The rmcp transport for remote servers: queues outgoing messages for the driver and passes
//! incoming ones to rmcp.

use super::connection::IncomingMessage;
use super::outgoing_message::OutgoingMessage;
use crate::mcp::call::exact_arguments::exact_json;
use crate::mcp::error::McpError;
use crate::mcp::session::client_capabilities::declare_root_changes;
use crate::mcp::session::inbox::Inbox;
use crate::mcp::session::shared::SessionShared;
use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use serde_json::Value;
use std::future::ready;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Maximum number of messages waiting for the driver.
pub const QUEUE_MAX: usize = 1_024;

pub struct HttpTransport {
    queue: mpsc::Sender<OutgoingMessage>,
    incoming: mpsc::Receiver<IncomingMessage>,
    inbox: Inbox,
    shared: Arc<SessionShared>,
}

impl HttpTransport {
    pub fn new(
        queue: mpsc::Sender<OutgoingMessage>,
        incoming: mpsc::Receiver<IncomingMessage>,
        inbox: Inbox,
        shared: Arc<SessionShared>,
    ) -> Self {
        Self {
            queue,
            incoming,
            inbox,
            shared,
        }
    }

    fn enqueue(&mut self, message: &TxJsonRpcMessage<RoleClient>) -> Result<(), McpError> {
        self.inbox.record_sent(message);
        let value = serde_json::to_value(message)
            .map_err(|error| McpError::BrokenPipe(error.to_string()))?;
        let mut outgoing = OutgoingMessage::new(&value, &self.shared.param_headers);
        if let Some(body) = exact_json(message) {
            outgoing.body = body;
        }
        self.queue.try_send(outgoing).map_err(|_| {
            self.shared.outcome.end(McpError::NotReading);
            McpError::NotReading
        })
    }

    fn enqueue_reply(&self, reply: &Value) {
        let outgoing = OutgoingMessage::new(reply, &self.shared.param_headers);
        if self.queue.try_send(outgoing).is_err() {
            self.shared.outcome.end(McpError::NotReading);
        }
    }
}

impl Transport<RoleClient> for HttpTransport {
    type Error = McpError;

    /// Queues messages in call order, so a cancellation cannot overtake its request.
    fn send(
        &mut self,
        mut message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), McpError>> + Send + 'static {
        declare_root_changes(&mut message);
        ready(self.enqueue(&message))
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        if let Some(message) = self.inbox.next_batched() {
            return Some(message);
        }
        loop {
            let incoming = tokio::select! {
                incoming = self.incoming.recv() => incoming?,
                // A new connection costs little, and keeps a late response away from `initialize`.
                () = self.inbox.discover_wait.wait_for_deadline() => {
                    let timeout = self.inbox.discover_wait.time_limit;
                    self.shared.outcome.end(McpError::DiscoverTimeout(timeout.unwrap_or_default()));
                    return None;
                }
                reply = self.shared.incoming_requests.next_reply() => {
                    self.enqueue_reply(&reply);
                    continue;
                }
            };
            let message = self.inbox.handle(incoming.value, &incoming.text);
            for reply in self.inbox.take_replies() {
                self.enqueue_reply(&reply);
            }
            if message.is_some() {
                return message;
            }
        }
    }

    async fn close(&mut self) -> Result<(), McpError> {
        self.shared.outcome.end(McpError::SessionClosed);
        Ok(())
    }
}

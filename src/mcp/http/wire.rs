//! The transport of servers that are reached by URL: what rmcp sends is queued for the
//! driver, and what the driver read is handed up.

use super::outgoing::Outgoing;
use super::shared::Incoming;
use crate::mcp::fault::Fault;
use crate::mcp::inbox::Inbox;
use crate::mcp::link::Link;
use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use std::future::ready;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Messages that wait for the driver.
pub const QUEUE_MAX: usize = 1_024;

pub struct HttpWire {
    queue: mpsc::Sender<Outgoing>,
    incoming: mpsc::Receiver<Incoming>,
    inbox: Inbox,
    link: Arc<Link>,
}

impl HttpWire {
    pub fn new(
        queue: mpsc::Sender<Outgoing>,
        incoming: mpsc::Receiver<Incoming>,
        inbox: Inbox,
        link: Arc<Link>,
    ) -> Self {
        Self {
            queue,
            incoming,
            inbox,
            link,
        }
    }

    fn enqueue(&mut self, message: &TxJsonRpcMessage<RoleClient>) -> Result<(), Fault> {
        self.inbox.sent(message);
        let value = serde_json::to_value(message).map_err(|it| Fault::Pipe(it.to_string()))?;
        let out = Outgoing::new(&value, &self.link.params);
        self.queue.try_send(out).map_err(|_| {
            self.link.end(Fault::Deaf);
            Fault::Deaf
        })
    }
}

impl Transport<RoleClient> for HttpWire {
    type Error = Fault;

    /// Queues the message in the order of the calls: a cancellation must not overtake
    /// its request.
    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Fault>> + Send + 'static {
        ready(self.enqueue(&message))
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        if let Some(message) = self.inbox.rest() {
            return Some(message);
        }
        while let Some(incoming) = self.incoming.recv().await {
            let message = self.inbox.take(incoming.value, &incoming.text);
            for reply in self.inbox.replies() {
                let out = Outgoing::new(&reply, &self.link.params);
                if self.queue.try_send(out).is_err() {
                    self.link.end(Fault::Deaf);
                }
            }
            if message.is_some() {
                return message;
            }
        }
        None
    }

    async fn close(&mut self) -> Result<(), Fault> {
        self.link.end(Fault::Dropped);
        Ok(())
    }
}

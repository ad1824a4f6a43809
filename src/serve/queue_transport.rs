//! The server's end of a session whose messages go through queues, as over stdio and HTTP+SSE.
//! Bounds unsent messages, and drops messages that would confuse or end `rmcp`'s session.

use super::message::reworded;
use super::open_requests::OpenRequests;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage, ServerJsonRpcMessage,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use tokio::sync::{mpsc, watch};

/// Capacity of the queue in each direction.
pub const QUEUE_CAPACITY: usize = 16;
/// Maximum number of messages waiting for a client that does not read. Beyond this, the client's
/// own messages have to wait.
const UNSENT_MAX: usize = 64;

/// Outgoing messages are JSON, each on one line.
pub struct QueueTransport {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outgoing: mpsc::Sender<String>,
    /// Number of messages on their way to the queue. `rmcp` does not limit it.
    unsent: watch::Sender<usize>,
    open: OpenRequests,
    /// An error response that waits for space in the queue.
    refusal: Option<String>,
    /// A message has opened the session. Before that, a notification would end `rmcp`'s session.
    is_opened: bool,
}

/// Counts one message until it is in the queue or dropped.
struct Unsent(watch::Sender<usize>);

impl Unsent {
    fn new(count: &watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count.clone())
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the connection to the client is closed")]
pub struct QueueClosed;

impl QueueTransport {
    pub fn new(
        incoming: mpsc::Receiver<ClientJsonRpcMessage>,
        outgoing: mpsc::Sender<String>,
    ) -> Self {
        Self {
            incoming,
            outgoing,
            unsent: watch::Sender::new(0),
            open: OpenRequests::default(),
            refusal: None,
            is_opened: false,
        }
    }

    fn accepts(&mut self, message: &ClientJsonRpcMessage) -> bool {
        self.is_opened |= opens_session(message);
        let is_request = matches!(message, JsonRpcMessage::Request(_));
        if !is_request && !self.is_opened {
            return false;
        }
        match self.open.record_incoming(message) {
            Ok(()) => true,
            Err(error) => {
                self.refusal = Some(error.to_json());
                false
            }
        }
    }
}

/// Whether the message is `initialize`, or a request of the modern era other than discovery.
fn opens_session(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else {
        return false;
    };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        modern => modern.get_meta().protocol_version().is_some(),
    }
}

impl Transport<RoleServer> for QueueTransport {
    type Error = QueueClosed;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), QueueClosed>> + Send + 'static {
        let message = reworded_message(message);
        self.open.record_outgoing(&message);
        let (outgoing, unsent) = (self.outgoing.clone(), Unsent::new(&self.unsent));
        async move {
            let _unsent = unsent;
            let text = serde_json::to_string(&message).unwrap_or_default();
            outgoing.send(text).await.map_err(|_| QueueClosed)
        }
    }

    // The future may be dropped at any await, so nothing is taken out before it can be passed on.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.refusal.is_some() {
                let permit = self.outgoing.reserve().await.ok()?;
                permit.send(self.refusal.take().unwrap_or_default());
            }
            let mut unsent = self.unsent.subscribe();
            unsent.wait_for(|count| *count < UNSENT_MAX).await.ok()?;
            let message = self.incoming.recv().await?;
            if self.accepts(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), QueueClosed> {
        self.incoming.close();
        Ok(())
    }
}

/// Gives `rmcp`'s own errors our wording.
pub fn reworded_message(message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
    match message {
        JsonRpcMessage::Error(mut response) => {
            response.error = reworded(response.error);
            JsonRpcMessage::Error(response)
        }
        other => other,
    }
}

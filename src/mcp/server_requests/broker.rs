//! Passes the requests of all servers to the hub's owner and its replies back.

use crate::domain::{Notice, ServerId, ServerRequest, ServerRequestId, ServerRequestReply};
use crate::mcp::hub_event::HubEvent;
use crate::mcp::session::roots::RootFolders;
use crate::sync::lock_ignoring_poison;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::OwnedPermit;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

/// Maximum number of open requests of all servers. Further requests wait.
const OPEN_REQUESTS_MAX: usize = 32;
/// How long a request stays open. It is cancelled if the user does not answer in time.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60 * 60);

#[derive(Clone)]
pub struct RequestBroker {
    events: mpsc::Sender<HubEvent>,
    state: Arc<Mutex<BrokerState>>,
    slots: Arc<Semaphore>,
    pub(super) roots: RootFolders,
}

#[derive(Default)]
struct BrokerState {
    last_id: u64,
    open: HashMap<ServerRequestId, oneshot::Sender<ServerRequestReply>>,
}

/// Withdraws the request if it is dropped before the reply.
struct OpenRequest<'a> {
    broker: &'a RequestBroker,
    id: ServerRequestId,
    /// A reserved place for the event, so that it cannot be lost while the channel is full.
    withdrawal: Option<OwnedPermit<HubEvent>>,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        lock_ignoring_poison(&self.broker.state)
            .open
            .remove(&self.id);
        if let Some(permit) = self.withdrawal.take() {
            permit.send(HubEvent::RequestWithdrawn(self.id));
        }
    }
}

impl RequestBroker {
    pub fn new(events: mpsc::Sender<HubEvent>, roots: RootFolders) -> Self {
        Self {
            events,
            roots,
            state: Arc::default(),
            slots: Arc::new(Semaphore::new(OPEN_REQUESTS_MAX)),
        }
    }

    /// Asks the hub's owner and waits for the reply, for up to an hour. Dropping the future
    /// withdraws the request.
    pub async fn ask(&self, server: &ServerId, request: ServerRequest) -> ServerRequestReply {
        let Ok(_slot) = self.slots.acquire().await else {
            return ServerRequestReply::Cancelled;
        };
        let Ok(withdrawal) = self.events.clone().reserve_owned().await else {
            return ServerRequestReply::Cancelled;
        };
        let (reply_sender, reply) = oneshot::channel();
        let id = {
            let mut state = lock_ignoring_poison(&self.state);
            state.last_id += 1;
            let id = ServerRequestId(state.last_id);
            state.open.insert(id, reply_sender);
            id
        };
        let mut open = OpenRequest {
            broker: self,
            id,
            withdrawal: Some(withdrawal),
        };
        let server = server.clone();
        let event = HubEvent::Requested {
            id,
            server,
            request,
        };
        if self.events.send(event).await.is_err() {
            return ServerRequestReply::Cancelled;
        }
        let Ok(Ok(reply)) = timeout(REPLY_TIMEOUT, reply).await else {
            return ServerRequestReply::Cancelled;
        };
        // The owner has answered, so there is nothing to withdraw.
        open.withdrawal = None;
        reply
    }

    pub fn is_open(&self, id: ServerRequestId) -> bool {
        lock_ignoring_poison(&self.state).open.contains_key(&id)
    }

    /// Answers an open request. Ignored if it was withdrawn.
    pub fn reply(&self, id: ServerRequestId, reply: ServerRequestReply) {
        let sender = lock_ignoring_poison(&self.state).open.remove(&id);
        if let Some(sender) = sender {
            let _ = sender.send(reply);
        }
    }

    /// Notifies the user that a server reported a visit to a web page as completed.
    pub async fn report_completed_page(&self, server: &ServerId, host: &str) {
        let text = format!("Server `{server}` reports that you are done on {host}.");
        let notice = Notice::info(text);
        let _ = self.events.send(HubEvent::Noticed(notice)).await;
    }

    /// Notifies the user of a request that was refused automatically.
    pub async fn report_refused(&self, server: &ServerId, why: &str) {
        let text = format!("A request from server `{server}` was refused: {why}.");
        let notice = Notice::warning(text);
        let _ = self.events.send(HubEvent::Noticed(notice)).await;
    }
}

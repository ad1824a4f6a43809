//! Legacy era: JSON-RPC requests that the server sends. The inbox queues them, and the session
//! answers them while it is open.

use super::broker::RequestBroker;
use super::wire::{ParsedRequest, RequestRefusal, parse_request, request_result};
use crate::domain::elicitation::elicitation_id;
use crate::domain::{ServerId, ServerRequest, ServerRequestReply, UrlElicitation};
use crate::mcp::session::shared::SessionShared;
use crate::sync::lock_ignoring_poison;
use futures::StreamExt;
use futures::future::{AbortHandle, Abortable};
use futures::stream::FuturesUnordered;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use tokio::sync::{Notify, oneshot, watch};

/// Maximum number of unanswered requests of one session. Further requests are refused.
const UNANSWERED_MAX: usize = 8;
/// Maximum number of visited pages whose completion is reported.
const VISITED_PAGES_MAX: usize = 32;
const INVALID_PARAMS: i64 = -32602;
const METHOD_NOT_FOUND: i64 = -32601;
/// The code in the sampling specification's example of a rejected request.
const USER_REJECTED: i64 = -1;
const TOO_MANY_REQUESTS: i64 = -32000;
const INVALID_REQUEST: i64 = -32600;

/// The server's requests that wait for an answer, and the answers that wait to be sent.
#[derive(Debug, Default)]
pub struct IncomingRequests {
    queue: Mutex<VecDeque<QueuedMessage>>,
    queued: Notify,
    /// The requests that are queued (`None`) or being answered, by the JSON text of their ids.
    unanswered: Mutex<HashMap<String, Option<AbortHandle>>>,
    replies: Mutex<VecDeque<Value>>,
    replied: Notify,
    /// The web pages that the user agreed to visit, oldest first.
    visited_pages: Mutex<VecDeque<VisitedPage>>,
    open_questions: watch::Sender<usize>,
}

/// A page whose completion the server may report.
#[derive(Debug)]
struct VisitedPage {
    id: String,
    host: String,
    /// Notified when the server reports completion.
    waiter: Option<oneshot::Sender<()>>,
}

#[derive(Debug)]
enum QueuedMessage {
    Request(IncomingRequest),
    /// The server reported that the user finished on a page of this host.
    PageCompleted {
        host: String,
    },
}

#[derive(Debug)]
struct IncomingRequest {
    id: Value,
    method: String,
    params: Value,
}

impl IncomingRequests {
    /// Whether this method is answered here.
    pub fn handles(method: &str) -> bool {
        matches!(
            method,
            "elicitation/create" | "sampling/createMessage" | "roots/list"
        )
    }

    /// Queues a request. Returns an error response if too many are unanswered, or if one of them
    /// has the same id.
    pub fn add(&self, id: &Value, method: &str, params: Value) -> Option<Value> {
        let mut unanswered = lock_ignoring_poison(&self.unanswered);
        if unanswered.contains_key(&id.to_string()) {
            let message = "A request with this id has not been answered yet.";
            return Some(error_response(id, INVALID_REQUEST, message));
        }
        if unanswered.len() >= UNANSWERED_MAX {
            let message = "Too many requests are waiting for the user.";
            return Some(error_response(id, TOO_MANY_REQUESTS, message));
        }
        unanswered.insert(id.to_string(), None);
        drop(unanswered);
        self.enqueue(QueuedMessage::Request(IncomingRequest {
            id: id.clone(),
            method: method.to_owned(),
            params,
        }));
        None
    }

    fn enqueue(&self, message: QueuedMessage) {
        lock_ignoring_poison(&self.queue).push_back(message);
        self.queued.notify_one();
    }

    /// Handles the `params` of `notifications/elicitation/complete`. Pages that the user did not
    /// agree to visit are ignored.
    pub fn complete_page(&self, params: &Value) {
        let Some(id) = elicitation_id(params) else {
            return;
        };
        let page = {
            let mut pages = lock_ignoring_poison(&self.visited_pages);
            let index = pages.iter().position(|page| page.id == id);
            index.and_then(|index| pages.remove(index))
        };
        let Some(page) = page else { return };
        if let Some(waiter) = page.waiter {
            let _ = waiter.send(());
        }
        self.enqueue(QueuedMessage::PageCompleted { host: page.host });
    }

    fn add_visited_page(&self, page: &UrlElicitation, waiter: Option<oneshot::Sender<()>>) {
        let mut pages = lock_ignoring_poison(&self.visited_pages);
        if pages.len() == VISITED_PAGES_MAX {
            pages.pop_front();
        }
        pages.push_back(VisitedPage {
            id: page.id.clone(),
            host: page.host.clone(),
            waiter,
        });
    }

    /// Records a page that the user agreed to visit. The receiver resolves when the server reports
    /// that the user finished there, which it may never do.
    pub fn expect_completion(&self, page: &UrlElicitation) -> oneshot::Receiver<()> {
        let (waiter, completion) = oneshot::channel();
        self.add_visited_page(page, Some(waiter));
        completion
    }

    /// Withdraws a request that the server cancelled.
    pub fn cancel(&self, id: &Value) {
        let entry = lock_ignoring_poison(&self.unanswered).remove(&id.to_string());
        match entry {
            Some(Some(abort)) => abort.abort(),
            Some(None) => lock_ignoring_poison(&self.queue).retain(|message| match message {
                QueuedMessage::Request(request) => request.id != *id,
                QueuedMessage::PageCompleted { .. } => true,
            }),
            None => {}
        }
    }

    async fn next(&self) -> QueuedMessage {
        loop {
            if let Some(message) = lock_ignoring_poison(&self.queue).pop_front() {
                return message;
            }
            self.queued.notified().await;
        }
    }

    /// Waits for the next answer to send. Cancel-safe.
    pub async fn next_reply(&self) -> Value {
        loop {
            if let Some(reply) = lock_ignoring_poison(&self.replies).pop_front() {
                return reply;
            }
            self.replied.notified().await;
        }
    }

    fn push_reply(&self, reply: Value) {
        lock_ignoring_poison(&self.replies).push_back(reply);
        self.replied.notify_one();
    }

    /// The number of open questions. Calls do not time out while the user is asked.
    pub fn open_questions(&self) -> watch::Receiver<usize> {
        self.open_questions.subscribe()
    }

    fn count_question(&self) -> impl Drop + use<'_> {
        struct Counted<'a>(&'a watch::Sender<usize>);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.send_modify(|count| *count -= 1);
            }
        }
        self.open_questions.send_modify(|count| *count += 1);
        Counted(&self.open_questions)
    }
}

/// Answers the server's requests until the session ends.
pub async fn answer_incoming(shared: &SessionShared, broker: &RequestBroker, server: &ServerId) {
    let incoming = &shared.incoming_requests;
    let mut answering = FuturesUnordered::new();
    loop {
        let message = tokio::select! {
            message = incoming.next() => message,
            Some(()) = answering.next() => continue,
        };
        let request = match message {
            QueuedMessage::Request(request) => request,
            QueuedMessage::PageCompleted { host } => {
                broker.report_completed_page(server, &host).await;
                continue;
            }
        };
        let (abort, registration) = AbortHandle::new_pair();
        let key = request.id.to_string();
        match lock_ignoring_poison(&incoming.unanswered).get_mut(&key) {
            Some(entry) => *entry = Some(abort),
            // The server has cancelled it in the meantime.
            None => continue,
        }
        let answer = answer(incoming, request, broker, server);
        answering.push(async move {
            // A cancelled request gets no response.
            if let Ok(response) = Abortable::new(answer, registration).await {
                lock_ignoring_poison(&incoming.unanswered).remove(&key);
                incoming.push_reply(response);
            }
        });
    }
}

async fn answer(
    incoming: &IncomingRequests,
    request: IncomingRequest,
    broker: &RequestBroker,
    server: &ServerId,
) -> Value {
    let IncomingRequest { id, method, params } = request;
    let result = match parse_request(&method, &params) {
        Ok(ParsedRequest::ListRoots) => broker.roots.list_result(),
        Ok(ParsedRequest::Ask(question)) => {
            let _counted = incoming.count_question();
            let reply = broker.ask(server, question.clone()).await;
            if let (ServerRequest::Url(page), ServerRequestReply::Accepted(_)) = (&question, &reply)
            {
                incoming.add_visited_page(page, None);
            }
            match request_result(&question, reply) {
                Ok(result) => result,
                Err(why) => return error_response(&id, USER_REJECTED, &why),
            }
        }
        Err(RequestRefusal::Invalid(why)) => {
            broker.report_refused(server, &why).await;
            return error_response(&id, INVALID_PARAMS, &format!("Refused: {why}."));
        }
        Err(RequestRefusal::UnknownMethod) => return unknown_method(&id, &method),
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The response to a request that this client does not support.
pub fn unknown_method(id: &Value, method: &str) -> Value {
    error_response(id, METHOD_NOT_FOUND, &format!("Method not found: {method}"))
}

fn error_response(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn completion_is_recognized_by_an_id_of_any_length() {
        for length in [1, 10_000] {
            let params = json!({
                "elicitationId": "x".repeat(length), "message": "", "url": "https://a.example",
            });
            let page = UrlElicitation::from_params(&params).expect("a page");
            let requests = IncomingRequests::default();
            let (sender, completed) = oneshot::channel();
            requests.add_visited_page(&page, Some(sender));
            requests.complete_page(&params);
            drop(requests);
            assert_eq!(completed.await, Ok(()), "{length}");
        }
    }
}

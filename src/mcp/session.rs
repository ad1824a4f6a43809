//! One session: the handshake, the list of tools, and then staying open until
//! one of the two sides ends it.

use super::fault::Fault;
use super::lenient::ToolList;
use super::link::Link;
use super::wire::{OUTBOX_MESSAGES_MAX, OnLateAnswer, Wire, write_all};
use crate::domain::Tool;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientConfig,
    ClientRequest, Implementation, ListToolsRequest, PaginatedRequestParams, ProtocolVersion,
    RequestId, ServerPeerInfo, ServerResult,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, Peer, RoleClient, RunningService, ServiceError,
};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// For all pages together.
const LISTING_DEADLINE: Duration = Duration::from_secs(30);

/// What a call needs of an open session.
#[derive(Debug, Clone)]
pub struct Session {
    pub peer: Peer<RoleClient>,
    pub link: Arc<Link>,
}

/// What is known once a session is open.
pub struct Opened {
    pub session: Session,
    pub tools: Listed,
    pub instructions: Option<String>,
}

/// The tools that a server has, and what of its list was left out.
pub struct Listed {
    pub tools: Vec<Tool>,
    pub left_out: Vec<String>,
}

/// We answer pings and refuse all else that a server may ask.
struct Client;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
        )
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

/// Runs a session over two byte streams until it ends, and says why. `live` is
/// given the session once it is open, and lives beside it. Dropping the future
/// closes both streams.
pub async fn run<R, W, F>(
    (reader, writer): (R, W),
    startup: Duration,
    on_late_answer: OnLateAnswer,
    live: impl FnOnce(Opened) -> F,
) -> Fault
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin,
    F: Future<Output = ()>,
{
    let link = Arc::new(Link::default());
    let _guard = link.guard();
    let (outbox, queue) = mpsc::channel(OUTBOX_MESSAGES_MAX);
    let wire = Wire::new(reader, outbox, link.clone(), on_late_answer);
    let talking = async {
        let (running, opened) = match open(wire, &link, startup).await {
            Ok(opened) => opened,
            Err(fault) => return fault,
        };
        // It ends with its last owner; nobody else may keep it open.
        let _running = running;
        tokio::select! {
            fault = link.ended() => fault,
            () = live(opened) => Fault::Dropped,
        }
    };
    tokio::select! {
        fault = talking => fault,
        fault = write_all(queue, writer) => {
            link.end(fault.clone());
            fault
        }
    }
}

async fn open<R>(
    wire: Wire<R>,
    link: &Arc<Link>,
    startup: Duration,
) -> Result<(RunningService<RoleClient, Client>, Opened), Fault>
where
    R: AsyncRead + Unpin + Send + 'static,
{
    let running = timeout(
        startup,
        Client.serve_with_lifecycle(wire, ClientLifecycleMode::Initialize),
    )
    .await
    .map_err(|_| Fault::Silent(startup))?
    // Where the wire itself found fault, its word is the clearer one.
    .map_err(|error| link.fault().unwrap_or(Fault::Handshake(error.to_string())))?;
    let peer = running.peer().clone();
    let info = peer.peer_info();
    tracing::debug!(?info, "MCP initialisation");
    let tools = if info.as_deref().is_some_and(has_tools) {
        list(&peer).await.map_err(Fault::Listing)
    } else {
        Ok(Listed {
            tools: Vec::new(),
            left_out: Vec::new(),
        })
    };
    let opened = Opened {
        session: Session {
            peer,
            link: link.clone(),
        },
        tools: tools.map_err(|fault| link.fault().unwrap_or(fault))?,
        instructions: info.and_then(|info| info.instructions.clone()),
    };
    Ok((running, opened))
}

fn has_tools(info: &ServerPeerInfo) -> bool {
    info.capabilities.tools.is_some()
}

/// Asks for all pages of `tools/list`.
///
/// # Errors
/// Why there is no list, as the end of a sentence.
pub async fn list(peer: &Peer<RoleClient>) -> Result<Listed, String> {
    let listing = async {
        let mut list = ToolList::default();
        let mut cursor = None;
        loop {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let result = raw(peer.send_request(request).await).map_err(|error| explain(&error))?;
            cursor = list.take_page(&result)?;
            if cursor.is_none() {
                break;
            }
        }
        let (tools, left_out) = list.finish();
        Ok(Listed { tools, left_out })
    };
    match timeout(LISTING_DEADLINE, listing).await {
        Ok(listed) => listed,
        Err(_) => Err(format!("no answer in {} s", LISTING_DEADLINE.as_secs())),
    }
}

/// The result as the wire hands it up: the server's own JSON.
pub fn raw(answer: Result<ServerResult, ServiceError>) -> Result<Value, ServiceError> {
    match answer? {
        ServerResult::CustomResult(result) => Ok(result.0),
        _ => Err(ServiceError::UnexpectedResponse),
    }
}

/// An error of the protocol in words, the server's own where it has some.
pub fn explain(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => {
            let data = error.data.as_ref().filter(|data| !data.is_null());
            let data = data.map_or_else(String::new, |data| format!(": {data}"));
            format!("{}{data} (JSON-RPC error {})", error.message, error.code.0)
        }
        ServiceError::TransportClosed => "the connection was closed".to_owned(),
        other => other.to_string(),
    }
}

impl Session {
    /// Sends `notifications/cancelled` for a request, without waiting.
    pub fn cancel(&self, request: RequestId, tool: &str) {
        self.link.cancelled(request.clone(), tool.to_owned());
        let params = CancelledNotificationParam::new(Some(request), None);
        let notification = CancelledNotification::new(params).into();
        // One poll puts it into the queue, behind its request. The budget of the
        // task must not keep it from that: there will be no second poll.
        let sending = tokio::task::unconstrained(self.peer.send_notification(notification));
        let _ = futures::FutureExt::now_or_never(sending);
    }
}

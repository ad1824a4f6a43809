//! One session: the handshake, the list of tools, and then staying open until
//! one of the two sides ends it.

use super::decode::ToolList;
use super::error::McpError;
use super::http::NO_CODE;
use super::session_shared::SessionShared;
use super::startup::Stage;
use super::tool_list::ListedTools;
use crate::domain;
use crate::domain::server::ServerPeer;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientConfig,
    ClientRequest, Implementation, ListToolsRequest, PaginatedRequestParams, ProtocolVersion,
    RequestId, ServerPeerInfo, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient, RunningService,
    ServiceError,
};
use rmcp::transport::Transport;
use serde_json::Value;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// For all pages together. The first list also has to meet the startup timeout.
const LISTING_DEADLINE: Duration = Duration::from_secs(30);

/// A server that knows `server/discover` answers it as fast as it starts: a third of
/// the time that it may take to start is enough, and this at most. After 10 s rmcp itself
/// would ask for `initialize` on the same connection, and the late answer to the probe
/// would be taken for one to that.
const PROBE_DEADLINE: Duration = Duration::from_secs(9);

/// Versions of a server that a notice lists at most.
const VERSIONS_NAMED_MAX: usize = 8;

/// What a call needs of an open session.
#[derive(Debug, Clone)]
pub struct Session {
    pub peer: Peer<RoleClient>,
    pub shared: Arc<SessionShared>,
}

/// What is known once a session is open.
pub struct ReadySession {
    pub session: Session,
    pub tools: ListedTools,
    /// It is of the era without `initialize`.
    pub is_modern: bool,
    /// It can tell when its list of tools changes.
    pub supports_list_changed: bool,
    pub about: Option<About>,
    pub instructions: Option<String>,
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

/// With which handshake a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handshake {
    /// `server/discover`, and `initialize` on the same connection where the server says
    /// that it does not know that. One that says nothing or breaks is to be met anew.
    Probe,
    Initialize,
    Discover,
}

/// Runs a session over `transport` until it ends, and says why. `live` is given the
/// session once it is open, and lives beside it. Dropping the future drops the
/// transport.
pub async fn run<T, F>(
    transport: T,
    shared: &Arc<SessionShared>,
    (handshake, startup): (Handshake, Duration),
    live: impl FnOnce(ReadySession) -> F,
) -> McpError
where
    T: Transport<RoleClient, Error = McpError> + 'static,
    F: Future<Output = ()>,
{
    let _guard = shared.guard();
    shared.startup.begin(startup);
    let (running, opened) = match open(transport, shared, handshake, startup).await {
        Ok(opened) => opened,
        Err(fault) => return fault,
    };
    // It ends with its last owner; nobody else may keep it open.
    let _running = running;
    tokio::select! {
        fault = shared.outcome.ended() => fault,
        () = live(opened) => McpError::Dropped,
    }
}

/// The first handshake on a connection, until the server or its deadline ends it.
async fn shake<T>(
    transport: T,
    shared: &SessionShared,
    handshake: Handshake,
    startup: Duration,
) -> Result<RunningService<RoleClient, Client>, McpError>
where
    T: Transport<RoleClient, Error = McpError> + 'static,
{
    let modern = || vec![ProtocolVersion::V_2026_07_28];
    let mode = match handshake {
        Handshake::Initialize => ClientLifecycleMode::Initialize,
        Handshake::Discover => ClientLifecycleMode::Discover {
            preferred_versions: modern(),
        },
        Handshake::Probe => ClientLifecycleMode::Auto {
            preferred_versions: modern(),
            legacy_version: None,
        },
    };
    let patience = match handshake {
        Handshake::Probe => PROBE_DEADLINE.min(startup / 3),
        Handshake::Initialize | Handshake::Discover => startup,
    };
    let mut serving = pin!(Client.serve_with_lifecycle(transport, mode));
    let mut met = timeout(patience, &mut serving).await;
    if met.is_err()
        && handshake == Handshake::Probe
        && shared.startup.stage() == Stage::Initializing
    {
        // It answered the probe: this is a deadline of its own.
        met = timeout(patience, &mut serving).await;
    }
    let met = met.map_err(|_| match shared.startup.stage() {
        Stage::Discovering => McpError::Undiscovered(patience),
        // It did answer: that it be asked later.
        _ => match shared.startup.why_put_off() {
            Some(why) => McpError::Web(why),
            None => McpError::Silent(patience),
        },
    })?;
    // Where the wire itself found fault, its word is the clearer one.
    met.map_err(|error| {
        shared
            .outcome
            .fault()
            .unwrap_or_else(|| opening_fault(error))
    })
}

fn opening_fault(error: ClientInitializeError) -> McpError {
    match error {
        ClientInitializeError::NoCompatibleProtocolVersion {
            server_supported, ..
        } => {
            let versions = server_supported
                .iter()
                .take(VERSIONS_NAMED_MAX)
                .map(|version| format!("`{}`", version.as_str()))
                .collect::<Vec<_>>()
                .join(", ");
            McpError::OtherVersions(if versions.is_empty() {
                "no version at all".to_owned()
            } else {
                versions
            })
        }
        ClientInitializeError::JsonRpcError(error) => {
            McpError::Handshake(clause(&ServiceError::McpError(error)))
        }
        // What it says to `initialize` is its last word.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => opening_fault(*fallback),
        error => McpError::Handshake(error.to_string()),
    }
}

async fn open<T>(
    transport: T,
    shared: &Arc<SessionShared>,
    handshake: Handshake,
    startup: Duration,
) -> Result<(RunningService<RoleClient, Client>, ReadySession), McpError>
where
    T: Transport<RoleClient, Error = McpError> + 'static,
{
    let running = shake(transport, shared, handshake, startup).await?;
    shared.startup.reach(Stage::Open);
    let peer = running.peer().clone();
    let info = peer.peer_info();
    tracing::debug!(?info, "MCP initialisation");
    let tools = if info.as_deref().is_some_and(has_tools) {
        let deadline = startup.min(LISTING_DEADLINE);
        match timeout(deadline, pages(&peer)).await {
            Ok(listed) => listed.map_err(McpError::Listing),
            Err(_) => Err(McpError::SilentList(deadline)),
        }
    } else {
        Ok(ListedTools {
            tools: Vec::new(),
            left_out: Vec::new(),
        })
    };
    let opened = ReadySession {
        session: Session {
            peer,
            shared: shared.clone(),
        },
        tools: tools.map_err(|fault| shared.outcome.fault().unwrap_or(fault))?,
        is_modern: info
            .as_deref()
            .is_some_and(|info| !info.protocol_version.has_initialize()),
        supports_list_changed: info.as_deref().is_some_and(supports_list_changed),
        about: info.as_deref().map(About::of),
        instructions: info.and_then(|info| info.instructions.clone()),
    };
    Ok((running, opened))
}

/// What a server says of itself.
pub struct About {
    pub name: String,
    pub version: String,
    pub protocol: String,
}

impl About {
    pub fn over(self, transport: domain::server::Transport) -> ServerPeer {
        ServerPeer {
            name: self.name,
            version: self.version,
            protocol: self.protocol,
            transport,
        }
    }

    fn of(info: &ServerPeerInfo) -> Self {
        let server = info.server_info.clone();
        let (name, version) = server
            .map(|server| (server.title.unwrap_or(server.name), server.version))
            .unwrap_or_default();
        Self {
            name,
            version,
            protocol: info.protocol_version.as_str().to_owned(),
        }
    }
}

fn has_tools(info: &ServerPeerInfo) -> bool {
    info.capabilities.tools.is_some()
}

fn supports_list_changed(info: &ServerPeerInfo) -> bool {
    let tools = info.capabilities.tools.as_ref();
    tools.and_then(|tools| tools.list_changed) == Some(true)
}

/// The list of tools, within 30 s.
///
/// # Errors
/// Why there is no list, as the end of a sentence.
pub async fn list(peer: &Peer<RoleClient>) -> Result<ListedTools, String> {
    match timeout(LISTING_DEADLINE, pages(peer)).await {
        Ok(listed) => listed,
        Err(_) => Err(format!("no answer in {} s", LISTING_DEADLINE.as_secs())),
    }
}

/// Asks for all pages of `tools/list`.
async fn pages(peer: &Peer<RoleClient>) -> Result<ListedTools, String> {
    let mut list = ToolList::default();
    let mut cursor = None;
    loop {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let result = raw(peer.send_request(request).await).map_err(|error| clause(&error))?;
        cursor = list.take_page(&result)?;
        if cursor.is_none() {
            break;
        }
    }
    let (tools, left_out) = list.finish();
    Ok(ListedTools { tools, left_out })
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
            if error.code.0 == NO_CODE {
                // Made of a status: its words are ours.
                return error.message.to_string();
            }
            let data = error.data.as_ref().filter(|data| !data.is_null());
            let data = data.map_or_else(String::new, |data| format!(": {data}"));
            format!("{}{data} (JSON-RPC error {})", error.message, error.code.0)
        }
        ServiceError::TransportClosed => "the connection was closed".to_owned(),
        other => other.to_string(),
    }
}

/// The same as the end of a sentence, whose full stop follows.
fn clause(error: &ServiceError) -> String {
    explain(error).trim_end_matches('.').to_owned()
}

impl Session {
    /// Sends `notifications/cancelled` for a request, without waiting.
    pub fn cancel(&self, request: RequestId, tool: &str) {
        self.shared.cancelled.add(request.clone(), tool.to_owned());
        let params = CancelledNotificationParam::new(Some(request), None);
        let notification = CancelledNotification::new(params).into();
        // One poll puts it into the queue, behind its request. The budget of the
        // task must not keep it from that: there will be no second poll.
        let sending = tokio::task::unconstrained(self.peer.send_notification(notification));
        let _ = futures::FutureExt::now_or_never(sending);
    }
}

#[cfg(test)]
mod tests {
    use super::super::inbox::Inbox;
    use super::super::stdio_transport::{OUTBOX_MESSAGES_MAX, StdioTransport, write_all};
    use super::*;
    use tokio::sync::mpsc;

    #[tokio::test(start_paused = true)]
    async fn a_probe_without_an_answer_ends_before_anything_else_is_asked() {
        let (ours, _theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(ours);
        let shared = Arc::new(SessionShared::default());
        let (outbox, queue) = mpsc::channel(OUTBOX_MESSAGES_MAX);
        let inbox = Inbox::new(shared.clone(), Box::new(|_| {}));
        let wire = StdioTransport::new(reader, outbox, shared.clone(), inbox);
        let startup = Duration::from_secs(60);
        let fault = tokio::select! {
            met = shake(wire, &shared, Handshake::Probe, startup) => met.err(),
            fault = write_all(queue, writer) => Some(fault),
        };
        assert_eq!(fault, Some(McpError::Undiscovered(PROBE_DEADLINE)));
        assert_eq!(shared.startup.stage(), Stage::Discovering);
    }
}

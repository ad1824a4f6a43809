//! One session: performs the handshake, lists the tools, and waits until either side ends the
//! session.

pub mod bounded_text;
pub mod client_capabilities;
pub mod decode;
pub mod detection_cache;
pub mod discover_wait;
pub mod fallback_handshake;
pub mod flood_guard;
pub mod handshake_fields;
pub mod inbox;
pub mod missing_back_channel;
pub mod nesting_limit;
pub mod outcome;
pub mod pages;
pub mod roots;
pub mod shared;
pub mod tool_relist;

use crate::domain;
use crate::domain::server::PeerInfo;
use crate::mcp::content::capabilities::ContentCapabilities;
use crate::mcp::error::McpError;
use crate::mcp::http::SYNTHETIC_ERROR_CODE;
use crate::mcp::session::bounded_text::bounded_text;
use crate::mcp::session::client_capabilities::PassiveClient;
use crate::mcp::session::decode::ListedTools;
use crate::mcp::session::decode::ToolListBuilder;
use crate::mcp::session::shared::SessionShared;
use crate::mcp::stdio::startup::{HandshakeStage, discover_timeout};
use crate::mcp::supervisor::server_log;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, ListToolsRequest,
    PaginatedRequestParams, ProtocolVersion, RequestId, ServerPeerInfo, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient, RunningService,
    ServiceError,
};
use rmcp::transport::Transport;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Time limit for all pages together. The startup timeout applies to the first list too.
const LISTING_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of server versions listed in a notice.
const VERSIONS_SHOWN_MAX: usize = 8;

/// The parts of an open session that a call needs.
#[derive(Debug, Clone)]
pub struct McpSession {
    pub peer: Peer<RoleClient>,
    pub shared: Arc<SessionShared>,
    /// Whether a modern server logs messages about requests that ask for them.
    pub logs_requests: bool,
}

/// An open session with its initial data.
pub struct ReadySession {
    pub session: McpSession,
    pub tools: ListedTools,
    /// Whether the session uses the modern protocol, which has no `initialize`.
    pub is_modern: bool,
    pub sends_log_messages: bool,
    pub reports_tool_changes: bool,
    pub content: ContentCapabilities,
    pub server_info: Option<ServerIdentity>,
    pub instructions: Option<String>,
}

/// The handshake that opens a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handshake {
    /// `server/discover`, then `initialize` on the same connection if the server rejects the
    /// former, or if its process does not respond for a while. A server that disconnects must be
    /// restarted.
    DiscoverOrInitialize,
    Initialize,
    Discover,
}

impl Handshake {
    /// How long to wait for the response to `server/discover` before `initialize` is tried; `None` if
    /// it is never tried. `time_limit` is the time for the whole handshake.
    pub fn discover_timeout(self, time_limit: Duration) -> Option<Duration> {
        match self {
            Self::DiscoverOrInitialize => Some(discover_timeout(time_limit)),
            Self::Initialize | Self::Discover => None,
        }
    }
}

/// Runs a session over `transport` until it ends, and returns the reason. `on_ready` receives the
/// session once it is open; the future it returns runs alongside the session, and the session ends
/// with it. Dropping the future of this function drops the transport.
pub async fn run_session<T, F>(
    transport: T,
    shared: &Arc<SessionShared>,
    (handshake, time_limit): (Handshake, Duration),
    on_ready: impl FnOnce(ReadySession) -> F,
) -> McpError
where
    T: Transport<RoleClient, Error = McpError> + 'static,
    F: Future<Output = ()>,
{
    let _guard = shared.end_on_drop();
    shared.startup.set_deadline(time_limit);
    let (running, opened) = match open_session(transport, shared, handshake, time_limit).await {
        Ok(opened) => opened,
        Err(error) => return error,
    };
    // Dropping the last handle ends the session, so this must stay the only one.
    let _running = running;
    tokio::select! {
        error = shared.outcome.wait_for_end() => error,
        () = on_ready(opened) => McpError::SessionClosed,
    }
}

async fn perform_handshake<T>(
    transport: T,
    shared: &SessionShared,
    handshake: Handshake,
    time_limit: Duration,
) -> Result<RunningService<RoleClient, PassiveClient>, McpError>
where
    T: Transport<RoleClient, Error = McpError> + 'static,
{
    let modern_versions = || vec![ProtocolVersion::V_2026_07_28];
    let mode = match handshake {
        Handshake::Initialize => ClientLifecycleMode::Initialize,
        Handshake::Discover => ClientLifecycleMode::Discover {
            preferred_versions: modern_versions(),
        },
        Handshake::DiscoverOrInitialize => ClientLifecycleMode::Auto {
            preferred_versions: modern_versions(),
            legacy_version: None,
        },
    };
    let client = PassiveClient::new(shared.declares_roots());
    // Boxed, because nested futures of this size would overflow a thread's stack.
    let serving = Box::pin(client.serve_with_lifecycle(transport, mode));
    let outcome = timeout(time_limit, serving).await;
    let outcome = outcome.map_err(|_| match shared.startup.stage() {
        HandshakeStage::Discovering => McpError::DiscoverTimeout(time_limit),
        _ => match shared.startup.retry_reason() {
            // The server did answer, but asked us to retry later.
            Some(why) => McpError::Http(why),
            None => McpError::HandshakeTimeout(time_limit),
        },
    })?;
    // An error of the transport itself is more specific.
    outcome.map_err(|error| {
        shared
            .outcome
            .error()
            .unwrap_or_else(|| handshake_error(error))
    })
}

fn handshake_error(error: ClientInitializeError) -> McpError {
    match error {
        ClientInitializeError::NoCompatibleProtocolVersion {
            server_supported, ..
        } => {
            let versions = server_supported
                .iter()
                .take(VERSIONS_SHOWN_MAX)
                .map(|version| format!("`{}`", bounded_text(version.as_str())))
                .collect::<Vec<_>>()
                .join(", ");
            McpError::NoCommonVersion(if versions.is_empty() {
                "none".to_owned()
            } else {
                versions
            })
        }
        ClientInitializeError::JsonRpcError(error) => {
            McpError::InvalidHandshake(error_clause(&ServiceError::McpError(error)))
        }
        // The response to `initialize` is final.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => handshake_error(*fallback),
        error => McpError::InvalidHandshake(error.to_string()),
    }
}

async fn open_session<T>(
    transport: T,
    shared: &Arc<SessionShared>,
    handshake: Handshake,
    time_limit: Duration,
) -> Result<(RunningService<RoleClient, PassiveClient>, ReadySession), McpError>
where
    T: Transport<RoleClient, Error = McpError> + 'static,
{
    let running = perform_handshake(transport, shared, handshake, time_limit).await?;
    shared.startup.set_stage(HandshakeStage::Open);
    let peer = running.peer().clone();
    let info = peer.peer_info();
    tracing::debug!(?info, "MCP session initialized");
    let tools = if info.as_deref().is_some_and(has_tools) {
        let time_limit = time_limit.min(LISTING_TIMEOUT);
        match timeout(time_limit, list_all_pages(&peer)).await {
            Ok(listed) => listed.map_err(McpError::ToolListFailed),
            Err(_) => Err(McpError::ToolListTimeout(time_limit)),
        }
    } else {
        Ok(ListedTools {
            tools: Vec::new(),
            omitted: Vec::new(),
            ttl: None,
        })
    };
    let is_modern = is_modern(&peer);
    let sends_log_messages = info.as_deref().is_some_and(server_log::sends_log_messages);
    let opened = ReadySession {
        session: McpSession {
            peer,
            shared: shared.clone(),
            logs_requests: is_modern && sends_log_messages,
        },
        tools: tools.map_err(|error| shared.outcome.error().unwrap_or(error))?,
        is_modern,
        sends_log_messages,
        reports_tool_changes: info.as_deref().is_some_and(reports_tool_changes),
        content: info
            .as_deref()
            .map(ContentCapabilities::of)
            .unwrap_or_default(),
        server_info: info.as_deref().map(ServerIdentity::from_peer_info),
        instructions: info.and_then(|info| info.instructions.clone()),
    };
    Ok((running, opened))
}

/// The identity that a server reports.
pub struct ServerIdentity {
    pub name: String,
    pub version: String,
    pub protocol: String,
}

impl ServerIdentity {
    pub fn into_peer(self, transport: domain::server::ServerTransport) -> PeerInfo {
        PeerInfo {
            name: self.name,
            version: self.version,
            protocol: self.protocol,
            transport,
        }
    }

    fn from_peer_info(info: &ServerPeerInfo) -> Self {
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

/// Whether the session uses the modern protocol.
pub fn is_modern(peer: &Peer<RoleClient>) -> bool {
    peer.peer_info()
        .is_some_and(|info| !info.protocol_version.has_initialize())
}

fn has_tools(info: &ServerPeerInfo) -> bool {
    info.capabilities.tools.is_some()
}

fn reports_tool_changes(info: &ServerPeerInfo) -> bool {
    let tools = info.capabilities.tools.as_ref();
    tools.and_then(|tools| tools.list_changed) == Some(true)
}

/// Lists the server's tools within 30 s.
///
/// # Errors
/// The reason, as the end of a sentence without its period.
pub async fn list_tools(peer: &Peer<RoleClient>) -> Result<ListedTools, String> {
    match timeout(LISTING_TIMEOUT, list_all_pages(peer)).await {
        Ok(listed) => listed,
        Err(_) => Err(format!("no answer within {} s", LISTING_TIMEOUT.as_secs())),
    }
}

async fn list_all_pages(peer: &Peer<RoleClient>) -> Result<ListedTools, String> {
    let mut builder = ToolListBuilder::new(is_modern(peer));
    let mut cursor = None;
    loop {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let result =
            raw_result(peer.send_request(request).await).map_err(|error| error_clause(&error))?;
        cursor = builder.add_page(&result)?;
        if cursor.is_none() {
            break;
        }
    }
    let ttl = builder.ttl();
    let (tools, omitted) = builder.finish();
    Ok(ListedTools {
        tools,
        omitted,
        ttl,
    })
}

pub fn raw_result(answer: Result<ServerResult, ServiceError>) -> Result<Value, ServiceError> {
    match answer? {
        ServerResult::CustomResult(result) => Ok(result.0),
        _ => Err(ServiceError::UnexpectedResponse),
    }
}

/// The text of a protocol error: the server's own message, if it sent one.
pub fn error_text(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => {
            if error.code.0 == SYNTHETIC_ERROR_CODE {
                // Created from an HTTP status, so the message is ours.
                return error.message.to_string();
            }
            let data = error
                .data
                .as_ref()
                .filter(|data| !data.is_null())
                .map_or_else(String::new, |data| {
                    format!(": {}", bounded_text(&data.to_string()))
                });
            let message = bounded_text(&error.message);
            format!("{message}{data} (JSON-RPC error {})", error.code.0)
        }
        ServiceError::TransportClosed => "the connection was closed".to_owned(),
        other => other.to_string(),
    }
}

/// [`error_text`] without its final period, for the end of a sentence.
pub fn error_clause(error: &ServiceError) -> String {
    error_text(error).trim_end_matches('.').to_owned()
}

impl McpSession {
    /// Sends `notifications/cancelled` for a request that is not a call, without waiting. A late
    /// answer is ignored.
    pub fn cancel_request(&self, request: RequestId) {
        let params = CancelledNotificationParam::new(Some(request), None);
        let notification = CancelledNotification::new(params).into();
        let sending = tokio::task::unconstrained(self.peer.send_notification(notification));
        let _ = futures::FutureExt::now_or_never(sending);
    }

    /// Sends `notifications/cancelled` for a call to `tool`, without waiting. A late answer is
    /// reported to the user.
    pub fn cancel_call(&self, request: RequestId, tool: &str) {
        self.shared.cancelled.add(request.clone(), tool.to_owned());
        let params = CancelledNotificationParam::new(Some(request), None);
        let notification = CancelledNotification::new(params).into();
        // One poll queues the notification behind its request. There is no second poll, so tokio's
        // cooperative budget must not make this one return early.
        let sending = tokio::task::unconstrained(self.peer.send_notification(notification));
        let _ = futures::FutureExt::now_or_never(sending);
    }
}

#[cfg(test)]
mod tests;

//! The supervisor of one configured server. Its task starts the server, runs a session and stops
//! the process. After most failures, the task waits until a call needs a session or the user asks
//! for one.

pub mod backoff;
pub mod endpoint;
pub mod run;
pub mod run_remote;
pub mod server_log;
pub mod status;

use crate::domain::{LaunchConfig, Pin, SecretRegistry, Server, ServerConfig, ServerStatus, Tool};
use crate::mcp::content::followed_resources::FollowedResources;
use crate::mcp::content::recent_reads::RecentReads;
use crate::mcp::error::{McpError, STDERR_LINES_MAX, SessionFailure};
use crate::mcp::http::HttpError;
use crate::mcp::hub_event::HubEvent;
use crate::mcp::oauth::{Authorizer, CredentialFile};
use crate::mcp::server_requests::RequestBroker;
use crate::mcp::session::McpSession;
use crate::mcp::session::detection_cache::DetectionCache;
use crate::mcp::session::roots::RootFolders;
use crate::mcp::stdio::process::ProcessGroups;
use crate::mcp::stdio::stderr::StderrBuffer;
use crate::mcp::supervisor::backoff::Backoff;
use crate::mcp::supervisor::endpoint::Endpoint;
use crate::mcp::supervisor::status::{ServerPhase, ServerState, SessionLookup};
use crate::mcp::tasks::KeptTasks;
use crate::ports::LocalServer;
use crate::text::Clean;
use rmcp::model::ProtocolVersion;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use url::Url;

/// Extra time for closing the old process and listing tools when a server restarts.
const RESTART_ALLOWANCE: Duration = Duration::from_secs(35);

/// Shared by all supervisors.
#[derive(Clone)]
pub struct HubContext {
    pub events: mpsc::Sender<HubEvent>,
    pub process_groups: ProcessGroups,
    pub built_in_server: Arc<dyn LocalServer>,
    pub cache: DetectionCache,
    pub requests: RequestBroker,
    pub credentials: CredentialFile,
    pub roots: RootFolders,
    pub kept_tasks: KeptTasks,
    pub secrets: SecretRegistry,
}

pub struct ServerSupervisor {
    pub state: watch::Sender<ServerState>,
    pub stderr: StderrBuffer,
    /// Notified when a call needs a session.
    session_demand: Notify,
    /// Notified when the user asks for a new session.
    pub manual_reconnect: Notify,
    /// Notified when the user opens a list of prompts or resources.
    pub content_use: Notify,
    /// Notified when a turn begins.
    pub tool_use: Notify,
    pub recent_reads: RecentReads,
    pub followed_resources: FollowedResources,
    pub stop: CancellationToken,
    pub context: HubContext,
    /// `None` unless the server is remote.
    pub authorizer: Option<Authorizer>,
}

pub enum SessionEnd {
    Stopped,
    ReconnectRequested,
    Failed(McpError, Option<ExitStatus>),
}

impl ServerSupervisor {
    pub fn new(config: ServerConfig, context: HubContext) -> Self {
        let phase = match &config.launch {
            LaunchConfig::Misconfigured { why } => ServerPhase::Misconfigured(why.clone()),
            _ => ServerPhase::Starting,
        };
        let authorizer = new_authorizer(&config, &context);
        Self {
            authorizer,
            state: watch::Sender::new(ServerState {
                config,
                phase,
                start_count: 0,
                was_connected: false,
                skipped_summary: None,
                tools: Arc::default(),
                omitted_tools: Vec::new(),
                content: Arc::default(),
                instructions: None,
                peer: None,
            }),
            stderr: StderrBuffer::new(context.secrets.clone()),
            session_demand: Notify::new(),
            manual_reconnect: Notify::new(),
            content_use: Notify::new(),
            tool_use: Notify::new(),
            recent_reads: RecentReads::default(),
            followed_resources: FollowedResources::default(),
            stop: CancellationToken::new(),
            context,
        }
    }

    /// Applies settings that can change without a restart.
    pub fn apply_config(&self, config: ServerConfig) {
        self.state.send_modify(|state| state.config = config);
    }

    /// Requests a new session, without waiting for the backoff.
    pub fn reconnect(&self) {
        self.manual_reconnect.notify_one();
    }

    /// Whether the tool's definition is still the approved one. True for a call without a pin.
    pub fn matches_approved_definition(&self, tool: &str, approved: Option<&Pin>) -> bool {
        let state = self.state.borrow();
        let mut tools = state.tools.iter().filter(|listed| listed.name == tool);
        approved.is_none_or(|pin| tools.any(|listed| listed.pin == *pin))
    }

    /// The definition of a tool in the newest list.
    pub fn tool(&self, name: &str) -> Option<Tool> {
        let state = self.state.borrow();
        state.tools.iter().find(|tool| tool.name == name).cloned()
    }

    pub fn tool_timeout(&self) -> Duration {
        self.state.borrow().config.tool_timeout
    }

    /// Whether the newest session uses the modern protocol.
    pub fn is_modern(&self) -> bool {
        let state = self.state.borrow();
        let modern = ProtocolVersion::V_2026_07_28.as_str();
        state
            .peer
            .as_ref()
            .is_some_and(|peer| peer.protocol == modern)
    }

    pub fn snapshot(&self) -> Server {
        let state = self.state.borrow();
        let roots = match &state.phase {
            ServerPhase::Connected(session) if session.shared.declares_roots() => {
                self.context.roots.current()
            }
            _ => Arc::default(),
        };
        Server {
            roots,
            ..state.snapshot(self.stderr.lines())
        }
    }

    /// Returns an open session. Waits for a start in progress, and requests a start if the last
    /// session has ended.
    ///
    /// # Errors
    /// The reason why no session is available.
    pub async fn session(&self) -> Result<McpSession, String> {
        let time_limit = self.state.borrow().config.startup_timeout + RESTART_ALLOWANCE;
        timeout(time_limit, self.wait_for_session())
            .await
            .unwrap_or_else(|_| Err("the server is still starting".to_owned()))
    }

    async fn wait_for_session(&self) -> Result<McpSession, String> {
        let mut state_updates = self.state.subscribe();
        let mut start_count_at_request = None;
        loop {
            let (lookup, start_count) = {
                let state = state_updates.borrow_and_update();
                (
                    state.look_up_session(start_count_at_request),
                    state.start_count,
                )
            };
            match lookup {
                SessionLookup::Found(session) => return Ok(session),
                SessionLookup::Unavailable(why) => return Err(why),
                SessionLookup::Wait => {}
                SessionLookup::NeedsStart => {
                    start_count_at_request = Some(start_count);
                    self.session_demand.notify_one();
                }
            }
            tokio::select! {
                () = self.stop.cancelled() => return Err("the server was switched off".to_owned()),
                // Cannot fail: this supervisor owns the sender.
                _ = state_updates.changed() => {}
            }
        }
    }

    /// Runs until stopped. Reports a misconfigured server once and returns.
    pub async fn supervise(&self) {
        let config = self.state.borrow().config.clone();
        let Some(endpoint) = Endpoint::from_launch(config.launch) else {
            return self.report().await;
        };
        let mut backoff = Backoff::default();
        while !self.stop.is_cancelled() {
            self.state.send_modify(|state| {
                state.phase = ServerPhase::Starting;
                state.start_count += 1;
            });
            self.report().await;
            let started_at = Instant::now();
            match self.connect(&endpoint).await {
                SessionEnd::Stopped => return,
                SessionEnd::ReconnectRequested => backoff.reset(),
                SessionEnd::Failed(error, status) => {
                    let delay = backoff.next_delay(started_at.elapsed());
                    let was_connected = self.state.borrow().is_connected();
                    let is_session_lost = matches!(&error, McpError::Http(HttpError::SessionLost));
                    if is_session_lost && was_connected && delay.is_zero() {
                        // Only the session was lost, so reconnect without notifying the user.
                        continue;
                    }
                    let config = self.state.borrow().config.clone();
                    let failure = SessionFailure {
                        error,
                        server: &config.id,
                        was_connected,
                        status,
                        stderr_lines: self.quoted_stderr_lines(was_connected),
                        skipped_summary: self.state.borrow().skipped_summary.clone(),
                        is_remote: matches!(endpoint, Endpoint::Remote(_)),
                        inherited_env: endpoint.inherited_env(),
                    };
                    self.record_failure(&failure, delay).await;
                    self.wait_for_retry(&mut backoff).await;
                }
            }
        }
    }

    /// The stderr lines quoted in a failure notice: several after a failed start, which they
    /// usually explain, but only one after a working session, whose end they rarely explain.
    fn quoted_stderr_lines(&self, was_connected: bool) -> Vec<String> {
        if was_connected {
            return self.stderr.last_lines(1);
        }
        self.stderr.error_lines(STDERR_LINES_MAX)
    }

    async fn record_failure(&self, failure: &SessionFailure<'_>, delay: Duration) {
        let notice = failure.notice();
        self.stderr.add_own_line(&notice.summary());
        self.state.send_modify(|state| {
            if !state.was_connected {
                state.tools = Arc::default();
                state.omitted_tools.clear();
                state.content = Arc::default();
                state.instructions = None;
            }
            state.phase = ServerPhase::Failed {
                notice,
                retry_at: Instant::now() + delay,
                requires_sign_in: failure.requires_sign_in(),
            };
        });
        self.report().await;
    }

    async fn wait_for_retry(&self, backoff: &mut Backoff) {
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = self.manual_reconnect.notified() => return backoff.reset(),
                () = self.session_demand.notified() => {
                    // The notification may be left over from before the last start.
                    if self.state.borrow().may_retry() {
                        return;
                    }
                }
            }
        }
    }

    pub async fn report(&self) {
        let server = self.snapshot();
        log_status(&server);
        self.send(HubEvent::Changed(Box::new(server))).await;
    }

    /// Waits while the channel is full. Gives up once the supervisor is stopped, because the
    /// receiver may no longer be reading.
    pub async fn send(&self, event: HubEvent) {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => {}
            _ = self.context.events.send(event) => {}
        }
    }
}

fn new_authorizer(config: &ServerConfig, context: &HubContext) -> Option<Authorizer> {
    let LaunchConfig::Remote { url, .. } = &config.launch else {
        return None;
    };
    let mut url = Url::parse(url).ok()?;
    url.set_fragment(None);
    Some(Authorizer::new(
        config.id.clone(),
        url,
        config.oauth.clone(),
        context.credentials.clone(),
        context.secrets.clone(),
    ))
}

/// Logs a status change. A misconfigured server that is disabled causes a warning; every other
/// failure is an error.
fn log_status(server: &Server) {
    let id = Clean::name(server.id.as_str());
    match &server.status {
        ServerStatus::Starting => tracing::info!("MCP server `{id}` is starting"),
        ServerStatus::Connected => {
            let tools = tool_count_text(server.tools.len());
            tracing::info!("MCP server `{id}` is connected with {tools}");
            for line in &server.omissions {
                tracing::warn!("MCP server `{id}`: skipped: {line}");
            }
        }
        ServerStatus::NeedsSignIn(notice) => {
            tracing::error!("MCP server `{id}` needs sign-in: {}", notice.summary());
        }
        ServerStatus::Failed(notice) => {
            tracing::error!("MCP server `{id}` failed: {}", notice.summary());
        }
        ServerStatus::Misconfigured(why) if server.enabled => {
            tracing::error!("MCP server `{id}`: {why}");
        }
        ServerStatus::Misconfigured(why) => tracing::warn!("MCP server `{id}`: {why}"),
        ServerStatus::Off => {}
    }
}

fn tool_count_text(count: usize) -> String {
    match count {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_count_is_singular_only_for_one() {
        assert_eq!(
            [0, 1, 2].map(tool_count_text),
            ["0 tools", "1 tool", "2 tools"]
        );
    }
}

//! The hub owns one supervisor for each configured server, except disabled ones.

use crate::domain::{
    CallId, LaunchConfig, SecretRegistry, Server, ServerConfig, ServerId, ServerLog,
    ServerRequestId, ServerRequestReply, ToolOutcome,
};
use crate::mcp::call::{self, CallResult, McpCall};
use crate::mcp::hub_event::HubEvent;
use crate::mcp::oauth::{Authorizer, CredentialFile, OAuthError, SignIn};
use crate::mcp::server_requests::RequestBroker;
use crate::mcp::session::detection_cache::DetectionCache;
use crate::mcp::session::roots::RootFolders;
use crate::mcp::stdio::process::ProcessGroups;
use crate::mcp::supervisor::status::disabled_server;
use crate::mcp::supervisor::{HubContext, ServerSupervisor};
use crate::mcp::tasks::KeptTasks;
use crate::ports::LocalServer;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Processes that are still running after this are killed.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(3_800);

/// All configured MCP servers. Dropping the hub kills every process that is still running; use
/// [`Hub::shutdown`] to stop them cleanly.
pub struct Hub {
    context: HubContext,
    entries: Vec<HubEntry>,
    /// The tasks of all supervisors, including those that are closing.
    tasks: JoinSet<()>,
    runtime: Handle,
}

struct HubEntry {
    config: ServerConfig,
    /// `None` if the server is disabled, unless its configuration is invalid: then the supervisor
    /// reports the error.
    supervisor: Option<Arc<ServerSupervisor>>,
}

impl Hub {
    /// A hub without servers. The owner must keep reading `events`, because supervisors wait while
    /// the channel is full. Servers run on the tokio runtime that was current when the hub was
    /// created.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn new(events: mpsc::Sender<HubEvent>, built_in_server: Arc<dyn LocalServer>) -> Self {
        Self::with_process_groups(events, built_in_server, ProcessGroups::default())
    }

    /// Like [`Hub::new`], with process groups that the caller can also kill.
    pub fn with_process_groups(
        events: mpsc::Sender<HubEvent>,
        built_in_server: Arc<dyn LocalServer>,
        process_groups: ProcessGroups,
    ) -> Self {
        let roots = RootFolders::default();
        Self {
            runtime: Handle::current(),
            context: HubContext {
                requests: RequestBroker::new(events.clone(), roots.clone()),
                roots,
                events,
                process_groups,
                built_in_server,
                cache: DetectionCache::default(),
                credentials: CredentialFile::default(),
                kept_tasks: KeptTasks::default(),
                secrets: SecretRegistry::default(),
            },
            entries: Vec::new(),
            tasks: JoinSet::new(),
        }
    }

    /// Stores the detected protocol of each server in `file`. Call this before [`Hub::configure`].
    pub fn set_cache_file(&mut self, file: PathBuf) {
        self.context.cache = DetectionCache::in_file(file);
    }

    /// Keeps the tokens of signed-in servers in `file` (`auth.json`). Reads it, because any server may
    /// read it, too. Call this before [`Hub::configure`] and after [`Hub::set_secrets`].
    pub fn set_credential_file(&mut self, file: PathBuf) {
        self.context.credentials = CredentialFile::at(file);
        let tokens = self.context.credentials.read_secrets();
        self.context.secrets.add_tokens(tokens);
    }

    /// Shares the secrets of the rest of the program, which are removed from all that servers send,
    /// and adds those of the servers. Call this before [`Hub::configure`].
    pub fn set_secrets(&mut self, secrets: SecretRegistry) {
        self.context.secrets = secrets;
    }

    /// Replaces the folders that servers may ask for, and notifies connected servers. A server that
    /// connected while there were none is not notified until its next session.
    pub fn set_roots(&self, folders: Vec<PathBuf>) {
        self.context.roots.set(folders);
    }

    /// Replaces the configuration: starts new or changed servers that are enabled, and stops
    /// removed, changed or disabled ones. Returns at once; the work happens in the background.
    pub fn configure(&mut self, servers: Vec<ServerConfig>) {
        while self.tasks.try_join_next().is_some() {}
        let mut old = std::mem::take(&mut self.entries);
        for config in &servers {
            self.context.secrets.add(config.config_secrets());
        }
        for config in servers {
            let existing = old
                .iter()
                .position(|entry| entry.config.id == config.id && entry.can_continue_with(&config))
                .map(|index| old.swap_remove(index));
            let supervisor = match existing.and_then(|entry| entry.supervisor) {
                Some(supervisor) => {
                    supervisor.apply_config(config.clone());
                    Some(supervisor)
                }
                None => self.start(&config),
            };
            self.entries.push(HubEntry { config, supervisor });
        }
        for supervisor in old.into_iter().filter_map(|entry| entry.supervisor) {
            supervisor.stop.cancel();
        }
    }

    fn start(&mut self, config: &ServerConfig) -> Option<Arc<ServerSupervisor>> {
        let is_misconfigured = matches!(config.launch, LaunchConfig::Misconfigured { .. });
        if !config.enabled && !is_misconfigured {
            return None;
        }
        let supervisor = Arc::new(ServerSupervisor::new(config.clone(), self.context.clone()));
        let task = {
            let supervisor = supervisor.clone();
            async move { supervisor.supervise().await }
        };
        self.tasks.spawn_on(task, &self.runtime);
        Some(supervisor)
    }

    /// Snapshots in configuration order.
    pub fn servers(&self) -> Vec<Server> {
        self.entries
            .iter()
            .map(|entry| match &entry.supervisor {
                Some(supervisor) => supervisor.snapshot(),
                None => disabled_server(&entry.config),
            })
            .collect()
    }

    /// The log of a server's current or last run. `seen_count` is the `lines_written` of the log
    /// that the caller already has; returns `None` if nothing has been written since.
    pub fn log(&self, id: &ServerId, seen_count: Option<u64>) -> Option<ServerLog> {
        let Some(supervisor) = self.supervisor(id) else {
            // A disabled server has no log.
            return seen_count.is_none().then(|| ServerLog {
                server: id.clone(),
                run_started_at: None,
                lines: Vec::new(),
                lines_written: 0,
            });
        };
        (seen_count != Some(supervisor.stderr.lines_written())).then(|| {
            let (lines, run_started_at, lines_written) = supervisor.stderr.run_lines();
            ServerLog {
                server: id.clone(),
                run_started_at,
                lines,
                lines_written,
            }
        })
    }

    /// Ends the session of a server, if there is one, and opens a new one at once, regardless of
    /// earlier failures.
    pub fn reconnect(&mut self, id: &ServerId) {
        if let Some(supervisor) = self.supervisor(id) {
            supervisor.reconnect();
        }
    }

    /// Prepares a sign-in to a remote server. Once it has succeeded, call [`Hub::reconnect`].
    pub fn prepare_sign_in(&self, id: &ServerId) -> BoxFuture<'static, Result<SignIn, OAuthError>> {
        match self.authorizer(id) {
            Ok(authorizer) => async move { authorizer.prepare_sign_in().await }.boxed(),
            Err(error) => ready(Err(error)).boxed(),
        }
    }

    /// Removes the tokens of a server, and revokes them where the authorization server supports
    /// that. Returns whether there were any.
    pub fn sign_out(&self, id: &ServerId) -> BoxFuture<'static, Result<bool, OAuthError>> {
        match self.authorizer(id) {
            Ok(authorizer) => async move { authorizer.sign_out().await }.boxed(),
            Err(error) => ready(Err(error)).boxed(),
        }
    }

    fn authorizer(&self, id: &ServerId) -> Result<Authorizer, OAuthError> {
        let entry = self.entries.iter().find(|entry| entry.config.id == *id);
        let entry = entry.ok_or(OAuthError::NotRemote)?;
        let LaunchConfig::Remote { headers, .. } = &entry.config.launch else {
            return Err(OAuthError::NotRemote);
        };
        let sends_header = headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        if sends_header {
            return Err(OAuthError::HasHeader);
        }
        let supervisor = entry.supervisor.as_ref().ok_or(OAuthError::SwitchedOff)?;
        supervisor.authorizer.clone().ok_or(OAuthError::NotRemote)
    }

    /// Runs one call on the server's session, reopening the session if it has ended. The returned
    /// future owns the call. If `cancel` is cancelled, the future sends `notifications/cancelled`
    /// and resolves at once to [`ToolOutcome::Interrupted`]; dropping it also notifies the server.
    /// After `tool_timeout` without progress, or ten times that in total, the call is cancelled in
    /// the same way and resolves to [`ToolOutcome::TimedOut`].
    pub fn call(
        &self,
        call: McpCall,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, ToolOutcome> {
        self.call_with_result(call, cancel)
            .map(|result| result.outcome)
            .boxed()
    }

    /// Like [`Hub::call`], but also returns the raw JSON result from the server.
    pub fn call_with_result(
        &self,
        call: McpCall,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, CallResult> {
        match self.supervisor(&call.server) {
            Some(supervisor) => call::run_call(
                supervisor.clone(),
                call,
                cancel,
                self.context.events.clone(),
            )
            .boxed(),
            None => {
                let outcome = ToolOutcome::Unreachable {
                    why: format!("Server `{}` is not running.", call.server),
                    elapsed: Duration::ZERO,
                };
                ready(outcome.into()).boxed()
            }
        }
    }

    /// From now on, calls that are cancelled or dropped leave their tasks running, so that a later
    /// run can wait for them. A task that the user left is cancelled nevertheless.
    pub fn keep_tasks(&self) {
        self.context.kept_tasks.keep_all();
    }

    /// The user leaves the task of this call running, so that it may take a day longer.
    pub fn leave_task(&self, call: CallId) {
        self.context.kept_tasks.leave(call);
    }

    /// Answers [`HubEvent::Requested`]. Ignored if the request was withdrawn.
    pub fn reply(&self, id: ServerRequestId, reply: ServerRequestReply) {
        self.context.requests.reply(id, reply);
    }

    /// Whether a request still waits for a reply.
    pub fn has_request(&self, id: ServerRequestId) -> bool {
        self.context.requests.is_open(id)
    }

    pub fn supervisors(&self) -> impl Iterator<Item = &Arc<ServerSupervisor>> {
        self.entries
            .iter()
            .filter_map(|entry| entry.supervisor.as_ref())
    }

    pub fn supervisor(&self, id: &ServerId) -> Option<&Arc<ServerSupervisor>> {
        let entry = self.entries.iter().find(|entry| entry.config.id == *id)?;
        entry.supervisor.as_ref()
    }

    /// Closes all servers in parallel: closes stdin, then sends SIGTERM and SIGKILL to the process
    /// group, one second apart. Returns when no child is left, after about four seconds at most.
    pub async fn shutdown(mut self) {
        for supervisor in self
            .entries
            .iter()
            .filter_map(|entry| entry.supervisor.as_ref())
        {
            supervisor.stop.cancel();
        }
        let closing = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(SHUTDOWN_TIMEOUT, closing).await.is_err() {
            tracing::warn!("not all MCP servers stopped in time; killing them");
        }
        // Dropping the hub kills the remaining processes.
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.context.process_groups.kill_all();
    }
}

impl HubEntry {
    /// Whether the supervisor can apply `config` without restarting the server.
    fn can_continue_with(&self, config: &ServerConfig) -> bool {
        self.config.enabled == config.enabled
            && self.config.launch == config.launch
            && self.config.oauth == config.oauth
    }
}

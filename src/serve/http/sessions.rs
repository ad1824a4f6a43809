//! The sessions of streamable HTTP in the legacy era: `rmcp`'s, with a limit on their number.

use super::super::message::RpcErrorResponse;
use super::super::open_requests::OpenRequests;
use super::super::queue_transport::reworded_message;
use crate::sync::lock_ignoring_poison;
use futures::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// If all sessions are in use, one that has been idle for this long is replaced by a new one.
const REPLACEABLE_AFTER: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct BoundedSessions {
    inner: LocalSessionManager,
    max: usize,
    sessions: Mutex<HashMap<SessionId, SessionState>>,
    /// Held from counting the sessions until the new one is among them.
    creating: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct SessionState {
    last_used: Instant,
    open: OpenRequests,
}

#[derive(Debug, thiserror::Error)]
pub enum SessionsError {
    #[error("all sessions are in use")]
    Full,
    #[error("a request with this id is still running")]
    IdInUse,
    #[error(transparent)]
    Session(#[from] LocalSessionManagerError),
}

impl BoundedSessions {
    /// A session without messages for `idle_timeout` is closed.
    pub fn new(max: usize, idle_timeout: Duration) -> Self {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(idle_timeout);
        // Clients older than the revision 2025-11-25 fail on events without data.
        config.sse_retry = None;
        let mut inner = LocalSessionManager::default();
        inner.session_config = config;
        Self {
            inner,
            max,
            sessions: Mutex::default(),
            creating: tokio::sync::Mutex::default(),
        }
    }

    /// Whether a new session can be opened now.
    pub fn has_room(&self) -> bool {
        let sessions = lock_ignoring_poison(&self.sessions);
        sessions.len() < self.max || replaceable_session(&sessions).is_some()
    }

    /// Checks that the id of a request is free in this session.
    ///
    /// # Errors
    /// The error response for a request whose id is in use.
    pub fn check_request_id(
        &self,
        id: &str,
        message: &ClientJsonRpcMessage,
    ) -> Result<(), Box<RpcErrorResponse>> {
        let sessions = lock_ignoring_poison(&self.sessions);
        match sessions.get(id) {
            Some(session) => session.open.check(message),
            None => Ok(()),
        }
    }

    fn touch(&self, id: &SessionId) {
        if let Some(session) = lock_ignoring_poison(&self.sessions).get_mut(id) {
            session.last_used = Instant::now();
        }
    }

    /// Checks the id of a request again, because two requests may have passed
    /// [`Self::check_request_id`] at the same time.
    fn record(&self, id: &SessionId, message: &ClientJsonRpcMessage) -> Result<(), SessionsError> {
        let sessions = lock_ignoring_poison(&self.sessions);
        match sessions
            .get(id)
            .map(|session| session.open.record_incoming(message))
        {
            Some(Err(_)) => Err(SessionsError::IdInUse),
            Some(Ok(())) | None => Ok(()),
        }
    }
}

fn replaceable_session(sessions: &HashMap<SessionId, SessionState>) -> Option<SessionId> {
    let (id, session) = sessions
        .iter()
        .min_by_key(|(_, session)| session.last_used)?;
    (session.last_used.elapsed() >= REPLACEABLE_AFTER).then(|| id.clone())
}

type LocalTransport = <LocalSessionManager as SessionManager>::Transport;

/// `rmcp`'s transport for a session. Also records which requests are answered, and gives `rmcp`'s
/// own errors our wording.
pub struct SessionTransport {
    inner: LocalTransport,
    open: OpenRequests,
}

impl Transport<RoleServer> for SessionTransport {
    type Error = <LocalTransport as Transport<RoleServer>>::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let message = reworded_message(message);
        self.open.record_outgoing(&message);
        self.inner.send(message)
    }

    fn receive(&mut self) -> impl Future<Output = Option<ClientJsonRpcMessage>> + Send {
        self.inner.receive()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

impl SessionManager for BoundedSessions {
    type Error = SessionsError;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        let _creating = self.creating.lock().await;
        let replaced = {
            let sessions = lock_ignoring_poison(&self.sessions);
            match sessions.len() < self.max {
                true => None,
                false => Some(replaceable_session(&sessions).ok_or(SessionsError::Full)?),
            }
        };
        if let Some(id) = replaced {
            self.close_session(&id).await?;
        }
        let (id, inner) = self.inner.create_session().await?;
        let open = OpenRequests::default();
        let session = SessionState {
            last_used: Instant::now(),
            open: open.clone(),
        };
        lock_ignoring_poison(&self.sessions).insert(id.clone(), session);
        Ok((id, SessionTransport { inner, open }))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        Ok(self.inner.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        self.touch(id);
        Ok(self.inner.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        lock_ignoring_poison(&self.sessions).remove(id);
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        self.record(id, &message)?;
        Ok(self.inner.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionsError> {
        self.record(id, &message)?;
        Ok(self.inner.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.inner.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.inner.resume(id, last_event_id).await?)
    }
}

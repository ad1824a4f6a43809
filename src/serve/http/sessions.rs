//! The sessions of streamable HTTP in the legacy era: `rmcp`'s, with a limit on their number.

use crate::sync::lock_ignoring_poison;
use futures::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Once all sessions are taken, one that had no request for this long makes room for a new one.
const REPLACEABLE_AFTER: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct BoundedSessions {
    inner: LocalSessionManager,
    max: usize,
    last_used: Mutex<HashMap<SessionId, Instant>>,
}

#[derive(Debug, thiserror::Error)]
pub enum SessionsError {
    #[error("all sessions are in use")]
    Full,
    #[error(transparent)]
    Session(#[from] LocalSessionManagerError),
}

impl BoundedSessions {
    /// A session without requests and messages for `idle_timeout` is closed.
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
            last_used: Mutex::default(),
        }
    }

    /// Whether a new session can be opened now.
    pub fn has_room(&self) -> bool {
        let last_used = lock_ignoring_poison(&self.last_used);
        last_used.len() < self.max || least_recently_used(&last_used).is_some()
    }

    fn touch(&self, id: &SessionId) {
        if let Some(used) = lock_ignoring_poison(&self.last_used).get_mut(id) {
            *used = Instant::now();
        }
    }
}

fn least_recently_used(last_used: &HashMap<SessionId, Instant>) -> Option<SessionId> {
    let (id, used) = last_used.iter().min_by_key(|(_, used)| **used)?;
    (used.elapsed() >= REPLACEABLE_AFTER).then(|| id.clone())
}

impl SessionManager for BoundedSessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        let replaced = {
            let last_used = lock_ignoring_poison(&self.last_used);
            match last_used.len() < self.max {
                true => None,
                false => Some(least_recently_used(&last_used).ok_or(SessionsError::Full)?),
            }
        };
        if let Some(id) = replaced {
            self.close_session(&id).await?;
        }
        let (id, transport) = self.inner.create_session().await?;
        lock_ignoring_poison(&self.last_used).insert(id.clone(), Instant::now());
        Ok((id, transport))
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
        lock_ignoring_poison(&self.last_used).remove(id);
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.inner.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionsError> {
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

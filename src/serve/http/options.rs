//! Options and limits of the HTTP server.

use super::access::AccessPolicy;
use std::time::Duration;

#[derive(Debug, Clone, Default)]
pub struct HttpOptions {
    pub access: AccessPolicy,
    pub limits: HttpLimits,
}

#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    pub body_bytes: usize,
    /// For a whole body.
    pub body_timeout: Duration,
    /// For the head of a request, and for an idle connection.
    pub head_timeout: Duration,
    pub head_bytes: usize,
    pub headers: usize,
    /// For a write during which the client reads nothing.
    pub write_timeout: Duration,
    pub connections: usize,
    /// Applies to streamable HTTP and HTTP+SSE separately.
    pub sessions: usize,
    pub session_idle_timeout: Duration,
    /// Of all clients together; zero means no limit.
    pub requests_per_second: u32,
    /// How long a request above the rate limit may be delayed instead of refused.
    pub rate_delay: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 20,
            body_timeout: Duration::from_secs(30),
            head_timeout: Duration::from_secs(30),
            head_bytes: 64 << 10,
            headers: 100,
            write_timeout: Duration::from_secs(30),
            // Below 1,024, the usual limit on open files.
            connections: 800,
            sessions: 512,
            session_idle_timeout: Duration::from_secs(30 * 60),
            requests_per_second: 2_000,
            rate_delay: Duration::from_secs(1),
        }
    }
}
